//! The walk from event to event through a buffer.

use crate::event::Event;
use crate::finding::{Finding, What};
use crate::item;
use crate::layout::{
    COMPACT, EVENT_HEADER, EVENT_INSTANCE_GUID_HEADER, EVENT_INSTANCE_HEADER, EVENT_TRACE_HEADER, Generation,
    MESSAGE_TRACE_HEADER, PERFINFO, PERFINFO_TRACE_HEADER, SYSTEM, TRACE_MESSAGE_FLAG, WNODE_HEADER, align8,
};

/// What kind of header begins an event; the names are those of TRACE_HEADER_TYPE, and of the Marker for the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Kind {
    /// SYSTEM_TRACE_HEADER, 32-bit data.
    System32 = 0x01,
    /// SYSTEM_TRACE_HEADER, 64-bit data.
    System64 = 0x02,
    /// SYSTEM_TRACE_HEADER without processor times, 32-bit data.
    Compact32 = 0x03,
    /// SYSTEM_TRACE_HEADER without processor times, 64-bit data.
    Compact64 = 0x04,
    /// EVENT_TRACE_HEADER, 32-bit data.
    Full32 = 0x0A,
    /// EVENT_INSTANCE_GUID_HEADER, or EVENT_INSTANCE_HEADER up to 5.1; 32-bit data.
    Instance32 = 0x0B,
    /// Of unknown layout.
    Timed = 0x0C,
    /// Of unknown layout.
    Error = 0x0D,
    /// Of unknown layout.
    WnodeTyped = 0x0E,
    /// Of unknown layout.
    MessageTyped = 0x0F,
    /// PERFINFO_TRACE_HEADER, 32-bit data.
    PerfInfo32 = 0x10,
    /// PERFINFO_TRACE_HEADER, 64-bit data.
    PerfInfo64 = 0x11,
    /// EVENT_HEADER, 32-bit data.
    Event32 = 0x12,
    /// EVENT_HEADER, 64-bit data.
    Event64 = 0x13,
    /// EVENT_TRACE_HEADER, 64-bit data.
    Full64 = 0x14,
    /// EVENT_INSTANCE_GUID_HEADER, 64-bit data.
    Instance64 = 0x15,
    /// A type that is not known.
    Unknown = 0x80,
    /// MESSAGE_TRACE_HEADER, by the Marker.
    Message = 0x90,
    /// An event with a 32-bit time, by the Marker; of unknown layout.
    Time32 = 0xB0,
    /// A WNODE_HEADER.
    Wnode = 0xF0,
}

impl Kind {
    /// The name, as TRACE_HEADER_TYPE has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::System32 => "SYSTEM32",
            Self::System64 => "SYSTEM64",
            Self::Compact32 => "COMPACT32",
            Self::Compact64 => "COMPACT64",
            Self::Full32 => "FULL_HEADER32",
            Self::Instance32 => "INSTANCE32",
            Self::Timed => "TIMED",
            Self::Error => "ERROR",
            Self::WnodeTyped => "WNODE_HEADER",
            Self::MessageTyped => "MESSAGE_TYPED",
            Self::PerfInfo32 => "PERFINFO32",
            Self::PerfInfo64 => "PERFINFO64",
            Self::Event32 => "EVENT_HEADER32",
            Self::Event64 => "EVENT_HEADER64",
            Self::Full64 => "FULL_HEADER64",
            Self::Instance64 => "INSTANCE64",
            Self::Unknown => "UNKNOWN",
            Self::Message => "MESSAGE",
            Self::Time32 => "ULONG32_TIME",
            Self::Wnode => "WNODE",
        }
    }

    /// The kind of a TRACE_HEADER_TYPE.
    pub const fn of_type(ty: u8) -> Self {
        SHAPES[ty as usize].kind
    }

    /// Where its time stamp lies, if that is always at the same place.
    #[inline]
    pub(crate) fn time_at(self) -> Option<usize> {
        static PLACES: [u8; 256] = {
            let mut places = [0; 256];
            let mut ty = 0;
            while ty < 256 {
                let shape = SHAPES[ty];
                if shape.kind.is_known() {
                    places[ty] = match shape.kind {
                        Kind::PerfInfo32 | Kind::PerfInfo64 => core::mem::offset_of!(PERFINFO_TRACE_HEADER, u08) as u8,
                        _ => core::mem::offset_of!(EVENT_HEADER, TimeStamp) as u8,
                    };
                }
                ty += 1;
            }
            places
        };
        // A table, for kinds alternate too often to be predicted.
        match PLACES[self as u8 as usize] {
            0 => None,
            place => Some(place as usize),
        }
    }

    /// Whether the layout of its header is known.
    pub const fn is_known(self) -> bool {
        !matches!(
            self,
            Self::Timed | Self::Error | Self::WnodeTyped | Self::MessageTyped | Self::Unknown | Self::Time32 | Self::Wnode
        )
    }

    /// Whether its data is of a 64-bit writer; `None` if the kind does not tell.
    pub const fn is_64_bit(self) -> Option<bool> {
        match self {
            Self::System32 | Self::Compact32 | Self::Full32 | Self::Instance32 | Self::PerfInfo32 | Self::Event32 => Some(false),
            Self::System64 | Self::Compact64 | Self::Full64 | Self::Instance64 | Self::PerfInfo64 | Self::Event64 => Some(true),
            _ => None,
        }
    }
}

