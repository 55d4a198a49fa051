//! Text in columns.

use anstyle::Style;
use std::fmt::Write;
use std::iter;

/// A row of cells, in one style.
pub struct Row {
    /// How it looks.
    pub style: Style,
    /// The cells, from the first column on.
    pub cells: Vec<String>,
}

const HEADER: Style = Style::new().underline();
/// The least room that words are wrapped into.
const NARROWEST: usize = 24;

/// Lines of columns below their headers, each as wide as its widest cell. A column without any text is left out, and the
/// header of all is if it is empty. The words of the last column wrap at `width`, if it is given and leaves room.
pub fn aligned(header: &[&str], rows: &[Row], width: Option<usize>) -> String {
    let columns = rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
    let cells = |column: usize| rows.iter().filter_map(move |row| row.cells.get(column)).map(|cell| cell.chars().count());
    let used: Vec<_> = (0..columns).filter(|&column| cells(column).any(|length| length > 0)).collect();
    let length = |column: usize| header.get(column).map_or(0, |cell| cell.chars().count()).max(cells(column).max().unwrap_or(0));
    let (front, last) = used.split_at(used.len().saturating_sub(1));
    let start: usize = front.iter().map(|&column| length(column) + 2).sum();
    let room = width.map_or(usize::MAX, |width| width.saturating_sub(start)).max(NARROWEST);
    let header = Row { style: HEADER, cells: header.iter().map(|&cell| cell.to_owned()).collect() };
    let mut out = String::new();
    for Row { style, cells } in iter::once(&header).filter(|header| !header.cells.is_empty()).chain(rows) {
        let cell = |column: usize| cells.get(column).map(String::as_str).unwrap_or_default();
        let mut line: String = front.iter().map(|&column| format!("{:width$}  ", cell(column), width = length(column))).collect();
        for words in wrapped(last.first().map_or("", |&column| cell(column)), room) {
            line += &words;
            let _ = writeln!(out, "{style}{}{style:#}", line.trim_end());
            line = " ".repeat(start);
        }
    }
    out
}

/// The columns of the terminal, if the output goes to one.
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
