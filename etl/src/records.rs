//! Iterators over the events of a trace.

use crate::FileTime;
use crate::Uuid;
use crate::buffers::Buffers;
use crate::diagnostic::{BufferPosition, Diagnostic};
use crate::event::Event;
use crate::header_type::HeaderType;
use crate::trace::Trace;
use crate::{Buffer, Clock, Scratch};
use std::borrow::Cow;
use std::collections::VecDeque;

/// An event of a trace with its time, its processor and its place in the file.
///
/// It borrows from the file, or owns a copy of its bytes if its buffer is compressed.
#[derive(Clone, Debug)]
pub struct EventRecord<'t> {
    bytes: Cow<'t, [u8]>,
    offset: u32,
    payload: u16,
    header_type: HeaderType,
    time: Option<FileTime>,
    processor: u16,
    place: BufferPosition,
}

/// Forwards methods to [`Event`].
macro_rules! forward {
    ($($name:ident -> $ty:ty),* $(,)?) => {
        $(
            #[doc = concat!("See [`Event::", stringify!($name), "`].")]
            pub fn $name(&self) -> $ty {
                self.event().$name()
            }
        )*
    };
}

impl EventRecord<'_> {
    /// The event, for its header and its extended items.
    pub fn event(&self) -> Event<'_> {
        Event::new(&self.bytes, self.offset, self.payload, self.header_type)
    }

    /// The system time of the event. `None` if the event has no time.
    pub fn time(&self) -> Option<FileTime> {
        self.time
    }

    /// The processor that wrote the event.
    pub fn processor(&self) -> u16 {
        self.processor
    }

    /// The number of the event's buffer in the file, from 0.
    pub fn buffer(&self) -> u32 {
        self.place.index
    }

    /// The file offset of the event's buffer, in bytes.
    pub fn buffer_offset(&self) -> u64 {
        self.place.offset
    }

    /// The same event with its own copy of its bytes.
    pub fn into_owned(self) -> EventRecord<'static> {
        EventRecord { bytes: Cow::Owned(self.bytes.into_owned()), ..self }
    }

    forward! {
        bytes -> &[u8], payload -> &[u8], header_type -> HeaderType, time_stamp -> Option<i64>, thread -> Option<u32>,
        process -> Option<u32>, provider -> Option<Uuid>, hook -> Option<u16>, id -> Option<u16>, version -> Option<u16>,
        opcode -> Option<u8>, level -> Option<u8>, keyword -> Option<u64>, task -> Option<u16>, channel -> Option<u8>,
        activity_id -> Option<Uuid>, related_activity_id -> Option<Uuid>,
    }
}

impl<'t> EventRecord<'t> {
    /// An event of a buffer: `bytes` are those of the event in the file, if the buffer is not compressed.
    pub(crate) fn new(
        event: &Event<'_>,
        bytes: Option<&'t [u8]>,
        clock: &Clock,
        (processor, place): (u16, BufferPosition),
    ) -> Self {
        Self {
            bytes: bytes.map_or_else(|| Cow::Owned(event.bytes().to_vec()), Cow::Borrowed),
            offset: event.offset(),
            payload: event.header_length() as u16,
            header_type: event.header_type(),
            time: event.time_stamp().and_then(|stamp| clock.time(stamp)),
            processor,
            place,
        }
    }
}

impl Trace<'_> {
    /// The events in file order, with diagnostics where the file is damaged.
    pub fn events(&self) -> EventRecords<'_> {
        EventRecords { trace: self, buffers: self.buffers(), scratch: Scratch::default(), next: VecDeque::new() }
    }
}

/// The events of a trace in file order, with diagnostics where the file is damaged.
#[derive(Clone, Debug)]
pub struct EventRecords<'t> {
    trace: &'t Trace<'t>,
    buffers: Buffers<'t>,
    scratch: Scratch,
    /// The rest of a buffer.
    next: VecDeque<Result<EventRecord<'t>, Diagnostic>>,
}

impl<'t> EventRecords<'t> {
    fn read(&mut self, buffer: &Buffer<'t>) {
        let (clock, origin) = (self.trace.clock(), (buffer.header().processor(), buffer.place()));
        let in_file = (!buffer.is_compressed()).then_some(buffer.bytes());
        let decoded = buffer.decode(&mut self.scratch);
        self.next.extend(decoded.events().map(|event| {
            let event = event?;
            let start = event.offset() as usize;
            let bytes = in_file.and_then(|bytes| bytes.get(start..start + event.bytes().len()));
            Ok(EventRecord::new(&event, bytes, clock, origin))
        }));
    }
}

impl<'t> Iterator for EventRecords<'t> {
    type Item = Result<EventRecord<'t>, Diagnostic>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(event) = self.next.pop_front() {
                return Some(event);
            }
            match self.buffers.next()? {
                Ok(buffer) => self.read(&buffer),
                Err(diagnostic) => return Some(Err(diagnostic)),
            }
        }
    }
}
