//! Errors of writers.

use crate::header_type::HeaderType;
use std::{fmt, io};

/// Error of a writer. Bytes written before the error remain valid.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The version of the producer does not write this.
    Version {
        /// The unsupported feature.
        feature: &'static str,
        /// The versions that write it.
        versions: &'static str,
    },
    /// The header does not exist in this pointer width.
    Width(HeaderType),
    /// An event or an item exceeds the 16-bit length.
    Length(usize),
    /// The event exceeds the space left in the buffer.
    Full {
        /// Size of the event, in bytes.
        length: usize,
        /// Bytes left.
        left: usize,
    },
    /// The processor number is out of range.
    Processor {
        /// The processor number.
        processor: u16,
        /// The number of processors.
        processors: u32,
    },
    /// A header has more than seven performance counters.
    Counters(u8),
    /// A message has both a GUID and a component identifier, or flags that its other members determine.
    Message,
    /// An event has extended items, but its header does not support them.
    Items,
    /// The padding of an item does not reach the next multiple of eight bytes.
    Padding(usize),
    /// The length in a raw record differs from its size, or its layout is known.
    Raw,
    /// The size is not valid for buffers of a session.
    BufferSize(u32),
    /// The log file header states an invalid clock, or lacks its rate.
    Clock(u32),
    /// The log file header and the producer differ in version or pointer size.
    LogFile,
    /// A name in the log file header contains a NUL, which would terminate it.
    Name,
    /// An event was added to the header buffer after other events.
    Late,
    /// An earlier write failed: the file lacks events.
    Failed,
    /// Writing failed.
    Io(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version { feature, versions } => write!(f, "unsupported by the producer: {feature} need {versions}"),
            Self::Width(header_type) => {
                write!(f, "wrong header type: {} does not exist in this pointer width", header_type.name())
            }
            Self::Length(length) => write!(f, "length exceeds 16 bits: {length} bytes"),
            Self::Full { length, left } => {
                write!(f, "event too large: {length} bytes, {left} left in the buffer")
            }
            Self::Processor { processor, processors } => write!(f, "processor out of range: {processor} of {processors}"),
            Self::Counters(count) => write!(f, "too many performance counters: {count}, a header has at most 7"),
            Self::Message => f.write_str(
                "invalid message: it has both a GUID and a component identifier, or its other flags announce a member",
            ),
            Self::Items => f.write_str("unsupported extended items: the event has no EVENT_HEADER"),
            Self::Padding(length) => write!(f, "wrong padding of an extended item with {length} bytes of data"),
            Self::Raw => f.write_str("invalid raw record: its length differs from its size, or its layout is known"),
            Self::BufferSize(size) => {
                write!(f, "invalid buffer size: {size} bytes; use a multiple of 8 from 512 bytes to 16 MiB")
            }
            Self::Clock(clock) => {
                write!(f, "unusable clock in the log file header: clock {clock} lacks its rate, or the producer does not have it")
            }
            Self::LogFile => f.write_str("wrong log file header: its version or pointer size differs from that of the producer"),
            Self::Name => f.write_str("invalid name in the log file header: it contains a NUL"),
            Self::Late => f.write_str("header buffer already written; add its events before all others"),
            Self::Failed => f.write_str("incomplete file: an earlier write failed, so the file lacks events"),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
