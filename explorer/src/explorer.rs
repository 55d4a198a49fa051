//! An open trace, and the events that the filter selects.

use crate::bytes::{self, RecordBytes};
use crate::files::Files;
use crate::filter;
use crate::symbols::Symbols;
use etw_layouts_answers::Frames;
use etw_layouts_etl::Filter;
use etw_layouts_lines::Refusals;
use etw_layouts_lines::document;
use etw_layouts_lines::kind::LineKinds;
use etw_layouts_lines::line::{Line, Name, Names, Payload};
use etw_layouts_lines::schemas::SchemaOptions;
use etw_layouts_lines::selection::Wanted;
use etw_layouts_lines::stack::EventStack;
use etw_layouts_lines::wpp::WppMessages;
use etw_layouts_report::Report;
use etw_layouts_trace::{Event, Notice, Options, Order, Slice, Trace, TraceFile};
use serde::Serialize;
use std::cell::RefCell;
use std::sync::Arc;

/// Bytes of decompressed buffers of a slice: a page of the table reads at least one slice again.
const SLICE: u64 = 1 << 20;

/// Maximum number of rows that are read at once.
const MAX_ROWS: u64 = 1000;

/// Maximum number of messages that are kept; further ones are counted.
const MAX_MESSAGES: usize = 100;

/// A trace in the browser.
#[derive(Default)]
pub struct Explorer {
    schemas: Option<SchemaOptions>,
    opened: Option<Opened>,
}

/// An open trace.
pub(crate) struct Opened {
    pub trace: Trace,
    names: Vec<Name>,
    slices: Vec<Slice>,
    pub selected: Selected,
    symbols: Symbols,
    messages: Messages,
}

/// The events that the filter selects.
pub(crate) struct Selected {
    pub wanted: Wanted,
    pub filters: Vec<Filter>,
    /// For each slice, the number of selected events before it; then the number of all.
    before: Vec<u64>,
}

/// What the page shows of an open trace.
#[derive(Serialize)]
pub struct Summary {
    /// Names of the files.
    files: Vec<String>,
    /// Their sizes, in bytes.
    bytes: u64,
    /// Number of all events.
    events: u64,
    /// Number of files with diagnostics, and the diagnostics as sentences.
    diagnostics: Vec<String>,
    /// Number of further diagnostics.
    more_diagnostics: u64,
    /// Reports on files and schemas.
    messages: Vec<String>,
    /// Number of further reports.
    more_messages: u64,
}

/// The result of a filter.
#[derive(Serialize)]
pub struct Selection {
    /// Number of selected events.
    selected: u64,
    /// Number of all events.
    events: u64,
    /// For names that no schema has; empty otherwise.
    hint: String,
}

/// An event in detail.
#[derive(Serialize)]
struct Detail {
    /// The line of JSON, as `etw etl events --format json --payload message --stacks` prints it.
    event: serde_json::Value,
    bytes: RecordBytes,
}

/// Reports, with a limit.
#[derive(Default)]
struct Messages {
    kept: RefCell<(Vec<String>, u64)>,
}

impl Messages {
    fn add(&self, message: String) {
        let mut kept = self.kept.borrow_mut();
        if kept.0.len() < MAX_MESSAGES {
            kept.0.push(message);
        } else {
            kept.1 += 1;
        }
    }
}

impl Refusals for Messages {
    fn refused(&self, file: &str, error: &str) {
        self.add(format!("{file}: {error}"));
    }
}

