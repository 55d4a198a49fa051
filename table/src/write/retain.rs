//! Copies of files without the rows of some traces.

use super::{Format, Writer};
use crate::table::{Kind, Table};
use crate::{Error, keys};
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{BooleanArray, RecordBatch};
use arrow_ipc::reader::FileReader;
use arrow_schema::{ArrowError, SchemaRef};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};

/// Number of rows that are read at once from Parquet.
const ROWS: usize = 1 << 13;

/// Copies a file that a [`Writer`] wrote, with the rows of the traces for which `keep` is true. Returns the number of rows in the copy, and `out`.
///
/// # Errors
///
/// The file cannot be read, is not such a file, or the copy cannot be written.
pub fn retain<W: Write + Send>(format: Format, from: File, out: W, keep: impl Fn(&str) -> bool) -> Result<(u64, W), Error> {
    match format {
        Format::Parquet => {
            let reader = ParquetRecordBatchReaderBuilder::try_new(from)?;
            let schema = reader.schema().clone();
            batches(format, schema, reader.with_batch_size(ROWS).build()?, out, keep)
        }
        Format::Arrow => {
            let reader = FileReader::try_new(from, None)?;
            batches(format, reader.schema(), reader, out, keep)
        }
        Format::Csv | Format::Jsonl => Ok(lines(format, BufReader::new(from), out, keep)?),
    }
}

fn batches<W: Write + Send>(
    format: Format,
    schema: SchemaRef,
    batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
    out: W,
    keep: impl Fn(&str) -> bool,
) -> Result<(u64, W), Error> {
    let (table, mut rows) = (Table { kind: Kind::Events, schema, layout: 0 }, 0);
    let mut writer = Writer::new(format, &table, out)?;
    for batch in batches {
        let batch = batch?;
        let traces = batch.column_by_name(keys::TRACE).and_then(|traces| traces.as_dictionary_opt::<Int32Type>());
        let traces = traces.and_then(|traces| Some((traces, traces.values().as_string_opt::<i32>()?)));
        let (numbers, names) = traces.ok_or_else(|| foreign("no column `trace`"))?;
        let is_kept: Vec<bool> = names.iter().map(|name| name.is_some_and(&keep)).collect();
        let is_kept = numbers.keys().iter().map(|number| is_kept.get(number? as usize).copied()).collect::<BooleanArray>();
        let batch = arrow_select::filter::filter_record_batch(&batch, &is_kept)?;
        rows += batch.num_rows() as u64;
        writer.write(&batch)?;
    }
    Ok((rows, writer.finish()?))
}

/// Rows of text begin with the name of the trace. In CSV, the first row has the names of columns.
fn lines<W: Write>(format: Format, mut from: impl BufRead, mut out: W, keep: impl Fn(&str) -> bool) -> io::Result<(u64, W)> {
    let (mut row, mut rows) = (Vec::new(), 0);
    if format == Format::Csv {
        read_row(format, &mut from, &mut row)?;
        out.write_all(&row)?;
    }
    loop {
        read_row(format, &mut from, &mut row)?;
        if row.is_empty() {
            out.flush()?;
            return Ok((rows, out));
        }
        if keep(&trace(format, &row).ok_or_else(|| foreign("a row without the name of a trace"))?) {
            rows += 1;
            out.write_all(&row)?;
        }
    }
}

/// Reads a row with its line end; empty at the end of the file. A row of CSV can have several lines: values, and the names that a trace gives to
/// its fields, can have line ends in quotes.
fn read_row(format: Format, from: &mut impl BufRead, row: &mut Vec<u8>) -> io::Result<()> {
    row.clear();
    while from.read_until(b'\n', row)? > 0 {
        if format == Format::Jsonl || row.iter().filter(|byte| **byte == b'"').count() % 2 == 0 {
            break;
        }
    }
    Ok(())
}

/// The name of the trace in a row of text.
fn trace(format: Format, row: &[u8]) -> Option<String> {
    let row = std::str::from_utf8(row).ok()?;
    if format == Format::Jsonl {
        let value = row.strip_prefix("{\"trace\":")?;
        return serde_json::Deserializer::from_str(value).into_iter().next()?.ok();
    }
    let Some(quoted) = row.strip_prefix('"') else { return row.split_once(',').map(|(name, _)| name.to_owned()) };
    let mut name = String::new();
    let mut characters = quoted.chars();
    loop {
        match characters.next()? {
            '"' if characters.clone().next() == Some('"') => name.push(characters.next()?),
            '"' => return Some(name),
            other => name.push(other),
        }
    }
}

fn foreign(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("not a file of an export: {what}"))
}
