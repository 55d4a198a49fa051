//! Event headers as generated types, with conversion from and to bytes.

use crate::header_type::HeaderType;
use crate::wire::{
    COMPACT, EVENT_HEADER, EVENT_INSTANCE_GUID_HEADER, EVENT_INSTANCE_HEADER, EVENT_TRACE_HEADER, MESSAGE_TRACE_HEADER, PERFINFO,
    PERFINFO_TRACE_HEADER, SYSTEM_TRACE_HEADER, TRACE_MESSAGE_FLAG, prefix, view,
};
use bytemuck::bytes_of;
use etw_layouts_payload::Uuid;

/// The header of an event. Writers fill in sizes and the Marker.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum EventHeader {
    /// Header of a kernel event.
    System(SYSTEM_TRACE_HEADER),
    /// Header of a kernel event, without processor times.
    Compact(SYSTEM_TRACE_HEADER),
    /// Header of a short kernel event.
    PerfInfo(PERFINFO_TRACE_HEADER, Counters),
    /// Header of a classic provider's event.
    Full(EVENT_TRACE_HEADER),
    /// Header of an event with an instance.
    Instance(EVENT_INSTANCE_GUID_HEADER),
    /// Header of an event with an instance, up to 5.1.
    InstanceHandle(EVENT_INSTANCE_HEADER),
    /// Header of a registered provider's event.
    Event(EVENT_HEADER),
    /// Header of a message.
    Message(Message),
    /// Header of unknown layout: the record is kept as bytes.
    Raw,
}

/// Performance counters between a PERFINFO_TRACE_HEADER and its data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// The index for precise event-based sampling.
    pub pebs: Option<u64>,
    /// Number of counters in `pmc`, at most 7.
    pub count: u8,
    /// The counters.
    pub pmc: [u64; 7],
}

/// A MESSAGE_TRACE_HEADER and the optional members that its flags announce.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// Number of the message within its provider.
    pub number: u16,
    /// Flags that announce no members: the pointer size, the clock.
    pub other_flags: u16,
    /// A reserved member of unknown meaning.
    pub reserved: u8,
    /// Sequence number of the message.
    pub sequence: Option<u32>,
    /// The provider.
    pub guid: Option<Uuid>,
    /// Component identifier, an alternative to the provider.
    pub component: Option<u32>,
    /// Time stamp, by the clock of the session.
    pub time_stamp: Option<i64>,
    /// Thread and process that wrote the message.
    pub thread_and_process: Option<(u32, u32)>,
}

impl EventHeader {
    /// Decodes the header of the given type, which takes the first `length` bytes.
    pub(crate) fn read(header_type: HeaderType, bytes: &[u8], length: usize) -> Self {
        match header_type {
            HeaderType::System32 | HeaderType::System64 => Self::System(view(bytes)),
            HeaderType::Compact32 | HeaderType::Compact64 => prefix(bytes, COMPACT).map_or(Self::Raw, Self::Compact),
            HeaderType::PerfInfo32 | HeaderType::PerfInfo64 => match prefix::<PERFINFO_TRACE_HEADER>(bytes, PERFINFO) {
                Some(header) => Self::PerfInfo(header, Counters::read(header.Version().0, bytes)),
                None => Self::Raw,
            },
            HeaderType::Full32 | HeaderType::Full64 => Self::Full(view(bytes)),
            HeaderType::Instance32 if length == size_of::<EVENT_INSTANCE_HEADER>() => Self::InstanceHandle(view(bytes)),
            HeaderType::Instance32 | HeaderType::Instance64 => Self::Instance(view(bytes)),
            HeaderType::Event32 | HeaderType::Event64 => Self::Event(view(bytes)),
            HeaderType::Message => Self::Message(Message::read(bytes)),
            _ => Self::Raw,
        }
    }

