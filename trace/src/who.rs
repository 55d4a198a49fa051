//! The process and thread that caused an event, and the process and thread that it describes.

use crate::process::ProcessIndex;
use crate::process_table::ProcessTable;
use crate::specified::{is_of_manifest, kernel};
use crate::threads::ThreadTable;
use etw_layouts::events::{self, FieldPlace};
use etw_layouts_etl::payload::PointerSize;
use etw_layouts_etl::{Event, Filter, Schemas};
use std::fmt;

/// The process and thread that caused an event, and the process and thread that it describes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Who {
    /// The process and the thread that caused the event.
    pub by: Party,
    /// The process and the thread that the event describes; empty if it describes no other process or thread.
    pub about: Party,
}

impl Who {
    /// Whether the event has a process and a thread of a filter: one that did it, or that it is about; a thread can also be that in the header.
    #[must_use]
    pub fn matches(&self, filter: &Filter, event: &Event<'_>) -> bool {
        let Self { by, about } = self;
        filter.is_of(&[by.process, about.process], &[by.thread, about.thread, event.thread()])
    }
}

/// A process and a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Party {
    /// Identifier of the process.
    pub process: Option<u32>,
    /// Identifier of the thread.
    pub thread: Option<u32>,
    /// The process in the table; `None` also if no event describes it.
    pub index: Option<ProcessIndex>,
    /// How the process is known.
    pub known: KnownBy,
}

/// How the process of an event is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum KnownBy {
    /// It is not known.
    #[default]
    Nothing,
    /// By the process in the header.
    Header,
    /// By the thread in the header, and other events that state its process.
    HeaderThread,
    /// By the field of the payload with this name, which is a process.
    Process(&'static str),
    /// By the field of the payload with this name, which is a thread, and other events that state its process.
    Thread(&'static str),
}

impl KnownBy {
    /// The name of the field, `header`, or an empty string.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Nothing => "",
            Self::Header | Self::HeaderThread => "header",
            Self::Process(field) | Self::Thread(field) => field,
        }
    }
}

impl fmt::Display for KnownBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Who did an event, and whom it is about, at the time stamp `tick`. The fields that the specs name take precedence over the header. Kernel events
/// need no schemas; other events are decoded with `schemas`, if the specs name a field of them.
#[must_use]
pub fn who(event: &Event<'_>, schemas: &Schemas, processes: &ProcessTable, threads: &ThreadTable, tick: i64) -> Who {
    let (stated, pointers) = (stated(event), event.pointer_size().unwrap_or(PointerSize::Bits64));
    // An identifier of all ones is none. Identifiers of 64 bits are small numbers.
    let read = |place: Option<FieldPlace>| {
        let place = place?;
        let value = match place.is_fixed() {
            true => place.read(event.payload(), pointers),
            false => event.decode(schemas)?.get(place.name)?.number(),
        };
        let id = u32::try_from(value?).ok().filter(|id| *id != u32::MAX)?;
        Some((id, place.name))
    };
    let party = |process: Option<(u32, &'static str)>, thread: Option<(u32, &'static str)>| match (process, thread) {
        (Some((process, name)), thread) => {
            Party { process: Some(process), thread: thread.map(|(thread, _)| thread), index: None, known: KnownBy::Process(name) }
        }
        (None, Some((thread, name))) => {
            let process = threads.at(thread, tick).or(event.process().filter(|_| event.thread() == Some(thread)));
            let known = if process.is_some() { KnownBy::Thread(name) } else { KnownBy::Nothing };
            Party { process: process.filter(|process| *process != u32::MAX), thread: Some(thread), index: None, known }
        }
        (None, None) => Party::default(),
    };
    let mut by = party(read(stated.by.process), read(stated.by.thread));
    match by {
        Party { process: None, thread: None, .. } => by = of_header(event, threads, tick),
        // The header's thread did it if it is one of that process.
        Party { process: Some(process), thread: None, .. } if event.process() == Some(process) => by.thread = event.thread(),
        _ => {}
    }
    let mut about = party(read(stated.about.process), read(stated.about.thread));
    for party in [&mut by, &mut about] {
        party.index = party.process.and_then(|process| processes.at(process, tick));
    }
    Who { by, about }
}

fn of_header(event: &Event<'_>, threads: &ThreadTable, tick: i64) -> Party {
    let [process, thread] = [event.process(), event.thread()].map(|id| id.filter(|id| *id != u32::MAX));
    if process.is_some() {
        return Party { process, thread, index: None, known: KnownBy::Header };
    }
    let process = thread.and_then(|thread| threads.at(thread, tick));
    let known = if process.is_some() { KnownBy::HeaderThread } else { KnownBy::Nothing };
    Party { process, thread, index: None, known }
}

/// What the specs state about an event.
#[inline]
fn stated(event: &Event<'_>) -> &'static events::Who {
    let of_manifest = || events::who(event.provider()?, event.id()?, u8::try_from(event.version()?).ok()?);
    let stated = if is_of_manifest(event) { of_manifest() } else { kernel(event).map(|found| found.who) };
    stated.unwrap_or(&events::Who::NONE)
}
