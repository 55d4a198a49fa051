//! An event to print; values are decoded only when a column needs them.

use crate::stack::EventStack;
use crate::wpp::WppMessages;
use etw_layouts_etl::payload::packed::Variant;
use etw_layouts_etl::text::Escaped;
use etw_layouts_etl::text::put;
use etw_layouts_etl::tracelogging::Fault;
use etw_layouts_etl::wire::{EVENT_HEADER_EXT_TYPE, EVENT_HEADER_FLAG};
use etw_layouts_etl::{Buffer, Clock, Decoded, Diagnostic, DiagnosticKind, Event, HeaderType, LogFile, Schemas, Uuid};
use etw_layouts_schemas::tmf::WppMessage;
use etw_layouts_trace::{self as trace, ProcessTable, Who};
use std::collections::{BTreeMap, BTreeSet};

/// The origin of an event: values of its buffer.
#[derive(Clone, Copy)]
pub struct Origin {
    /// Index of the buffer in its file.
    pub buffer: u32,
    /// Offset of the buffer in its file, in bytes.
    pub offset: u64,
    /// The processor that wrote it.
    pub processor: u16,
}

impl Origin {
    /// The origin of the events of a buffer.
    pub fn new(buffer: &Buffer<'_>) -> Self {
        Self { buffer: buffer.index(), offset: buffer.offset(), processor: buffer.header().processor() }
    }

    /// The diagnostic for an event of the buffer.
    pub fn diagnostic(self, event: &Event<'_>, kind: DiagnosticKind) -> Diagnostic {
        Diagnostic { buffer: self.buffer, buffer_offset: self.offset, offset: event.offset(), kind }
    }
}

/// Payload output.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Payload {
    /// Print payloads as hexadecimal digits.
    Hex,
    /// Print decoded fields, as {ProcessId = 4, ImageFileName = "System"}; print hexadecimal digits for events without a schema.
    Fields,
    /// Print the message in the event's manifest, with values inserted; print decoded fields for events without a message.
    Message,
}

/// An event to print.
pub struct Line<'a> {
    /// The name of its file.
    pub file: &'a Name,
    /// The session, for an event in a dump.
    pub session: Option<EventSession<'a>>,
    /// Its record.
    pub event: &'a Event<'a>,
    /// The schemas of its session.
    pub schemas: &'a Schemas,
    /// Values of its buffer.
    pub origin: Origin,
    /// Time in units of 100 ns since 1601.
    pub time: Option<i64>,
    /// The hook ID of a kernel event.
    pub hook: Option<u16>,
    /// The GUID of its provider or group.
    pub provider: Option<Uuid>,
    /// How the payload is printed; `None` if it is not.
    pub payload: Option<Payload>,
    /// The clock of the session, for times in payloads.
    pub clock: Option<Clock>,
    /// The log file header, which states the resolution of the timer.
    pub log: Option<&'a LogFile>,
    /// Who did it, and whom it is about, for an event of a trace.
    pub who: Option<Who>,
    /// The processes of its session.
    pub processes: Option<&'a ProcessTable>,
    /// The message of a WPP event.
    pub message: Option<&'a WppMessage>,
    /// The call stack, if it is printed.
    pub stack: Option<&'a EventStack>,
}

/// The session of an event in a dump.
#[derive(Clone, Copy)]
pub struct EventSession<'a> {
    /// Its name.
    pub name: &'a Name,
    /// Its number.
    pub logger_id: u32,
    /// The address of the buffer in memory.
    pub buffer_address: Option<u64>,
}

/// A name from a file, ready to print.
pub struct Name {
    /// As text, with escapes.
    pub text: String,
    /// As a string of JSON, with quotes.
    pub json: Vec<u8>,
}

impl Name {
    /// A name in both forms.
    pub fn new(name: &str) -> Self {
        let mut json = Vec::new();
        put::json(&mut json, name.chars());
        Self { text: Escaped(name).to_string(), json }
    }
}

