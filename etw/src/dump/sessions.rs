//! `sessions`.

use super::identity::Known;
use super::{Content, DumpDiagnostic, Files, diagnostics};
use crate::object::object;
use crate::output::line::header;
use crate::output::stop::Stop;
use crate::output::{Escaped, Output, Several, no_table};
use etw_layouts_cli::Outcome;
use etw_layouts_dump::{Diagnostic, DumpSession};
use etw_layouts_etl::wire::LOG_FILE_MODE;
use etw_layouts_etl::{ClockType, FileTime};
use serde::{Serialize, Serializer};
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
pub struct Line<'a> {
    file: Option<&'a str>,
    session: &'a DumpSession<'a>,
    /// The kernel of a walk through memory.
    known: Option<&'a Known>,
    /// The number of events, in all buffers and in each.
    events: usize,
    in_buffers: Vec<usize>,
    /// The number of events by header type, including messages.
    headers: BTreeMap<String, usize>,
    first: Option<i64>,
    last: Option<i64>,
}

/// Prints the buffers of sessions, with --details.
pub fn write_buffers(f: &mut fmt::Formatter<'_>, sessions: &[Line<'_>]) -> fmt::Result {
    write!(f, "\n  buffers of sessions")?;
    for Line { session, in_buffers, .. } in sessions {
        for (number, (buffer, events)) in session.buffers.iter().zip(in_buffers).enumerate() {
            write!(f, "\n    session {}, buffer {number} at {:#x}", session.logger_id, buffer.offset)?;
            buffer.address.iter().try_for_each(|address| write!(f, ", {address} in memory"))?;
            write!(f, ", processor {}, {:#x} bytes, {events} events", buffer.processor, buffer.bytes.len())?;
            f.write_str(if buffer.is_compressed { ", compressed" } else { "" })?;
        }
    }
    Ok(())
}

/// Prints a count, and a line for each item of a list.
pub fn write_list(f: &mut fmt::Formatter<'_>, heading: &str, count: usize, list: &[impl Display]) -> fmt::Result {
    write!(f, "  {heading:14} {count}")?;
    list.iter().try_for_each(|item| write!(f, "\n    {item}"))
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
    known: Option<&'a Known>,
) -> (Vec<Line<'a>>, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let lines = sessions.iter().map(|session| {
        let (events, found) = session.events();
        diagnostics.extend(found);
        let (mut headers, mut in_buffers) = (BTreeMap::<String, usize>::new(), vec![0; session.buffers.len()]);
        for event in &events {
            // The same text as in `events`.
            let header = header(&event.event).map_or_else(|ty| format!("UNKNOWN_{ty:02X}"), str::to_owned);
            *headers.entry(header).or_default() += 1;
            in_buffers.get_mut(event.buffer as usize).into_iter().for_each(|count| *count += 1);
        }
        let first = events.iter().find_map(|event| event.time);
        let last = events.iter().rev().find_map(|event| event.time);
        Line { file, session, known, events: events.len(), in_buffers, headers, first, last }
    });
    (lines.collect(), diagnostics)
}

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { session, known, .. } = self;
        let log = &session.log_file;
        let utc = |time: i64| FileTime(time).rfc3339().to_string();
        // Buffers in the numbering of `events`; their sizes are up to the valid end, decompressed.
        let buffers = session.buffers.iter().zip(&self.in_buffers).map(|(buffer, events)| {
            object! {
                offset: buffer.offset,
                // Unknown for buffers that the kernel added to a minidump.
                address: buffer.address.map(|address| address.to_string()),
                processor: buffer.processor,
                size: buffer.bytes.len(),
                is_compressed: buffer.is_compressed,
                events: events,
            }
        });
        object! {
            #[serde(flatten)] file: self.file.map(|file| object! { file: file }),
            session: session.name(),
            logger_id: session.logger_id,
            mode: log.mode,
            mode_names: if log.mode == 0 { String::new() } else { format!("{:?}", LOG_FILE_MODE(log.mode)) },
            clock: log.clock,
            clock_name: ClockType::from_value(log.clock).map(ClockType::name),
            start_time: session.start_time,
            start_time_utc: utc(session.start_time),
            buffer_size: log.buffer_size,
            buffers: session.buffers.len(),
            empty_buffers: session.empty_buffers(),
            // Their events are included in `events`.
            compressed_buffers: session.compressed_buffers(),
            buffer_list: buffers.collect::<Vec<_>>(),
            events: self.events,
            // For a walk through memory, the confidence of its layouts, and the source of the addresses of global variables.
            #[serde(flatten)] walk: known.map(|known| {
                object! { layouts: known.confidence(), symbols_source: known.symbols_source }
            }),
            // Without a rate, or a pair of clock value and system time, the events have no times.
            has_clock_rate: session.has_rate(),
            has_reference_time: session.has_reference(),
            headers: &self.headers,
            #[serde(flatten)] first: self.first.map(|time| object! { first_time: time, first_time_utc: utc(time) }),
            #[serde(flatten)] last: self.last.map(|time| object! { last_time: time, last_time_utc: utc(time) }),
        }
        .serialize(serializer)
    }
}

impl Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let session = self.session;
        if let Some(file) = self.file {
            write!(f, "{}: ", Escaped(file))?;
        }
        let (buffers, events) = (Several(session.buffers.len() as u64, "buffer"), Several(self.events as u64, "event"));
        let name = if session.name().is_empty() { "-" } else { session.name() };
        write!(f, "{:>3}  {}  {buffers} ({} empty", session.logger_id, Escaped(name), session.empty_buffers())?;
        if session.compressed_buffers() > 0 {
            write!(f, ", {} compressed", session.compressed_buffers())?;
        }
        write!(f, ")  {events}")?;
        for (number, (name, count)) in self.headers.iter().enumerate() {
            write!(f, "{}{count} {name}", if number == 0 { ": " } else { ", " })?;
        }
        if !session.has_rate() {
            f.write_str("; no times: the clock rate is unknown")?;
        } else if !session.has_reference() {
            f.write_str("; no times: the system time of the clock is unknown")?;
        }
        Ok(())
    }
}
