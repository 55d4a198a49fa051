//! Import of a single table.

use super::enter::{Entering, limit_sizes};
use super::explain::explain;
use super::place::Place;
use super::rows::{self, find};
use super::texts::{self, Texts};
use super::types::by_value;
use crate::Error;
use crate::tables::BuildTable;
use etw_layouts_codegen::laid_out;
use etw_layouts_codegen::spec::Body;
use etw_layouts_symbols::Types;
use std::collections::BTreeSet;

/// The types of a table, and embedded types that it lacks, taken from the nearest build with the same pointer size: an embedded
/// type takes space even if a table lacks it.
pub fn embedded<'a>(table: &BuildTable, known: impl Iterator<Item = &'a BuildTable>) -> Types {
    let pointers = |table: &BuildTable| table.arch.pointer_size();
    let mut near: Vec<_> = known.filter(|other| pointers(other) == pointers(table)).collect();
    near.sort_by_key(|other| (other.build.number[2].abs_diff(table.build.number[2]), other.build));
    let mut types = (*table.types).clone();
    let mut pending: Vec<String> = table.types.values().flat_map(by_value).collect();
    while let Some(name) = pending.pop().filter(|_| !near.is_empty()) {
        if !types.contains_key(&name)
            && let Some(facts) = near.iter().find_map(|other| other.types.get(&name))
        {
            pending.extend(by_value(facts));
            types.insert(name, facts.clone());
        }
    }
    types
}

/// The types in the tables of both an older and a newer build of the architecture.
fn around<'a>(table: &BuildTable, known: impl Iterator<Item = &'a BuildTable>) -> BTreeSet<String> {
    let (mut older, mut newer) = (BTreeSet::new(), BTreeSet::new());
    for other in known.filter(|other| other.arch == table.arch && other.build != table.build) {
        let held = if other.build < table.build { &mut older } else { &mut newer };
        held.extend(other.types.keys());
    }
    older.intersection(&newer).map(|name| (*name).clone()).collect()
}

/// Adds the build of a table to the texts. `known` are the tables of other builds. The changes also apply to architectures that
/// follow that of the table, except for those with a known table of their own.
///
/// # Errors
///
/// The table cannot be expressed in specs.
pub fn entered<'a, I: Iterator<Item = &'a BuildTable>>(
    texts: &mut Texts,
    table: &BuildTable,
    known: impl Fn() -> I,
    folder: &str,
) -> Result<(), Error> {
    let mut axis = texts::axis(texts)?;
    let again = find(&axis, table.build, table.arch).is_some();
    rows::add(&mut axis, table.build, table.arch);
    texts::enter(texts, &axis)?;
    let before = texts::spec(texts);
    let axis = &before.axis;
    let target = find(axis, table.build, table.arch).ok_or("the build is not on the version axis")?;
    let place = Place::of(axis, target, |other| known().any(|table| axis.at(table.build, table.arch) == Some(other)));
    let embedded = embedded(table, known());
    let mut spec = before.clone();
    let around = around(table, known());
    let mut entering = Entering { spec: &mut spec, place: place.clone(), again, table, embedded: &embedded, around: &around };
    let held = entering.run().map_err(|error| format!("{}, {}-{}: {error}", table.source, table.label, table.arch))?;
    explain(&mut spec, &place, &table.types, &held);
    limit_sizes(&mut spec);
    // A type that the table lacks can embed one that has changed.
    let layouts = laid_out(&spec, place.target);
    for (name, definition) in spec.definitions.iter_mut().filter(|(name, _)| !held.contains(*name)) {
        if let (Body::Aggregate(aggregate), Some(layout)) = (&mut definition.body, layouts.get(name)) {
            place.assert(&mut aggregate.size, Some(layout.extent.size));
        }
    }
    texts::changed(texts, &before, &spec, folder);
    Ok(())
}