/// The events of a buffer, in its order. After a finding that costs the buffer's rest there is nothing more.
#[derive(Clone, Debug)]
pub struct Events<'a> {
    rest: &'a [u8],
    at: u32,
    generation: Generation,
    buffer: u64,
    fault: Option<Box<Finding>>,
}

impl<'a> Events<'a> {
    /// Events from `at` on, to the end of `image`; then the fault of the whole buffer.
    pub(crate) fn new(image: &'a [u8], at: usize, generation: Generation, buffer: u64, fault: Option<Box<Finding>>) -> Self {
        Self { rest: image.get(at..).unwrap_or(&[]), at: at as u32, generation, buffer, fault }
    }
}

impl<'a> Iterator for Events<'a> {
    type Item = Result<Event<'a>, Finding>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if let Some(record) = usual(self.rest) {
            let event = record.event(self.rest, self.at);
            self.skip(record.space());
            return Some(Ok(event));
        }
        let (next, space) = rare(self.rest, self.at, self.generation, self.buffer);
        self.skip(space);
        next.or_else(|| self.fault.take().map(|fault| Err(*fault)))
    }
}

impl Events<'_> {
    #[inline]
    fn skip(&mut self, space: usize) {
        self.at = self.at.wrapping_add(space as u32);
        self.rest = match self.rest.get(space..) {
            Some(rest) => rest,
            None => end(),
        };
    }
}

/// What comes next if it is not [`usual`], and how far it is to what follows. Takes no walk, so that a walk need not be in memory.
#[cold]
#[inline(never)]
fn rare(rest: &[u8], at: u32, generation: Generation, buffer: u64) -> (Option<Result<Event<'_>, Finding>>, usize) {
    match step(rest, generation) {
        Ok(Some(record)) => (Some(Ok(record.event(rest, at))), record.space()),
        Ok(None) => (None, 0),
        Err(fault) => (Some(Err(Finding { buffer, at, what: fault.what })), fault.space),
    }
}

/// No bytes, kept apart so that a branch leads here: the next event's place then does not wait for the comparison.
#[cold]
#[inline(always)]
fn end<'a>() -> &'a [u8] {
    &[]
}

/// An event by its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    pub length: u32,
    pub payload: u16,
    pub kind: Kind,
}

impl Record {
    /// The event, which [`step`] has found at the start of the bytes, and which begins at `at` of its buffer.
    #[inline]
    pub fn event<'a>(&self, bytes: &'a [u8], at: u32) -> Event<'a> {
        Event::new(&bytes[..self.length as usize], at, self.payload, self.kind)
    }

    /// How far it is to the next event.
    #[inline]
    pub fn space(&self) -> usize {
        align8(self.length as usize)
    }
}

/// What is wrong with a record, and how far it is to the next.
#[derive(Debug)]
pub(crate) struct Fault {
    pub what: What,
    pub space: usize,
}

/// The event at the start of what is left of a buffer; `None` at the end.
#[inline]
pub(crate) fn step(rest: &[u8], generation: Generation) -> Result<Option<Record>, Box<Fault>> {
    match (usual(rest), rest.first_chunk()) {
        (Some(record), _) => Ok(Some(record)),
        (None, Some(word)) => unusual(rest, u64::from_le_bytes(*word), generation),
        (None, None) => Ok(None),
    }
}

/// The event there, if its marker is the common one and its header of fixed length. Nearly every event is such a one.
#[inline]
pub(crate) fn usual(rest: &[u8]) -> Option<Record> {
    let word = u64::from_le_bytes(*rest.first_chunk()?);
    if word as u32 >> 24 != 0xC0 {
        return None;
    }
    let ty = (word >> 16) as u8;
    let shape = &SHAPES[usize::from(ty)];
    // Where the length lies is guessed by the processor, which so begins the next event before the shape is there.
    let length = if matches!(ty, 0x01..=0x04 | 0x10 | 0x11) { (word >> 32) as u16 } else { at_start(word) };
    let fits = length >= u16::from(shape.header) && usize::from(length) <= rest.len();
    (word & shape.unusual == 0 && fits).then_some(Record {
        length: length.into(),
        payload: shape.header.into(),
        kind: shape.kind,
    })
}

/// The length at the start, kept apart so that a branch leads here.
#[cold]
#[inline(always)]
fn at_start(word: u64) -> u16 {
    word as u16
}

