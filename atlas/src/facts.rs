//! The data that all pages use, computed once.

use crate::branches::{ARCHITECTURES, Branch};
use crate::event::Event;
use crate::scopes::Scopes;
use crate::sheet::Sheet;
use crate::uses::Uses;
use crate::{marks, paths};
use etw_layouts_codegen::axis::{Axis, PerTarget, TargetId, TargetSet};
use etw_layouts_codegen::layouts::{Form, LayoutId, Layouts};
use etw_layouts_codegen::registry::{ExaminedBuild, Registry};
use etw_layouts_codegen::spec::{Body, Constant, Definition, Provenance};
use etw_layouts_project::diff::Side;
use etw_layouts_project::matrix::Matrix;
use etw_layouts_project::{Choice, Confidence, Source};
use std::collections::HashMap;

/// Returns the differences between two targets as lines, each with a class of the style sheet: `new`, `gone`, `moved` or none.
pub type Lines = fn(&Side, &Side) -> Vec<(&'static str, String)>;

/// The data of all pages.
pub struct Atlas<'a> {
    pub layouts: &'a Layouts,
    pub registry: &'a Registry,
    pub axis: &'a Axis,
    /// Structures and unions, by name.
    pub structures: Vec<Structure<'a>>,
    /// Enumerations, flags and constants, by name.
    pub values: Vec<&'a Definition>,
    /// Classes of events, by name.
    pub classes: Vec<Class<'a>>,
    /// The targets.
    pub kernels: PerTarget<AtlasTarget<'a>>,
    /// The builds, by number and architecture.
    pub branches: Vec<Branch>,
    /// Where each type is used.
    pub uses: Uses,
    pub scopes: Scopes<'a>,
    pub lines: Lines,
}

/// A structure or union.
pub struct Structure<'a> {
    pub definition: &'a Definition,
    pub matrices: Vec<Matrix>,
    /// Its layouts.
    pub sheets: HashMap<LayoutId, Sheet>,
}

/// A class of events.
pub struct Class<'a> {
    pub name: &'a str,
    pub doc: String,
    /// Its events, by event type.
    pub events: Vec<Event<'a>>,
}

/// A target.
pub struct AtlasTarget<'a> {
    pub name: String,
    pub choice: Choice,
    /// The examined builds that have its layouts.
    pub seen: Vec<&'a ExaminedBuild>,
    /// Its definitions, for comparisons.
    pub side: Side,
    /// The targets of its architecture before and after it.
    pub before: Option<TargetId>,
    pub after: Option<TargetId>,
    /// The target that this one is compared with.
    pub base: Option<TargetId>,
    /// The first target with the same references between structures.
    pub map: TargetId,
}

impl<'a> Atlas<'a> {
    /// The name of a set of targets.
    pub fn scope(&self, set: &TargetSet) -> String {
        self.scopes.words(set)
    }

    /// The path of the page of an enumeration, flags or constants, from the root.
    pub fn values_page(&self, name: &str) -> Option<String> {
        self.values.iter().any(|definition| definition.name.value == name).then(|| paths::type_page(name))
    }

    /// The path of a constant, from the root.
    pub fn constant_page(&self, of: &str, name: &str) -> Option<String> {
        let Body::Values(values) = &self.layouts.spec.definitions.get(of)?.body else { return None };
        let constant = values.constants.iter().find(|constant| constant.name.value == name)?;
        Some(format!("{}#{}", paths::type_page(of), constant.name.value))
    }

