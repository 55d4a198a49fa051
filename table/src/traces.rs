//! The table of traces: a row for each trace of a dataset.

use crate::columns::{NameBuilder, TextBuilder, columns};
use crate::dictionary::Dictionary;
use crate::schema;
use crate::table::{Batch, Kind, Table};
use arrow_array::RecordBatch;
use arrow_array::builder::{
    BooleanBuilder, Int64Builder, TimestampNanosecondBuilder, UInt8Builder, UInt32Builder, UInt64Builder,
};
use arrow_schema::ArrowError;
use etw_layouts_etl::LogFile;
use std::sync::Arc;

/// A trace of a dataset.
#[derive(Clone, Copy, Debug)]
pub struct TraceRow<'a> {
    /// The name in the rows of events.
    pub trace: &'a str,
    /// The absolute path of its file; `None` for bytes in memory.
    pub path: Option<&'a str>,
    /// SHA-256 of its bytes, in hexadecimal digits.
    pub hash: &'a str,
    /// Size in bytes.
    pub size: u64,
    /// Name of the computer.
    pub host: Option<&'a str>,
    /// Its log file header.
    pub log: &'a LogFile,
    /// Number of events.
    pub events: u64,
    /// Number of events that are rows.
    pub rows: u64,
    /// Number of diagnostics.
    pub diagnostics: u64,
    /// Whether the file is damaged.
    pub is_damaged: bool,
}

/// Dictionaries of this table.
#[derive(Debug, Default)]
struct Names {
    traces: Dictionary,
    hosts: Dictionary,
    sessions: Dictionary,
    clocks: Dictionary,
}

columns! {
    /// The columns of traces.
    struct Columns of Names, () {
        trace: REQUIRED NameBuilder => traces,
        path: OPTIONAL TextBuilder,
        hash: REQUIRED TextBuilder,
        size: REQUIRED UInt64Builder,
        host: OPTIONAL NameBuilder => hosts,
        session: REQUIRED NameBuilder => sessions,
        build: REQUIRED UInt32Builder,
        pointer_size: REQUIRED UInt8Builder,
        processors: REQUIRED UInt32Builder,
        mode: REQUIRED UInt32Builder,
        boot: OPTIONAL TimestampNanosecondBuilder,
        start: OPTIONAL TimestampNanosecondBuilder,
        end: OPTIONAL TimestampNanosecondBuilder,
        start_tick: REQUIRED Int64Builder,
        clock: REQUIRED NameBuilder => clocks,
        clock_frequency: OPTIONAL Int64Builder,
        timer_resolution: REQUIRED UInt32Builder,
        events_lost: REQUIRED UInt32Builder,
        buffers_lost: REQUIRED UInt32Builder,
        events: REQUIRED UInt64Builder,
        rows: REQUIRED UInt64Builder,
        diagnostics: REQUIRED UInt64Builder,
        is_damaged: REQUIRED BooleanBuilder,
    }
}

/// The table of these traces.
///
/// # Errors
///
/// Arrow rejects a column; no trace is known to cause that.
pub fn traces(rows: &[TraceRow<'_>]) -> Result<Batch, ArrowError> {
    let (mut columns, mut names) = (Columns::default(), Names::default());
    for row in rows {
        let log = row.log;
        columns.trace.append_value(names.traces.add(row.trace));
        for (column, text) in [(&mut columns.path, row.path), (&mut columns.hash, Some(row.hash))] {
            column.bytes.extend_from_slice(text.unwrap_or_default().as_bytes());
            column.end(text.is_some());
        }
        columns.size.append_value(row.size);
        columns.host.append_option(row.host.map(|host| names.hosts.add(host)));
        columns.session.append_value(names.sessions.add(&log.logger_name));
        columns.build.append_value(log.build);
        columns.pointer_size.append_value(log.pointer_size as u8);
        columns.processors.append_value(log.processors);
        columns.mode.append_value(log.mode);
        for (column, time) in
            [(&mut columns.boot, log.boot_time), (&mut columns.start, log.start_time), (&mut columns.end, log.end_time)]
        {
            // 0 in a file means that the time is unknown.
            column.append_option(Some(time).filter(|time| *time != 0).and_then(schema::nanoseconds));
        }
        columns.start_tick.append_value(log.start_stamp);
        let clock = if log.states_times() { log.clock_type().name() } else { "unknown" };
        columns.clock.append_value(names.clocks.add(clock));
        columns.clock_frequency.append_option(log.clock_frequency());
        columns.timer_resolution.append_value(log.timer_resolution);
        columns.events_lost.append_value(log.events_lost);
        columns.buffers_lost.append_value(log.buffers_lost);
        columns.events.append_value(row.events);
        columns.rows.append_value(row.rows);
        columns.diagnostics.append_value(row.diagnostics);
        columns.is_damaged.append_value(row.is_damaged);
    }
    let table = Arc::new(Table { kind: Kind::Traces, schema: schema::table("traces", Columns::fields(), &[]), layout: 0 });
    let columns = columns.take(&[], &[], &mut names)?;
    Ok(Batch { rows: RecordBatch::try_new(table.schema.clone(), columns)?, table, generation: 0 })
}
