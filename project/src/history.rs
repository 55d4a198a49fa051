//! The history of a structure and of its members over all versions.

use crate::Error;
pub use crate::members::has;
use crate::members::{c_type, members};
use crate::names::{Among, declared, name, no_member};
use crate::subject::Subject;
use crate::{Choice, Source};
use etw_layouts_codegen::axis::{Arch, Axis, Build, TargetId, TargetSet};
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::registry::Registry;
use etw_layouts_codegen::spec::Body;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The history of a structure.
pub struct History {
    /// Name of the structure.
    pub structure: String,
    /// The selected targets with the structure.
    pub targets: TargetSet,
    /// Stages of its size.
    pub sizes: Vec<Stage>,
    /// Stages by member or constant.
    pub members: Vec<(String, Vec<Stage>)>,
}

/// Consecutive targets without a change.
pub struct Stage {
    /// The targets.
    pub targets: TargetSet,
    /// If the stage begins with an update of a build: the first revision with the change.
    pub since: Option<Build>,
    /// If the stage begins with an update of a build: the last build without the change. It is the last examined one with the layouts of
    /// the row before, or that row.
    pub last_without: Option<Build>,
    /// If the stage ends with an update of a build: the first revision with the next change.
    pub before: Option<Build>,
    /// The changes in its first build as text, compared with the build that it is based on: the previous update, or the first build of the
    /// previous release.
    pub change: String,
    /// The evidence at these targets, strongest first; empty where it is absent.
    pub sources: BTreeSet<Source>,
    /// The facts of the targets.
    pub facts: Facts,
}

/// By architecture, as in [`Arch::ALL`]. `None`: no target of the stage has the structure. `Some(None)`: the member is absent.
pub type Facts = [Known; Arch::ALL.len()];
/// The fact of an architecture.
pub type Known = Option<Option<TargetFact>>;

/// A fact of a target.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum TargetFact {
    /// Size of the structure, in bytes.
    Size {
        /// The size.
        size: u64,
        /// The alignment.
        align: u64,
    },
    /// A member.
    Member {
        /// Offset from the start of the structure, in bytes.
        offset: u64,
        /// Size in bytes.
        size: u64,
        /// Type in C.
        r#type: String,
        /// The lowest bit of a bit field within its unit.
        bit: Option<u64>,
        /// The width of a bit field.
        bits: Option<u64>,
    },
    /// A constant.
    Constant {
        /// Value of the constant.
        value: i64,
    },
}

/// The history of a structure and of all its members, or of the one member after a dot.
///
/// # Errors
///
/// The structure or member does not exist; the error suggests a similar name.
pub fn of(layouts: &Layouts, registry: &Registry, asked: &str, arch: Option<Arch>) -> Result<History, Error> {
    let (structure, member) = asked.split_once('.').map_or((asked, None), |(structure, member)| (structure, Some(member)));
    let structure = name(layouts, Among::All, structure)?;
    let axis = &layouts.spec.axis;
    let mut targets = TargetSet::default();
    let mut sizes = BTreeMap::new();
    let mut facts: BTreeMap<String, BTreeMap<TargetId, (TargetFact, Source)>> = BTreeMap::new();
    let has = has(layouts, structure);
    for target in has.iter().filter(|&target| arch.is_none_or(|arch| axis.targets[target].arch == arch)) {
        targets.insert(target);
        let extent = layouts.get(target, structure).map(|layout| layout.extent()).unwrap_or_default();
        let choice = Choice::of(layouts, registry, axis.newest(target), Some(structure));
        let whole = choice.source_of_whole(axis);
        sizes.insert(target, (TargetFact::Size { size: extent.size, align: extent.align }, whole));
        let known = sources(layouts, registry, structure, choice);
        for (path, fact) in facts_at(layouts, structure, target) {
            let source = known.get(&path).copied().unwrap_or(whole);
            facts.entry(path).or_default().insert(target, (fact, source));
        }
    }
    let mut order = declared(layouts, structure);
    if let Some(member) = member {
        if !order.iter().any(|path| path == member) {
            return Err(no_member(layouts, structure, member));
        }
        order.retain(|path| path == member);
    }
    let member = |path: String| {
        let stages = stages(axis, registry, &targets, facts.get(&path)?);
        Some((path, stages))
    };
    Ok(History {
        structure: structure.to_owned(),
        sizes: stages(axis, registry, &targets, &sizes),
        members: order.into_iter().filter_map(member).collect(),
        targets,
    })
}

