//! Changes of specs by images: a layout whose complete symbols are from a later update begins at the first image that shows it.
//!
//! Images contain no complete structure. A border is added as an assumed table: structures with image offsets have the layouts of
//! the following row, all others those of the previous row.

use super::build_on_axis;
use super::first_image::{before, first_image};
use super::place::Place;
use super::types::by_value;
use crate::Error;
use crate::tables::BuildTable;
use crate::verify::{ours, partly};
use etw_layouts_codegen::axis::{Arch, Axis, Build, TargetId};
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::registry::Registry;
use etw_layouts_codegen::resolve;
use etw_layouts_symbols::{Types, compare_offsets};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A layout change dated by images.
pub struct Border {
    /// The first build.
    pub build: Build,
    /// Its architecture.
    pub arch: Arch,
    /// Structures with the offsets of the following row in the image of this build and in all later ones.
    pub shown: Vec<String>,
    /// Structures that change in the same row, if no image contradicts that they changed together.
    pub along: Vec<String>,
}

/// The images of an import.
pub struct Images {
    /// The shipped images, combined with new facts, and the new images.
    pub all: Vec<BuildTable>,
    /// Images with new facts.
    pub new: Vec<BuildTable>,
}

impl Images {
    /// The shipped images, and those that were read.
    pub fn of(axis: &Axis, shipped: Vec<BuildTable>, read: Vec<BuildTable>) -> Self {
        let key = |table: &BuildTable| {
            let image = table.image.as_ref().map(|image| (image.name.clone(), image.time_stamp, image.size));
            (build_on_axis(table.build, axis), table.arch, image)
        };
        let mut all: BTreeMap<_, BuildTable> = shipped.into_iter().map(|table| (key(&table), table)).collect();
        let mut new = BTreeMap::new();
        for table in read {
            let key = key(&table);
            let known = all.get(&key);
            let mut offsets = known.map(|known| (*known.offsets).clone()).unwrap_or_default();
            let mut globals = known.map(|known| known.globals.clone()).unwrap_or_default();
            globals.extend(table.globals.clone());
            for (structure, members) in table.offsets.iter() {
                offsets.entry(structure.clone()).or_default().extend(members.clone());
            }
            if known.is_none_or(|known| *known.offsets != offsets || known.globals != globals) {
                let table = BuildTable { offsets: Arc::new(offsets), globals, ..table };
                all.insert(key.clone(), table.clone());
                new.insert(key, table);
            }
        }
        Self { all: all.into_values().collect(), new: new.into_values().collect() }
    }

    /// The borders that the images show and the specs lack, each with its table.
    ///
    /// # Errors
    ///
    /// The layouts before and after a border cannot be combined.
    pub fn borders(&self, layouts: &Layouts, names: &[&str]) -> Result<Vec<(Border, BuildTable)>, Error> {
        let rows = layouts.spec.axis.targets.ids();
        let of_rows: Vec<_> = rows.map(|row| self.borders_of(layouts, names, row)).collect::<Result<_, _>>()?;
        Ok(of_rows.into_iter().flatten().collect())
    }

    /// The borders for the layouts of a row.
    fn borders_of(&self, layouts: &Layouts, names: &[&str], row: TargetId) -> Result<Vec<(Border, BuildTable)>, Error> {
        let axis = &layouts.spec.axis;
        let Some(before) = before(axis, row) else { return Ok(Vec::new()) };
        let arch = axis.targets[row].arch;
        let of = |target: TargetId| axis.revision_of(target).build;
        let between = of(before)..of(row);
        let is_between = |image: &&BuildTable| image.arch == arch && between.contains(&build_on_axis(image.build, axis));
        let images: Vec<BuildTable> = self.all.iter().filter(is_between).cloned().collect();
        let stated: BTreeSet<&str> = images.iter().flat_map(BuildTable::holds).map(String::as_str).collect();
        let first = stated.iter().filter_map(|&name| Some((name, first_image(layouts, &images, [before, row], name)?)));
        let first: BTreeMap<&str, Build> = first.collect();
        let borders: BTreeSet<Build> = first.values().copied().collect();
        let [old, new] = [before, row].map(|target| verifiable(layouts, target, names));
        let table = |border: Build| {
            let moves = |name: &&str| match first.get(*name) {
                Some(begins) => *begins <= border,
                // Images that do not distinguish the two layouts do not contradict a common change.
                None => allowed(axis, &new, border, &images, name),
            };
            let mut moved = BTreeSet::new();
            let (mut shown, mut along) = (Vec::new(), Vec::new());
            let mut pending: Vec<String> = stated.iter().copied().filter(moves).map(str::to_owned).collect();
            while let Some(name) = pending.pop() {
                let Some(facts) = new.get(&name).filter(|facts| old.get(&name) != Some(*facts)) else { continue };
                if moved.insert(name.clone()) {
                    pending.extend(by_value(facts));
                    if first.contains_key(name.as_str()) { shown.push(name) } else { along.push(name) }
                }
            }
            let types = combined(layouts, [before, row], names, &moved)?;
            let table = BuildTable {
                source: "images".to_owned(),
                producer: etw_layouts_symbols::images::PRODUCER.to_owned(),
                build: border,
                label: border.to_string(),
                arch,
                pdb: None,
                image: None,
                types: Arc::new(types),
                offsets: Arc::default(),
                globals: BTreeMap::new(),
            };
            Ok((Border { build: border, arch, shown, along }, table))
        };
        borders.into_iter().map(table).collect()
    }

