//! An event record, which borrows from its buffer and decodes its header on demand.

use crate::diagnostic::DiagnosticKind;
use crate::header::{EventHeader, Message};
use crate::header_type::HeaderType;
use crate::item::Items;
use crate::wire::{
    COMPACT, EVENT_DESCRIPTOR, EVENT_HEADER, EVENT_HEADER_EXT_TYPE, EVENT_HEADER_FLAG, EVENT_INSTANCE_HEADER, EVENT_TRACE_GROUP,
    EVENT_TRACE_HEADER, PERFINFO, PERFINFO_TRACE_HEADER, SYSTEM_TRACE_HEADER, WMI_TRACE_PACKET, align8, guid, prefix, view,
};
use etw_layouts_payload::{Fields, PointerSize, Schema, Uuid};

/// An event record in a buffer.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    bytes: &'a [u8],
    at: u32,
    payload: u16,
    header_type: HeaderType,
}

impl<'a> Event<'a> {
    #[inline]
    pub(crate) fn new(bytes: &'a [u8], at: u32, payload: u16, header_type: HeaderType) -> Self {
        Self { bytes, at, payload, header_type }
    }

    /// The type of its header.
    #[inline]
    pub fn header_type(&self) -> HeaderType {
        self.header_type
    }

    /// The diagnostic of an event with a header of unknown layout. Files written by Windows have no such events.
    #[inline]
    pub fn fault(&self) -> Option<DiagnosticKind> {
        if self.header_type.is_known() {
            return None;
        }
        let byte = |at: usize| self.bytes.get(at).copied().unwrap_or_default().into();
        Some(DiagnosticKind::Layout { name: self.header_type.name(), ty: byte(2), flags: byte(3) })
    }

    /// Offset within the buffer, in bytes; within the decompressed buffer if the buffer was compressed.
    #[inline]
    pub fn offset(&self) -> u32 {
        self.at
    }

    /// The kind and extent of the event.
    #[inline]
    pub fn extent(&self) -> Extent {
        Extent { length: self.bytes.len() as u32, payload: self.payload, header_type: self.header_type }
    }

