//! `sessions`.

use super::identity::{Known, SymbolsSource};
use super::{Content, DumpDiagnostic, Files, diagnostics};
use crate::output::line::header;
use crate::output::stop::Stop;
use crate::output::{Escaped, Output, Several, no_table};
use etw_layouts_cli::Outcome;
use etw_layouts_dump::{Diagnostic, DumpSession, TimedEvent};
use etw_layouts_etl::wire::LOG_FILE_MODE;
use etw_layouts_etl::{ClockType, FileTime};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::{self, Display};

/// List the sessions with buffers in crash dumps, one per line. Exit with status 1 if there are diagnostics.
///
/// Diagnostics are printed to standard error.
///
///     etw dump sessions minidump.dmp
///     etw dump sessions --format json folder
#[derive(clap::Args)]
#[command(verbatim_doc_comment, mut_arg("format", no_table))]
pub struct Args {
    #[command(flatten)]
    pub(crate) files: Files,
}

/// A session in a dump.
#[derive(Serialize)]
pub struct Line<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    session: &'a str,
    logger_id: u32,
    mode: u32,
    mode_names: String,
    clock: u32,
    clock_name: Option<&'static str>,
    start_time: i64,
    start_time_utc: String,
    buffer_size: u32,
    buffers: usize,
    empty_buffers: usize,
    /// Buffers that are compressed in the dump; their events are included in `events`.
    compressed_buffers: usize,
    buffer_list: Vec<Buffer>,
    /// By header type, including messages.
    events: usize,
    /// For a walk through memory, the confidence of its layouts.
    #[serde(skip_serializing_if = "Option::is_none")]
    layouts: Option<String>,
    /// For a walk through memory, the source of the addresses of global variables: `file`, `facts`, `build` or `none`.
    #[serde(skip_serializing_if = "Option::is_none")]
    symbols_source: Option<SymbolsSource>,
    /// Whether the rate of the clock is known; otherwise the events have no times.
    has_clock_rate: bool,
    /// Whether a pair of clock value and system time is known; otherwise the events have no times.
    has_reference_time: bool,
    headers: BTreeMap<String, usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_time: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_time_utc: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_time: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_time_utc: Option<String>,
}

/// A buffer of a session, in the numbering of `events`.
#[derive(Serialize)]
struct Buffer {
    offset: u64,
    /// The address in memory; unknown for buffers that the kernel added to a minidump.
    address: Option<String>,
    processor: u16,
    /// Bytes up to the valid end, decompressed.
    size: usize,
    is_compressed: bool,
    events: usize,
}

fn buffers(session: &DumpSession<'_>, events: &[TimedEvent<'_>]) -> Vec<Buffer> {
    let mut counts = vec![0; session.buffers.len()];
    for event in events {
        if let Some(count) = counts.get_mut(event.buffer as usize) {
            *count += 1;
        }
    }
    let buffers = session.buffers.iter().zip(counts);
    let buffers = buffers.map(|(buffer, events)| Buffer {
        offset: buffer.offset,
        address: buffer.address.map(|address| address.to_string()),
        processor: buffer.processor,
        size: buffer.bytes.len(),
        is_compressed: buffer.is_compressed,
        events,
    });
    buffers.collect()
}

/// Prints the buffers of sessions, with --details.
pub fn write_buffers(f: &mut fmt::Formatter<'_>, sessions: &[Line<'_>]) -> fmt::Result {
    write!(f, "\n  buffers of sessions")?;
    for line in sessions {
        for (number, Buffer { offset, address, processor, size, is_compressed, events }) in line.buffer_list.iter().enumerate() {
            write!(f, "\n    session {}, buffer {number} at {offset:#x}", line.logger_id)?;
            address.iter().try_for_each(|address| write!(f, ", {address} in memory"))?;
            write!(f, ", processor {processor}, {size:#x} bytes, {events} events")?;
            f.write_str(if *is_compressed { ", compressed" } else { "" })?;
        }
    }
    Ok(())
}