    /// Verifies the new images against the layouts and against the PDBs of the facts.
    ///
    /// # Errors
    ///
    /// An image has other offsets or addresses; the error names the first one.
    pub fn verified(&self, layouts: &Layouts, names: &[&str], facts: &Registry) -> Result<(), Error> {
        let checked = partly::compared(layouts, names, &self.new, facts);
        let mut wrong = checked.iter().filter_map(|image| Some((image, image.variables.differences.first()?)));
        if let Some((image, mismatch)) = wrong.next() {
            let (source, build, arch) = (&image.source, &image.build, &image.arch);
            let help = "nothing was written; correct the address, or remove it";
            return Err(format!("{source}: {build}-{arch}: {}; {help}", mismatch.line()).into());
        }
        let wrong: Vec<_> = checked.iter().filter(|image| image.differs()).collect();
        let Some(first) = wrong.first() else { return Ok(()) };
        let (name, structure) =
            first.structures.iter().find(|(_, found)| !found.differences.is_empty()).ok_or("an image differs")?;
        let line = structure.differences.first().map(|mismatch| mismatch.line()).unwrap_or_default();
        let (source, build, arch) = (&first.source, &first.build, &first.arch);
        let count = match wrong.len() {
            1 => "1 image has offsets that differ from the specs".to_owned(),
            count => format!("{count} images have offsets that differ from the specs, the first"),
        };
        let help = "nothing was written; import the symbols of such a kernel first, which contain its complete layouts";
        Err(format!("{source}: {count}: {build}-{arch} {name} {line}; {help}").into())
    }
}

/// The types of a target that symbols can contain.
fn verifiable(layouts: &Layouts, target: TargetId, names: &[&str]) -> Types {
    let here: Vec<_> = names.iter().copied().filter(|name| layouts.unverifiable(name, target).is_none()).collect();
    ours::types(layouts, target, &here)
}

/// The types of the first of two targets, with some definitions of the second one. The layouts are computed again, because types that
/// embed a changed type change with it.
fn combined(layouts: &Layouts, [target, from]: [TargetId; 2], names: &[&str], moved: &BTreeSet<String>) -> Result<Types, Error> {
    let mut spec = layouts.spec.clone();
    for (name, definition) in &mut spec.definitions {
        if moved.contains(name) {
            Place::alone(target).copy(definition, from);
        }
        // Assertions at the target are about its own layouts.
        definition.other_sets(&mut |set| set.remove(target));
    }
    let layouts = resolve(spec).map_err(|errors| errors.render(false))?;
    Ok(verifiable(&layouts, target, names))
}

/// Whether no image from a border on contradicts the layout of a structure in these types.
fn allowed(axis: &Axis, types: &Types, border: Build, images: &[BuildTable], name: &str) -> bool {
    let Some(facts) = types.get(name) else { return false };
    let own = Types::from([(name.to_owned(), facts.clone())]);
    let agrees = |image: &BuildTable| compare_offsets(&own, &image.offsets).iter().all(|report| report.differences.is_empty());
    images.iter().filter(|image| build_on_axis(image.build, axis) >= border).all(agrees)
}
