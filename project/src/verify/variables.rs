//! Verification of the addresses of global variables in a table against the facts of the same PDB and against the specs.
//!
//! An address applies to one PDB, so addresses of different PDBs are never compared. Addresses in a table of images, which names
//! no PDB, are compared with the PDBs of the same image, or of the same build and architecture if the table names no image
//! either. Several images can share these, so one PDB with the same address is enough.

use super::mismatch::{Mismatch, MismatchKind};
use crate::evidence::by_pdb;
use crate::tables::BuildTable;
use etw_layouts_codegen::axis::TargetId;
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::registry::{ExaminedBuild, Registry};
use serde::Serialize;

/// The comparison of the global variables of a table.
#[derive(Default, Serialize)]
pub struct Variables {
    /// Number of variables of the specs whose address is in the table.
    pub stated: usize,
    /// Number of these addresses that the facts of the same PDB confirm; 0 if the table itself is these facts.
    pub equal: usize,
    /// The differences.
    pub differences: Vec<Mismatch>,
}

impl Variables {
    /// The variables of a table that is verified against a target.
    pub fn of(layouts: &Layouts, facts: Option<&Registry>, table: &BuildTable, target: TargetId) -> Self {
        let spec = &layouts.spec;
        let own: Vec<&ExaminedBuild> = match (facts, &table.pdb) {
            (Some(facts), Some(pdb)) => by_pdb(facts, pdb.guid, pdb.age).into_iter().collect(),
            (Some(facts), None) => of_image(layouts, facts, table),
            (None, _) => Vec::new(),
        };
        let kind = if table.pdb.is_some() { MismatchKind::Address } else { MismatchKind::ImageAddress };
        let mut compared = Self::default();
        for (name, &at) in &table.globals {
            let Some(global) = spec.globals.get(name) else { continue };
            compared.stated += 1;
            let differs = |kind: MismatchKind, spec: String, place: Option<String>| Mismatch {
                member: name.clone(),
                kind,
                spec,
                symbols: format!("{at:#x}"),
                place,
            };
            if !global.scope.contains(target) {
                let (label, place) = (spec.axis.target_name(target), spec.sources.place(global.name.span));
                compared.differences.push(differs(MismatchKind::Variable, format!("that {label} has none"), Some(place)));
            }
            let known: Vec<_> = own.iter().filter_map(|seen| seen.globals.get(name)).collect();
            match known.first() {
                None => {}
                Some(_) if known.contains(&&at) => compared.equal += 1,
                Some(first) => compared.differences.push(differs(kind, format!("{first:#x}"), None)),
            }
        }
        compared
    }
}

/// The builds with a known PDB that can be the build of an image.
fn of_image<'a>(layouts: &Layouts, facts: &'a Registry, table: &BuildTable) -> Vec<&'a ExaminedBuild> {
    let axis = &layouts.spec.axis;
    let build = axis.canonical(table.build);
    let is_other = |seen: &ExaminedBuild| match (&table.image, &seen.image) {
        (Some(own), Some(image)) => (own.time_stamp, own.size) != (image.time_stamp, image.size),
        _ => false,
    };
    let may_be = |seen: &&ExaminedBuild| {
        seen.pdb.is_some() && seen.arch == table.arch && axis.canonical(seen.build) == build && !is_other(seen)
    };
    if table.globals.is_empty() { Vec::new() } else { facts.builds.iter().filter(may_be).collect() }
}
