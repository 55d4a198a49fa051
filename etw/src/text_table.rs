//! Text in columns and paragraphs.

use crate::print::COLUMNS;
use anstyle::Style;
use std::fmt::{Display, Write};
use std::iter;

/// A row of cells, in one style.
pub struct Row {
    /// The style of the whole row.
    pub style: Style,
    /// The cells, from the first column on.
    pub cells: Vec<String>,
}

/// The minimum width of the last column next to the other columns.
const NARROWEST: usize = 32;
/// The indentation of the last column if it is printed on separate lines.
const INDENT: usize = 10;

/// Aligned columns below a header line, each as wide as its widest cell. A column without any text is left out, and so is an empty
/// header. If `width` is given, the last column wraps at it. If the other columns leave too little width for it, they are limited to
/// a third of the width, and longer cells shift the rest of their row; or the last column is printed on separate lines.
pub fn aligned(header: &[&str], rows: &[Row], width: Option<usize>) -> String {
    styled(&lines(header, rows, width))
}

/// Lines as one text, each in its style and with a line break at its end.
pub fn styled(lines: &[(Style, String)]) -> String {
    lines.iter().fold(String::new(), |mut out, (style, line)| {
        let _ = writeln!(out, "{style}{line}{style:#}");
        out
    })
}

/// The lines of [`aligned`], each with the style of its row.
pub fn lines(header: &[&str], rows: &[Row], width: Option<usize>) -> Vec<(Style, String)> {
    let columns = rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
    let cells = |column: usize| rows.iter().filter_map(move |row| row.cells.get(column)).map(|cell| cell.chars().count());
    let longest: Vec<_> = (0..columns).map(|column| cells(column).max().unwrap_or(0)).collect();
    let used: Vec<_> = (0..columns).filter(|&column| longest[column] > 0).collect();
    let length = |column: usize| header.get(column).map_or(0, |cell| cell.chars().count()).max(longest[column]);
    let (front, last) = used.split_at(used.len().saturating_sub(1));
    let start = |widest: usize| -> usize { front.iter().map(|&column| length(column).min(widest) + 2).sum() };
    let words = rows.iter().filter_map(|row| row.cells.get(*last.first()?));
    let longest = words.clone().map(|words| words.chars().count().min(NARROWEST));
    let word = words.flat_map(|words| words.split_whitespace()).map(|word| word.chars().count());
    let least = longest.chain(word).max().unwrap_or(0);
    let width = width.unwrap_or(usize::MAX);
    let (widest, is_inline) = match (usize::MAX, width / 3) {
        (natural, _) if start(natural).saturating_add(least) <= width => (natural, true),
        (_, third) if start(third).saturating_add(least) <= width => (third, true),
        (natural, _) if start(natural) <= width => (natural, false),
        (_, third) => (third, false),
    };
    let length = |column: usize| length(column).min(widest);
    let start = start(widest);
    let indent = if is_inline { start } else { INDENT };
    let room = width.saturating_sub(indent);
    let header = Row { style: COLUMNS, cells: header.iter().map(|&cell| cell.to_owned()).collect() };
    let mut out = Vec::new();
    for Row { style, cells } in iter::once(&header).filter(|header| !header.cells.is_empty()).chain(rows) {
        let cell = |column: usize| cells.get(column).map(String::as_str).unwrap_or_default();
        let mut line = String::new();
        let mut end = 0;
        for &column in front {
            end += length(column) + 2;
            line += cell(column);
            let gap = end.saturating_sub(line.chars().count()).max(if cell(column).is_empty() { 0 } else { 2 });
            line += &" ".repeat(gap);
        }
        let mut words = wrapped(last.first().map_or("", |&column| cell(column)), room);
        if !is_inline || line.chars().count() > start {
            words.insert(0, String::new());
            words.dedup();
        }
        for words in words {
            line += &words;
            out.push((*style, line.trim_end().to_owned()));
            line = " ".repeat(indent);
        }
    }
    out
}

/// A text, wrapped at `width` if it is given. All lines but the first are then indented.
pub fn paragraph(text: &str, width: Option<usize>, indent: &str) -> String {
    let Some(width) = width.filter(|_| !text.is_empty()) else { return text.lines().map(|line| format!("{line}\n")).collect() };
    let lines = wrapped(text, width.saturating_sub(indent.len()));
    lines.iter().enumerate().map(|(number, words)| format!("{}{words}\n", if number > 0 { indent } else { "" })).collect()
}

/// A number with its noun.
pub fn counted<N: Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    let plural = if count == N::from(1) { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// The width of the terminal, if standard output is one.
pub fn terminal() -> Option<usize> {
    let (_, columns) = console::Term::stdout().size_checked()?;
    Some(columns.into())
}

fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.chars().count() + 1 + word.chars().count() <= room => *line += &format!(" {word}"),
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