pub fn run(content: &Content<'_>, out: &mut Output) -> Result<Outcome, Stop> {
    let (lines, found) = lines(Some(content.name), &content.sessions, content.known);
    let diagnostics: Vec<DumpDiagnostic> =
        content.diagnostics.iter().cloned().chain(found.into_iter().map(DumpDiagnostic::Dump)).collect();
    for line in &lines {
        out.line(line)?;
    }
    diagnostics::aside(content.name, &diagnostics, out);
    Ok(diagnostics::outcome(&diagnostics))
}

/// A line for each session, and the diagnostics for its events.
pub fn lines<'a>(
    file: Option<&'a str>,
    sessions: &'a [DumpSession<'_>],
    known: Option<&Known>,
) -> (Vec<Line<'a>>, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let lines = sessions.iter().map(|session| {
        let (line, found) = Line::of(file, session, known);
        diagnostics.extend(found);
        line
    });
    (lines.collect(), diagnostics)
}

impl<'a> Line<'a> {
    fn of(file: Option<&'a str>, session: &'a DumpSession<'_>, known: Option<&Known>) -> (Self, Vec<Diagnostic>) {
        let (log, (events, diagnostics)) = (&session.log_file, session.events());
        let mut headers: BTreeMap<String, usize> = BTreeMap::new();
        for event in &events {
            // The same text as in `events`.
            let header = header(&event.event).map_or_else(|ty| format!("UNKNOWN_{ty:02X}"), str::to_owned);
            *headers.entry(header).or_default() += 1;
        }
        let utc = |time: i64| FileTime(time).rfc3339().to_string();
        let first = events.iter().find_map(|event| event.time);
        let last = events.iter().rev().find_map(|event| event.time);
        let line = Self {
            file,
            session: session.name(),
            logger_id: session.logger_id,
            mode: log.mode,
            mode_names: if log.mode == 0 { String::new() } else { format!("{:?}", LOG_FILE_MODE(log.mode)) },
            clock: log.clock,
            clock_name: ClockType::of(log.clock).map(|clock| match clock {
                ClockType::PerfCounter => "performance counter",
                ClockType::SystemTime => "system time",
                ClockType::CpuCycle => "processor cycles",
            }),
            start_time: session.start_time,
            start_time_utc: utc(session.start_time),
            buffer_size: log.buffer_size,
            buffers: session.buffers.len(),
            empty_buffers: session.empty_buffers(),
            compressed_buffers: session.compressed_buffers(),
            buffer_list: buffers(session, &events),
            events: events.len(),
            layouts: known.map(Known::confidence),
            symbols_source: known.map(|known| known.symbols_source),
            has_clock_rate: session.has_rate(),
            has_reference_time: session.has_reference(),
            headers,
            first_time: first,
            first_time_utc: first.map(utc),
            last_time: last,
            last_time_utc: last.map(utc),
        };
        (line, diagnostics)
    }
}

impl Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = self.file {
            write!(f, "{}: ", Escaped(file))?;
        }
        let Self { logger_id, empty_buffers, .. } = self;
        let (buffers, events) = (Several(self.buffers as u64, "buffer"), Several(self.events as u64, "event"));
        let name = if self.session.is_empty() { "-" } else { self.session };
        write!(f, "{logger_id:>3}  {}  {buffers} ({empty_buffers} empty", Escaped(name))?;
        if self.compressed_buffers > 0 {
            write!(f, ", {} compressed", self.compressed_buffers)?;
        }
        write!(f, ")  {events}")?;
        for (number, (name, count)) in self.headers.iter().enumerate() {
            write!(f, "{}{count} {name}", if number == 0 { ": " } else { ", " })?;
        }
        if !self.has_clock_rate {
            f.write_str("; no times: the clock rate is unknown")?;
        } else if !self.has_reference_time {
            f.write_str("; no times: the system time of the clock is unknown")?;
        }
        Ok(())
    }
}
