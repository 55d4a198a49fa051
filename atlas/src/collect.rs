//! Computes the data that all pages use.

use crate::branches::{ARCHITECTURES, branches};
use crate::declaration::sheets;
use crate::event;
use crate::facts::{Atlas, AtlasTarget, Class, Lines, Structure};
use crate::scopes::Scopes;
use crate::uses::uses;
use etw_layouts_codegen::axis::{PerTarget, TargetId};
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::registry::{ExaminedBuild, Registry};
use etw_layouts_codegen::spec::{Body, Definition, Spec};
use etw_layouts_project::Choice;
use etw_layouts_project::Error;
use etw_layouts_project::diff::Side;
use etw_layouts_project::events::Statements;
use etw_layouts_project::history;
use etw_layouts_project::map::Map;
use etw_layouts_project::matrix::Matrix;
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};

/// The atlas of the selected structures.
pub fn atlas<'a>(
    layouts: &'a Layouts,
    registry: &'a Registry,
    statements: &Statements,
    lines: Lines,
    wanted: impl Fn(&str) -> bool + Sync,
) -> Result<Atlas<'a>, Error> {
    let axis = &layouts.spec.axis;
    let mut seen: HashMap<TargetId, Vec<&ExaminedBuild>> = HashMap::new();
    for kernel in &registry.builds {
        if let Some(target) = axis.at(kernel.build, kernel.arch) {
            seen.entry(target).or_default().push(kernel);
        }
    }
    let all = axis.all();
    let kernel = |target: TargetId| {
        let mut line = axis.along(axis.targets[target].arch).map(|(_, target)| target);
        let before = line.clone().take_while(|&other| other != target).last();
        let after = line.find(|&other| other > target);
        let name = axis.target_name(target);
        let choice = Choice::of(layouts, registry, axis.find(&name)?, None);
        let side = Side::of_target(layouts, &choice)?;
        let seen = seen.get(&target).cloned().unwrap_or_default();
        let base = history::base(axis, &all, target);
        Ok(AtlasTarget { name, choice, seen, side, before, after, base, map: target })
    };
    let targets: Vec<_> = axis.targets.ids().collect();
    let mut kernels: PerTarget<AtlasTarget> =
        targets.clone().into_par_iter().map(kernel).collect::<Result<Vec<_>, Error>>()?.into_iter().collect();
    let maps: Vec<Map> = targets.par_iter().map(|&target| Map::of(layouts, target, None)).collect();
    let mut first: HashMap<Vec<Reference>, TargetId> = HashMap::new();
    for ((target, map), kernel) in targets.into_iter().zip(&maps).zip(kernels.values_mut()) {
        kernel.map = *first.entry(references(map)).or_insert(target);
    }
    let (aggregates, values): (Vec<_>, Vec<_>) =
        layouts.spec.definitions.values().partition(|definition| matches!(definition.body, Body::Aggregate(_)));
    let scopes = Scopes::of(axis);
    let classes = classes(&layouts.spec, statements);
    let mut atlas = Atlas {
        layouts,
        registry,
        axis,
        structures: Vec::new(),
        values,
        classes,
        kernels,
        branches: branches(axis, registry),
        uses: uses(layouts),
        scopes,
        lines,
    };
    let aggregates = aggregates.into_par_iter().filter(|definition| wanted(&definition.name.value));
    let structures = aggregates.map(|definition| structure(&atlas, definition));
    atlas.structures = structures.collect();
    Ok(atlas)
}

fn structure<'a>(atlas: &Atlas<'a>, definition: &'a Definition) -> Structure<'a> {
    let name = &definition.name.value;
    let matrix = |arch| Matrix::of(atlas.layouts, atlas.registry, name, arch);
    let matrices: Vec<_> = ARCHITECTURES.into_iter().filter_map(matrix).collect();
    let sheets = sheets(atlas, &matrices);
    Structure { definition, matrices, sheets }
}

/// A structure, a member, the kind of its reference, and the target of the reference.
type Reference<'a> = (&'a str, &'a str, &'static str, &'a str);

/// The references of a map. Offsets are left out because the picture does not show them.
fn references(map: &Map) -> Vec<Reference<'_>> {
    let links = map.structures.iter().flat_map(|structure| structure.links.iter().map(|link| (structure.name.as_str(), link)));
    links.map(|(name, link)| (name, link.member.as_str(), link.way.word(), link.to.as_str())).collect()
}

fn classes<'a>(spec: &'a Spec, statements: &Statements) -> Vec<Class<'a>> {
    // A class may be in several files.
    let mut docs: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for class in &spec.classes {
        let own = docs.entry(&class.name.value).or_default();
        if !own.contains(&class.doc.as_str()) {
            own.push(&class.doc);
        }
    }
    let mut rest = event::events(spec, statements).into_iter().peekable();
    let mut own = |name: &str| {
        let mut events = Vec::new();
        while let Some(event) = rest.next_if(|event| event.name.split_once('/').is_some_and(|(class, _)| class == name)) {
            events.push(event);
        }
        events
    };
    docs.into_iter().map(|(name, docs)| Class { name, doc: docs.join(" "), events: own(name) }).collect()
}