impl Explorer {
    /// Opens trace files as one trace, with the schemas of other files. All earlier files are closed.
    ///
    /// # Errors
    ///
    /// A file cannot be read.
    pub fn open(&mut self, files: Files) -> Result<Summary, String> {
        let Files { traces: files, schemas, symbols, notes } = files;
        if files.is_empty() {
            return Err(NO_TRACE.to_owned());
        }
        let messages = Messages::default();
        notes.into_iter().for_each(|note| messages.add(note));
        let schemas = SchemaOptions::from_files(schemas, &messages);
        let of_file: Vec<String> = files.iter().map(|file| file.name().to_owned()).collect();
        let options = Options::new().schemas(schemas.of_any()).skip_unreadable().notices(|notice| match notice {
            Notice::Schema { file, diagnostic } => messages.add(format!("{}: schema not used: {diagnostic}", of_file[file])),
            Notice::MoreSchemas { file, count } => messages.add(format!("{}: {count} more schemas not used", of_file[file])),
            Notice::Unreadable { file, error } => messages.add(format!("{}: {error}", of_file[file])),
            Notice::NotKept { file, records } => messages.add(format!(
                "{}: {records} names and call stacks are left out, because memory is limited; open a smaller part of the trace",
                of_file[file]
            )),
            _ => {}
        });
        let trace = Trace::new(files, options).map_err(|error| error.to_string())?;
        let names = trace.files().iter().map(|file| Name::new(file.name())).collect();
        let (slices, is_ordered) = trace.slices(None, Order::Time, SLICE);
        if !is_ordered {
            messages.add("Buffers are so far out of order that only parts of the table are sorted by time.".into());
        }
        let wanted = filter::read("")?;
        let selected = Selected { filters: Vec::new(), before: Vec::new(), wanted };
        let mut opened = Opened { selected, trace, names, slices, symbols: Symbols::new(symbols), messages };
        opened.select(filter::read("")?)?;
        let summary = opened.summary();
        (self.schemas, self.opened) = (Some(schemas), Some(opened));
        Ok(summary)
    }

    /// Selects events by the words of a filter.
    ///
    /// # Errors
    ///
    /// A word is not an option, a value is invalid, or the trace cannot be read. The selection is then unchanged.
    pub fn select(&mut self, words: &str) -> Result<Selection, String> {
        let schemas = self.schemas.clone();
        let opened = self.opened.as_mut().ok_or(NO_TRACE)?;
        opened.select(filter::read(words)?)?;
        let wanted = &mut opened.selected.wanted;
        wanted.schemas = schemas.ok_or(NO_TRACE)?;
        Ok(Selection {
            selected: opened.selected.before.last().copied().unwrap_or_default(),
            events: opened.trace.event_count(),
            hint: wanted.on_names().unwrap_or_default(),
        })
    }

    /// Selected events from an index on, as a list of JSON objects in the form of `etw etl events --format json --payload message`.
    ///
    /// # Errors
    ///
    /// The trace cannot be read.
    pub fn rows(&self, start: u64, count: u64) -> Result<String, String> {
        let mut writer = self.writer()?;
        let mut rows = vec![b'['];
        writer.opened.selected_events(start, count.min(MAX_ROWS), |event| {
            if rows.len() > 1 {
                rows.push(b',');
            }
            writer.lines.write(writer.opened, event, None, &mut rows);
            Ok(())
        })?;
        rows.push(b']');
        Ok(String::from_utf8_lossy(&rows).into_owned())
    }

    /// A selected event by its index, with its call stack and its bytes.
    ///
    /// # Errors
    ///
    /// The trace cannot be read, or has no such event.
    pub fn event(&self, index: u64) -> Result<String, String> {
        let mut writer = self.writer()?;
        let mut detail = None;
        writer.opened.selected_events(index, 1, |event| {
            let names = event.trace().names(event.session_index());
            let functions = &writer.opened.symbols.functions;
            let frames = names.map(|names| Frames::with_functions(names, functions.clone()));
            let stack = frames.map(|mut frames| EventStack::read(event, &mut frames)).transpose();
            let stack = stack.map_err(|error| error.to_string())?;
            let mut line = Vec::new();
            writer.lines.write(writer.opened, event, stack.as_ref(), &mut line);
            let event_json = serde_json::from_slice(&line).map_err(|error| error.to_string())?;
            detail = Some(Detail { event: event_json, bytes: bytes::record(event) });
            Ok(())
        })?;
        let detail = detail.ok_or("no such event: the trace or the filter changed; select an event again")?;
        serde_json::to_string(&detail).map_err(|error| error.to_string())
    }

    /// The report of the trace as JSON: its data; its start in units of 100 ns since 1601 as text, because a script's numbers have fewer digits; and the
    /// program databases that name no function.
    ///
    /// # Errors
    ///
    /// The trace cannot be read.
    pub fn report(&self) -> Result<String, String> {
        let (opened, _) = self.opened()?;
        let options = etw_layouts_report::Options::new(opened.symbols.functions.clone());
        let report = Report::new(&opened.trace, &options).map_err(|error| error.to_string())?;
        let unused = serde_json::to_string(&opened.symbols.unused()).map_err(|error| error.to_string())?;
        Ok(format!("{{\"start\":\"{}\",\"unused\":{unused},\"report\":{}}}", report.start, report.json()))
    }

