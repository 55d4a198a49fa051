//! The tables of docs/TRUST.md whose rows are written by tasks.

use crate::{Error, workspace};
use std::fs;

/// The page.
pub const PAGE: &str = "docs/TRUST.md";

/// The first header cells of the tables of mutants, of fuzz targets, and of the steps that `cargo xtask ci --weekly` runs.
pub const MUTANTS: &str = "| fact changed |";
pub const FUZZ: &str = "| fuzz target |";
pub const WEEKLY: &str = "| step of each week |";

/// Writes rows of a table: each replaces the row with the same first cell, or is added.
pub fn record(table: &str, new: &[String]) -> Result<(), Error> {
    let page = read()?;
    let first = |row: &str| row.split('|').nth(1).map(str::to_owned);
    let is_kept = |row: &&str| new.iter().all(|other| first(other) != first(row));
    let mut rows: Vec<_> = rows(&page, table)?.into_iter().filter(is_kept).map(str::to_owned).collect();
    rows.extend_from_slice(new);
    rows.sort();
    Ok(fs::write(workspace::root().join(PAGE), replaced(&page, table, &rows)?)?)
}

/// The current page.
pub fn read() -> Result<String, Error> {
    Ok(fs::read_to_string(workspace::root().join(PAGE)).map_err(|error| format!("{PAGE}: {error}"))?)
}

/// The rows of the table with this header.
pub fn rows<'p>(page: &'p str, table: &str) -> Result<Vec<&'p str>, Error> {
    Ok(split(page, table)?.1.lines().collect())
}

/// The page, with the rows of a table replaced.
pub fn replaced(page: &str, table: &str, new: &[String]) -> Result<String, Error> {
    let (before, _, behind) = split(page, table)?;
    Ok(format!("{before}{}\n{behind}", new.join("\n")))
}

/// The page split into the text before the rows of a table, the rows, and the text after them.
fn split<'p>(page: &'p str, table: &str) -> Result<(&'p str, &'p str, &'p str), Error> {
    let lines = |text: &str, count: usize| text.split_inclusive('\n').take(count).map(str::len).sum::<usize>();
    let start = page.find(&format!("\n{table}")).ok_or_else(|| format!("{PAGE} has no table `{table}`"))? + 1;
    let (before, rest) = page.split_at(start + lines(&page[start..], 2));
    let count = rest.lines().take_while(|line| line.starts_with('|')).count();
    let (rows, behind) = rest.split_at(lines(rest, count));
    Ok((before, rows, behind))
}
