//! Addition of new structures over the whole axis, from all tables that contain them.
//!
//! If a structure changes between two rows of the axis, a row is added between them. Then each table is processed, those with
//! complete symbols first: other tables have less information, and reuse the spellings. A build without a table gets the
//! definition of a neighbor, so that ranges do not end at unexamined builds. The files are written after all tables, with the
//! fewest ranges.

use super::enter::{ABSENT, Entering, held_at, limit_sizes, near};
use super::explain::explain;
use super::pass::{embedded, entered};
use super::place::Place;
use super::texts::{self, Texts};
use super::types::by_value;
use crate::Error;
use crate::tables::BuildTable;
use crate::verify::label::contradict;
use etw_layouts_codegen::axis::{Axis, TargetId, TargetSet};
use etw_layouts_codegen::spec::{Body, Definition, Spec};
use etw_layouts_symbols::Types;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The reason why no symbols verify a structure in a build between others that have it.
const NOT_IN_TABLES: &str = "no symbol table of these builds contains the type";

/// Adds structures to the texts. Returns the tables that became rows of the axis.
///
/// # Errors
///
/// A table cannot be expressed in specs.
pub fn filled<'a>(
    texts: &mut Texts,
    tables: &[&'a BuildTable],
    names: &[String],
    folder: &str,
) -> Result<Vec<&'a BuildTable>, Error> {
    let known = texts::spec(texts);
    let known: Vec<&str> = known.definitions.keys().map(String::as_str).collect();
    let new = unspecified(&known, tables.iter().copied(), names);
    let mut rows = Vec::new();
    while let Some(table) = row(&texts::axis(texts)?, tables, &new) {
        if rows.len() == tables.len() {
            return Err(format!("{}: its build is not on the version axis", table.source).into());
        }
        entered(texts, table, || tables.iter().copied(), folder)?;
        rows.push(table);
    }
    let before = texts::spec(texts);
    let mut fill = Fill { spec: before.clone(), tables };
    // Of tables of the same build, the one with the most new types comes first.
    let added = |table: &BuildTable| new.iter().filter(|name| table.types.contains_key(*name)).count();
    let rank = |table: &&BuildTable| (table.is_converted(), table.build, table.arch, Reverse(added(table)));
    let mut order = tables.to_vec();
    order.sort_by_key(rank);
    for table in order {
        fill.table(table, &new)?;
    }
    fill.copy_from_neighbors(names);
    fill.unseen();
    limit_sizes(&mut fill.spec);
    texts::changed(texts, &before, &fill.spec, folder);
    Ok(rows)
}

/// The given structures, and types that they embed in any table, that have no spec.
pub fn unspecified<'a>(
    known: &[&str],
    tables: impl Iterator<Item = &'a BuildTable> + Clone,
    names: &[String],
) -> BTreeSet<String> {
    let mut seen: BTreeSet<String> = known.iter().map(|name| (*name).to_owned()).collect();
    let (mut new, mut pending) = (BTreeSet::new(), names.to_vec());
    while let Some(name) = pending.pop() {
        if seen.insert(name.clone()) {
            tables.clone().filter_map(|table| table.types.get(&name)).for_each(|facts| pending.extend(by_value(facts)));
            new.insert(name);
        }
    }
    new
}

/// The first table with a definition that differs from that of an earlier table on the same row of the axis.
fn row<'a>(axis: &Axis, tables: &[&'a BuildTable], names: &BTreeSet<String>) -> Option<&'a BuildTable> {
    let mut sorted = tables.to_vec();
    sorted.sort_by_key(|table| (table.arch, table.build));
    let mut of_row: BTreeMap<TargetId, Vec<(&BuildTable, Types)>> = BTreeMap::new();
    for table in sorted {
        let Some(row) = axis.at(table.build, table.arch) else { continue };
        let row = of_row.entry(row).or_default();
        let own: Types = names.iter().filter_map(|n| Some((n.clone(), table.types.get(n)?.clone()))).collect();
        let differs =
            |(other, types): &(&BuildTable, Types)| other.build < table.build && contradict((other, types), (table, &own));
        if row.iter().any(differs) {
            return Some(table);
        }
        row.push((table, own));
    }
    None
}