    /// The bytes of the event: header, extended items and payload, without padding.
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The payload: the data that follows the header and all extended items.
    #[inline]
    pub fn payload(&self) -> &'a [u8] {
        self.bytes.get(usize::from(self.payload)..).unwrap_or(&[])
    }

    /// Length of the header and extended items, in bytes.
    #[inline]
    pub fn header_length(&self) -> usize {
        usize::from(self.payload)
    }

    /// Time stamp by the clock of the session; `None` if the event has no time, or its layout is unknown.
    #[inline]
    pub fn time_stamp(&self) -> Option<i64> {
        time_stamp(self.header_type, self.bytes)
    }

    /// The thread that the event describes, or that wrote it.
    pub fn thread(&self) -> Option<u32> {
        match self.header_type {
            HeaderType::PerfInfo32 | HeaderType::PerfInfo64 => None,
            HeaderType::Message => Message::read(self.bytes).thread_and_process.map(|(thread, _)| thread),
            header_type if header_type.is_known() => Some(self.dword(core::mem::offset_of!(EVENT_HEADER, ThreadId))),
            _ => None,
        }
    }

    /// The process of the [`thread`](Self::thread).
    pub fn process(&self) -> Option<u32> {
        match self.header_type {
            HeaderType::PerfInfo32 | HeaderType::PerfInfo64 => None,
            HeaderType::Message => Message::read(self.bytes).thread_and_process.map(|(_, process)| process),
            header_type if header_type.is_known() => Some(self.dword(core::mem::offset_of!(EVENT_HEADER, ProcessId))),
            _ => None,
        }
    }

    /// Time that the thread has run so far in kernel mode and in user mode, in timer ticks. `None` if the header has no such times:
    /// messages, short kernel events, and an EVENT_HEADER with the flag NO_CPUTIME, or PRIVATE_SESSION (which has processor cycles
    /// instead). Headers of other events in private sessions contain processor cycles, but no flag shows this; use
    /// [`LogFile::thread_times`](crate::LogFile::thread_times).
    #[inline]
    pub fn thread_ticks(&self) -> Option<(u32, u32)> {
        let ticks = |at: usize| Some((self.dword(at), self.dword(at + 4)));
        match self.header_type {
            HeaderType::System32 | HeaderType::System64 => ticks(core::mem::offset_of!(SYSTEM_TRACE_HEADER, KernelTime)),
            HeaderType::Full32 | HeaderType::Full64 | HeaderType::Instance32 | HeaderType::Instance64 => {
                ticks(core::mem::offset_of!(EVENT_TRACE_HEADER, union_KernelTime))
            }
            HeaderType::Event32 | HeaderType::Event64 => {
                let others =
                    EVENT_HEADER_FLAG::EVENT_HEADER_FLAG_NO_CPUTIME.0 | EVENT_HEADER_FLAG::EVENT_HEADER_FLAG_PRIVATE_SESSION.0;
                let has_times = self.event_header().Flags.0 & others == 0;
                if has_times { ticks(core::mem::offset_of!(EVENT_HEADER, union_KernelTime)) } else { None }
            }
            _ => None,
        }
    }

    /// The provider; for a kernel event, the GUID that consumers see for its group.
    pub fn provider(&self) -> Option<Uuid> {
        match self.header_type {
            HeaderType::Event32 | HeaderType::Event64 => Some(guid(self.event_header().ProviderId)),
            HeaderType::Full32 | HeaderType::Full64 | HeaderType::Instance64 => {
                Some(guid(view::<EVENT_TRACE_HEADER>(self.bytes).Guid()))
            }
            HeaderType::Instance32 if self.header_length() > size_of::<EVENT_INSTANCE_HEADER>() => {
                Some(guid(view::<EVENT_TRACE_HEADER>(self.bytes).Guid()))
            }
            HeaderType::Message => Message::read(self.bytes).guid,
            _ => EVENT_TRACE_GROUP(self.hook()? & 0xFF00).guid(),
        }
    }

    /// The hook identifier; `None` unless this is a kernel event.
    #[inline]
    pub fn hook(&self) -> Option<u16> {
        // The hook identifier has the same offset in all kernel events, so that filters need a single load.
        const AT: usize =
            core::mem::offset_of!(PERFINFO_TRACE_HEADER, union_Header) + core::mem::offset_of!(WMI_TRACE_PACKET, union_HookId);
        match self.header_type {
            HeaderType::System32
            | HeaderType::System64
            | HeaderType::Compact32
            | HeaderType::Compact64
            | HeaderType::PerfInfo32
            | HeaderType::PerfInfo64 => self.bytes.get(AT..)?.first_chunk().map(|bytes| u16::from_le_bytes(*bytes)),
            _ => None,
        }
    }

    /// The identifier within the provider: the hook identifier of a kernel event, the message number of a message.
    pub fn id(&self) -> Option<u16> {
        match self.header_type {
            HeaderType::Event32 | HeaderType::Event64 => Some(self.event_header().EventDescriptor.Id),
            HeaderType::Message => Some(Message::read(self.bytes).number),
            _ => self.hook(),
        }
    }

    /// The version of the payload.
    #[inline]
    pub fn version(&self) -> Option<u16> {
        match self.header_type {
            HeaderType::Event32 | HeaderType::Event64 => Some(self.event_header().EventDescriptor.Version.into()),
            HeaderType::Full32 | HeaderType::Full64 | HeaderType::Instance32 | HeaderType::Instance64 => {
                Some(view::<EVENT_TRACE_HEADER>(self.bytes).Class().Version)
            }
            // In a PERFINFO_TRACE_HEADER the high byte contains flags.
            HeaderType::PerfInfo32 | HeaderType::PerfInfo64 => {
                Some(prefix::<PERFINFO_TRACE_HEADER>(self.bytes, PERFINFO)?.Version().0 & 0xFF)
            }
            HeaderType::System32 | HeaderType::System64 | HeaderType::Compact32 | HeaderType::Compact64 => {
                Some(prefix::<SYSTEM_TRACE_HEADER>(self.bytes, COMPACT)?.Version())
            }
            _ => None,
        }
    }

    /// The operation; for a kernel event the low byte of its hook identifier.
    pub fn opcode(&self) -> Option<u8> {
        match self.header_type {
            HeaderType::Event32 | HeaderType::Event64 => Some(self.event_header().EventDescriptor.Opcode),
            HeaderType::Full32 | HeaderType::Full64 | HeaderType::Instance32 | HeaderType::Instance64 => {
                Some(view::<EVENT_TRACE_HEADER>(self.bytes).Class().Type)
            }
            _ => self.hook().map(|hook| hook as u8),
        }
    }

    /// The severity: 1 critical, 2 error, 3 warning, 4 information, 5 verbose; 0 if the event is always logged.
    pub fn level(&self) -> Option<u8> {
        match self.header_type {
            HeaderType::Event32 | HeaderType::Event64 => Some(self.event_header().EventDescriptor.Level),
            HeaderType::Full32 | HeaderType::Full64 | HeaderType::Instance32 | HeaderType::Instance64 => {
                Some(view::<EVENT_TRACE_HEADER>(self.bytes).Class().Level)
            }
            _ => None,
        }
    }

    /// The keyword: a bit mask of categories that the provider defines.
    pub fn keyword(&self) -> Option<u64> {
        self.descriptor().map(|descriptor| descriptor.Keyword)
    }

    /// The task: the component of the provider that the event belongs to.
    pub fn task(&self) -> Option<u16> {
        self.descriptor().map(|descriptor| descriptor.Task)
    }

    /// The channel: the audience of the event, such as administrators.
    pub fn channel(&self) -> Option<u8> {
        self.descriptor().map(|descriptor| descriptor.Channel)
    }

    /// The Flags member of an EVENT_HEADER.
    #[inline]
    pub fn flags(&self) -> Option<EVENT_HEADER_FLAG> {
        self.has_descriptor().then(|| self.event_header().Flags)
    }

    /// The activity of the event; all zero if there is none.
    pub fn activity_id(&self) -> Option<Uuid> {
        self.has_descriptor().then(|| guid(self.event_header().ActivityId))
    }

    /// The activity that started this one, from an extended item.
    pub fn related_activity_id(&self) -> Option<Uuid> {
        let related = EVENT_HEADER_EXT_TYPE::EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID;
        let item = self.items().find(|item| item.ty == related)?;
        item.data.first_chunk().map(|bytes| Uuid::from_bytes_le(*bytes))
    }

    /// The size of pointers in the payload; `None` if the header does not state it.
    #[inline]
    pub fn pointer_size(&self) -> Option<PointerSize> {
        let flags = self.flags().unwrap_or(EVENT_HEADER_FLAG(0));
        let is_64_bit = match () {
            () if flags.contains(EVENT_HEADER_FLAG::EVENT_HEADER_FLAG_32_BIT_HEADER) => false,
            () if flags.contains(EVENT_HEADER_FLAG::EVENT_HEADER_FLAG_64_BIT_HEADER) => true,
            () if self.header_type == HeaderType::Message => Message::read(self.bytes).is_64_bit()?,
            () => self.header_type.is_64_bit()?,
        };
        Some(if is_64_bit { PointerSize::Bits64 } else { PointerSize::Bits32 })
    }

    /// The payload with a schema; `None` if the header does not state the pointer size.
    pub fn decode_by(&self, schema: &Schema<'a>) -> Option<Fields<'a>> {
        Some(schema.decode(self.payload(), self.pointer_size()?))
    }

    /// The extended items; empty unless the flags announce them.
    pub fn items(&self) -> Items<'a> {
        let has = self.has_descriptor() && self.event_header().Flags.contains(EVENT_HEADER_FLAG::EVENT_HEADER_FLAG_EXTENDED_INFO);
        Items::new(has.then(|| &self.bytes[size_of::<EVENT_HEADER>().min(self.bytes.len())..]))
    }

    /// The decoded header.
    pub fn header(&self) -> EventHeader {
        EventHeader::read(self.header_type, self.bytes, self.header_length())
    }

    #[inline]
    fn has_descriptor(&self) -> bool {
        matches!(self.header_type, HeaderType::Event32 | HeaderType::Event64)
    }

    fn descriptor(&self) -> Option<EVENT_DESCRIPTOR> {
        self.has_descriptor().then(|| self.event_header().EventDescriptor)
    }

    /// A member that has the same offset in all but a few headers; 0 if there are too few bytes.
    #[inline]
    fn dword(&self, at: usize) -> u32 {
        self.bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u32::from_le_bytes(*bytes))
    }

    #[inline]
    fn event_header(&self) -> EVENT_HEADER {
        view(self.bytes)
    }
}