/// The evidence for each member of a structure in a build.
fn sources(layouts: &Layouts, registry: &Registry, structure: &str, choice: Choice) -> BTreeMap<String, Source> {
    let list = members(layouts, structure, choice.target());
    let subject = Subject { structure: structure.to_owned(), member: None, offset: None, choice, levels: 0 };
    let known = subject.sources(layouts, registry, &list);
    list.into_iter().zip(known).filter_map(|(member, source)| Some((member.path?, source?))).collect()
}

/// The members and constants of a structure, by path.
pub(crate) fn facts_at(layouts: &Layouts, structure: &str, target: TargetId) -> Vec<(String, TargetFact)> {
    let mut facts = Vec::new();
    for member in members(layouts, structure, target) {
        if let (Some(path), Some((field, _))) = (member.path, member.field) {
            let bit = member.bits.map(|bits| bits.position);
            let bits = member.bits.map(|bits| bits.width);
            let fact = TargetFact::Member { offset: member.offset, size: member.size, r#type: c_type(field), bit, bits };
            facts.push((path, fact));
        }
    }
    if let Some(Body::Values(values)) = layouts.spec.definitions.get(structure).map(|definition| &definition.body) {
        for constant in values.constants.iter().filter(|constant| constant.scope.contains(target)) {
            let value = constant.value.get(target).map(|piece| TargetFact::Constant { value: piece.value });
            facts.extend(value.map(|value| (constant.name.value.clone(), value)));
        }
    }
    facts
}

/// The runs of builds with equal facts, from the first build with any facts.
fn stages(axis: &Axis, registry: &Registry, targets: &TargetSet, facts: &BTreeMap<TargetId, (TargetFact, Source)>) -> Vec<Stage> {
    let mut stages: Vec<Stage> = Vec::new();
    for kernel in 0..axis.revisions.len() {
        let mut known = Facts::default();
        let mut set = TargetSet::default();
        for target in targets.iter().filter(|&target| axis.targets[target].revision == kernel) {
            known[axis.targets[target].arch as usize] = Some(facts.get(&target).map(|(fact, _)| fact.clone()));
            set.insert(target);
        }
        match stages.last_mut() {
            // An architecture that the build does not have cannot differ.
            Some(last) if pairs(&last.facts, &known).all(|(a, b)| a == b) => {
                last.targets = last.targets.union(&set);
                for (fact, new) in last.facts.iter_mut().zip(known) {
                    *fact = new.or(fact.take());
                }
            }
            _ => stages.push(Stage {
                targets: set,
                since: None,
                last_without: None,
                before: None,
                change: String::new(),
                sources: BTreeSet::new(),
                facts: known,
            }),
        }
    }
    for stage in &mut stages {
        stage.sources = stage.targets.iter().filter_map(|target| Some(facts.get(&target)?.1)).collect();
        stage.change = change(axis, targets, facts, stage);
        stage.ends(axis, registry, targets);
    }
    if stages.first().is_some_and(Stage::is_absent) {
        stages.remove(0);
    }
    stages
}

/// The facts known on both sides, by architecture.
fn pairs<'a>(a: &'a Facts, b: &'a Facts) -> impl Iterator<Item = (Option<&'a TargetFact>, Option<&'a TargetFact>)> {
    a.iter().zip(b).filter_map(|(a, b)| Some((a.as_ref()?.as_ref(), b.as_ref()?.as_ref())))
}

/// The target that a target is based on: the previous update of its build, or else the first revision of the previous build.
/// Targets outside the set are skipped.
pub fn base(axis: &Axis, targets: &TargetSet, target: TargetId) -> Option<TargetId> {
    let arch = axis.targets[target].arch;
    let own = axis.revision_of(target).build;
    let line = || axis.along(arch).filter(|(_, other)| targets.contains(*other)).take_while(|(build, _)| *build < own);
    let (before, last) = line().last()?;
    match before.number == own.number {
        true => Some(last),
        false => line().find(|(build, _)| build.number == before.number).map(|(_, first)| first),
    }
}

