//! Prints events of traces and dumps: columns, format and limit.

use super::column::Column;
use super::kind::LineKinds;
use super::line::{Line, Names, Payload};
use super::{Escaped, Format, Output, Several};
use crate::object::object;
use crate::selection::Wanted;
use etw_layouts_etl::tracelogging::Fault;
pub use etw_layouts_lines::layout::Layout;
use etw_layouts_lines::table;
use std::collections::BTreeSet;
use std::io;

/// Options that select events and columns.
#[derive(clap::Args)]
pub struct PrintOptions {
    /// Print these columns in text and CSV, in this order; JSON always contains all columns. CSV contains numbers and GUIDs; text
    /// contains names if they are known. A column can also be a field of the payload, such as ProcessId or CommandLine, with or
    /// without --payload; the case of its name is ignored. For an event without the field, text has `-` and CSV an empty cell. CSV
    /// of one kernel event (--event Process/Start) has a column for each of its fields by default, with the values as in JSON.
    #[arg(long, value_parser = table::Columns, value_delimiter = ',', value_name = "COLUMN|FIELD,…")]
    columns: Vec<Column>,
    /// Print the payload. It is decoded with the schema in the event itself (TraceLogging), in the trace, in the files of --manifests,
    /// in the specs of kernel events, or in the built-in catalogue. Bytes that cannot be decoded are printed in hexadecimal and
    /// reported as a diagnostic. In JSON, `schema` states the source of the schema, `fields` contains the decoded fields, and
    /// `undecoded` contains the bytes after the last decoded field.
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
        let note = wanted.on_names();
        let hint = note.as_ref().map(|note| format!("; {}", Escaped(note))).unwrap_or_default();
        let note = note.map(|note| object! { note: note });
        let document = object! { matching: 0, events: events, #[serde(flatten)] note: note };
        out.say(format_args!("0 of {} match{hint}", Several(events, "event")), &document);
    }
}

/// Prints the events of one file after another.
pub struct Printer<'a> {
    pub layout: Layout<'a>,
    asked: &'a [Column],
    default: Vec<Column>,
    /// The requested fields that printed events had.
    fields: BTreeSet<&'static str>,
    /// The number of events examined, whether they match or not.
    pub seen: u64,
    limit: u64,
    /// The number of events left before the limit.
    left: u64,
    is_headed: bool,
}

impl<'a> Printer<'a> {
    /// Sets the columns to print by default.
    pub fn new(asked: &'a PrintOptions, default: &[Column]) -> Self {
        let payload = asked.payload.or(asked.columns.contains(&Column::Payload).then_some(Payload::Hex));
        let limit = asked.limit.unwrap_or(u64::MAX);
        Self {
            layout: Layout::new(&asked.wanted, payload, Format::Json, &[], &[]),
            asked: &asked.columns,
            default: default.to_vec(),
            fields: BTreeSet::new(),
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

    /// Reports that no examined event matched, or which requested fields no printed event has.
    pub fn end(&self, out: &Output) {
        if self.left == self.limit {
            return none_matches(self.seen, self.layout.wanted, out);
        }
        let printed = self.limit - self.left;
        let events = if printed == 1 {
            "the printed event does not have".into()
        } else {
            format!("none of the {} has", Several(printed, "printed event"))
        };
        for column in self.asked {
            if let Column::Field(name) = *column
                && !self.fields.contains(name)
            {
                let near = table::similar(name).map(|near| format!("; did you mean the column `{near}`?"));
                let note = format!("{events} the field `{name}`{}", near.unwrap_or_default());
                out.say(format_args!("note: {}", Escaped(&note)), &object! { note: &note });
            }
        }
    }

    /// Prints the column names, once for all files.
    pub fn head(&mut self, out: &mut Output) -> io::Result<()> {
        if !std::mem::replace(&mut self.is_headed, true) {
            self.layout = Layout::new(self.layout.wanted, self.layout.payload, out.format, self.asked, &self.default);
            out.put(|out| self.layout.heading(out))?;
        }
        Ok(())
    }

    /// The number of events left before the limit.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Prints an event unless the limit is reached; `kinds` are those of the schemas in `line`. Returns the fault if a payload cannot be decoded.
    pub fn event(
        &mut self,
        line: &Line<'_>,
        names: &mut Names,
        kinds: &mut LineKinds,
        out: &mut Output,
    ) -> io::Result<Option<Fault>> {
        if self.left == 0 {
            return Ok(None);
        }
        let fault = out.put(|out| self.layout.write(line, names, kinds, out))?;
        self.printed(1, names.fields());
        Ok(fault)
    }

    /// Counts events that were printed, and adds the requested fields that they had.
    pub fn printed(&mut self, events: u64, fields: &mut BTreeSet<&'static str>) {
        self.left = self.left.saturating_sub(events);
        self.fields.append(fields);
    }
}
