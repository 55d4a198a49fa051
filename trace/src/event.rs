//! An event of a trace.

use crate::buffer::Buffer;
use crate::file::TraceFile;
use crate::place::Place;
use crate::process::Process;
use crate::session::Session;
use crate::slice::Item;
use crate::trace::Trace;
use crate::who::Who;
use etw_layouts::events::TypedEvent;
use etw_layouts_etl::{self as etl, Decoded, Extent, FileTime, Filter, Schemas, names};
use std::sync::Arc;

/// An event of a trace. It shares its buffer with other events, and so keeps it in memory.
#[derive(Clone, Debug)]
pub struct Event<'t> {
    trace: &'t Trace,
    record: Record,
}

/// An event without its trace: [`Trace::event`] returns the event again.
#[derive(Clone, Debug)]
pub struct Record {
    buffer: Arc<Buffer>,
    tick: i64,
    offset: u32,
    extent: Extent,
}

impl Trace {
    /// The event of a record, which is of this trace.
    #[must_use]
    pub fn event(&self, record: Record) -> Event<'_> {
        Event { trace: self, record }
    }
}

impl<'t> Event<'t> {
    #[inline]
    pub(crate) fn new(trace: &'t Trace, buffer: Arc<Buffer>, item: &Item) -> Self {
        Self { trace, record: Record { buffer, tick: item.tick, offset: item.offset, extent: item.extent } }
    }

    /// The event without its trace.
    #[must_use]
    pub fn into_record(self) -> Record {
        self.record
    }

    /// The trace.
    #[must_use]
    pub fn trace(&self) -> &'t Trace {
        self.trace
    }

    pub(crate) fn at(trace: &'t Trace, buffer: Arc<Buffer>, tick: i64, offset: u32, extent: Extent) -> Self {
        Self { trace, record: Record { buffer, tick, offset, extent } }
    }

    /// Index of its session.
    #[must_use]
    pub fn session_index(&self) -> usize {
        self.record.buffer.session as usize
    }

    /// The event record: its header, extended items and payload.
    #[inline]
    #[must_use]
    pub fn header(&self) -> etl::Event<'_> {
        // The extent was found in this buffer, so it is within its bytes.
        self.record.extent.at(&self.record.buffer.bytes, self.record.offset).unwrap_or_else(|| self.record.extent.empty())
    }

    /// System time; `None` if the event has no time stamp, or its file states no clock.
    #[must_use]
    pub fn time(&self) -> Option<FileTime> {
        self.header().time_stamp()?;
        self.file().clock().time(self.record.tick)
    }

    /// A time for differences between events: [`time`](Self::time), or, if the file states no clock, that of a clock of 10 MHz which counts from 1601.
    /// `None` if the event has no time stamp.
    #[must_use]
    pub fn relative_time(&self) -> Option<FileTime> {
        self.header().time_stamp()?;
        Some(FileTime(self.file().clock().system_time(self.record.tick)))
    }

    /// The time stamp by the clock of the session, by which the event is sorted: its own, or that of the event before it.
    #[must_use]
    pub fn tick(&self) -> i64 {
        self.record.tick
    }

    /// The processor that wrote it.
    #[must_use]
    pub fn processor(&self) -> u16 {
        self.record.buffer.processor
    }

    /// Its place in its file.
    #[must_use]
    pub fn place(&self) -> Place {
        let Buffer { entry, processor, .. } = &*self.record.buffer;
        Place { buffer: entry.index, buffer_offset: entry.offset, offset: self.record.offset, processor: *processor }
    }

    /// Index of its file.
    #[must_use]
    pub fn file_index(&self) -> usize {
        self.record.buffer.file as usize
    }

    /// Its file.
    #[must_use]
    pub fn file(&self) -> &'t TraceFile {
        &self.trace.files[self.record.buffer.file as usize]
    }

    /// The session that wrote it.
    #[must_use]
    pub fn session(&self) -> &'t Session {
        &self.trace.sessions[self.record.buffer.session as usize]
    }

    /// The schemas of its session.
    #[must_use]
    pub fn schemas(&self) -> &'t Schemas {
        self.session().schemas()
    }

    /// Who did it, and whom it is about.
    #[must_use]
    pub fn who(&self) -> Who {
        self.session().who(&self.header(), self.record.tick)
    }

    /// The process that did it; `None` also if no event describes the process, then [`who`](Self::who) can have its identifier.
    #[must_use]
    pub fn process(&self) -> Option<&'t Process> {
        self.session().processes().get(self.who().by.index?)
    }

    /// The process that it is about; `None` if it is about nobody else.
    #[must_use]
    pub fn subject(&self) -> Option<&'t Process> {
        self.session().processes().get(self.who().about.index?)
    }

    /// Whether the event matches a filter: see [`Trace::matches`].
    #[must_use]
    pub fn matches(&self, filter: &Filter) -> bool {
        self.trace.matches(filter, self.file_index(), &self.header(), self.processor(), self.tick())
    }

    /// The event with its schema; `None` if no schema is known.
    #[must_use]
    pub fn decode(&self) -> Option<Decoded<'_>> {
        self.header().decode(self.schemas())
    }

    /// The event as a type of [`kernel`](crate::kernel), such as [`process::Start`](crate::kernel::process::Start); `None` if it is another event,
    /// or if its payload is truncated.
    #[must_use]
    pub fn get<'e, T: TypedEvent<'e>>(&'e self) -> Option<T> {
        self.header().get(self.schemas())
    }

    /// Provider and name, such as `Process/Start`; the identification of the event if no name is known.
    #[must_use]
    pub fn name(&self) -> String {
        let (header, schemas) = (self.header(), self.schemas());
        match names::event_of(&header, schemas) {
            Some((provider, event)) => format!("{provider}/{event}"),
            None => names::identity(&header, schemas),
        }
    }
}