/// The definitions under construction.
struct Fill<'a> {
    spec: Spec,
    tables: &'a [&'a BuildTable],
}

impl Fill<'_> {
    /// Adds structures of a table that the specs lack for its build.
    fn table(&mut self, table: &BuildTable, names: &BTreeSet<String>) -> Result<(), Error> {
        let target = self.spec.axis.at(table.build, table.arch).ok_or("the build is not on the version axis")?;
        let embedded = embedded(table, self.tables.iter().copied());
        let place = Place::alone(target);
        let spec = &mut self.spec;
        let mut entering =
            Entering { spec, place: place.clone(), again: false, table, embedded: &embedded, around: &BTreeSet::new() };
        let held = entering.fill(names).map_err(|error| format!("{}, {}-{}: {error}", table.source, table.label, table.arch))?;
        self.embedded(&held, target);
        explain(&mut self.spec, &place, &table.types, &held);
        Ok(())
    }

    /// Copies embedded types that no table of a build contains from the nearest build. Symbols cannot verify them.
    fn embedded(&mut self, entered: &BTreeSet<String>, target: TargetId) {
        let axis = self.spec.axis.clone();
        let mut pending: Vec<String> = entered.iter().cloned().collect();
        while let Some(name) = pending.pop() {
            let Some(definition) = self.spec.definitions.get(&name) else { continue };
            let mut lacking = Vec::new();
            if let Body::Aggregate(aggregate) = &definition.body {
                held_at(&aggregate.members, target, &mut lacking);
            }
            for name in lacking.into_iter().filter(|name| !entered.contains(name)) {
                let holds =
                    |table: &&BuildTable| axis.at(table.build, table.arch) == Some(target) && table.types.contains_key(&name);
                let is_known = self.tables.iter().any(holds);
                let definition = self.spec.definitions.get_mut(&name).filter(|definition| is_new(definition));
                let Some(definition) = definition.filter(|d| !is_known && !d.scope.contains(target)) else { continue };
                let from = near(&axis, target).into_iter().find(|&t| definition.scope.contains(t));
                take(definition, from, target, Some(ABSENT));
                pending.push(name);
            }
        }
    }

    /// Copies a structure to a build whose tables lack it from its neighbors, if both have the same definition, and if the build has the
    /// types that it embeds. Applies only to embedded types, not to `names`: a reduced table may lack unused types.
    fn copy_from_neighbors(&mut self, names: &[String]) {
        let seen = self.seen();
        let axis = self.spec.axis.clone();
        let mut copies: Vec<(String, TargetId, TargetId)> = Vec::new();
        let is_embedded = |definition: &&mut Definition| is_new(definition) && !names.contains(&definition.name.value);
        for definition in self.spec.definitions.values_mut().filter(is_embedded) {
            let stated = definition.scope.clone();
            for target in axis.targets.ids().filter(|target| !stated.contains(*target)) {
                if let [Some(before), Some(after)] = beside(&axis, &stated, target)
                    && is_same(definition, before, after)
                {
                    copies.push((definition.name.value.clone(), before, target));
                }
            }
        }
        // A structure can be copied after the structures that it embeds.
        loop {
            let (ready, waiting): (Vec<_>, Vec<_>) = copies.into_iter().partition(|copy| self.embeds_known(copy));
            for (name, before, target) in &ready {
                if let Some(definition) = self.spec.definitions.get_mut(name) {
                    take(definition, Some(*before), *target, Some(NOT_IN_TABLES).filter(|_| seen.contains(target)));
                }
            }
            copies = waiting;
            if ready.is_empty() {
                break;
            }
        }
    }

    /// Whether a target has the types that a structure embeds at another target.
    fn embeds_known(&self, (name, from, target): &(String, TargetId, TargetId)) -> bool {
        let mut held = Vec::new();
        if let Some(Body::Aggregate(aggregate)) = self.spec.definitions.get(name).map(|definition| &definition.body) {
            held_at(&aggregate.members, *from, &mut held);
        }
        held.iter().all(|name| self.spec.definitions.get(name).is_none_or(|definition| definition.scope.contains(*target)))
    }

    /// Copies definitions to builds without a table.
    fn unseen(&mut self) {
        let seen = self.seen();
        let axis = &self.spec.axis;
        let mut unseen: Vec<_> = axis.targets.ids().filter(|target| !seen.contains(target)).collect();
        unseen.sort_by_key(|&target| (axis.ranges.contains_key(&axis.targets[target].arch), target));
        for target in unseen {
            let lacks = |definition: &&mut Definition| is_new(definition) && !definition.scope.contains(target);
            for definition in self.spec.definitions.values_mut().filter(lacks) {
                let from = source(axis, target, &seen, definition);
                take(definition, from, target, None);
            }
        }
    }

    /// The targets with a table.
    fn seen(&self) -> BTreeSet<TargetId> {
        self.tables.iter().filter_map(|table| self.spec.axis.at(table.build, table.arch)).collect()
    }
}