    pub(crate) fn opened(&self) -> Result<(&Opened, &SchemaOptions), String> {
        self.opened.as_ref().zip(self.schemas.as_ref()).ok_or_else(|| NO_TRACE.to_owned())
    }

    fn writer(&self) -> Result<Writer<'_>, String> {
        let (opened, schemas) = self.opened()?;
        Ok(Writer { opened, lines: Lines { messages: schemas.messages(), names: Names::default() } })
    }
}

const NO_TRACE: &str = "no trace is open; drop a trace file on the page";

/// An open trace, and what its lines need.
struct Writer<'e> {
    opened: &'e Opened,
    lines: Lines,
}

struct Lines {
    messages: Arc<WppMessages>,
    names: Names,
}

impl Lines {
    fn write(&mut self, opened: &Opened, event: &Event<'_>, stack: Option<&EventStack>, out: &mut Vec<u8>) {
        let (header, name) = (event.header(), &opened.names[event.file_index()]);
        let line = Line::of_event(name, event, &header, &self.messages, Some(Payload::Message));
        let line = Line { who: Some(event.who()), stack, ..line };
        // Faults of payloads are in the line, as `undecoded`.
        document::event(&line, &mut self.names, &mut LineKinds::default(), out);
        // Without the line break.
        out.truncate(out.trim_ascii_end().len());
    }
}

impl Opened {
    fn summary(&self) -> Summary {
        let files = self.trace.files();
        let name = |file: usize| files.get(file).map_or("", |file| file.name());
        let diagnostics = self.trace.diagnostics().iter().take(MAX_MESSAGES);
        let diagnostics: Vec<_> = diagnostics
            .map(|(file, found)| {
                format!(
                    "{}: buffer {} at {:#x}, offset {:#x}: {}",
                    name(*file),
                    found.buffer,
                    found.buffer_offset,
                    found.offset,
                    found.kind
                )
            })
            .collect();
        let all = self.trace.diagnostics().len() as u64 + self.trace.more_diagnostics();
        let (messages, more_messages) = self.messages.kept.borrow().clone();
        Summary {
            files: files.iter().map(|file| file.name().to_owned()).collect(),
            bytes: files.iter().map(TraceFile::length).sum(),
            events: self.trace.event_count(),
            more_diagnostics: all - diagnostics.len() as u64,
            diagnostics,
            messages,
            more_messages,
        }
    }

    fn select(&mut self, wanted: Wanted) -> Result<(), String> {
        let filters = wanted.filters(&self.trace);
        let (mut before, mut count) = (vec![0], 0);
        let mut events = self.trace.no_events();
        for slice in &self.slices {
            for event in events.of_slice(slice.clone()) {
                let event = event.map_err(|error| error.to_string())?;
                count += u64::from(event.matches(&filters[event.file_index()]));
            }
            before.push(count);
        }
        self.selected = Selected { wanted, filters, before };
        Ok(())
    }

    /// Calls `see` with selected events from an index on.
    fn selected_events(
        &self,
        start: u64,
        count: u64,
        mut see: impl FnMut(&Event<'_>) -> Result<(), String>,
    ) -> Result<(), String> {
        let Selected { filters, before, .. } = &self.selected;
        let first = before.partition_point(|before| *before <= start).saturating_sub(1);
        let (mut skip, mut left) = (start - before[first.min(before.len() - 1)], count);
        let mut events = self.trace.no_events();
        for slice in self.slices.iter().skip(first) {
            for event in events.of_slice(slice.clone()) {
                let event = event.map_err(|error| error.to_string())?;
                if left == 0 {
                    return Ok(());
                }
                if !event.matches(&filters[event.file_index()]) {
                    continue;
                }
                if skip > 0 {
                    skip -= 1;
                    continue;
                }
                see(&event)?;
                left -= 1;
            }
        }
        Ok(())
    }

    /// Calls `see` with all selected events, in the order of the table.
    pub fn all(&self, see: impl FnMut(&Event<'_>) -> Result<(), String>) -> Result<(), String> {
        self.selected_events(0, u64::MAX, see)
    }

    pub fn name(&self, file: usize) -> &Name {
        &self.names[file]
    }
}