    /// Appends the header, with the length of the whole event and the Marker of the header type.
    pub(crate) fn write(&self, header_type: HeaderType, length: u16, out: &mut Vec<u8>) {
        let ty = header_type as u8;
        macro_rules! classic {
            ($header:expr) => {{
                let mut header = $header;
                header.Size = length;
                header.set_FieldTypeFlags(typed(ty));
                out.extend_from_slice(bytes_of(&header));
            }};
        }
        match *self {
            Self::System(mut header) => {
                system(&mut header, ty, length);
                out.extend_from_slice(bytes_of(&header));
            }
            Self::Compact(mut header) => {
                system(&mut header, ty, length);
                out.extend_from_slice(&bytes_of(&header)[..COMPACT]);
            }
            Self::PerfInfo(mut header, counters) => {
                header.set_HeaderType(etw_layouts::constants::TRACE_HEADER_TYPE(ty));
                header.set_Flags(MARKER);
                let mut version = header.Version();
                version.0 =
                    version.0 & !0x8700 | u16::from(counters.count.min(7)) << 8 | u16::from(counters.pebs.is_some()) << 15;
                header.set_Version(version);
                let mut packet = header.Packet();
                packet.Size = length;
                header.set_Packet(packet);
                out.extend_from_slice(&bytes_of(&header)[..PERFINFO]);
                counters.write(out);
            }
            Self::Full(header) => classic!(header),
            Self::Instance(header) => classic!(header),
            Self::InstanceHandle(header) => classic!(header),
            Self::Event(mut header) => {
                header.Size = length;
                header.HeaderType = typed(ty);
                out.extend_from_slice(bytes_of(&header));
            }
            Self::Message(message) => message.write(length, out),
            Self::Raw => {}
        }
    }
}

/// The Flags of every header except that of a message.
const MARKER: u8 = 0xC0;

fn typed(ty: u8) -> u16 {
    u16::from_le_bytes([ty, MARKER])
}

fn system(header: &mut SYSTEM_TRACE_HEADER, ty: u8, length: u16) {
    header.set_HeaderType(etw_layouts::constants::TRACE_HEADER_TYPE(ty));
    header.set_Flags(MARKER);
    let mut packet = header.Packet();
    packet.Size = length;
    header.set_Packet(packet);
}

impl Counters {
    fn read(version: u16, bytes: &[u8]) -> Self {
        let mut words = bytes.get(PERFINFO..).unwrap_or(&[]).chunks_exact(8).map(view::<u64>);
        let pebs = if version >> 15 != 0 { words.next() } else { None };
        let mut counters = Self { pebs, count: (version >> 8 & 7) as u8, pmc: [0; 7] };
        for (counter, word) in counters.pmc.iter_mut().take(usize::from(counters.count)).zip(words) {
            *counter = word;
        }
        counters
    }

    fn write(&self, out: &mut Vec<u8>) {
        for word in self.pebs.iter().chain(self.pmc.iter().take(usize::from(self.count))) {
            out.extend_from_slice(&word.to_le_bytes());
        }
    }

    /// Size of the counters, in bytes.
    pub(crate) fn size(&self) -> usize {
        8 * (usize::from(self.pebs.is_some()) + usize::from(self.count))
    }
}

