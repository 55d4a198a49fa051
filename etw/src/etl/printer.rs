//! What prints events, of traces and of dumps: which columns, in which format, how many.

use super::columns::{self, Column};
use super::document;
use super::line::{Line, Names, Payload};
use super::output::{Format, Output, Several};
use super::wanted::Wanted;
use etw_layouts_etl::tracelogging::Fault;
use serde::Serialize;
use std::fmt::{self, Display};
use std::io;

/// Which events are printed, and what of them.
#[derive(clap::Args)]
pub struct Asked {
    /// Print these columns of text and CSV, in this order. CSV and JSON have the same values under the same names. Text has names in place of
    /// numbers and GUIDs, where there are any.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "COLUMN,…")]
    columns: Vec<Column>,
    /// Print the payload too. Events of TraceLogging carry their schema; bytes that it does not decode are printed as they are, and are a
    /// finding.
    #[arg(long, value_enum)]
    payload: Option<Payload>,
    #[command(flatten)]
    pub wanted: Wanted,
    /// Print so many events of all files together, and stop. Findings that would come later are not told.
    #[arg(long, value_name = "N", help_heading = "Which events")]
    limit: Option<u64>,
}

/// Prints the events of one file after the other.
pub struct Printer<'a> {
    pub wanted: &'a Wanted,
    /// What is printed of payloads.
    pub payload: Option<Payload>,
    asked: &'a [Column],
    default: Vec<Column>,
    columns: Vec<Column>,
    names: Names,
    /// How many events were looked at, whether they were wanted or not.
    pub seen: u64,
    limit: u64,
    /// How many may still be printed.
    left: u64,
    is_headed: bool,
}

impl<'a> Printer<'a> {
    /// Prints these columns if no others are asked for.
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

    /// Whether as many were printed as were asked for.
    pub fn is_done(&self) -> bool {
        self.left == 0
    }

    /// Tells that none of the events that were looked at was wanted, if it is so.
    pub fn end(&self, out: &Output) {
        if self.left == self.limit && self.seen > 0 {
            out.aside(&NoneMatch { matching: 0, events: self.seen, remedy: self.wanted.on_names() });
        }
    }

    /// Names the columns, once for all files.
    pub fn head(&mut self, out: &mut Output) -> io::Result<()> {
        if out.format != Format::Json && !std::mem::replace(&mut self.is_headed, true) {
            let is_text = out.format == Format::Text;
            self.columns = columns::chosen(self.asked, &self.default, is_text, self.payload.is_some());
            out.put(|out| columns::heading(&self.columns, is_text, out))?;
        }
        Ok(())
    }

    /// Prints an event, unless there were enough; what of its fields could not be decoded.
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

/// That no event was wanted, of so many.
#[derive(Serialize)]
struct NoneMatch {
    matching: u64,
    events: u64,
    #[serde(skip)]
    remedy: &'static str,
}

impl Display for NoneMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} match{}", self.matching, Several(self.events, "event"), self.remedy)
    }
}
