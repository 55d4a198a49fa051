//! The tables of an import that are new. A table with a wrong or doubtful build is refused.

use super::kernel_of;
use crate::tables::BuildTable;
use crate::verify::label;
use crate::{Error, facts, registry, verify};
use etw_layouts_codegen::axis::{Arch, Build};
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_symbols::Rules;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The tables with facts that no built-in table of their build has, or with types to add.
pub fn new_tables(
    layouts: &Layouts,
    tables: Vec<BuildTable>,
    shipped: &[BuildTable],
    added: &[String],
    known: &mut Vec<String>,
) -> Result<Vec<BuildTable>, Error> {
    let axis = &layouts.spec.axis;
    let names = verify::names(layouts, None)?;
    let seen = registry::of(shipped);
    let reduced = |table: BuildTable| facts::reduced(BuildTable { build: kernel_of(table.build, axis), ..table });
    let tables: Vec<_> = tables.into_iter().map(reduced).collect();
    let pdbs = registry::merged([seen.clone(), registry::of(&tables)]);
    let mut new: BTreeMap<(Build, Arch, String), BuildTable> = BTreeMap::new();
    let mut wrong = Vec::new();
    for table in tables {
        let name = format!("{}-{}", table.label, table.arch);
        if let Some(sentence) = label::refusal(layouts, &names, &seen, &pdbs, &table) {
            wrong.push(sentence);
            continue;
        }
        let of_kernel: Vec<_> = shipped.iter().filter(|other| (other.build, other.arch) == (table.build, table.arch)).collect();
        if !of_kernel.is_empty() {
            let checked = verify::compared(layouts, &names, &table)?;
            if let Some(mismatch) = checked.structures.values().flat_map(|standing| &standing.differences).next() {
                let line = mismatch.line();
                let source = &table.source;
                let help = "name another build; or correct the specs first, if they are wrong";
                return Err(format!("{source}: contradicts earlier symbols of {name}: {line}; {help}").into());
            }
        }
        let target = axis.at(table.build, table.arch);
        let placed = target.map(|target| verify::Variables::of(layouts, Some(&seen), &table, target));
        if let Some(mismatch) = placed.as_ref().and_then(|placed| placed.differences.first()) {
            let help = "one of the tables of this PDB is wrong: correct its facts, or remove it";
            return Err(format!("{}: {}; {help}", table.source, mismatch.line()).into());
        }
        let lacks =
            |name: &String| table.types.contains_key(name) && target.is_none_or(|target| layouts.get(target, name).is_none());
        if !names.is_empty() && of_kernel.iter().any(|other| contains_all(other, &table, &names)) && !added.iter().any(lacks) {
            known.push(name);
            continue;
        }
        match new.entry((table.build, table.arch, table.producer.clone())) {
            Entry::Vacant(entry) => {
                let table = entry.insert(table);
                let same = |old: &&&BuildTable| (&old.producer, &old.pdb) == (&table.producer, &table.pdb);
                if let Some(old) = of_kernel.iter().find(same) {
                    table.complete(old);
                }
            }
            Entry::Occupied(mut entry) => {
                let twin = entry.get_mut();
                let types = table.types.iter().any(|(name, facts)| twin.types.get(name).is_some_and(|other| other != facts));
                let is_elsewhere = |(name, at): (&String, &u64)| twin.globals.get(name).is_some_and(|other| other != at);
                if types || twin.pdb == table.pdb && table.globals.iter().any(is_elsewhere) {
                    return Err(format!(
                        "{} and {} contain different symbols of {name}; import only one",
                        twin.source, table.source
                    )
                    .into());
                }
                twin.complete(&table);
            }
        }
    }
    match wrong.is_empty() {
        true => Ok(new.into_values().collect()),
        false => Err(wrong.join("\nerror: ").into()),
    }
}

/// Whether a table contains all facts of another one, and all of its types with the given names.
fn contains_all(known: &BuildTable, new: &BuildTable, names: &[&str]) -> bool {
    let converted = |table: &BuildTable| Rules::for_producer(&table.producer) == Rules::Converted;
    let faithful = !converted(known) || converted(new);
    let named = (known.pdb.is_some() || new.pdb.is_none()) && (known.image.is_some() || new.image.is_none());
    let more = |name: &&&str| new.types.contains_key(**name) && !known.types.contains_key(**name);
    let placed = known.pdb == new.pdb && new.globals.keys().all(|name| known.globals.contains_key(name));
    faithful && named && (placed || new.globals.is_empty()) && !names.iter().any(|name| more(&name))
}
