//! The list of structures, enumerations and sets of macros.

use super::pattern::Pattern;
use crate::object::object;
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
use std::collections::{BTreeMap, HashMap};

/// A structure, enumeration or set of macros.
pub struct Structure<'a> {
    name: &'a str,
    kind: &'static str,
    /// The versions in which it exists.
    scope: &'a TargetSet,
    /// Sizes in bytes, each with the selected targets that have it.
    sizes: BTreeMap<u64, TargetSet>,
    doc: &'a str,
}

/// The structures with matching names that exist at the chosen target or, without one, at any target of the architecture.
pub fn list<'a>(layouts: &'a Layouts, choice: Option<&Choice>, arch: Option<Arch>, pattern: Pattern) -> Vec<Structure<'a>> {
    let axis = &layouts.spec.axis;
    let mut wanted = axis.filter(|target| arch.is_none_or(|arch| arch == target.arch));
    if let Some(choice) = choice {
        wanted = wanted.intersection(&[choice.target()].into_iter().collect());
    }
    let structure = |name: &'a str| {
        let newest = has(layouts, name).intersection(&wanted).iter().last()?;
        let mut sizes: BTreeMap<u64, TargetSet> = BTreeMap::new();
        for layout in layouts.of(name) {
            let targets = layout.targets.intersection(&wanted);
            if !targets.is_empty() {
                let same = sizes.entry(layout.extent().size).or_default();
                *same = same.union(&targets);
            }
        }
        let definition = layouts.spec.definitions.get(name)?;
        Some(Structure { name, kind: kind(layouts, name, newest), scope: &definition.scope, sizes, doc: &definition.doc })
    };
    let names = layouts.spec.definitions.keys().map(String::as_str);
    names.filter(|name| pattern.matches(name)).filter_map(structure).collect()
}

/// The list for JSON.
pub fn json<'a>(layouts: &'a Layouts, confirmed: &Confirmed, list: &'a [Structure]) -> Vec<impl Serialize + use<'a>> {
    let mut described = HashMap::new();
    let mut describe = |set: &TargetSet| described.entry(set.clone()).or_insert_with(|| layouts.spec.axis.describe(set)).clone();
    let one = |structure: &'a Structure| {
        let size = |(size, targets)| object! { size: size, r#in: describe(targets) };
        let sizes: Vec<_> = structure.sizes.iter().map(size).collect();
        object! {
            name: structure.name,
            kind: structure.kind,
            // The versions in which it exists, as a range.
            r#in: describe(structure.scope),
            sizes: sizes,
            // The versions in which symbol data verifies it.
            verified_in: describe(&confirmed_in(layouts, confirmed, structure.name)),
            doc: structure.doc,
        }
    };
    list.iter().map(one).collect()
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
    let mut words = HashMap::new();
    let row = |structure: &Structure| {
        let sizes = [structure.sizes.first_key_value(), structure.sizes.last_key_value()];
        let [first, last] = sizes.map(|size| size.map_or(0, |(size, _)| *size));
        let size = if first == last { format!("{first:#x}") } else { format!("{first:#x}-{last:#x}") };
        let summary = structure.doc.split_inclusive(". ").next().unwrap_or_default().trim_end().to_owned();
        let versions = words.entry(structure.scope.clone()).or_insert_with(|| axis.words(structure.scope)).clone();
        let cells = vec![structure.name.to_owned(), structure.kind.to_owned(), size, versions, summary];
        Row { style: Style::new(), cells }
    };
    let rows: Vec<_> = list.iter().map(row).collect();
    out + &aligned(&[&text_table::counted(list.len(), "name"), "kind", "size", "versions"], &rows, width)
}