    /// The names of a hook: constants of `HOOK_ID`.
    pub fn hook_names(&self, hook: u16) -> impl Iterator<Item = &'a str> {
        let values = match self.layouts.spec.definitions.get("HOOK_ID").map(|definition| &definition.body) {
            Some(Body::Values(values)) => Some(values),
            _ => None,
        };
        let constants = values.into_iter().flat_map(|values| &values.constants);
        let is_of = move |constant: &&'a Constant| constant.value.0.first().is_some_and(|piece| piece.value == i64::from(hook));
        constants.filter(is_of).map(|constant| constant.name.value.as_str())
    }

    /// The path of the page of a layout, from the root. Enumerations have a page per type, not per layout.
    pub fn layout_page(&self, id: LayoutId) -> String {
        let layout = &self.layouts.layouts[id];
        match layout.form {
            Form::Aggregate(_) if self.is_newest(id) => paths::type_page(&layout.name),
            Form::Aggregate(_) => {
                let first = layout.targets.iter().next().map_or_else(String::new, |target| self.axis.target_name(target));
                paths::layout_page(&layout.name, &first)
            }
            Form::Enumeration(_) => paths::type_page(&layout.name),
        }
    }

    /// Whether a layout is the newest of its structure on an architecture. The page of the structure shows it.
    pub fn is_newest(&self, id: LayoutId) -> bool {
        let layout = &self.layouts.layouts[id];
        let has = |target: TargetId| self.layouts.by_target[target].contains_key(&layout.name);
        let last = |arch| self.axis.along(arch).map(|(_, target)| target).filter(|&target| has(target)).last();
        ARCHITECTURES.into_iter().filter_map(last).any(|target| layout.targets.contains(target))
    }

    /// The path of the page with a target's map, from the root. Targets with equal maps share the page of the first one.
    pub fn map_page(&self, target: TargetId) -> String {
        paths::map_page(&self.kernels[self.kernels[target].map].name)
    }

    /// The evidence level of a structure at a target for the given confidence; without a structure, that of all layouts.
    pub fn source(&self, structure: Option<&str>, target: TargetId, confidence: Confidence) -> Source {
        let definition = structure.and_then(|name| self.layouts.spec.definitions.get(name));
        let provenance = definition.and_then(|definition| definition.source.get(target)).map(|piece| piece.value);
        let documented =
            self.axis.documented.contains(target) && provenance.is_none_or(|provenance| provenance == Provenance::Document);
        marks::of(confidence, documented)
    }

    /// The target that represents the evidence of a layout: one with the strongest evidence.
    pub fn speaker(&self, id: LayoutId) -> Option<TargetId> {
        let layout = &self.layouts.layouts[id];
        let targets = layout.targets.iter();
        targets.min_by_key(|&target| self.source(Some(&layout.name), target, self.choice(&layout.name, target).confidence))
    }

    /// The confidence in a structure at a target.
    pub fn choice(&self, name: &str, target: TargetId) -> Choice {
        Choice::of(self.layouts, self.registry, self.axis.newest(target), Some(name))
    }

    /// The latest examined build with the layouts of a target; if none was examined, the target's own build.
    pub fn latest_build(&self, target: TargetId) -> String {
        let builds = self.kernels[target].seen.iter().map(|seen| seen.build);
        builds.max_by_key(|build| build.revision).map_or_else(|| self.build(target), |build| build.to_string())
    }

    /// The release of a target.
    pub fn release(&self, target: TargetId) -> &str {
        &self.axis.releases[self.axis.revision_of(target).release].name
    }

    /// The first label of a target's release.
    pub fn label(&self, target: TargetId) -> &str {
        self.axis.single(self.axis.releases[self.axis.revision_of(target).release].label())
    }

    /// The build of a target, without the architecture.
    pub fn build(&self, target: TargetId) -> String {
        self.scopes.build(target)
    }

    /// Whether a target is an update, not a release.
    pub fn is_update(&self, target: TargetId) -> bool {
        let kernel = self.axis.revision_of(target);
        let before = self.kernels[target].before.map(|before| self.axis.revision_of(before));
        before.is_some_and(|before| before.build.number == kernel.build.number) && kernel.service_pack.is_none()
    }
}

impl<'a> Class<'a> {
    /// The groups of the hooks of its events: constants of `EVENT_TRACE_GROUP`, without their prefix and without duplicates.
    pub fn groups(&self) -> Vec<&'a str> {
        let mut list: Vec<&str> = Vec::new();
        for group in self.events.iter().filter_map(|event| event.group) {
            let name = group.strip_prefix("EVENT_TRACE_GROUP_").unwrap_or(group);
            if !list.contains(&name) {
                list.push(name);
            }
        }
        list
    }
}

impl Structure<'_> {
    pub fn name(&self) -> &str {
        &self.definition.name.value
    }
}
