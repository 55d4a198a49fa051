//! Verification of facts from images: the offsets of some members against the layouts, and the addresses of some global variables
//! against the PDBs of the same builds.

use super::found::{Checked, Comparison, Outcome};
use super::mismatch::Mismatch;
use super::{Variables, ours};
use crate::tables::BuildTable;
use etw_layouts_codegen::Asked;
use etw_layouts_codegen::axis::{Arch, Axis, Build, TargetId};
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::registry::Registry;
use etw_layouts_symbols::{Types, compare_offsets};
use std::collections::{BTreeMap, BTreeSet};

/// Compares images with the layouts of their builds. An image of a build that is not on the axis must agree with the older or
/// with the newer neighbour of the build. Images of an architecture that is not on the axis are left out. `facts` has the PDBs.
pub fn compared(layouts: &Layouts, names: &[&str], images: &[BuildTable], facts: &Registry) -> Vec<Checked> {
    let stated: BTreeSet<_> = images.iter().flat_map(BuildTable::holds).map(String::as_str).collect();
    let names: Vec<_> = names.iter().copied().filter(|name| stated.contains(name)).collect();
    let mut ours: BTreeMap<TargetId, Types> = BTreeMap::new();
    let one = |image: &BuildTable| {
        let candidates = candidates(&layouts.spec.axis, image.build, image.arch);
        let mut checked = candidates.into_iter().map(|asked| {
            let ours = ours.entry(asked.target).or_insert_with(|| ours::types(layouts, asked.target, &names));
            against(layouts, ours, image, asked)
        });
        let first = checked.next()?;
        let found = if first.differs() { checked.find(|other| !other.differs()).unwrap_or(first) } else { first };
        let variables = Variables::of(layouts, Some(facts), image, found.asked.target);
        Some(Checked { variables, ..found })
    };
    images.iter().filter_map(one).collect()
}

/// The builds whose layouts an image may have, the most likely first. A build that is not on the axis is between the first
/// revisions of its neighbours, because the updates of each build are a separate branch.
fn candidates(axis: &Axis, build: Build, arch: Arch) -> Vec<Asked> {
    let Ok(taken) = axis.select(build, arch) else { return Vec::new() };
    let newer = axis.along(arch).find(|(newer, _)| taken.is_of_other_build(axis) && *newer > taken.build);
    let newer = newer.map(|(_, target)| Asked { target, ..taken.clone() });
    [taken].into_iter().chain(newer).collect()
}

fn against(layouts: &Layouts, ours: &Types, image: &BuildTable, asked: Asked) -> Checked {
    let structures = compare_offsets(ours, &image.offsets).into_iter().map(|report| {
        let place = |member: &str| ours::place(layouts, asked.target, &report.name, member);
        let differences = report.differences.iter().map(|d| Mismatch::new(d, place(&d.member))).collect();
        let (outcome, accepted) = (Outcome::Compared(report.status), report.accepted);
        (report.name.clone(), Comparison { outcome, equal: report.equal, accepted, differences })
    });
    let structures = structures.collect();
    Checked::new(image, asked, structures)
}