/// The kind and extent of an event: with the bytes of its buffer, it gives the event again.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    pub(crate) length: u32,
    pub(crate) payload: u16,
    pub(crate) header_type: HeaderType,
}

impl Extent {
    /// The event at an offset of its buffer. `None` if the buffer has fewer bytes.
    #[inline]
    pub fn at<'a>(&self, buffer: &'a [u8], offset: u32) -> Option<Event<'a>> {
        let bytes = buffer.get(offset as usize..)?.get(..self.length as usize)?;
        Some(Event::new(bytes, offset, self.payload, self.header_type))
    }

    /// The event found at the start of the bytes, which are at offset `at` of the buffer.
    #[inline]
    pub(crate) fn event<'a>(&self, bytes: &'a [u8], at: u32) -> Event<'a> {
        Event::new(&bytes[..self.length as usize], at, self.payload, self.header_type)
    }

    /// An event of the same kind without bytes.
    #[cold]
    pub fn empty(&self) -> Event<'static> {
        Event::new(&[], 0, 0, self.header_type)
    }

    /// Distance to the next event, in bytes.
    #[inline]
    pub(crate) fn space(&self) -> usize {
        align8(self.length as usize)
    }
}

/// The time stamp in the header at the start of the bytes. Takes bytes instead of an event, so that the event can stay in registers.
#[inline]
pub(crate) fn time_stamp(header_type: HeaderType, bytes: &[u8]) -> Option<i64> {
    let Some(at) = header_type.time_at() else { return unusual_time(header_type, bytes) };
    bytes.get(at..)?.first_chunk().map(|bytes| i64::from_le_bytes(*bytes))
}

