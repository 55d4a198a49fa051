//! Tables of events: the chosen columns, with a line for each event.

use crate::column::Column;
use crate::line::{Line, Names};
use crate::payload;
use crate::value::Value;
use clap::ValueEnum;
use clap::builder::{EnumValueParser, PossibleValue, TypedValueParser};
use etw_layouts_codegen::nearest;
use etw_layouts_etl::names as known;
use etw_layouts_etl::payload::{is_formula, is_hidden};
use etw_layouts_etl::text::Escaped;
use etw_layouts_etl::text::Style;
use etw_layouts_etl::text::fields;
use etw_layouts_etl::text::put;
use etw_layouts_etl::tracelogging::Fault;
use std::ffi::OsStr;

/// Parses the name of a column or payload field. Only the events of a trace show whether a field exists.
#[derive(Clone)]
pub struct Columns;

impl TypedValueParser for Columns {
    type Value = Column;

    fn parse_ref(&self, command: &clap::Command, arg: Option<&clap::Arg>, value: &OsStr) -> Result<Column, clap::Error> {
        let is_field = |name: &&str| !name.is_empty() && !name.contains(is_hidden) && Column::from_str(name, false).is_err();
        match value.to_str().filter(is_field) {
            // This runs once per option, and the name is needed until the program ends.
            Some(name) => Ok(Column::Field(String::leak(name.to_owned()))),
            None => EnumValueParser::new().parse_ref(command, arg, value),
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Column::value_variants().iter().filter_map(ValueEnum::to_possible_value)))
    }
}

/// The column with a name that is similar to an unknown one.
pub fn similar(name: &str) -> Option<String> {
    let names: Vec<_> = Column::value_variants().iter().filter_map(ValueEnum::to_possible_value).collect();
    nearest(name, names.iter().map(PossibleValue::get_name)).map(str::to_owned)
}

/// The requested columns without duplicates; if none are requested, the default ones and those of the fields.
pub fn chosen(asked: &[Column], default: &[Column], fields: Vec<Column>, is_text: bool, payload: bool) -> Vec<Column> {
    let (asked, fields) = if asked.is_empty() { (&[Column::Default][..], fields) } else { (asked, Vec::new()) };
    let all = asked.iter().flat_map(|column| match column {
        Column::Default if is_text => default.to_vec(),
        Column::Default => default.iter().flat_map(|column| in_csv(*column)).collect(),
        column => vec![*column],
    });
    let mut columns = Vec::new();
    for column in all.chain(fields).chain(payload.then_some(Column::Payload)) {
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    columns
}

/// The equivalent columns for CSV: a cell has either a name or a number.
fn in_csv(column: Column) -> Vec<Column> {
    use Column::{Event, Header, Id, IdName, Opcode, OpcodeName, Provider, ProviderName, Time, TimeUtc};
    match column {
        Time => vec![TimeUtc],
        Event => vec![Header, Provider, ProviderName, Id, IdName, Opcode, OpcodeName, Event],
        column => vec![column],
    }
}

/// Writes a cell, which is empty if the event has no such value. Returns the fault if a payload cannot be decoded.
fn cell(column: Column, line: &Line<'_>, is_text: bool, names: &mut Names, out: &mut Vec<u8>) -> Option<Fault> {
    match column {
        Column::Field(name) => {
            if let Some(decoded) = line.decoded() {
                let style = if is_text { Style::Text } else { Style::Json };
                if fields::cell(&decoded.fields, name, line.clock.as_ref(), style, out) {
                    names.found_field(name);
                }
            }
        }
        Column::KeywordNames => {
            for (index, name) in line.keyword_names().into_iter().enumerate() {
                put::shown(out, format_args!("{}{}", if index > 0 { "|" } else { "" }, Escaped(name)));
            }
        }
        Column::Items => {
            for (index, item) in line.event.items().enumerate() {
                let between = if index > 0 { " " } else { "" };
                put::shown(out, format_args!("{between}{}:{}", names.item(item.ty), item.data.len()));
            }
        }
        Column::Payload => return payload::text(line, out),
        _ if is_text => text(column, line, names, out),
        _ => column.value(line).cell(names, out),
    }
    None
}

/// Writes a cell of text, which has a name in place of a number if the name is known.
fn text(column: Column, line: &Line<'_>, names: &mut Names, out: &mut Vec<u8>) {
    let (value, named) = (column.value(line), column.of_name().map(|column| column.value(line)));
    match (column, line.hook) {
        (Column::Time, _) => line.time.iter().for_each(|time| names.times.put(out, *time, true)),
        (Column::Event, _) => match value {
            Value::Path(provider, _) => {
                value.cell(names, out);
                if let Some(source) = known::other_than_class(line.event, provider, line.schemas) {
                    put::shown(out, format_args!(" ({source})"));
                }
            }
            _ => put::shown(out, Escaped(&known::identity(line.event, line.schemas))),
        },
        _ if let Some(named) = named.filter(|named| named.is_present()) => named.cell(names, out),
        (Column::Provider, Some(hook)) if !value.is_present() => put::shown(out, format_args!("group {:#04x}", hook >> 8)),
        (Column::Id, Some(hook)) => put::shown(out, format_args!("{hook:#06x}")),
        _ => value.cell(names, out),
    }
}

/// Writes the line of column names.
pub fn heading(columns: &[Column], is_text: bool, out: &mut Vec<u8>) {
    row(columns, is_text, out, |column, out| out.extend_from_slice(column.name().as_bytes()));
}

/// Writes an event as one line. Returns the fault if a payload cannot be decoded.
pub fn event(columns: &[Column], is_text: bool, line: &Line<'_>, names: &mut Names, out: &mut Vec<u8>) -> Option<Fault> {
    let mut fault = None;
    row(columns, is_text, out, |column, out| {
        let start = out.len();
        fault = fault.or(cell(column, line, is_text, names, out));
        if is_text && out.len() == start {
            out.push(b'-');
        }
    });
    fault
}

/// Whether a cell is a number below zero.
fn is_negative(cell: &[u8]) -> bool {
    std::str::from_utf8(cell).is_ok_and(|cell| cell.parse::<i64>().is_ok_and(|number| number < 0))
}

/// A line of text with padded columns, or a line of CSV (RFC 4180, except that lines end in LF).
fn row(columns: &[Column], is_text: bool, out: &mut Vec<u8>, mut fill: impl FnMut(Column, &mut Vec<u8>)) {
    for (index, column) in columns.iter().enumerate() {
        if index > 0 {
            out.extend_from_slice(if is_text { b"  " } else { b"," });
        }
        let start = out.len();
        fill(*column, out);
        let (width, is_last) = (column.width(), index + 1 == columns.len());
        if !is_text {
            // Times before 1601 are numbers below zero.
            let is_number = match column {
                Column::Time | Column::TimeUtc => true,
                Column::Field(_) => is_negative(&out[start..]),
                _ => false,
            };
            if !is_number && is_formula(&out[start..]) {
                out.insert(start, b'\'');
            }
            put::csv_cell(out, start);
        } else {
            let padding = width.unsigned_abs().saturating_sub(out.len() - start);
            if width < 0 || !is_last {
                out.resize(out.len() + padding, b' ');
            }
            if width < 0 {
                out[start..].rotate_right(padding);
            }
        }
    }
    out.push(b'\n');
}
