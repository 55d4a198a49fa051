//! The tables of an import that are new. A table with a wrong or doubtful build is refused.

use super::build_on_axis;
use crate::tables::BuildTable;
use crate::verify::Comparison;
use crate::verify::label::{self, Doubt};
use crate::{Error, Refusal, Remedy, Several, facts, registry, verify};
use etw_layouts_codegen::axis::{Arch, Build};
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_symbols::Rules;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

/// How to check a build.
const CHECK: &str = "to check the build, compare it with the file version of the kernel image (ntoskrnl.exe)";

/// The tables of an import.
pub struct Admitted {
    /// The tables with facts that no table of their build in the facts has, or with types to add.
    pub new: Vec<BuildTable>,
    /// The builds whose tables contain nothing new.
    pub known: Vec<String>,
    /// Tables whose build may be wrong.
    pub notes: Vec<String>,
}

/// Selects the new ones among the tables that were read.
///
/// # Errors
///
/// A table has a wrong build, or a doubtful one that the user has not confirmed; or it contradicts other tables of its build.
pub fn admitted(
    layouts: &Layouts,
    tables: Vec<BuildTable>,
    shipped: &[BuildTable],
    added: &[String],
    is_confirmed: bool,
) -> Result<Admitted, Error> {
    let axis = &layouts.spec.axis;
    let names = verify::names(layouts, None)?;
    let seen = registry::of(shipped);
    let reduced = |table: BuildTable| facts::reduced(BuildTable { build: build_on_axis(table.build, axis), ..table });
    let tables: Vec<_> = tables.into_iter().map(reduced).collect();
    let pdbs = registry::merged([seen.clone(), registry::of(&tables)]);
    let (mut wrong, mut notes) = (Vec::new(), Vec::new());
    for table in &tables {
        if let Some(sentence) = label::refusal(layouts, &names, &seen, &pdbs, table) {
            wrong.push(sentence.into());
        } else if let Some(doubt) = Doubt::of(layouts, table, shipped) {
            let sentence = doubt.sentence(table);
            match doubt {
                Doubt::Earlier(_) => notes.push(format!("note: {sentence}; {CHECK}")),
                _ if is_confirmed => notes.push(format!("note: {sentence}; imported, as confirmed with --new-build")),
                _ => wrong.push(Refusal::new(sentence + "; nothing was written", Remedy::NewBuild).at(&table.source).into()),
            }
        }
    }
    if !wrong.is_empty() {
        return Err(Several(wrong).into());
    }
    for (index, table) in tables.iter().enumerate() {
        // Builds of one snapshot share its types.
        let is_twin = |other: &&BuildTable| {
            (other.build, other.arch) == (table.build, table.arch) && !Arc::ptr_eq(&other.types, &table.types)
        };
        let both = tables[..index].iter().filter(is_twin).find_map(|twin| {
            let contradiction = label::contradiction((twin, &twin.types), (table, &table.types))?;
            Some((&twin.source, contradiction))
        });
        if let Some((twin, contradiction)) = both {
            let name = format!("{}-{}", table.label, table.arch);
            let source = &table.source;
            let help = "import only one";
            return Err(format!("{twin} and {source} contain different symbols of {name}: {contradiction}; {help}").into());
        }
    }
    let mut new: BTreeMap<(Build, Arch, String), BuildTable> = BTreeMap::new();
    let mut known = Vec::new();
    for table in tables {
        let name = format!("{}-{}", table.label, table.arch);
        let of_kernel: Vec<_> = shipped.iter().filter(|other| (other.build, other.arch) == (table.build, table.arch)).collect();
        if !of_kernel.is_empty() {
            let checked = verify::compared(layouts, &names, &table)?;
            let differs = |(name, found): (&String, &Comparison)| Some(format!("{name} {}", found.differences.first()?.line()));
            if let Some(line) = checked.structures.iter().find_map(differs) {
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
                let is_elsewhere = |(name, at): (&String, &u64)| twin.globals.get(name).is_some_and(|other| other != at);
                if let Some((variable, _)) = table.globals.iter().find(|global| twin.pdb == table.pdb && is_elsewhere(*global)) {
                    let (one, other) = (&twin.source, &table.source);
                    let what = format!("different addresses of {variable}");
                    return Err(format!("{one} and {other} contain different symbols of {name}: {what}; import only one").into());
                }
                twin.complete(&table);
            }
        }
    }
    Ok(Admitted { new: new.into_values().collect(), known, notes })
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