/// The time of an unusual event. Takes bytes for the same reason.
#[cold]
fn unusual_time(header_type: HeaderType, bytes: &[u8]) -> Option<i64> {
    match header_type {
        HeaderType::Message => Message::read(bytes).time_stamp,
        _ => None,
    }
}

const _: () = assert!(core::mem::offset_of!(EVENT_HEADER, TimeStamp) == core::mem::offset_of!(SYSTEM_TRACE_HEADER, SystemTime));
const _: () = assert!(core::mem::offset_of!(EVENT_HEADER, TimeStamp) == core::mem::offset_of!(EVENT_TRACE_HEADER, TimeStamp));
const _: () = assert!(
    core::mem::offset_of!(EVENT_TRACE_HEADER, union_KernelTime)
        == core::mem::offset_of!(EVENT_INSTANCE_HEADER, union_ClientContext)
);
const _: () = assert!(core::mem::offset_of!(EVENT_HEADER, ThreadId) == core::mem::offset_of!(SYSTEM_TRACE_HEADER, ThreadId));
const _: () = assert!(core::mem::offset_of!(EVENT_HEADER, ThreadId) == core::mem::offset_of!(EVENT_TRACE_HEADER, ThreadId));
const _: () = assert!(
    core::mem::offset_of!(PERFINFO_TRACE_HEADER, union_Header) == core::mem::offset_of!(SYSTEM_TRACE_HEADER, union_Header)
);
