//! Structures that no spec has, entered over the whole axis at once from every table that holds them.
//!
//! Where they change between two kernels of the axis, a row comes between. Then the tables pass over them, those that symbols state
//! whole first: the others tell less, and find the spellings there. A kernel of which no table was read has what a neighbour has, so that
//! no range is cut where nobody has looked. The files are written when all tables have passed, and so with the fewest ranges.

use super::basis::{basis, context, definitions, home};
use super::edit;
use super::enter::{ABSENT, Entering, copy, near};
use super::gaps;
use super::pass::{embedded, entered};
use super::pieces::beside;
use super::splice::Texts;
use super::tree::{Definition, Node};
use super::types::{by_value, held};
use super::write;
use crate::Error;
use crate::tables::Table;
use crate::verify::label::contradict;
use etw_layouts_codegen::axis::Axis;
use etw_layouts_codegen::spec::Spec;
use etw_layouts_symbols::Types;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Why a structure cannot be confirmed of a kernel between others that have it.
const UNTOLD: &str = "no table of these kernels holds the type";

/// The texts with structures filled in, and the tables that became rows of the axis.
///
/// # Errors
///
/// Tables that specs cannot say.
pub fn filled<'a>(
    mut texts: Texts,
    tables: &[&'a Table],
    names: &[String],
    folder: &str,
) -> Result<(Texts, Vec<&'a Table>), Error> {
    let known = definitions(&texts, &basis(&texts)?.axis)?;
    let known: Vec<&str> = known.keys().map(String::as_str).collect();
    let new = unspecified(&known, tables.iter().copied(), names);
    let mut rows = Vec::new();
    while let Some(table) = row(&basis(&texts)?.axis, tables, &new) {
        if rows.len() == tables.len() {
            return Err(format!("{}: its kernel is no row of the axis", table.source).into());
        }
        texts = entered(texts, table, || tables.iter().copied(), folder)?;
        rows.push(table);
    }
    let spec = basis(&texts)?;
    let mut fill = Fill { definitions: definitions(&texts, &spec.axis)?, spec: &spec, texts, tables };
    // Of one kernel, the table that tells most comes first.
    let told = |table: &Table| new.iter().filter(|name| table.types.contains_key(*name)).count();
    let rank = |table: &&Table| (table.is_converted(), table.build, table.arch, Reverse(told(table)));
    let mut order = tables.to_vec();
    order.sort_by_key(rank);
    for table in order {
        fill.table(table, &new)?;
    }
    fill.untold(names);
    fill.unseen();
    for definition in fill.definitions.values().filter(|definition| definition.path.is_empty()) {
        let Some(target) = definition.root.stated.iter().next() else { continue };
        let (path, word) = home(definition, folder);
        fill.texts.insert(path, write::fresh(&context(&spec, target, definition), definition, word));
    }
    Ok((fill.texts, rows))
}

/// Those of some structures, and of what they embed in any table, that no spec has.
pub fn unspecified<'a>(known: &[&str], tables: impl Iterator<Item = &'a Table> + Clone, names: &[String]) -> BTreeSet<String> {
    let (mut new, mut pending) = (BTreeSet::new(), names.to_vec());
    while let Some(name) = pending.pop() {
        if !known.contains(&name.as_str()) && !new.contains(&name) {
            tables.clone().filter_map(|table| table.types.get(&name)).for_each(|facts| pending.extend(by_value(facts)));
            new.insert(name);
        }
    }
    new
}

/// The first table that has some structures otherwise than an earlier one that has the same row of the axis.
fn row<'a>(axis: &Axis, tables: &[&'a Table], names: &BTreeSet<String>) -> Option<&'a Table> {
    let mut sorted = tables.to_vec();
    sorted.sort_by_key(|table| (table.arch, table.build));
    let mut of_row: BTreeMap<usize, Vec<(&Table, Types)>> = BTreeMap::new();
    for table in sorted {
        let Some(row) = axis.at(table.build, table.arch) else { continue };
        let row = of_row.entry(row).or_default();
        let own: Types = names.iter().filter_map(|n| Some((n.clone(), table.types.get(n)?.clone()))).collect();
        let differs = |(other, types): &(&Table, Types)| other.build < table.build && contradict((other, types), (table, &own));
        if row.iter().any(differs) {
            return Some(table);
        }
        row.push((table, own));
    }
    None
}

/// The definitions on their way through the tables.
struct Fill<'a> {
    spec: &'a Spec,
    tables: &'a [&'a Table],
    texts: Texts,
    definitions: BTreeMap<String, Definition>,
}

