//! The global variables that the specs describe.

use super::pattern::Pattern;
use crate::text_table::{Row, aligned, counted};
use anstyle::Style;
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::registry::Registry;
use serde::Serialize;
use std::collections::BTreeSet;

/// A global variable.
#[derive(Serialize)]
pub struct Global<'a> {
    name: &'a str,
    /// The builds that can have it, as ranges.
    versions: String,
    /// The same in words.
    #[serde(skip)]
    in_words: String,
    /// The number of PDBs that contain its address.
    pdbs: usize,
    /// The number of builds whose address comes from a table of kernel images that contains only build and architecture.
    builds_in_image_tables: usize,
    doc: String,
}

/// The variables with matching names.
pub fn list<'a>(layouts: &'a Layouts, registry: &Registry, pattern: Pattern) -> Vec<Global<'a>> {
    let global = |name: &'a str| {
        let global = &layouts.spec.globals[name];
        let placed = || registry.builds.iter().filter(|seen| seen.globals.contains_key(name));
        let files: BTreeSet<_> = placed().filter_map(|seen| seen.pdb.as_ref()).map(|pdb| (pdb.guid, pdb.age)).collect();
        let by_build = placed().filter(|seen| seen.pdb.is_none() && seen.image.is_none());
        Global {
            name,
            versions: layouts.spec.axis.describe(&global.scope),
            in_words: layouts.spec.axis.words(&global.scope),
            pdbs: files.len(),
            builds_in_image_tables: by_build.map(|seen| (seen.build, seen.arch)).collect::<BTreeSet<_>>().len(),
            doc: global.doc.split_whitespace().collect::<Vec<_>>().join(" "),
        }
    };
    layouts.spec.globals.keys().filter(|name| pattern.matches(name)).map(|name| global(name)).collect()
}

/// The list as text.
pub fn text(list: &[Global], width: Option<usize>) -> String {
    let row = |global: &Global| Row {
        style: Style::new(),
        cells: vec![
            global.name.to_owned(),
            global.in_words.clone(),
            global.pdbs.to_string(),
            global.builds_in_image_tables.to_string(),
            global.doc.clone(),
        ],
    };
    let rows: Vec<_> = list.iter().map(row).collect();
    aligned(&[&counted(list.len(), "variable"), "versions", "PDBs", "image tables", "description"], &rows, width)
}
