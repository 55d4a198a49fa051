//! New kernels as parts of named updates.
//!
//! Windows is serviced as a tree: the same change reaches several builds. Whether a new row of the axis begins an update shows in the specs:
//! where it does, their ranges are shorter when the update says so.

use etw_layouts_codegen::axis::{Axis, Build, Update};
use etw_layouts_codegen::emit;
use etw_layouts_codegen::spec::{Definition, Spec};
use std::collections::BTreeSet;

/// How many new kernels are tried as an update of their own, each with each.
const MOST_TRIED: usize = 16;

/// How many characters an update has to save: less is a coincidence.
const LEAST: usize = 24;

/// Has new kernels be those of updates where that makes the specs shorter: the spec, and what changed of the updates, by name.
pub fn regrouped(spec: &Spec, old: &Axis) -> (Spec, BTreeSet<String>) {
    let is_new = |build: &Build| !old.kernels.iter().any(|kernel| kernel.build == *build);
    let builds = spec.axis.kernels.iter().map(|kernel| kernel.build);
    let is_update =
        |build: &Build| spec.axis.kernels.iter().any(|kernel| kernel.build.number == build.number && kernel.build < *build);
    let new: Vec<Build> = builds.filter(is_new).filter(is_update).collect();
    // Only ranges that name a new kernel are shorter by an update.
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
            let others = new[at + 1..].iter().take(MOST_TRIED).filter(|other| other.number != one.number);
            tried.extend(others.filter_map(|&other| begun(&best.axis, one, other)));
        }
        let least = tried.into_iter().map(|(axis, name)| {
            let spec = Spec { axis, definitions: Default::default(), ..best.clone() };
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

/// How long the definitions are, and the axis.
fn cost(spec: &Spec, changed: &[&Definition]) -> usize {
    let definitions = changed.iter().map(|definition| emit::toml::definition(spec, definition).len());
    definitions.sum::<usize>() + emit::toml::axis(&spec.axis).len()
}

/// The axis with a kernel as the first of its build that has an update, where it was a later one, or none.
fn joined(axis: &Axis, update: usize, build: Build) -> Option<(Axis, String)> {
    let mut axis = axis.clone();
    let Update { kernels, name, without, .. } = &mut axis.updates[update];
    let last = kernels.last().copied()?;
    let later = match kernels.iter().position(|kernel| kernel.number == build.number) {
        Some(at) if kernels[at] > build => Some(std::mem::replace(&mut kernels[at], build)),
        // Whatever is newer than the last of the kernels has the update already.
        None if build.number < last.number => {
            let at = kernels.partition_point(|kernel| *kernel < build);
            kernels.insert(at, build);
            without.retain(|number| *number != build.number);
            None
        }
        _ => return None,
    };
    let name = name.clone();
    // The later one stays a row of the axis.
    let is_named = |axis: &Axis, build: Build| axis.updates.iter().any(|update| update.kernels.contains(&build));
    let alone: Vec<bool> =
        axis.kernels.iter().map(|kernel| Some(kernel.build) == later && !is_named(&axis, kernel.build)).collect();
    axis.kernels.iter_mut().zip(alone).filter(|(_, alone)| *alone).for_each(|(kernel, _)| kernel.of_update = false);
    Some((axis, name))
}

/// The axis with an update that two kernels are the first to have.
fn begun(axis: &Axis, one: Build, other: Build) -> Option<(Axis, String)> {
    let mut axis = axis.clone();
    let name = format!("{}-{}", one.number[2], one.revision);
    if axis.ends().any(|end| end == name) {
        return None;
    }
    let newest = axis.updates.last().map_or(Default::default(), |update| update.span);
    let mut kernels = vec![one, other];
    kernels.sort();
    let update =
        Update { name: name.clone(), kernels, without: Vec::new(), architectures: None, doc: String::new(), span: newest };
    axis.updates.push(update);
    Some((axis, name))
}
