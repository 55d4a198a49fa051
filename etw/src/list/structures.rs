//! The list of structures, enumerations and sets of macros.

use super::pattern::Pattern;
use crate::print::HEADING;
use crate::show::{by_confidence, confirmed_in, counted, kind};
use crate::target::named;
use crate::text_table::{self, Row, aligned, paragraph};
use anstyle::Style;
use etw_layouts_codegen::axis::{Arch, TargetSet};
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::registry::Registry;
use etw_layouts_project::Choice;
use etw_layouts_project::evidence::Confirmed;
use etw_layouts_project::history::has;
use serde::Serialize;
use std::collections::BTreeMap;

/// A structure, enumeration or set of macros.
#[derive(Serialize)]
pub struct Structure<'a> {
    name: &'a str,
    kind: &'static str,
    /// The versions in which it exists, as a range.
    r#in: String,
    /// The same in words.
    #[serde(skip)]
    versions: String,
    sizes: Vec<Size>,
    /// The versions in which symbol data verifies it.
    verified_in: String,
    doc: &'a str,
}

#[derive(Serialize)]
struct Size {
    /// Bytes.
    size: u64,
    r#in: String,
}

/// The structures with matching names that exist at the chosen target or, without one, at any target of the architecture.
pub fn list<'a>(
    layouts: &'a Layouts,
    confirmed: &Confirmed,
    choice: Option<&Choice>,
    arch: Option<Arch>,
    pattern: Pattern,
) -> Vec<Structure<'a>> {
    let axis = &layouts.spec.axis;
    let wanted = axis.filter(|target| arch.is_none_or(|arch| arch == target.arch));
    let structure = |name: &'a str| {
        let mut targets = has(layouts, name).intersection(&wanted);
        if let Some(choice) = choice {
            let mut one = TargetSet::default();
            one.insert(choice.target());
            targets = targets.intersection(&one);
        }
        let newest = targets.iter().last()?;
        let mut sizes: BTreeMap<u64, TargetSet> = BTreeMap::new();
        for target in targets.iter() {
            let size = layouts.get(target, name).map(|layout| layout.extent().size).unwrap_or_default();
            sizes.entry(size).or_default().insert(target);
        }
        let definition = layouts.spec.definitions.get(name)?;
        Some(Structure {
            name,
            kind: kind(layouts, name, newest),
            r#in: axis.describe(&definition.scope),
            versions: axis.words(&definition.scope),
            sizes: sizes.into_iter().map(|(size, targets)| Size { size, r#in: axis.describe(&targets) }).collect(),
            verified_in: axis.describe(&confirmed_in(layouts, confirmed, name)),
            doc: &definition.doc,
        })
    };
    let names = layouts.spec.definitions.keys().map(String::as_str);
    names.filter(|name| pattern.matches(name)).filter_map(structure).collect()
}

/// The list as text.
pub fn text(layouts: &Layouts, registry: &Registry, choice: Option<&Choice>, list: &[Structure], width: Option<usize>) -> String {
    let axis = &layouts.spec.axis;
    let mut out = String::new();
    if let Some(choice) = choice {
        out = choice.note(axis).map_or(out, |note| paragraph(&note, width, ""));
        out += &format!("{HEADING}In {}{HEADING:#}\n", named(axis, choice, &choice.label(axis)));
        if !choice.is_stand_in(axis) {
            let counts = counted(&by_confidence(layouts, registry, choice));
            out += &paragraph(&format!("Layouts of this build: {counts}."), width, "");
        }
    }
    let row = |structure: &Structure| {
        let [first, last] = [structure.sizes.first(), structure.sizes.last()].map(|size| size.map_or(0, |size| size.size));
        let size = if first == last { format!("{first:#x}") } else { format!("{first:#x}-{last:#x}") };
        let summary = structure.doc.split_inclusive(". ").next().unwrap_or_default().trim_end().to_owned();
        let cells = vec![structure.name.to_owned(), structure.kind.to_owned(), size, structure.versions.clone(), summary];
        Row { style: Style::new(), cells }
    };
    let rows: Vec<_> = list.iter().map(row).collect();
    out + &aligned(&[&text_table::counted(list.len(), "name"), "kind", "size", "versions"], &rows, width)
}
