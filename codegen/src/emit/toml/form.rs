//! Tables as text, with their line breaks.

use crate::axis::Arch;

/// Maximum length of a line. Only a long string can exceed it.
const WIDTH: usize = 130;

/// A table.
#[derive(Clone, Default)]
pub struct Row {
    /// The comments before it.
    pub comments: Vec<String>,
    /// Its keys and values, in order.
    pub pairs: Vec<(&'static str, Value)>,
}

/// The value of a key.
#[derive(Clone)]
pub enum Value {
    /// A value of TOML in one line.
    Plain(String),
    /// Words, which can be broken into lines.
    Words(String),
    /// Values by ranges.
    Pieces(Vec<(String, Value)>),
    /// A list of tables.
    Rows(Vec<Row>),
}

impl Row {
    /// Adds a key, if it has a value.
    pub fn add(&mut self, key: &'static str, value: Option<Value>) {
        self.pairs.extend(value.map(|value| (key, value)));
    }

    /// Adds `doc`, unless it is empty.
    pub fn doc(&mut self, words: &str) {
        if !words.is_empty() {
            self.pairs.push(("doc", Value::Words(words.to_owned())));
        }
    }

    /// The table with a header. Keys have the given width, so that values form a column.
    pub fn table(&self, header: &str, width: usize) -> String {
        let mut out = String::new();
        let comments: Vec<&String> = self.comments.iter().skip_while(|line| line.is_empty()).collect();
        for (index, line) in comments.iter().enumerate() {
            if !line.is_empty() || comments.get(index + 1).is_none_or(|next| !next.is_empty()) {
                out += &format!("{line}\n");
            }
        }
        out += &format!("{header}\n");
        for (key, value) in &self.pairs {
            let start = format!("{key:width$} = ");
            out += &start;
            out += &match value {
                Value::Words(words) => paragraph(words, start.len()),
                value => value.broken(0, start.len(), 0),
            };
            out += "\n";
        }
        out
    }

    /// The table in a list. Its first key has the given width, so that consecutive tables form columns.
    fn inline(&self, indent: usize, width: usize) -> String {
        let mut out = String::from("{ ");
        let mut column = indent + 2;
        for (index, (key, value)) in self.pairs.iter().enumerate() {
            let comma = if index + 1 < self.pairs.len() { "," } else { "" };
            let start = format!("{key} = ");
            let one = format!("{start}{}{comma}", value.first_line());
            let gap = usize::from(index > 0);
            // The closing brace and its comma are on the same line.
            let close = if comma.is_empty() && !matches!(value, Value::Rows(_)) { 3 } else { 0 };
            if index > 0 && column + gap + one.chars().count() + close > WIDTH {
                out.truncate(out.trim_end().len());
                out += &format!("\n{}", " ".repeat(indent + 2));
                column = indent + 2;
            } else if gap > 0 {
                out += " ";
                column += 1;
            }
            let around = if matches!(value, Value::Rows(_)) { indent } else { indent + 2 };
            let text = format!("{start}{}{comma}", value.broken(around, column + start.len(), close));
            // Nothing follows a value of several lines.
            column = if text.contains('\n') { WIDTH } else { column + text.chars().count() };
            out += &text;
            if index == 0 && ["name", "build"].contains(key) && self.pairs.len() > 1 && text.len() < width {
                out += &" ".repeat(width - text.len());
                column += width - text.len();
            }
        }
        out + " }"
    }
}

impl Value {
    /// The value on one line.
    pub fn one_line(&self) -> String {
        match self {
            Self::Plain(text) => text.clone(),
            Self::Words(words) => quoted(words),
            Self::Pieces(pieces) => {
                let all: Vec<_> = pieces.iter().map(|(key, value)| format!("{key} = {}", value.one_line())).collect();
                format!("{{ {} }}", all.join(", "))
            }
            Self::Rows(rows) => {
                let all: Vec<_> = rows.iter().map(|row| row.inline(0, 0)).collect();
                format!("[{}]", all.join(", "))
            }
        }
    }

    /// The part of the value that must be on the line of its key.
    fn first_line(&self) -> String {
        match self {
            Self::Rows(_) => "[".to_owned(),
            value => value.one_line(),
        }
    }

