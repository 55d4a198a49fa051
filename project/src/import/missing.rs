//! Types that the symbols of a build lack. A table with known layouts can contradict what the specs state about them.

use super::enter::{ABSENT, incomplete, is_type};
use super::place::Place;
use crate::tables::BuildTable;
use etw_layouts_codegen::axis::{Axis, TargetId};
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::spec::{Definition, Spec};
use std::collections::{BTreeMap, BTreeSet};

/// The specs with `unverifiable` corrected at the targets of new tables: added for types that no table of the target contains, and removed
/// for types in a new table. `None` if nothing changes.
///
/// # Errors
///
/// A new table lacks too many types to be complete.
pub fn corrected(layouts: &Layouts, tables: &[&BuildTable], new: &[&BuildTable]) -> Result<Option<Spec>, String> {
    let axis = &layouts.spec.axis;
    let mut holders: BTreeMap<&str, BTreeSet<TargetId>> = BTreeMap::new();
    let mut examined = BTreeSet::new();
    for table in tables {
        if let Some(target) = axis.at(table.build, table.arch) {
            examined.insert(target);
            table.types.keys().for_each(|name| _ = holders.entry(name).or_default().insert(target));
        }
    }
    let mut spec = layouts.spec.clone();
    let mut is_changed = false;
    for table in new {
        let Some(target) = axis.at(table.build, table.arch) else { continue };
        let place = Place::of(axis, target, |other| examined.contains(&other));
        let (mut held, mut all) = (0, 0);
        let mut changes: Vec<(&Definition, Option<String>)> = Vec::new();
        let here = |definition: &&Definition| definition.scope.contains(target) && is_type(definition);
        for definition in layouts.spec.definitions.values().filter(here) {
            let name = definition.name.value.as_str();
            let stated = layouts.unverifiable(name, target).is_some();
            let is_held = table.types.contains_key(name);
            held += usize::from(is_held);
            all += usize::from(is_held || !stated);
            let in_any =
                |test: &dyn Fn(TargetId) -> bool| holders.get(name).is_some_and(|of| of.iter().any(|&other| test(other)));
            let of_arch = |other: TargetId| axis.targets[other].arch == table.arch;
            // A type in older and newer builds also exists in those between.
            let is_between =
                || in_any(&|other| of_arch(other) && other < target) && in_any(&|other| of_arch(other) && other > target);
            match stated {
                true if is_held => changes.push((definition, None)),
                false if !in_any(&|other| other == target) && !is_between() => {
                    changes.push((definition, Some(reason(axis, definition, target))));
                }
                _ => {}
            }
        }
        if changes.iter().any(|(_, reason)| reason.is_some()) && held * 2 < all {
            return Err(incomplete(table, held, all));
        }
        for (definition, reason) in changes {
            if let Some(definition) = spec.definitions.get_mut(&definition.name.value) {
                place.set(&mut definition.unverifiable, reason);
                is_changed = true;
            }
        }
    }
    Ok(is_changed.then_some(spec))
}

/// The reason that the specs state for the nearest revision of the build before or after a target, or a general one.
fn reason(axis: &Axis, definition: &Definition, target: TargetId) -> String {
    let line = axis.line(axis.revision_of(target).build, axis.targets[target].arch);
    let before = line.iter().rev().filter(|other| **other < target);
    let after = line.iter().filter(|other| **other > target);
    let stated = before.chain(after).find_map(|&other| definition.unverifiable.get(other));
    stated.map_or_else(|| ABSENT.to_owned(), |piece| piece.value.clone())
}