/// The name of the header type, or the number of an unknown type.
pub fn header(event: &Event<'_>) -> Result<&'static str, u8> {
    match event.header_type() {
        HeaderType::Unknown => Err(event.bytes().get(2).copied().unwrap_or_default()),
        header_type => Ok(header_type.name()),
    }
}

impl<'a> Line<'a> {
    /// An event of a trace.
    pub fn new(
        file: &'a Name,
        event: &'a Event<'a>,
        schemas: &'a Schemas,
        origin: Origin,
        time: Option<i64>,
        payload: Option<Payload>,
    ) -> Self {
        Self {
            file,
            session: None,
            event,
            schemas,
            origin,
            time,
            hook: event.hook(),
            provider: event.provider(),
            payload,
            clock: None,
            log: None,
            who: None,
            processes: None,
            message: None,
            stack: None,
        }
    }

    /// An event of a trace, without who did it; `header` is its header.
    pub fn of_event(
        file: &'a Name,
        event: &'a trace::Event<'_>,
        header: &'a Event<'a>,
        messages: &'a WppMessages,
        payload: Option<Payload>,
    ) -> Self {
        let trace::Place { buffer, buffer_offset: offset, processor, .. } = event.place();
        let origin = Origin { buffer, offset, processor };
        Self {
            clock: Some(*event.file().clock()),
            log: Some(event.file().log_file()),
            processes: Some(event.session().processes()),
            message: messages.of(header),
            ..Self::new(file, header, event.schemas(), origin, event.time().map(|time| time.0), payload)
        }
    }

    /// The event with its schema.
    pub fn decoded(&self) -> Option<Decoded<'a>> {
        self.event.decode(self.schemas)
    }

    /// The schema of the event in the libraries.
    pub fn variant(&self) -> Option<Variant<'a>> {
        self.schemas.variant(self.event)
    }

    /// The error in the schema that the event contains.
    pub fn invalid_schema(&self) -> Option<Fault> {
        self.event.trace_logging()?.schema.err()
    }

    /// The names of the keywords in the event's schema; otherwise the provider's keywords that share a bit with the event's
    /// keyword.
    pub fn keyword_names(&self) -> Vec<&'a str> {
        let named: Vec<_> = self.variant().into_iter().flat_map(|variant| variant.keywords()).map(|(_, name)| name).collect();
        if !named.is_empty() || self.hook.is_some() {
            return named;
        }
        let keyword = self.event.keyword().unwrap_or_default();
        let of = |(mask, name): (Option<u64>, &'a str)| mask.filter(|mask| keyword & mask != 0).map(|_| name);
        self.schemas.keywords(self.provider).filter_map(of).collect()
    }

    /// The log file header in the payload.
    pub fn log_file(&self) -> Option<LogFile> {
        LogFile::read(self.event)
    }
}

/// Cached text that many events share: names of flags and extended data items, and seconds. Also the requested fields that events
/// had.
#[derive(Default)]
pub struct Names {
    /// Times that were written last.
    pub times: put::Times,
    flags: BTreeMap<u16, String>,
    items: BTreeMap<u16, String>,
    /// The requested fields that an event had.
    fields: BTreeSet<&'static str>,
}

impl Names {
    /// Records that an event has a requested field.
    pub fn found_field(&mut self, name: &'static str) {
        if !self.fields.contains(name) {
            self.fields.insert(name);
        }
    }

    /// The requested fields that events had.
    pub fn fields(&mut self) -> &mut BTreeSet<&'static str> {
        &mut self.fields
    }

    /// The flag names without their common prefix; empty for no flags.
    pub fn flags(&mut self, flags: EVENT_HEADER_FLAG) -> &str {
        self.flags.entry(flags.0).or_insert_with(|| match flags.0 {
            0 => String::new(),
            _ => format!("{flags:?}").replace("EVENT_HEADER_FLAG_", ""),
        })
    }

    /// The name of an extended data item without the common prefix.
    pub fn item(&mut self, ty: EVENT_HEADER_EXT_TYPE) -> &str {
        self.items.entry(ty.0).or_insert_with(|| {
            let name = format!("{ty:?}");
            name.strip_prefix("EVENT_HEADER_EXT_TYPE_").map_or(name.as_str(), |name| name).to_owned()
        })
    }
}
