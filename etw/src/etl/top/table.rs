//! Tables of answers as text, CSV and JSON.

use crate::output::{Escaped, Format, Output};
use etw_layouts_answers::top::{Column, Unit, Value};
use etw_layouts_cli::csv_cell;
use serde::{Serialize, Serializer};
use std::io;

/// Prints rows. Text has the numbers first, then the keys, and a footer: rows with only numbers, each with a label.
pub fn print<'a>(
    columns: &[Column],
    rows: impl Iterator<Item = Vec<Value<'a>>>,
    footer: &[(Vec<Value<'_>>, String)],
    out: &mut Output,
) -> io::Result<()> {
    match out.format {
        Format::Text => text(columns, rows, footer, out),
        Format::Csv => {
            let names: Vec<_> = columns.iter().map(|column| column.name).collect();
            out.put(|out| out.extend_from_slice(format!("{}\n", names.join(",")).as_bytes()))?;
            for row in rows {
                let cells: Vec<_> = row.iter().map(cell).collect();
                out.put(|out| out.extend_from_slice(format!("{}\n", cells.join(",")).as_bytes()))?;
            }
            Ok(())
        }
        Format::Json => {
            for row in rows {
                out.write_line("", &Line(columns.iter().map(|column| column.name).zip(row).collect()))?;
            }
            Ok(())
        }
    }
}

fn text<'a>(
    columns: &[Column],
    rows: impl Iterator<Item = Vec<Value<'a>>>,
    footer: &[(Vec<Value<'_>>, String)],
    out: &mut Output,
) -> io::Result<()> {
    let (keys, numbers): (Vec<_>, Vec<_>) = (0..columns.len()).partition(|column| columns[*column].unit.is_none());
    let heading = |column: &usize| match columns[*column] {
        Column { name, unit: Some(Unit::Bytes), .. } => name.replace("bytes", "MiB"),
        Column { name, .. } => name.to_owned(),
    };
    let mut lines = vec![numbers.iter().chain(&keys).map(heading).collect::<Vec<_>>()];
    for row in rows {
        let number = |column: &usize| in_unit(&row[*column], columns[*column].unit);
        lines.push(numbers.iter().map(number).chain(keys.iter().map(|column| shown(&row[*column]))).collect());
    }
    for (values, label) in footer {
        let values = values.iter().zip(&numbers).map(|(value, column)| in_unit(value, columns[*column].unit));
        lines.push(values.chain([label.clone()]).collect());
    }
    let is_footer = |line: usize| line + footer.len() >= lines.len();
    let width = |column: usize| {
        let cells = lines.iter().enumerate().filter(|(line, _)| column < numbers.len() || !is_footer(*line));
        cells.filter_map(|(_, cells)| cells.get(column)).map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<_> = (0..columns.len()).map(width).collect();
    for cells in &lines {
        let mut line = String::new();
        for (index, (cell, width)) in cells.iter().zip(&widths).enumerate() {
            let padding = " ".repeat(width.saturating_sub(cell.chars().count()));
            let between = if index > 0 { "  " } else { "" };
            line +=
                &if index < numbers.len() { format!("{between}{padding}{cell}") } else { format!("{between}{cell}{padding}") };
        }
        out.put(|out| out.extend_from_slice(format!("{}\n", line.trim_end()).as_bytes()))?;
    }
    Ok(())
}

/// A number in the unit of text.
fn in_unit(value: &Value<'_>, unit: Option<Unit>) -> String {
    // Six decimals distinguish single bytes.
    let mebibytes = |bytes: f64| match bytes / f64::from(1 << 20) {
        small if small != 0.0 && small.abs() < 0.001 => format!("{small:.6}"),
        size => format!("{size:.3}"),
    };
    match (value, unit) {
        (Value::Integer(bytes), Some(Unit::Bytes)) => mebibytes(*bytes as f64),
        (Value::Real(bytes), Some(Unit::Bytes)) => mebibytes(*bytes),
        (Value::Real(percent), Some(Unit::Percent)) => format!("{percent:.2}"),
        (Value::Real(number), _) => format!("{number:.3}"),
        (value, _) => shown(value),
    }
}

/// A cell of text.
fn shown(value: &Value<'_>) -> String {
    match value {
        Value::Unknown => "-".into(),
        value => plain(value),
    }
}

/// A cell of CSV. A number is no text from a trace, so a negative one needs no apostrophe.
fn cell(value: &Value<'_>) -> String {
    if matches!(value, Value::Text(_)) { csv_cell(&plain(value)) } else { plain(value) }
}

/// A value as text, which is empty if the value is unknown.
pub fn plain(value: &Value<'_>) -> String {
    match value {
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => Escaped(text).to_string(),
        _ => String::new(),
    }
}

/// Values by the names of their columns, as a JSON object.
pub struct Line<'a>(pub Vec<(&'static str, Value<'a>)>);

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, Json(value))))
    }
}

/// A value in JSON.
pub struct Json<'a>(pub &'a Value<'a>);

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Integer(number) => serializer.serialize_u64(*number),
            Value::Real(number) => serializer.serialize_f64(*number),
            Value::Text(text) => serializer.serialize_str(text),
            _ => serializer.serialize_none(),
        }
    }
}
