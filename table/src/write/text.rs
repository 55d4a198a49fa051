//! Rows as CSV and as JSON.

use crate::{Error, Kind, Table};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampNanosecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Schema};
use etw_layouts_etl::text::put;
use etw_layouts_etl::{FileTime, Uuid};
use std::fmt::Debug;
use std::io::Write;

/// Memory for lines, reused for each batch.
#[derive(Default)]
pub(super) struct Text {
    lines: Vec<u8>,
    /// Whether a column has the fields of an event as JSON: in JSON, its values are objects.
    has_fields: bool,
}

/// The column with the fields of an event, in the table of all events.
const FIELDS: &str = "fields";

/// Number of bytes that are written at once.
const BLOCK: usize = 1 << 18;

impl Text {
    pub fn new(table: &Table) -> Self {
        Self { has_fields: table.kind == Kind::Events, ..Self::default() }
    }

    /// The first line of CSV.
    pub fn heading(&mut self, schema: &Schema) -> &[u8] {
        self.lines.clear();
        for (index, field) in schema.fields().iter().enumerate() {
            self.lines.extend_from_slice(if index > 0 { b"," } else { b"" });
            let start = self.lines.len();
            self.lines.extend_from_slice(field.name().as_bytes());
            put::csv_cell(&mut self.lines, start);
        }
        self.lines.push(b'\n');
        &self.lines
    }

    /// Writes rows as CSV. Lists and structures are JSON in a cell; a missing value is an empty cell, an empty text is `""`.
    pub fn csv(&mut self, rows: &RecordBatch, out: &mut impl Write) -> Result<(), Error> {
        self.lines.clear();
        for row in 0..rows.num_rows() {
            for (index, column) in rows.columns().iter().enumerate() {
                self.lines.extend_from_slice(if index > 0 { b"," } else { b"" });
                if column.is_null(row) {
                    continue;
                }
                let start = self.lines.len();
                match text(column, row) {
                    Some(text) => self.lines.extend_from_slice(text.as_bytes()),
                    None => {
                        json(column, row, &mut self.lines);
                        put::unquote(&mut self.lines, start);
                    }
                }
                match self.lines.len() == start {
                    true => self.lines.extend_from_slice(b"\"\""),
                    false => put::csv_cell(&mut self.lines, start),
                }
            }
            self.lines.push(b'\n');
            self.write(out, BLOCK)?;
        }
        self.write(out, 0)
    }

    /// Writes rows as JSON, one object per line.
    pub fn json(&mut self, rows: &RecordBatch, out: &mut impl Write) -> Result<(), Error> {
        self.lines.clear();
        let schema = rows.schema();
        for row in 0..rows.num_rows() {
            for (index, (field, column)) in schema.fields().iter().zip(rows.columns()).enumerate() {
                self.lines.push(if index > 0 { b',' } else { b'{' });
                put::json_name(&mut self.lines, field.name());
                self.lines.push(b':');
                match text(column, row) {
                    Some(text) if self.has_fields && field.name() == FIELDS && !column.is_null(row) => {
                        self.lines.extend_from_slice(text.as_bytes())
                    }
                    _ => json(column, row, &mut self.lines),
                }
            }
            self.lines.extend_from_slice(b"}\n");
            self.write(out, BLOCK)?;
        }
        self.write(out, 0)
    }

    fn write(&mut self, out: &mut impl Write, least: usize) -> Result<(), Error> {
        if self.lines.len() > least {
            out.write_all(&self.lines)?;
            self.lines.clear();
        }
        Ok(())
    }
}

/// The text of a value, if the value is a text.
fn text(column: &dyn Array, row: usize) -> Option<&str> {
    match column.data_type() {
        DataType::Utf8 => Some(column.as_string::<i32>().value(row)),
        DataType::Dictionary(..) => {
            let names = column.as_dictionary::<Int32Type>();
            Some(names.values().as_string::<i32>().value(names.key(row)?))
        }
        _ => None,
    }
}

/// Appends a value as JSON. All integers are numbers; times are text with nine digits of a second, GUIDs text, bytes hexadecimal digits.
fn json(column: &dyn Array, row: usize, out: &mut Vec<u8>) {
    if column.is_null(row) {
        return out.extend_from_slice(b"null");
    }
    match column.data_type() {
        DataType::Int8 => put::number(out, column.as_primitive::<Int8Type>().value(row)),
        DataType::Int16 => put::number(out, column.as_primitive::<Int16Type>().value(row)),
        DataType::Int32 => put::number(out, column.as_primitive::<Int32Type>().value(row)),
        DataType::Int64 => put::number(out, column.as_primitive::<Int64Type>().value(row)),
        DataType::UInt8 => put::number(out, column.as_primitive::<UInt8Type>().value(row)),
        DataType::UInt16 => put::number(out, column.as_primitive::<UInt16Type>().value(row)),
        DataType::UInt32 => put::number(out, column.as_primitive::<UInt32Type>().value(row)),
        DataType::UInt64 => put::number(out, column.as_primitive::<UInt64Type>().value(row)),
        DataType::Float32 => float(column.as_primitive::<Float32Type>().value(row), out),
        DataType::Float64 => float(column.as_primitive::<Float64Type>().value(row), out),
        DataType::Boolean => out.extend_from_slice(if column.as_boolean().value(row) { b"true" } else { b"false" }),
        DataType::Binary => hex(column.as_binary::<i32>().value(row), out),
        DataType::FixedSizeBinary(_) => match column.as_fixed_size_binary().value(row).try_into() {
            Ok(bytes) => {
                out.push(b'"');
                put::guid(out, Uuid::from_bytes(bytes));
                out.push(b'"');
            }
            Err(_) => hex(column.as_fixed_size_binary().value(row), out),
        },
        DataType::Timestamp(..) => time(column.as_primitive::<TimestampNanosecondType>().value(row), out),
        DataType::List(_) => {
            let items = column.as_list::<i32>().value(row);
            out.push(b'[');
            for item in 0..items.len() {
                out.extend_from_slice(if item > 0 { b"," } else { b"" });
                json(&items, item, out);
            }
            out.push(b']');
        }
        DataType::Struct(fields) => {
            for (index, (field, member)) in fields.iter().zip(column.as_struct().columns()).enumerate() {
                out.push(if index > 0 { b',' } else { b'{' });
                put::json_name(out, field.name());
                out.push(b':');
                json(member, row, out);
            }
            out.push(b'}');
        }
        _ => match text(column, row) {
            Some(text) => put::json(out, text.chars()),
            None => out.extend_from_slice(b"null"),
        },
    }
}

/// JSON has no infinity and no NaN, so these numbers are written as text.
fn float(number: impl Debug + Copy + Into<f64>, out: &mut Vec<u8>) {
    match number.into().is_finite() {
        true => put::shown(out, format_args!("{number:?}")),
        false => put::shown(out, format_args!("\"{number:?}\"")),
    }
}

fn hex(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    put::hex(out, bytes);
    out.push(b'"');
}

/// Writes a time in nanoseconds since 1970 in the format of RFC 3339.
fn time(nanoseconds: i64, out: &mut Vec<u8>) {
    // All times were converted from units of 100 ns.
    let time = FileTime(nanoseconds.div_euclid(100) + FileTime::UNIX_EPOCH.0);
    match time.digits(b'T') {
        Some(digits) => {
            out.push(b'"');
            out.extend_from_slice(&digits);
            out.extend_from_slice(b"Z\"");
        }
        None => out.extend_from_slice(b"null"),
    }
}