impl Fill<'_> {
    /// Enters what a table holds and its kernel does not have yet.
    fn table(&mut self, table: &Table, names: &BTreeSet<String>) -> Result<(), Error> {
        let axis = &self.spec.axis;
        let target = axis.at(table.build, table.arch).ok_or("the kernel is not on the axis")?;
        let embedded = embedded(table, self.tables.iter().copied());
        let definitions = std::mem::take(&mut self.definitions);
        let mut entering = Entering { spec: self.spec, target, again: false, table, embedded: &embedded, definitions };
        let named = |error: String| format!("{}, {}-{}: {error}", table.source, table.label, table.arch);
        let held = entering.fill(names).map_err(named)?.held;
        self.definitions = entering.definitions;
        self.embedded(&held, target);
        gaps::explain(self.spec, target, &table.types, &held, &mut self.definitions);
        for name in held {
            let Some(definition) = self.definitions.get_mut(&name) else { continue };
            if definition.path.is_empty() {
                definition.root = definition.root.kept(target);
                continue;
            }
            let text = edit::edited(&context(self.spec, target, definition), definition);
            if let Some(read) = Definition::read(&definition.path, &text, axis)? {
                self.texts.insert(definition.path.clone(), text);
                *definition = read;
            }
        }
        Ok(())
    }

    /// Gives a kernel what the nearest has of what some structures embed and no table of it holds: no symbols can confirm it there.
    fn embedded(&mut self, entered: &BTreeSet<String>, target: usize) {
        let axis = &self.spec.axis;
        let is_new = |definition: &&mut Definition| definition.path.is_empty() && !definition.root.active(target);
        let mut pending: Vec<String> = entered.iter().cloned().collect();
        while let Some(name) = pending.pop() {
            let Some(root) = self.definitions.get(&name).map(|definition| &definition.root) else { continue };
            let mut lacking = Vec::new();
            root.walk(&mut |node| {
                let now = node.now.as_ref().and_then(|now| now.ty.as_deref());
                lacking.extend(now.or_else(|| node.type_at(target)).and_then(held).filter(|name| !entered.contains(name)));
            });
            for name in lacking {
                let holds = |table: &&Table| axis.at(table.build, table.arch) == Some(target) && table.types.contains_key(&name);
                let told = self.tables.iter().any(holds);
                let Some(definition) = self.definitions.get_mut(&name).filter(is_new).filter(|_| !told) else { continue };
                definition.take(near(axis, target).into_iter().find(|&t| definition.root.active(t)), target, Some(ABSENT));
                pending.push(name);
            }
        }
    }

    /// Gives a kernel that has a structure by no table what those before and after it have, if it is the same: not of those asked for by
    /// `names`, but of those that these embed. A table may be reduced, and lack what nothing in it embeds.
    fn untold(&mut self, names: &[String]) {
        let (axis, seen) = (&self.spec.axis, self.seen());
        let is_embedded = |definition: &&mut Definition| definition.path.is_empty() && !names.contains(&definition.root.name);
        for definition in self.definitions.values_mut().filter(is_embedded) {
            let stated = definition.root.stated.clone();
            for target in (0..axis.targets.len()).filter(|target| !stated.contains(*target)) {
                if let [Some(before), Some(after)] = beside(axis, &stated, target)
                    && definition.root.is_alike(before, after)
                {
                    definition.take(Some(before), target, Some(UNTOLD).filter(|_| seen.contains(&target)));
                }
            }
        }
    }

    /// Gives kernels of which no table was read what others have.
    fn unseen(&mut self) {
        let (axis, seen) = (&self.spec.axis, self.seen());
        let mut unseen: Vec<usize> = (0..axis.targets.len()).filter(|target| !seen.contains(target)).collect();
        unseen.sort_by_key(|&target| (axis.follows.contains_key(&axis.targets[target].arch), target));
        for target in unseen {
            let lacks = |definition: &&mut Definition| definition.path.is_empty() && !definition.root.active(target);
            for definition in self.definitions.values_mut().filter(lacks) {
                let from = source(axis, target, &seen, &definition.root);
                definition.take(from, target, None);
            }
        }
    }

    /// The targets of which a table was read.
    fn seen(&self) -> BTreeSet<usize> {
        self.tables.iter().filter_map(|table| self.spec.axis.at(table.build, table.arch)).collect()
    }
}

impl Definition {
    /// Gives a target what another has, and why no symbols can confirm it there.
    fn take(&mut self, from: Option<usize>, target: usize, unverifiable: Option<&str>) {
        let Some(from) = from.filter(|&from| self.root.active(from)) else { return };
        copy(&mut self.root, from);
        if let Some(now) = &mut self.root.now {
            // That no table holds it is so of a kernel without any table too.
            now.unverifiable = unverifiable.map(str::to_owned).or(now.unverifiable.take().filter(|reason| reason == UNTOLD));
        }
        self.root = self.root.kept(target);
    }
}

/// The target whose layouts a structure has at one that nobody has seen: that of an architecture that goes with this one, else the one
/// before, or the one after if the same kernel has it so on another architecture and the one before has not.
fn source(axis: &Axis, target: usize, seen: &BTreeSet<usize>, root: &Node) -> Option<usize> {
    let at = axis.targets[target];
    let of_kernel = |kernel: usize| (0..axis.targets.len()).filter(move |&t| axis.targets[t].kernel == kernel && t != target);
    let goes_with = |t: usize| {
        let [own, other] = [at.arch, axis.targets[t].arch];
        axis.follows.get(&own) == Some(&other) || axis.follows.get(&other) == Some(&own) && seen.contains(&t)
    };
    if let Some(same) = of_kernel(at.kernel).find(|&t| goes_with(t)) {
        return Some(same);
    }
    let [before, after] = beside(axis, &axis.all(), target);
    let like = |other: Option<usize>| {
        let other = axis.targets[other?].kernel;
        let sibling = of_kernel(at.kernel).find(|t| seen.contains(t))?;
        let its = of_kernel(other).find(|&t| axis.targets[t].arch == axis.targets[sibling].arch)?;
        Some(root.is_alike(sibling, its))
    };
    let later = like(before) == Some(false) && like(after) == Some(true);
    if later { after } else { before }
}
