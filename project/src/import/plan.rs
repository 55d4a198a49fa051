//! From spec texts and symbol tables to the spec texts that say what the tables say. Nothing is written here.
//!
//! One whose layouts are known changes nothing, or says from which revision on they are so (`step.rs`). Any other table passes straight
//! through (`pass.rs`): it gets its row on the axis (`rows.rs`), its members are given to those of the definitions (`enter.rs`, `align.rs`),
//! gaps are explained (`explain.rs`), and the definitions that changed are written anew (`texts.rs`). Then structures
//! that no spec has are filled in from all tables at once (`fill.rs`). When all tables have passed, the whole is resolved once. A border
//! that images prove (`images.rs`) is a table like any other.

use super::fill;
use super::images::Border;
use super::pass;
use super::regroup;
use super::rows;
use super::step::{self, Step};
use super::texts::{self, Texts};
use crate::Error;
use crate::tables::Table;
use etw_layouts_codegen::MOST_FILES;
use etw_layouts_codegen::axis::Build;
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_symbols::Rules;
use std::collections::{BTreeMap, BTreeSet};

/// What an import comes to.
pub struct Plan {
    /// All texts of the spec set.
    pub texts: Texts,
    /// Their layouts.
    pub layouts: Layouts,
    /// The targets that the new tables are a row of the axis for, or change.
    pub new: Vec<usize>,
    /// The targets whose layouts other new tables state, each with their builds.
    pub same: BTreeMap<usize, Vec<Build>>,
    /// The kernels that begin earlier than was known: what they were, and what they are.
    pub moved: Vec<[Build; 2]>,
    /// The named updates that new kernels are part of.
    pub updates: BTreeSet<String>,
    /// The borders that images prove.
    pub borders: Vec<Border>,
}

/// What is to be imported.
pub struct Input<'a> {
    /// The spec set.
    pub texts: &'a Texts,
    /// What is known of other kernels.
    pub known: &'a [Table],
    /// The new tables.
    pub new: &'a [Table],
    /// Structures to specify even though no neighbour has them.
    pub added: &'a [String],
    /// Where a new structure goes.
    pub folder: &'a str,
}

/// Plans an import: each table in the order of the revisions, and of each build those that symbols state whole before those that were
/// converted, which tell less.
///
/// # Errors
///
/// Specs that are wrong already, and tables that specs cannot say.
pub fn plan(input: &Input) -> Result<Plan, Error> {
    let mut tables: Vec<&Table> = input.new.iter().collect();
    let converted = |table: &Table| Rules::for_producer(&table.producer) == Rules::Converted;
    tables.sort_by_key(|table| (table.build.number, converted(table), table.build.revision, table.arch));
    let mut texts = input.texts.clone();
    let mut layouts = None;
    let (mut entered, mut same, mut moved) = (Vec::new(), Vec::new(), Vec::new());
    for (index, &table) in tables.iter().enumerate() {
        let now = match layouts.take() {
            Some(layouts) => Some(layouts),
            None if texts::axis(&texts)?.kernels.is_empty() => None,
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
                pass::entered(&mut texts, &Table { build, ..table.clone() }, known, input.folder)?;
                entered.push(table);
            }
        }
    }
    if !input.added.is_empty() {
        let all: Vec<&Table> = input.known.iter().chain(tables.iter().copied()).collect();
        let rows = fill::filled(&mut texts, &all, input.added, input.folder)?;
        same.retain(|table| !rows.iter().any(|row| (row.build, row.arch) == (table.build, table.arch)));
        entered.extend(rows);
        layouts = None;
    }
    if texts.len() > MOST_FILES {
        let count = texts.len();
        let help = "select types with --add, in specs that already define a type";
        return Err(format!("too many types: {count} spec files, limit {MOST_FILES}; {help}").into());
    }
    let mut layouts = match layouts {
        Some(layouts) => layouts,
        None => texts::layouts(&texts)?,
    };
    let (regrouped, updates) = regroup::regrouped(&layouts.spec, &texts::axis(input.texts)?);
    if !updates.is_empty() {
        texts::changed(&mut texts, &layouts.spec, &regrouped, input.folder);
        texts::enter(&mut texts, &regrouped.axis)?;
        layouts = texts::layouts(&texts)?;
    }
    let target = |table: &&Table| layouts.spec.axis.at(table.build, table.arch);
    let new: BTreeSet<_> = entered.iter().filter_map(target).collect();
    let mut stated: BTreeMap<usize, Vec<Build>> = BTreeMap::new();
    for table in &same {
        stated.entry(target(table).ok_or("the build is not on the version axis")?).or_default().push(table.build);
    }
    Ok(Plan { texts, new: new.into_iter().collect(), same: stated, moved, updates, borders: Vec::new(), layouts })
}
