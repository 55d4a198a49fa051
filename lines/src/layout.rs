//! The lines of events in a format: of text, JSON or CSV.

use crate::column::Column;
use crate::kind::LineKinds;
use crate::line::{Line, Names, Payload};
use crate::selection::Wanted;
use crate::{Format, document, event_fields, table};
use etw_layouts_etl::tracelogging::Fault;

/// How events are printed.
#[derive(Clone)]
pub struct Layout<'a> {
    /// The events that are selected.
    pub wanted: &'a Wanted,
    /// The payload output.
    pub payload: Option<Payload>,
    /// The columns of text and CSV; JSON has all.
    columns: Vec<Column>,
    format: Format,
    /// Whether the columns are the fields of a single event.
    has_fields: bool,
}

impl<'a> Layout<'a> {
    /// Lines in a format. If no columns are requested, text and CSV have the default columns; CSV of one kernel event also has its fields.
    pub fn new(wanted: &'a Wanted, payload: Option<Payload>, format: Format, asked: &[Column], default: &[Column]) -> Self {
        let mut layout = Self { wanted, payload, columns: Vec::new(), format, has_fields: false };
        if format != Format::Json {
            let is_text = format == Format::Text;
            let fields = wanted.one_event().filter(|_| !is_text).map(event_fields::columns).unwrap_or_default();
            layout.has_fields = asked.is_empty() && !fields.is_empty();
            layout.columns = table::chosen(asked, default, fields, is_text, payload.is_some());
        }
        layout
    }

    /// Writes the line of column names; JSON has no such line.
    pub fn heading(&self, out: &mut Vec<u8>) {
        if self.format != Format::Json {
            table::heading(&self.columns, self.format == Format::Text, out);
        }
    }

    /// Whether lines state who did an event.
    pub fn has_who(&self) -> bool {
        self.format == Format::Json || self.columns.iter().any(|column| column.is_who())
    }

    /// Writes the line of an event; `kinds` are those of the schemas in `line`. Returns the fault if a payload cannot be decoded.
    pub fn write(&self, line: &Line<'_>, names: &mut Names, kinds: &mut LineKinds, out: &mut Vec<u8>) -> Option<Fault> {
        let fault = match self.format {
            Format::Json => document::event(line, names, kinds, out),
            format => table::event(&self.columns, format == Format::Text, line, names, out),
        };
        if let (Format::Text, Some(stack)) = (self.format, line.stack) {
            stack.write_text(out);
        }
        fault.or_else(|| if self.has_fields { undecoded(line) } else { None })
    }
}

/// The fault if the payload is not decoded to its last byte by the schema of its version.
fn undecoded(line: &Line<'_>) -> Option<Fault> {
    line.decoded().filter(|decoded| decoded.is_exact)?.fields.check().err()
}