impl Message {
    /// Decodes the header and its options; options beyond the end of the bytes are absent.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let header: MESSAGE_TRACE_HEADER = view(bytes);
        let packet = header.Packet();
        let flags = packet.OptionFlags;
        let mut rest = bytes.get(size_of::<MESSAGE_TRACE_HEADER>()..).unwrap_or(&[]);
        let mut take = |has: bool, length: usize| {
            let (taken, after) = if has { rest.split_at_checked(length)? } else { return None };
            rest = after;
            Some(taken)
        };
        let component = flags.contains(TRACE_MESSAGE_FLAG::TRACE_MESSAGE_COMPONENT_ID);
        let guid = flags.contains(TRACE_MESSAGE_FLAG::TRACE_MESSAGE_GUID) && !component;
        Self {
            number: packet.MessageNumber,
            other_flags: flags.0 & !ANNOUNCING | if component { flags.0 & TRACE_MESSAGE_FLAG::TRACE_MESSAGE_GUID.0 } else { 0 },
            reserved: header.Reserved(),
            sequence: take(flags.contains(TRACE_MESSAGE_FLAG::TRACE_MESSAGE_SEQUENCE), 4).map(view),
            guid: take(guid, 16).and_then(<[u8]>::first_chunk).map(|bytes| Uuid::from_bytes_le(*bytes)),
            component: take(component, 4).map(view),
            time_stamp: take(flags.contains(TRACE_MESSAGE_FLAG::TRACE_MESSAGE_TIMESTAMP), 8).map(view),
            thread_and_process: take(flags.contains(TRACE_MESSAGE_FLAG::TRACE_MESSAGE_SYSTEMINFO), 8)
                .map(view::<[u32; 2]>)
                .map(|[thread, process]| (thread, process)),
        }
    }

    /// The flags of the header, OptionFlags.
    pub fn flags(&self) -> TRACE_MESSAGE_FLAG {
        let bit = |has: bool, flag: TRACE_MESSAGE_FLAG| TRACE_MESSAGE_FLAG(if has { flag.0 } else { 0 });
        TRACE_MESSAGE_FLAG(self.other_flags)
            | bit(self.sequence.is_some(), TRACE_MESSAGE_FLAG::TRACE_MESSAGE_SEQUENCE)
            | bit(self.guid.is_some(), TRACE_MESSAGE_FLAG::TRACE_MESSAGE_GUID)
            | bit(self.component.is_some(), TRACE_MESSAGE_FLAG::TRACE_MESSAGE_COMPONENT_ID)
            | bit(self.time_stamp.is_some(), TRACE_MESSAGE_FLAG::TRACE_MESSAGE_TIMESTAMP)
            | bit(self.thread_and_process.is_some(), TRACE_MESSAGE_FLAG::TRACE_MESSAGE_SYSTEMINFO)
    }

    /// Whether the provider is a 64-bit program; `None` if the flags do not state it.
    pub(crate) fn is_64_bit(&self) -> Option<bool> {
        let flags = self.flags();
        let is_64_bit = flags.contains(TRACE_MESSAGE_FLAG::TRACE_MESSAGE_POINTER64);
        (is_64_bit != flags.contains(TRACE_MESSAGE_FLAG::TRACE_MESSAGE_POINTER32)).then_some(is_64_bit)
    }

    fn write(&self, length: u16, out: &mut Vec<u8>) {
        let mut header: MESSAGE_TRACE_HEADER = crate::wire::zero();
        header.set_Size(length);
        header.set_Reserved(self.reserved);
        header.set_Version(0x90);
        let mut packet = header.Packet();
        packet.MessageNumber = self.number;
        packet.OptionFlags = self.flags();
        header.set_Packet(packet);
        out.extend_from_slice(bytes_of(&header));
        out.extend(self.sequence.into_iter().flat_map(u32::to_le_bytes));
        if let Some(guid) = self.guid {
            out.extend_from_slice(&guid.to_bytes_le());
        }
        out.extend(self.component.into_iter().flat_map(u32::to_le_bytes));
        out.extend(self.time_stamp.into_iter().flat_map(i64::to_le_bytes));
        if let Some((thread, process)) = self.thread_and_process {
            out.extend_from_slice(bytes_of(&[thread, process]));
        }
    }
}

/// Length of a PERFINFO_TRACE_HEADER and its extended items, by its Version, in bytes.
pub(crate) fn perfinfo(version: u16) -> usize {
    let pebs = usize::from(version >> 15);
    let counters = usize::from(version >> 8 & 7);
    PERFINFO + 8 * (pebs + counters)
}

/// Length of a MESSAGE_TRACE_HEADER and the members that its flags announce, in bytes.
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

/// The flags that announce members.
pub(crate) const ANNOUNCING: u16 = TRACE_MESSAGE_FLAG::TRACE_MESSAGE_SEQUENCE.0
    | TRACE_MESSAGE_FLAG::TRACE_MESSAGE_GUID.0
    | TRACE_MESSAGE_FLAG::TRACE_MESSAGE_COMPONENT_ID.0
    | TRACE_MESSAGE_FLAG::TRACE_MESSAGE_TIMESTAMP.0
    | TRACE_MESSAGE_FLAG::TRACE_MESSAGE_SYSTEMINFO.0;
