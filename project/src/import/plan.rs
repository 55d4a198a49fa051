//! Conversion of spec texts and symbol tables to updated spec texts. Nothing is written to disk here.
//!
//! A table with known layouts changes nothing, or dates their first revision (`step.rs`). Any other table is processed
//! (`pass.rs`): it gets a row on the axis (`rows.rs`), its members are assigned to those of the definitions (`enter.rs`,
//! `align.rs`), gaps are explained (`explain.rs`), and changed definitions are rewritten (`texts.rs`). Then new structures are
//! added from all tables at once (`fill.rs`), and `unverifiable` is corrected for types that symbols lack (`missing.rs`). Finally
//! the whole set is resolved. A border from images (`images.rs`) is processed
//! like a table.

use super::fill;
use super::images::Border;
use super::missing;
use super::pass;
use super::rows;
use super::step::{self, Step};
use super::texts::{self, Texts};
use crate::Error;
use crate::tables::BuildTable;
use etw_layouts_codegen::axis::{Build, TargetId};
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_symbols::{Rules, images};
use std::collections::{BTreeMap, BTreeSet};

/// Limit for symbol files of unknown origin; Windows has some thousand types.
const MOST_FILES: usize = 1 << 14;

/// Result of planning an import.
pub struct Plan {
    /// All texts of the spec set.
    pub texts: Texts,
    /// Their layouts.
    pub layouts: Layouts,
    /// The targets that new tables add or change.
    pub new: Vec<TargetId>,
    /// The targets whose layouts other new tables verify, each with their builds.
    pub same: BTreeMap<TargetId, Vec<Build>>,
    /// The rows that begin earlier than previously known: old and new build.
    pub moved: Vec<[Build; 2]>,
    /// The borders that images show.
    pub borders: Vec<Border>,
}

/// Input of an import.
pub struct Input<'a> {
    /// The spec set.
    pub texts: &'a Texts,
    /// Tables of known builds.
    pub known: &'a [BuildTable],
    /// The new tables.
    pub new: &'a [BuildTable],
    /// Structures to add even if no neighbor has them.
    pub added: &'a [String],
    /// Folder for new structures.
    pub folder: &'a str,
}

/// Plans an import. Tables are processed in revision order; for each build, complete tables before converted ones, which have
/// less information.
///
/// # Errors
///
/// The specs are already invalid, or a table cannot be expressed in specs.
pub fn plan(input: &Input) -> Result<Plan, Error> {
    let mut tables: Vec<&BuildTable> = input.new.iter().collect();
    let converted = |table: &BuildTable| Rules::for_producer(&table.producer) == Rules::Converted;
    tables.sort_by_key(|table| (table.build.number, converted(table), table.build.revision, table.arch));
    let mut texts = input.texts.clone();
    let mut layouts = None;
    let (mut entered, mut same, mut moved) = (Vec::new(), Vec::new(), Vec::new());
    for (index, &table) in tables.iter().enumerate() {
        let now = match layouts.take() {
            Some(layouts) => Some(layouts),
            None if texts::axis(&texts)?.revisions.is_empty() => None,
            None => Some(texts::layouts(&texts)?),
        };
        let known = || input.known.iter().chain(tables[..index].iter().copied());
        match now.as_ref().map_or(Step::Row(table.build), |layouts| step::of(layouts, table, known)) {
            Step::Known => {
                same.push(table);
                layouts = now;
            }
            Step::Border(row) => {
                if let Some(layouts) = now {
                    let moved = rows::moved(&layouts.spec, row, table.build);
                    texts::changed(&mut texts, &layouts.spec, &moved, input.folder);
                    texts::enter(&mut texts, &moved.axis)?;
                }
                moved.push([row, table.build]);
                same.push(table);
            }
            Step::Row(build) => {
                let later = now.as_ref().and_then(|layouts| step::later(layouts, table, build, known()));
                if let Some(later) = later {
                    pass::entered(&mut texts, later, known, input.folder)?;
                }
                pass::entered(&mut texts, &BuildTable { build, ..table.clone() }, known, input.folder)?;
                entered.push(table);
            }
        }
    }
    if !input.added.is_empty() {
        let all: Vec<&BuildTable> = input.known.iter().chain(tables.iter().copied()).collect();
        let rows = fill::filled(&mut texts, &all, input.added, input.folder)?;
        same.retain(|table| !rows.iter().any(|row| (row.build, row.arch) == (table.build, table.arch)));
        entered.extend(rows);
        layouts = None;
    }
    if texts.len() > MOST_FILES {
        let count = texts.len();
        let help = "select types to add, in specs that already define a type";
        return Err(format!("too many types: {count} spec files, limit {MOST_FILES}; {help}").into());
    }
    let mut layouts = match layouts {
        Some(layouts) => layouts,
        None => texts::layouts(&texts)?,
    };
    let is_evidence = |table: &&BuildTable| table.producer != images::PRODUCER;
    let all: Vec<&BuildTable> = input.known.iter().chain(tables.iter().copied()).filter(is_evidence).collect();
    let verified: Vec<&BuildTable> = same.iter().copied().filter(is_evidence).collect();
    if let Some(corrected) = missing::corrected(&layouts, &all, &verified)? {
        texts::changed(&mut texts, &layouts.spec, &corrected, input.folder);
        layouts = texts::layouts(&texts)?;
    }
    let target = |table: &&BuildTable| layouts.spec.axis.at(table.build, table.arch);
    let new: BTreeSet<_> = entered.iter().filter_map(target).collect();
    let mut stated: BTreeMap<TargetId, Vec<Build>> = BTreeMap::new();
    for table in &same {
        stated.entry(target(table).ok_or("the build is not on the version axis")?).or_default().push(table.build);
    }
    Ok(Plan { texts, new: new.into_iter().collect(), same: stated, moved, borders: Vec::new(), layouts })
}
