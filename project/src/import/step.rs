//! Effect of a table on the specs: none if they have its layouts, otherwise a moved border or a new row of the axis.

use crate::tables::BuildTable;
use crate::verify::label::agrees;
use etw_layouts_codegen::axis::{Build, TargetId};
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_symbols::{Rules, compare};

/// The effect of a table on the specs.
pub enum Step {
    /// None: the layouts of its build apply to its revision.
    Known,
    /// The row of that build begins at the table's revision, or earlier.
    Border(Build),
    /// The table becomes a row of that build.
    Row(Build),
}

/// The effect of a table on the specs. `known` are the tables that the specs have been verified against.
pub fn of<'a, I: Iterator<Item = &'a BuildTable>>(layouts: &Layouts, table: &BuildTable, known: impl Fn() -> I) -> Step {
    let axis = &layouts.spec.axis;
    let build = |target: TargetId| axis.revision_of(target).build;
    let own = axis.at(table.build, table.arch);
    let next = axis.line(table.build, table.arch).into_iter().find(|&target| build(target) > table.build);
    if own.is_some_and(|own| agrees(layouts, own, table)) {
        return Step::Known;
    }
    if let Some(next) = next.filter(|&next| agrees(layouts, next, table)) {
        let between = table.build..build(next);
        let row = axis.revisions.iter().any(|kernel| between.contains(&kernel.build));
        let holds = |other: &BuildTable| {
            let moved = axis.at(build(next), other.arch);
            !between.contains(&axis.canonical(other.build)) || moved.is_none_or(|target| agrees(layouts, target, other))
        };
        if !row && known().all(holds) {
            return Step::Border(build(next));
        }
    }
    // The row can be based on converted tables of the same symbols. The new table has more information and replaces them.
    if let Some(own) = own.filter(|_| Rules::for_producer(&table.producer) == Rules::Faithful) {
        let is_here = |other: &&BuildTable| axis.at(other.build, other.arch) == Some(own);
        let less = |other: &BuildTable| {
            Rules::for_producer(&other.producer) == Rules::Converted
                && compare(&table.types, &other.types, Rules::Converted).iter().all(|report| report.differences.is_empty())
        };
        if known().any(|other| is_here(&other)) && known().filter(is_here).all(less) {
            return Step::Row(build(own));
        }
    }
    Step::Row(table.build)
}

/// The first known build after a new row that has the layouts of the row before it. It has to become a row too.
pub fn later<'a>(
    layouts: &Layouts,
    new: &BuildTable,
    build: Build,
    known: impl Iterator<Item = &'a BuildTable>,
) -> Option<&'a BuildTable> {
    let axis = &layouts.spec.axis;
    let own = axis.at(build, new.arch).filter(|&own| axis.revision_of(own).build != build)?;
    let after = known.filter(|other| other.build > build && axis.at(other.build, other.arch) == Some(own));
    after.min_by_key(|other| (other.build, Rules::for_producer(&other.producer) == Rules::Converted))
}
