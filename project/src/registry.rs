//! The registry of examined builds, from the facts.

use crate::tables::BuildTable;
use etw_layouts_codegen::registry::{ExaminedBuild, FactsFile, FactsKind, Image, Pdb, Registry};
use etw_layouts_symbols::{self as symbols, Rules};
use std::collections::BTreeMap;

/// The builds of some tables. Tables of one file are one set of facts.
pub fn of(tables: &[BuildTable]) -> Registry {
    let mut registry = Registry::default();
    for of_file in tables.chunk_by(|one, other| one.source == other.source) {
        let facts_file = registry.facts_files.len();
        registry.facts_files.extend(of_file.first().map(self::facts_file));
        registry.builds.extend(of_file.iter().map(|table| seen(table, facts_file)));
    }
    sorted(registry)
}

/// Merges several registries.
pub fn merged(parts: impl IntoIterator<Item = Registry>) -> Registry {
    let mut all = Registry::default();
    for Registry { builds, facts_files } in parts {
        let first = all.facts_files.len();
        all.builds.extend(builds.into_iter().map(|seen| ExaminedBuild { facts_file: first + seen.facts_file, ..seen }));
        all.facts_files.extend(facts_files);
    }
    sorted(all)
}

fn sorted(mut registry: Registry) -> Registry {
    registry.builds.sort_by_key(|seen| (seen.build, seen.arch, seen.facts_file));
    registry
}

fn facts_file(table: &BuildTable) -> FactsFile {
    let name = table.source.rsplit(['/', '\\']).next().unwrap_or_default();
    let kind = match Rules::for_producer(&table.producer) {
        _ if table.is_partial() => FactsKind::Images,
        Rules::Faithful => FactsKind::Symbols,
        Rules::Converted => FactsKind::Converted,
    };
    let members =
        |(structure, members): (&String, &BTreeMap<String, u64>)| (structure.clone(), members.keys().cloned().collect());
    let shows = table.offsets.iter().map(members).collect();
    FactsFile { name: name.to_owned(), kind, holds: table.holds().cloned().collect(), shows }
}

fn seen(table: &BuildTable, facts_file: usize) -> ExaminedBuild {
    let pdb = |pdb: &symbols::Pdb| Pdb { name: pdb.name.clone(), guid: pdb.guid, age: pdb.age };
    let image = |image: &symbols::ImageFile| Image { name: image.name.clone(), time_stamp: image.time_stamp, size: image.size };
    let (pdb, image) = (table.pdb.as_ref().map(pdb), table.image.as_ref().map(image));
    ExaminedBuild { build: table.build, arch: table.arch, pdb, image, globals: table.globals.clone(), facts_file }
}
