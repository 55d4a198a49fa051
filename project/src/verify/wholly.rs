//! The comparison of symbol tables with layouts.

use super::found::{Checked, Comparison, Outcome};
use super::mismatch::Mismatch;
use super::ours;
use crate::Error;
use crate::names::{self, Among};
use crate::tables::BuildTable;
use etw_layouts_codegen::Asked;
use etw_layouts_codegen::axis::TargetId;
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_symbols::{Rules, Types, Wanted, compare};
use std::collections::BTreeMap;

/// The structures and enumerations to compare: all, or one.
///
/// # Errors
///
/// The specs do not have this name.
pub fn names<'a>(layouts: &'a Layouts, only: Option<&str>) -> Result<Vec<&'a str>, Error> {
    names::names(layouts, Among::Symbols, only)
}

/// The parts of a table to read: types of these names, and all global variables of the specs.
pub fn wanted(layouts: &Layouts, names: &[&str]) -> Wanted {
    names.iter().copied().chain(layouts.spec.globals.keys().map(String::as_str)).collect()
}

/// Compares a table with the layouts of its build: those of the last row of the build at or before its revision.
///
/// # Errors
///
/// The build is not on the version axis, and is older than all builds on it.
pub fn compared(layouts: &Layouts, names: &[&str], table: &BuildTable) -> Result<Checked, Error> {
    let asked = asked(layouts, table)?;
    let structures = against(layouts, names, table, asked.target);
    Ok(Checked::new(table, asked, structures))
}

/// The build of a table, and the target whose layouts it is compared with.
///
/// # Errors
///
/// As [`compared`].
pub(super) fn asked(layouts: &Layouts, table: &BuildTable) -> Result<Asked, Error> {
    Ok(layouts.spec.axis.select(table.build, table.arch).map_err(|e| format!("{}: {e}", table.source))?)
}

/// Compares a table with the layouts of a target.
pub fn against(layouts: &Layouts, names: &[&str], table: &BuildTable, target: TargetId) -> BTreeMap<String, Comparison> {
    comparisons(layouts, names, table, target, &ours::types(layouts, target, names))
}

/// Compares a table with the types of a target, which the caller provides.
pub(super) fn comparisons(
    layouts: &Layouts,
    names: &[&str],
    table: &BuildTable,
    target: TargetId,
    ours: &Types,
) -> BTreeMap<String, Comparison> {
    let reports = compare(ours, &table.types, Rules::for_producer(&table.producer));
    let mut structures: BTreeMap<String, Comparison> = BTreeMap::new();
    for report in reports {
        let place = |member: &str| ours::place(layouts, target, &report.name, member);
        let differences: Vec<_> = report.differences.iter().map(|d| Mismatch::new(d, place(&d.member))).collect();
        let outcome = Outcome::Compared(report.status);
        let compared = Comparison { outcome, equal: report.equal, accepted: report.accepted, differences };
        structures.insert(report.name, compared);
    }
    for name in names.iter().filter(|name| !ours.contains_key(**name) && table.types.contains_key(**name)) {
        structures.insert((*name).to_owned(), Comparison::unspecified());
    }
    structures
}
