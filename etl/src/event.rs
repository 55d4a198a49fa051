//! An event, which borrows from its buffer and decodes its header on demand.

use crate::guid::Guid;
use crate::header::{Header, Message};
use crate::item::Items;
use crate::layout::{
    COMPACT, EVENT_HEADER, EVENT_HEADER_FLAG, EVENT_INSTANCE_HEADER, EVENT_TRACE_GROUP, EVENT_TRACE_HEADER, PERFINFO,
    PERFINFO_TRACE_HEADER, SYSTEM_TRACE_HEADER, prefix, view,
};
use crate::walk::Kind;

/// An event in a buffer.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    bytes: &'a [u8],
    at: u32,
    payload: u16,
    kind: Kind,
}

impl<'a> Event<'a> {
    #[inline]
    pub(crate) fn new(bytes: &'a [u8], at: u32, payload: u16, kind: Kind) -> Self {
        Self { bytes, at, payload, kind }
    }

    /// What kind of header begins it.
    #[inline]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Where it begins, in bytes from the start of the buffer; of the decompressed buffer, if that was compressed.
    #[inline]
    pub fn offset(&self) -> u32 {
        self.at
    }

    /// The whole event: header, extended items and data, without padding.
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The event's own data: what follows the header and all extended items.
    #[inline]
    pub fn payload(&self) -> &'a [u8] {
        self.bytes.get(usize::from(self.payload)..).unwrap_or(&[])
    }

    /// Bytes before the payload.
    #[inline]
    pub fn header_length(&self) -> usize {
        usize::from(self.payload)
    }

    /// When, by the clock of the session; `None` if the event has no time, or its layout is unknown.
    #[inline]
    pub fn time_stamp(&self) -> Option<i64> {
        let Some(at) = self.kind.time_at() else { return unusual_time(self.kind, self.bytes) };
        self.bytes.get(at..)?.first_chunk().map(|bytes| i64::from_le_bytes(*bytes))
    }

    /// The thread that it is about, or that wrote it.
    pub fn thread(&self) -> Option<u32> {
        match self.kind {
            Kind::PerfInfo32 | Kind::PerfInfo64 => None,
            Kind::Message => Message::read(self.bytes).thread_and_process.map(|(thread, _)| thread),
            kind if kind.is_known() => Some(self.event_header().ThreadId),
            _ => None,
        }
    }

    /// The process of that thread.
    pub fn process(&self) -> Option<u32> {
        match self.kind {
            Kind::PerfInfo32 | Kind::PerfInfo64 => None,
            Kind::Message => Message::read(self.bytes).thread_and_process.map(|(_, process)| process),
            kind if kind.is_known() => Some(self.event_header().ProcessId),
            _ => None,
        }
    }

    /// The provider: of a kernel event, the GUID that consumers see for its group.
    pub fn provider(&self) -> Option<Guid> {
        match self.kind {
            Kind::Event32 | Kind::Event64 => Some(self.event_header().ProviderId.into()),
            Kind::Full32 | Kind::Full64 | Kind::Instance64 => Some(view::<EVENT_TRACE_HEADER>(self.bytes).Guid().into()),
            Kind::Instance32 if self.header_length() > size_of::<EVENT_INSTANCE_HEADER>() => {
                Some(view::<EVENT_TRACE_HEADER>(self.bytes).Guid().into())
            }
            Kind::Message => Message::read(self.bytes).guid,
            _ => EVENT_TRACE_GROUP(self.hook()? & 0xFF00).guid().map(Guid),
        }
    }

    /// The hook identifier of a kernel event.
    pub fn hook(&self) -> Option<u16> {
        let packet = match self.kind {
            Kind::System32 | Kind::System64 | Kind::Compact32 | Kind::Compact64 | Kind::PerfInfo32 | Kind::PerfInfo64 => {
                prefix::<PERFINFO_TRACE_HEADER>(self.bytes, PERFINFO)?.Packet()
            }
            _ => return None,
        };
        Some(packet.HookId().0)
    }

    /// What identifies it within its provider: the hook identifier of a kernel event, the message number of a message.
    pub fn id(&self) -> Option<u16> {
        match self.kind {
            Kind::Event32 | Kind::Event64 => Some(self.event_header().EventDescriptor.Id),
            Kind::Message => Some(Message::read(self.bytes).number),
            _ => self.hook(),
        }
    }

    /// The version of its data.
    pub fn version(&self) -> Option<u16> {
        match self.kind {
            Kind::Event32 | Kind::Event64 => Some(self.event_header().EventDescriptor.Version.into()),
            Kind::Full32 | Kind::Full64 | Kind::Instance32 | Kind::Instance64 => {
                Some(view::<EVENT_TRACE_HEADER>(self.bytes).Class().Version)
            }
            // Of a PERFINFO_TRACE_HEADER the high byte holds flags.
            Kind::PerfInfo32 | Kind::PerfInfo64 => {
                Some(prefix::<PERFINFO_TRACE_HEADER>(self.bytes, PERFINFO)?.Version().0 & 0xFF)
            }
            Kind::System32 | Kind::System64 | Kind::Compact32 | Kind::Compact64 => {
                Some(prefix::<SYSTEM_TRACE_HEADER>(self.bytes, COMPACT)?.Version())
            }
            _ => None,
        }
    }

    /// What was done: of a kernel event the low byte of its hook identifier.
    pub fn opcode(&self) -> Option<u8> {
        match self.kind {
            Kind::Event32 | Kind::Event64 => Some(self.event_header().EventDescriptor.Opcode),
            Kind::Full32 | Kind::Full64 | Kind::Instance32 | Kind::Instance64 => {
                Some(view::<EVENT_TRACE_HEADER>(self.bytes).Class().Type)
            }
            _ => self.hook().map(|hook| hook as u8),
        }
    }

    /// Its extended items; none if its flags announce none.
    pub fn items(&self) -> Items<'a> {
        let has = matches!(self.kind, Kind::Event32 | Kind::Event64)
            && self.event_header().Flags.contains(EVENT_HEADER_FLAG::EVENT_HEADER_FLAG_EXTENDED_INFO);
        Items::new(has.then(|| &self.bytes[size_of::<EVENT_HEADER>().min(self.bytes.len())..]))
    }

    /// Its header, decoded.
    pub fn header(&self) -> Header {
        Header::read(self.kind, self.bytes, self.header_length())
    }

    /// The first bytes as an EVENT_HEADER; where others have a thread, a process and a time, they have them in its places.
    fn event_header(&self) -> EVENT_HEADER {
        let length = self.bytes.len().min(size_of::<EVENT_HEADER>());
        prefix(self.bytes, length).unwrap_or_else(crate::layout::zero)
    }
}

/// Takes no event, so that an event need not be in memory to be asked for its time.
#[cold]
fn unusual_time(kind: Kind, bytes: &[u8]) -> Option<i64> {
    match kind {
        Kind::Message => Message::read(bytes).time_stamp,
        _ => None,
    }
}

const _: () = assert!(core::mem::offset_of!(EVENT_HEADER, TimeStamp) == core::mem::offset_of!(SYSTEM_TRACE_HEADER, SystemTime));
const _: () = assert!(core::mem::offset_of!(EVENT_HEADER, TimeStamp) == core::mem::offset_of!(EVENT_TRACE_HEADER, TimeStamp));
const _: () = assert!(core::mem::offset_of!(EVENT_HEADER, ThreadId) == core::mem::offset_of!(SYSTEM_TRACE_HEADER, ThreadId));
const _: () = assert!(core::mem::offset_of!(EVENT_HEADER, ThreadId) == core::mem::offset_of!(EVENT_TRACE_HEADER, ThreadId));
