//! Where a table says that global variables are, held against the facts of the same program database and against what the specs say of
//! the variables.
//!
//! An address is a fact of one program database alone: no two can be held against each other.

use super::found::{ADDRESS, Finding};
use crate::evidence::by_pdb;
use crate::tables::Table;
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::registry::Registry;
use serde::Serialize;

/// How the global variables of a table compare.
#[derive(Default, Serialize)]
pub struct Variables {
    /// Of how many variables of the specs the table tells the address.
    pub stated: usize,
    /// Of how many the facts tell the same, of the same program database. Where the facts are what is held, they are no witness: of none.
    pub equal: usize,
    /// What differs.
    pub differences: Vec<Finding>,
}

impl Variables {
    /// Those of a table, which is held against the layouts of a target.
    pub fn of(layouts: &Layouts, facts: Option<&Registry>, table: &Table, target: usize) -> Self {
        let spec = &layouts.spec;
        let own = table.pdb.as_ref().and_then(|pdb| by_pdb(facts?, pdb.guid, pdb.age));
        let mut compared = Self::default();
        for (name, &at) in &table.globals {
            let Some(global) = spec.globals.get(name) else { continue };
            compared.stated += 1;
            let differs = |what: &str, spec: String, place: Option<String>| Finding {
                member: name.clone(),
                what: what.into(),
                spec,
                symbols: format!("{at:#x}"),
                place,
            };
            if !global.scope.contains(target) {
                let (label, place) = (spec.axis.target_name(target), spec.sources.place(global.name.span));
                compared.differences.push(differs("variable", format!("that {label} has none"), Some(place)));
            }
            match own.and_then(|seen| seen.globals.get(name)) {
                Some(known) if *known == at => compared.equal += 1,
                Some(known) => compared.differences.push(differs(ADDRESS, format!("{known:#x}"), None)),
                None => {}
            }
        }
        compared
    }
}
