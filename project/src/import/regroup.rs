//! Assignment of new builds to named updates.
//!
//! Windows servicing applies the same change to several builds. A new row of the axis starts an update if the ranges in the specs
//! become shorter with the update.

use etw_layouts_codegen::axis::{Axis, Build, Update};
use etw_layouts_codegen::emit;
use etw_layouts_codegen::spec::{Definition, Spec};
use std::collections::BTreeSet;

/// Maximum number of new builds that are tried pairwise as a new update.
const MOST_TRIED: usize = 16;

/// Minimum number of characters that an update must save: smaller savings are coincidences.
const LEAST: usize = 24;

/// Adds new builds to updates where that shortens the specs. Returns the spec, and the changed updates by name.
pub fn regrouped(spec: &Spec, old: &Axis) -> (Spec, BTreeSet<String>) {
    let is_new = |build: &Build| !old.revisions.iter().any(|kernel| kernel.build == *build);
    let builds = spec.axis.revisions.iter().map(|kernel| kernel.build);
    let is_update =
        |build: &Build| spec.axis.revisions.iter().any(|kernel| kernel.build.number == build.number && kernel.build < *build);
    let new: Vec<Build> = builds.filter(is_new).filter(is_update).collect();
    // Only ranges with a new build can become shorter.
    let named: Vec<String> = new.iter().map(|build| format!("{build:#}")).collect();
    let names_one = |definition: &&Definition| {
        let text = &spec.sources.file(definition.name.span).text;
        named.iter().any(|name| text.contains(name))
    };
    let changed: Vec<&Definition> = spec.definitions.values().filter(names_one).collect();
    let mut best = spec.clone();
    let mut names = BTreeSet::new();
    let mut cost = self::cost(&best, &changed);
    loop {
        let mut tried = Vec::new();
        for &build in &new {
            tried.extend((0..best.axis.updates.len()).filter_map(|update| joined(&best.axis, update, build)));
        }
        for (at, &one) in new.iter().enumerate().take(MOST_TRIED) {
            let others = new[at..].iter().take(MOST_TRIED).filter(|other| other.number != one.number);
            tried.extend(others.filter_map(|&other| begun(&best.axis, one, other)));
        }
        let least = tried.into_iter().map(|(axis, name)| {
            let spec = Spec { axis, ..best.clone() };
            (self::cost(&spec, &changed), name, spec.axis)
        });
        match least.min_by_key(|(cost, ..)| *cost).filter(|(least, ..)| least + LEAST <= cost) {
            Some((least, name, axis)) => {
                cost = least;
                names.insert(name);
                best.axis = axis;
            }
            None => break,
        }
    }
    (best, names)
}

/// Length of the definitions and the axis.
fn cost(spec: &Spec, changed: &[&Definition]) -> usize {
    let definitions = changed.iter().map(|definition| emit::toml::definition(spec, definition).len());
    definitions.sum::<usize>() + emit::toml::axis(&spec.axis).len()
}

/// The axis with a build added to an update. It replaces a later revision of the build in the update, if there is one.
fn joined(axis: &Axis, update: usize, build: Build) -> Option<(Axis, String)> {
    let mut axis = axis.clone();
    let Update { revisions, name, without, .. } = &mut axis.updates[update];
    let last = revisions.last().copied()?;
    let later = match revisions.iter().position(|kernel| kernel.number == build.number) {
        Some(at) if revisions[at] > build => Some(std::mem::replace(&mut revisions[at], build)),
        // Newer builds than the last one of the update have it from the start.
        None if build.number < last.number => {
            let at = revisions.partition_point(|kernel| *kernel < build);
            revisions.insert(at, build);
            without.retain(|number| *number != build.number);
            None
        }
        _ => return None,
    };
    let name = name.clone();
    // The replaced revision remains a row of the axis.
    let is_named = |axis: &Axis, build: Build| axis.updates.iter().any(|update| update.revisions.contains(&build));
    let alone: Vec<bool> =
        axis.revisions.iter().map(|kernel| Some(kernel.build) == later && !is_named(&axis, kernel.build)).collect();
    axis.revisions.iter_mut().zip(alone).filter(|(_, alone)| *alone).for_each(|(kernel, _)| kernel.of_update = false);
    Some((axis, name))
}

/// The axis with a new update of two builds.
fn begun(axis: &Axis, one: Build, other: Build) -> Option<(Axis, String)> {
    let mut axis = axis.clone();
    let name = format!("{}-{}", one.number[2], one.revision);
    if axis.ends().any(|end| end == name) {
        return None;
    }
    let newest = axis.updates.last().map_or(Default::default(), |update| update.span);
    let mut revisions = vec![one, other];
    revisions.sort();
    let update =
        Update { name: name.clone(), revisions, without: Vec::new(), architectures: None, doc: String::new(), span: newest };
    axis.updates.push(update);
    Some((axis, name))
}
