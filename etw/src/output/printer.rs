//! Prints events of traces and dumps: columns, format and limit.

use super::columns::{self, Column};
use super::document;
use super::line::{Line, Names, Payload};
use super::{Escaped, Format, Output, Several};
use crate::selection::Wanted;
use etw_layouts_etl::tracelogging::Fault;
use serde::Serialize;
use std::fmt::{self, Display};
use std::io;

/// Options that select events and columns.
#[derive(clap::Args)]
pub struct Asked {
    /// Print these columns in text and CSV, in this order. CSV and JSON use the same names and values. Text shows names instead of
    /// numbers and GUIDs where names are known.
    /// A field of payloads is a column by its name, such as ProcessId or CommandLine.
    #[arg(long, value_parser = columns::Columns, value_delimiter = ',', value_name = "COLUMN|FIELD,…")]
    columns: Vec<Column>,
    /// Print the payload. Schemas are those in the event itself (TraceLogging), the built-in specs of kernel events, those in the trace and
    /// those of --manifests. Bytes that cannot be decoded are printed in hexadecimal and reported as a diagnostic. In JSON, `schema`
    /// states the source, `fields` has the decoded fields, and `undecoded` has bytes that no field covers.
    #[arg(long, value_enum)]
    payload: Option<Payload>,
    #[command(flatten)]
    pub wanted: Wanted,
    /// Stop after N events, counted over all files. Diagnostics after that point are not reported.
    #[arg(long, value_name = "N", value_parser = limit, help_heading = "Event selection")]
    limit: Option<u64>,
}

fn limit(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "invalid number; expected a value such as 1000".into())
}

/// Reports that none of the examined events matched.
pub fn none_matches(events: u64, wanted: &Wanted, out: &Output) {
    if events > 0 {
        out.aside(&NoneMatch { matching: 0, events, remedy: wanted.on_names() });
    }
}

/// Prints the events of one file after another.
pub struct Printer<'a> {
    pub wanted: &'a Wanted,
    /// The payload output.
    pub payload: Option<Payload>,
    asked: &'a [Column],
    default: Vec<Column>,
    columns: Vec<Column>,
    names: Names,
    /// The number of events examined, whether they match or not.
    pub seen: u64,
    limit: u64,
    /// The number of events left before the limit.
    left: u64,
    is_headed: bool,
}

impl<'a> Printer<'a> {
    /// Sets the columns to print by default.
    pub fn new(asked: &'a Asked, default: &[Column]) -> Self {
        let payload = asked.payload.or(asked.columns.contains(&Column::Payload).then_some(Payload::Hex));
        let limit = asked.limit.unwrap_or(u64::MAX);
        Self {
            wanted: &asked.wanted,
            payload,
            asked: &asked.columns,
            default: default.to_vec(),
            columns: Vec::new(),
            names: Names::default(),
            seen: 0,
            limit,
            left: limit,
            is_headed: false,
        }
    }

    /// Whether the limit is reached.
    pub fn is_done(&self) -> bool {
        self.left == 0
    }

    /// Reports if no examined event matched.
    pub fn end(&self, out: &Output) {
        if self.left == self.limit {
            none_matches(self.seen, self.wanted, out);
        }
    }

    /// Prints the column names, once for all files.
    pub fn head(&mut self, out: &mut Output) -> io::Result<()> {
        if out.format != Format::Json && !std::mem::replace(&mut self.is_headed, true) {
            let is_text = out.format == Format::Text;
            self.columns = columns::chosen(self.asked, &self.default, is_text, self.payload.is_some());
            out.put(|out| columns::heading(&self.columns, is_text, out))?;
        }
        Ok(())
    }

    /// Prints an event unless the limit is reached. Returns the fault if a payload cannot be decoded.
    pub fn event(&mut self, line: &Line<'_>, out: &mut Output) -> io::Result<Option<Fault>> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        self.left = left;
        let format = out.format;
        out.put(|out| match format {
            Format::Json => document::event(line, &mut self.names, out),
            format => columns::event(&self.columns, format == Format::Text, line, &mut self.names, out),
        })
    }
}

/// The note that no event matched.
#[derive(Serialize)]
struct NoneMatch {
    matching: u64,
    events: u64,
    #[serde(skip)]
    remedy: String,
}

impl Display for NoneMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} match{}", self.matching, Several(self.events, "event"), Escaped(&self.remedy))
    }
}