    /// The value, beginning at a column. If it does not fit on the line with `close` characters after it, it is broken into lines
    /// that are indented by more than `indent`.
    fn broken(&self, indent: usize, column: usize, close: usize) -> String {
        let one = self.first_line();
        let inner = indent + 2;
        match self {
            Self::Rows(rows) => {
                let list = list(rows, inner);
                format!("[\n{list}{}]", " ".repeat(indent))
            }
            Self::Pieces(pieces) if column + one.chars().count() + close > WIDTH => {
                // One line per architecture, if that is enough.
                let all: Vec<_> = pieces.iter().map(|(key, value)| format!("{key} = {}", value.one_line())).collect();
                let longest = all.iter().map(|text| column + 2 + text.chars().count() + 2 + close).max().unwrap_or(0);
                if longest <= WIDTH && pieces.iter().all(|(key, _)| key.parse::<Arch>().is_ok()) {
                    return format!("{{ {} }}", all.join(&format!(",\n{}", " ".repeat(column + 2))));
                }
                let is_nested = pieces.iter().any(|(_, value)| matches!(value, Self::Pieces(_)));
                let mut lines = vec![String::new()];
                for (key, value) in pieces {
                    let text = format!("{key} = {},", value.broken(inner, inner + key.chars().count() + 3, 1));
                    let last = lines
                        .last_mut()
                        .filter(|last| !is_nested && inner + last.chars().count() + 1 + text.chars().count() <= WIDTH);
                    match last {
                        Some(line) if line.is_empty() => *line = text,
                        Some(line) => *line += &format!(" {text}"),
                        None => lines.push(text),
                    }
                }
                let pad = " ".repeat(inner);
                let lines: String = lines.iter().filter(|line| !line.is_empty()).map(|line| format!("{pad}{line}\n")).collect();
                format!("{{\n{lines}{}}}", " ".repeat(indent))
            }
            _ => one,
        }
    }
}

/// The rows of a list, each on one line if possible. Consecutive rows without comments form columns.
fn list(rows: &[Row], indent: usize) -> String {
    let mut out = String::new();
    let pad = " ".repeat(indent);
    let first = |row: &Row| match row.pairs.first() {
        Some((key @ ("name" | "build"), value)) if row.pairs.len() > 1 => key.len() + 4 + value.first_line().len(),
        _ => 0,
    };
    for (index, block) in rows.chunk_by(|_, next| next.comments.is_empty()).enumerate() {
        let width = block.iter().map(first).max().unwrap_or(0);
        for row in block {
            // A blank line before the comments, none after them.
            out += if !row.comments.is_empty() && index > 0 { "\n" } else { "" };
            out.extend(row.comments.iter().filter(|line| !line.is_empty()).map(|line| format!("{pad}{line}\n")));
            out += &format!("{pad}{},\n", row.inline(indent, width));
        }
    }
    out
}

/// Words on one line after a key, or on several lines of their own.
fn paragraph(words: &str, column: usize) -> String {
    let one = quoted(words);
    if !words.contains('\n') && column + one.chars().count() <= WIDTH {
        return one;
    }
    let mut lines: Vec<String> = Vec::new();
    for paragraph in words.split('\n') {
        let mut line = String::new();
        for word in paragraph.split(' ') {
            // The last line ends with the quotes, every other line with a space and a backslash.
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() + 3 > WIDTH {
                lines.push(format!("{} \\", escaped(&line)));
                line.clear();
            }
            line += &format!("{}{word}", if line.is_empty() { "" } else { " " });
        }
        lines.push(escaped(&line));
    }
    format!("\"\"\"\n{}\"\"\"", lines.join("\n"))
}

/// A string of TOML.
pub fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\t', "\\t"))
}

/// A line of a multi-line string.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace("\"\"", "\"\\\"").replace('\t', "\\t");
    match text.strip_suffix('"') {
        Some(start) if !start.ends_with('\\') => format!("{start}\\\""),
        _ => text,
    }
}

/// A number in hexadecimal digits.
pub fn hexadecimal(number: u64, digits: usize) -> String {
    let digits = if number > 0xFF && digits == 2 { 4 } else { digits };
    format!("0x{number:0digits$X}")
}
