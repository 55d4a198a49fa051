//! An event, and what is asked of it to print it: nothing is decoded before.

use super::output::Escaped;
use super::put;
use etw_layouts_etl::wire::{EVENT_HEADER_EXT_TYPE, EVENT_HEADER_FLAG};
use etw_layouts_etl::{Buffer, Event, Finding, Guid, HeaderType, LogFile, What, names};
use std::collections::BTreeMap;

/// What an event's buffer tells of it.
#[derive(Clone, Copy)]
pub struct Origin {
    pub buffer: u32,
    pub offset: u64,
    pub processor: u16,
}

impl Origin {
    pub fn of(buffer: &Buffer<'_>) -> Self {
        Self { buffer: buffer.index(), offset: buffer.offset(), processor: buffer.head().processor() }
    }

    /// What is wrong with an event of the buffer.
    pub fn finding(self, event: &Event<'_>, what: What) -> Finding {
        Finding { buffer: self.buffer, buffer_offset: self.offset, offset: event.offset(), what }
    }
}

/// How a payload is printed.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Payload {
    /// In hexadecimal digits.
    Hex,
    /// By fields, of events of TraceLogging and of the log file header (TRACE_LOGFILE_HEADER); others in hexadecimal digits.
    Fields,
}

/// An event.
pub struct Line<'a> {
    pub file: &'a Name,
    /// The session, of an event in a dump.
    pub session: Option<Session<'a>>,
    pub event: &'a Event<'a>,
    pub origin: Origin,
    pub time: Option<i64>,
    /// The hook identifier of a kernel event.
    pub hook: Option<u16>,
    pub provider: Option<Guid>,
    pub payload: Option<Payload>,
}

/// The session of an event in a dump.
#[derive(Clone, Copy)]
pub struct Session<'a> {
    pub name: &'a Name,
    pub logger_id: u32,
    /// Where the event's buffer was in memory.
    pub buffer_address: Option<u64>,
}

/// A name of others, as lines have it.
pub struct Name {
    pub text: String,
    pub json: Vec<u8>,
}

impl Name {
    pub fn of(name: &str) -> Self {
        let mut json = Vec::new();
        put::json(&mut json, name.chars());
        Self { text: Escaped(name).to_string(), json }
    }
}

/// The name of an event's header type; of an unknown one, that: it has no name.
pub fn header(event: &Event<'_>) -> Result<&'static str, u8> {
    match event.header_type() {
        HeaderType::Unknown => Err(event.bytes().get(2).copied().unwrap_or_default()),
        header_type => Ok(header_type.name()),
    }
}

impl<'a> Line<'a> {
    /// An event of a trace.
    pub fn new(file: &'a Name, event: &'a Event<'a>, origin: Origin, time: Option<i64>, payload: Option<Payload>) -> Self {
        Self { file, session: None, event, origin, time, hook: event.hook(), provider: event.provider(), payload }
    }

    /// Of a provider that stands for a group of kernel events, the group; of others the name that the event carries.
    pub fn provider_name(&self) -> Option<&'a str> {
        let carried = || self.event.traits()?.ok().map(|traits| traits.name).filter(|name| !name.is_empty());
        self.provider.and_then(names::provider).or_else(carried)
    }

    /// The log file header that it holds, if its fields are asked for.
    pub fn log_file(&self) -> Option<LogFile> {
        if self.payload == Some(Payload::Fields) { LogFile::read(self.event) } else { None }
    }

    /// Of a kernel event, the name of its hook identifier.
    pub fn id_name(&self) -> Option<&'static str> {
        self.hook.and_then(names::hook)
    }

    /// Of an opcode that means the same for all providers.
    pub fn opcode_name(&self) -> Option<&'static str> {
        self.event.opcode().and_then(|opcode| names::opcode(self.event.header_type(), opcode))
    }

    /// An activity of zeroes is none.
    pub fn activity(&self) -> Option<Guid> {
        self.event.activity_id().filter(|activity| activity.0 != 0)
    }
}

/// What many events share, made once: the names of flags and of extended items, and the text of seconds.
#[derive(Default)]
pub struct Names {
    pub times: put::Times,
    flags: BTreeMap<u16, String>,
    items: BTreeMap<u16, String>,
}

impl Names {
    /// The names of flags without what all of them begin with; no text for none.
    pub fn flags(&mut self, flags: EVENT_HEADER_FLAG) -> &str {
        self.flags.entry(flags.0).or_insert_with(|| match flags.0 {
            0 => String::new(),
            _ => format!("{flags:?}").replace("EVENT_HEADER_FLAG_", ""),
        })
    }

    /// The name of an extended item without what all of them begin with.
    pub fn item(&mut self, ty: EVENT_HEADER_EXT_TYPE) -> &str {
        self.items.entry(ty.0).or_insert_with(|| {
            let name = format!("{ty:?}");
            name.strip_prefix("EVENT_HEADER_EXT_TYPE_").map_or(name.as_str(), |name| name).to_owned()
        })
    }
}