/// The differences between a stage's first build and the build that it is based on.
fn change(axis: &Axis, targets: &TargetSet, facts: &BTreeMap<TargetId, (TargetFact, Source)>, stage: &Stage) -> String {
    let mut words = Vec::new();
    let mut same = None;
    for arch in Arch::ALL {
        let first_of = |arch| stage.targets.iter().find(|&target| axis.targets[target].arch == arch);
        let Some(first) = first_of(arch) else { continue };
        // An architecture that follows another changes with it.
        if axis.ranges.get(&arch).is_some_and(|&leader| first_of(leader).is_some()) {
            continue;
        }
        let Some(parent) = base(axis, targets, first) else { continue };
        same = same.or(Some(parent));
        let new = match [parent, first].map(|target| facts.get(&target).map(|(fact, _)| fact)) {
            [None, Some(_)] => vec!["appears"],
            [Some(_), None] => vec!["disappears"],
            [Some(TargetFact::Size { size, align }), Some(TargetFact::Size { size: s, align: a })] => {
                [("grows", size < s), ("shrinks", size > s), ("realigned", align != a)]
                    .iter()
                    .filter(|c| c.1)
                    .map(|c| c.0)
                    .collect()
            }
            [
                Some(TargetFact::Member { offset, r#type, bit, bits, .. }),
                Some(TargetFact::Member { offset: o, r#type: t, bit: b, bits: n, .. }),
            ] => {
                let changes = [("moves", offset != o), ("retyped", r#type != t), ("other bits", (bit, bits) != (b, n))];
                changes.iter().filter(|c| c.1).map(|c| c.0).collect()
            }
            [Some(TargetFact::Constant { value }), Some(TargetFact::Constant { value: other })] if value != other => {
                vec!["changes"]
            }
            _ => Vec::new(),
        };
        words.extend(new);
    }
    let mut once = Vec::new();
    for word in words {
        if !once.contains(&word) {
            once.push(word);
        }
    }
    // Updates of an earlier build are not predecessors of this one.
    match same.filter(|_| once.is_empty()) {
        Some(parent) => format!("as in {}", axis.revision_name(axis.targets[parent].revision)),
        None => once.join(", "),
    }
}

impl Stage {
    /// Finds the updates that the stage begins and ends with.
    fn ends(&mut self, axis: &Axis, registry: &Registry, all: &TargetSet) {
        let build = |target| axis.revision_of(target).build;
        let (Some(first), Some(last)) = (self.targets.iter().next(), self.targets.iter().last()) else { return };
        let before = all.iter().filter(|&target| build(target) < build(first)).last();
        if let Some(before) = before.filter(|&before| build(before).number == build(first).number) {
            let is_before =
                |target: TargetId| axis.targets[target].revision == axis.targets[before].revision && all.contains(target);
            let examined = registry.builds.iter().filter(|seen| axis.at(seen.build, seen.arch).is_some_and(is_before));
            let last = examined.map(|seen| axis.canonical(seen.build)).filter(|seen| *seen < build(first)).max();
            (self.since, self.last_without) = (Some(build(first)), Some(last.unwrap_or(build(before))));
        }
        let after = all.iter().map(build).find(|after| *after > build(last));
        self.before = after.filter(|after| after.number == build(last).number);
    }

    /// The targets as text: releases, and the first revision and KB number of an update that the stage begins or ends with.
    pub fn label(&self, axis: &Axis) -> String {
        if self.since.is_none() && self.before.is_none() {
            return axis.words(&self.targets);
        }
        let ends = [self.targets.iter().next(), self.targets.iter().last()].map(|target| {
            let release = target.map(|target| axis.releases[axis.revision_of(target).release].label());
            release.map_or("", |label| axis.single(label))
        });
        let update = |build: Build| {
            let kb: Vec<String> = axis.windows(build).kb.iter().map(|kb| format!("KB{kb}")).collect();
            let kb = if kb.is_empty() { String::new() } else { format!(" ({})", kb.join(", ")) };
            format!("{}.{}{kb}", build.number[2], build.revision)
        };
        let since = self.since.map(|build| format!(" from {}", update(build))).unwrap_or_default();
        let before = self.before.map(|build| format!(" before {}", update(build))).unwrap_or_default();
        // The newest known build has no end.
        let is_open = self.targets.iter().last().is_some_and(|last| axis.targets[last].revision + 1 == axis.revisions.len());
        match ends {
            [first, _] if is_open => format!("{first} and later,{since}"),
            [first, last] if first == last => format!("{first}{since}{before}"),
            [first, last] => format!("{first}{since} to {last}{before}"),
        }
    }

    /// Whether none of the stage's targets has the member.
    pub fn is_absent(&self) -> bool {
        self.facts.iter().flatten().all(Option::is_none)
    }
}
