//! The registry of examined builds, from the facts.

use crate::tables::BuildTable;
use etw_layouts_codegen::registry::{Image, Pdb, Registry, Seen, Witness, WitnessKind};
use etw_layouts_symbols::{self as symbols, Rules};
use std::collections::BTreeMap;

/// The builds of some tables. Tables of one file are one set of facts.
pub fn of(tables: &[BuildTable]) -> Registry {
    let mut registry = Registry::default();
    for of_file in tables.chunk_by(|one, other| one.source == other.source) {
        let witness = registry.witnesses.len();
        registry.witnesses.extend(of_file.first().map(self::witness));
        registry.kernels.extend(of_file.iter().map(|table| seen(table, witness)));
    }
    sorted(registry)
}

/// Merges several registries.
pub fn merged(parts: impl IntoIterator<Item = Registry>) -> Registry {
    let mut all = Registry::default();
    for Registry { kernels, witnesses } in parts {
        let first = all.witnesses.len();
        all.kernels.extend(kernels.into_iter().map(|seen| Seen { witness: first + seen.witness, ..seen }));
        all.witnesses.extend(witnesses);
    }
    sorted(all)
}

fn sorted(mut registry: Registry) -> Registry {
    registry.kernels.sort_by_key(|seen| (seen.build, seen.arch, seen.witness));
    registry
}

fn witness(table: &BuildTable) -> Witness {
    let name = table.source.rsplit(['/', '\\']).next().unwrap_or_default();
    let kind = match Rules::for_producer(&table.producer) {
        _ if table.is_partial() => WitnessKind::Images,
        Rules::Faithful => WitnessKind::Symbols,
        Rules::Converted => WitnessKind::Converted,
    };
    let members =
        |(structure, members): (&String, &BTreeMap<String, u64>)| (structure.clone(), members.keys().cloned().collect());
    let shows = table.offsets.iter().map(members).collect();
    Witness { name: name.to_owned(), kind, holds: table.holds().cloned().collect(), shows }
}

fn seen(table: &BuildTable, witness: usize) -> Seen {
    let pdb = |pdb: &symbols::Pdb| Pdb { name: pdb.name.clone(), guid: pdb.guid, age: pdb.age };
    let image = |image: &symbols::ImageFile| Image { name: image.name.clone(), time_stamp: image.time_stamp, size: image.size };
    let (pdb, image) = (table.pdb.as_ref().map(pdb), table.image.as_ref().map(image));
    Seen { build: table.build, arch: table.arch, pdb, image, globals: table.globals.clone(), witness }
}
