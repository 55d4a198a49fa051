//! The type of an event header, from the first eight bytes of the event.

use crate::wire::{
    COMPACT, EVENT_HEADER, EVENT_INSTANCE_GUID_HEADER, EVENT_TRACE_HEADER, PERFINFO, PERFINFO_TRACE_HEADER, SYSTEM,
};

/// The type of an event header; names are those of TRACE_HEADER_TYPE, or of the Marker for headers without such a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum HeaderType {
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
    /// Unknown layout.
    Timed = 0x0C,
    /// Unknown layout.
    Error = 0x0D,
    /// Unknown layout.
    WnodeTyped = 0x0E,
    /// Unknown layout.
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
    /// Unknown type.
    Unknown = 0x80,
    /// MESSAGE_TRACE_HEADER, identified by the Marker.
    Message = 0x90,
    /// An event with a 32-bit time, identified by the Marker; unknown layout.
    Time32 = 0xB0,
    /// A WNODE_HEADER, identified by the Marker.
    Wnode = 0xF0,
}

impl HeaderType {
    /// The name in TRACE_HEADER_TYPE.
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

    /// The header type with the given number of TRACE_HEADER_TYPE.
    pub const fn from_type(ty: u8) -> Self {
        SHAPES[ty as usize].header_type
    }

    /// Offset of the time stamp, if it is the same in all headers of this type.
    #[inline]
    pub(crate) fn time_at(self) -> Option<usize> {
        static PLACES: [u8; 256] = {
            let mut places = [0; 256];
            let mut ty = 0;
            while ty < 256 {
                let shape = SHAPES[ty];
                if shape.header_type.is_known() {
                    places[ty] = match shape.header_type {
                        HeaderType::PerfInfo32 | HeaderType::PerfInfo64 => {
                            core::mem::offset_of!(PERFINFO_TRACE_HEADER, union_TS) as u8
                        }
                        _ => core::mem::offset_of!(EVENT_HEADER, TimeStamp) as u8,
                    };
                }
                ty += 1;
            }
            places
        };
        // A lookup table, because header types alternate too often for branch prediction.
        match PLACES[self as u8 as usize] {
            0 => None,
            place => Some(place as usize),
        }
    }

    /// Whether the layout of the header is known.
    pub const fn is_known(self) -> bool {
        !matches!(
            self,
            Self::Timed | Self::Error | Self::WnodeTyped | Self::MessageTyped | Self::Unknown | Self::Time32 | Self::Wnode
        )
    }

    /// Whether the payload is that of a 64-bit writer; `None` if the type does not state it.
    #[inline]
    pub const fn is_64_bit(self) -> Option<bool> {
        match self {
            Self::System32 | Self::Compact32 | Self::Full32 | Self::Instance32 | Self::PerfInfo32 | Self::Event32 => Some(false),
            Self::System64 | Self::Compact64 | Self::Full64 | Self::Instance64 | Self::PerfInfo64 | Self::Event64 => Some(true),
            _ => None,
        }
    }
}

/// Bytes of a record of unknown layout that are understood: the Marker.
pub(crate) const RAW: usize = 4;

/// Interpretation of the first eight bytes of an event, by its TRACE_HEADER_TYPE.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// Mask of the bits that indicate a header of variable length.
    pub unusual: u64,
    /// Position of the lowest bit of the length.
    pub length_at: u8,
    pub header: u8,
    pub header_type: HeaderType,
}

pub(crate) static SHAPES: [Shape; 256] = {
    let mut shapes = [Shape { unusual: 0, length_at: 0, header: RAW as u8, header_type: HeaderType::Unknown }; 256];
    let event =
        Shape { unusual: 1 << 32, length_at: 0, header: size_of::<EVENT_HEADER>() as u8, header_type: HeaderType::Event32 };
    let full = Shape { unusual: 0, length_at: 0, header: size_of::<EVENT_TRACE_HEADER>() as u8, header_type: HeaderType::Full32 };
    let system = Shape { unusual: 0, length_at: 32, header: SYSTEM as u8, header_type: HeaderType::System32 };
    let compact = Shape { header: COMPACT as u8, header_type: HeaderType::Compact32, ..system };
    let perfinfo = Shape { unusual: 0x8700, header: PERFINFO as u8, header_type: HeaderType::PerfInfo32, ..system };
    let instance = Shape { header: size_of::<EVENT_INSTANCE_GUID_HEADER>() as u8, header_type: HeaderType::Instance64, ..full };
    shapes[0x01] = system;
    shapes[0x02] = Shape { header_type: HeaderType::System64, ..system };
    shapes[0x03] = compact;
    shapes[0x04] = Shape { header_type: HeaderType::Compact64, ..compact };
    shapes[0x0A] = full;
    // The layout depends on the version.
    shapes[0x0B] = Shape { unusual: u64::MAX, header_type: HeaderType::Instance32, ..instance };
    shapes[0x0C].header_type = HeaderType::Timed;
    shapes[0x0D].header_type = HeaderType::Error;
    shapes[0x0E].header_type = HeaderType::WnodeTyped;
    shapes[0x0F].header_type = HeaderType::MessageTyped;
    shapes[0x10] = perfinfo;
    shapes[0x11] = Shape { header_type: HeaderType::PerfInfo64, ..perfinfo };
    shapes[0x12] = event;
    shapes[0x13] = Shape { header_type: HeaderType::Event64, ..event };
    shapes[0x14] = Shape { header_type: HeaderType::Full64, ..full };
    shapes[0x15] = instance;
    shapes
};