/// What is not [`usual`]: other markers, headers of no fixed length, and faults.
#[cold]
#[inline(never)]
fn unusual(rest: &[u8], word: u64, generation: Generation) -> Result<Option<Record>, Box<Fault>> {
    let marker = word as u32;
    let shape = SHAPES[usize::from((word >> 16) as u8)];
    let (kind, length) = match marker >> 24 {
        _ if marker == u32::MAX => return Ok(None),
        0xC0 => (shape.kind, u32::from((word >> shape.length_at) as u16)),
        0x90 => (Kind::Message, marker & 0xFFFF),
        0xB0 => (Kind::Time32, marker & 0xFFFF),
        0x80.. => (Kind::Unknown, marker & 0xFFFF),
        _ => (Kind::Wnode, marker),
    };
    let least = match kind {
        Kind::Instance32 if generation == Generation::V5_1 => size_of::<EVENT_INSTANCE_HEADER>(),
        Kind::PerfInfo32 | Kind::PerfInfo64 => perfinfo(word as u16),
        Kind::Message => message((word >> 48) as u16),
        Kind::Wnode => size_of::<WNODE_HEADER>(),
        Kind::Unknown | Kind::Time32 => RAW,
        _ => usize::from(shape.header),
    };
    let fault = |what, space| Err(Box::new(Fault { what, space }));
    if (length as usize) < least {
        return fault(What::Short { length, header: least as u32 }, usize::MAX);
    }
    let Some(event) = rest.get(..length as usize) else {
        return fault(What::Long { length, left: rest.len() as u32 }, usize::MAX);
    };
    let items = matches!(kind, Kind::Event32 | Kind::Event64) && word & shape.unusual != 0;
    let payload = match items {
        true => item::end(event, least),
        false => Some(least),
    };
    match payload {
        Some(payload) => Ok(Some(Record { length, payload: payload as u16, kind })),
        None => fault(What::Items, align8(event.len())),
    }
}

/// Bytes of a PERFINFO_TRACE_HEADER and its extended items, by its Version.
pub(crate) fn perfinfo(version: u16) -> usize {
    let pebs = usize::from(version >> 15);
    let counters = usize::from(version >> 8 & 7);
    PERFINFO + 8 * (pebs + counters)
}

/// Bytes of a MESSAGE_TRACE_HEADER and what its flags announce.
pub(crate) fn message(flags: u16) -> usize {
    let flags = TRACE_MESSAGE_FLAG(flags);
    let has = |flag, bytes| if flags.contains(flag) { bytes } else { 0 };
    let component = has(TRACE_MESSAGE_FLAG::TRACE_MESSAGE_COMPONENT_ID, 4);
    let provider = if component == 0 { has(TRACE_MESSAGE_FLAG::TRACE_MESSAGE_GUID, 16) } else { component };
    size_of::<MESSAGE_TRACE_HEADER>()
        + has(TRACE_MESSAGE_FLAG::TRACE_MESSAGE_SEQUENCE, 4)
        + provider
        + has(TRACE_MESSAGE_FLAG::TRACE_MESSAGE_TIMESTAMP, 8)
        + has(TRACE_MESSAGE_FLAG::TRACE_MESSAGE_SYSTEMINFO, 8)
}

/// What is known of a record of unknown layout: the Marker.
const RAW: usize = 4;

/// How to take the first eight bytes of an event, by its TRACE_HEADER_TYPE.
#[derive(Clone, Copy)]
struct Shape {
    /// Which of these bits say that the header has no fixed length.
    unusual: u64,
    /// The lowest bit of the length.
    length_at: u8,
    header: u8,
    kind: Kind,
}

static SHAPES: [Shape; 256] = {
    let mut shapes = [Shape { unusual: 0, length_at: 0, header: RAW as u8, kind: Kind::Unknown }; 256];
    let event = Shape { unusual: 1 << 32, length_at: 0, header: size_of::<EVENT_HEADER>() as u8, kind: Kind::Event32 };
    let full = Shape { unusual: 0, header: size_of::<EVENT_TRACE_HEADER>() as u8, kind: Kind::Full32, ..event };
    let system = Shape { unusual: 0, length_at: 32, header: SYSTEM as u8, kind: Kind::System32 };
    let compact = Shape { header: COMPACT as u8, kind: Kind::Compact32, ..system };
    let perfinfo = Shape { unusual: 0x8700, header: PERFINFO as u8, kind: Kind::PerfInfo32, ..system };
    let instance = Shape { header: size_of::<EVENT_INSTANCE_GUID_HEADER>() as u8, kind: Kind::Instance64, ..full };
    shapes[0x01] = system;
    shapes[0x02] = Shape { kind: Kind::System64, ..system };
    shapes[0x03] = compact;
    shapes[0x04] = Shape { kind: Kind::Compact64, ..compact };
    shapes[0x0A] = full;
    // The form depends on the version.
    shapes[0x0B] = Shape { unusual: u64::MAX, kind: Kind::Instance32, ..instance };
    shapes[0x0C].kind = Kind::Timed;
    shapes[0x0D].kind = Kind::Error;
    shapes[0x0E].kind = Kind::WnodeTyped;
    shapes[0x0F].kind = Kind::MessageTyped;
    shapes[0x10] = perfinfo;
    shapes[0x11] = Shape { kind: Kind::PerfInfo64, ..perfinfo };
    shapes[0x12] = event;
    shapes[0x13] = Shape { kind: Kind::Event64, ..event };
    shapes[0x14] = Shape { kind: Kind::Full64, ..full };
    shapes[0x15] = instance;
    shapes
};