/// Whether a definition is in no file yet.
fn is_new(definition: &Definition) -> bool {
    definition.name.span == Default::default()
}

/// Copies a definition from one target to another, with the reason why symbols cannot verify it there.
fn take(definition: &mut Definition, from: Option<TargetId>, target: TargetId, unverifiable: Option<&str>) {
    let Some(from) = from.filter(|&from| definition.scope.contains(from)) else { return };
    let place = Place::alone(target);
    place.copy(definition, from);
    definition.source.set(target, definition.source.get(from).map(|piece| piece.value));
    // The reason also applies to a build without any table.
    let known = definition.unverifiable.get(target).map(|piece| piece.value.clone()).filter(|reason| reason == NOT_IN_TABLES);
    place.set(&mut definition.unverifiable, unverifiable.map(str::to_owned).or(known));
}

/// Whether two targets have the same definition.
fn is_same(definition: &mut Definition, one: TargetId, two: TargetId) -> bool {
    let mut same = true;
    definition.layout_sets(&mut |set| same &= set.contains(one) == set.contains(two));
    same
}

/// The previous and next target of the same architecture within a set.
fn beside(axis: &Axis, within: &TargetSet, target: TargetId) -> [Option<TargetId>; 2] {
    let same = |other: &TargetId| within.contains(*other) && axis.targets[*other].arch == axis.targets[target].arch;
    let ids = axis.targets.ids();
    [ids.clone().rev().find(|other| *other < target && same(other)), ids.into_iter().find(|other| *other > target && same(other))]
}

/// The target that an unexamined target copies its layouts from. First choice is the same build on an architecture that it
/// follows. Otherwise it is the previous target, or the next one if another architecture of the same build shows the next layout
/// and not the previous one.
fn source(axis: &Axis, target: TargetId, seen: &BTreeSet<TargetId>, definition: &mut Definition) -> Option<TargetId> {
    let at = axis.targets[target];
    let of_kernel = |kernel: usize| axis.targets.ids().filter(move |&t| axis.targets[t].revision == kernel && t != target);
    let goes_with = |t: TargetId| {
        let [own, other] = [at.arch, axis.targets[t].arch];
        axis.ranges.get(&own) == Some(&other) || axis.ranges.get(&other) == Some(&own) && seen.contains(&t)
    };
    if let Some(same) = of_kernel(at.revision).find(|&t| goes_with(t)) {
        return Some(same);
    }
    let [before, after] = beside(axis, &axis.all(), target);
    let mut like = |other: Option<TargetId>| {
        let other = axis.targets[other?].revision;
        let sibling = of_kernel(at.revision).find(|t| seen.contains(t))?;
        let its = of_kernel(other).find(|&t| axis.targets[t].arch == axis.targets[sibling].arch)?;
        Some(is_same(definition, sibling, its))
    };
    let later = like(before) == Some(false) && like(after) == Some(true);
    if later { after } else { before }
}
