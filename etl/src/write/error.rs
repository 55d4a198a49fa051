//! What a writer refuses.

use crate::header_type::HeaderType;
use std::{fmt, io};

/// Why a writer refused something. What was written before stands.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The producer does not write this.
    Version {
        /// What.
        what: &'static str,
        /// The versions that do.
        versions: &'static str,
    },
    /// A header and a width that no type of header has.
    Width(HeaderType),
    /// An event or an item of more bytes than its length can say.
    Length(usize),
    /// The event does not fit into the buffer.
    Full {
        /// Bytes of the event.
        length: usize,
        /// Bytes that are left.
        left: usize,
    },
    /// A buffer's events do not fit into it.
    Larger {
        /// Bytes that they take, with the buffer's header.
        length: usize,
        /// Bytes of the buffer.
        size: u32,
    },
    /// There is no such processor.
    Processor {
        /// Which.
        processor: u16,
        /// How many there are.
        processors: u32,
    },
    /// More than seven performance counters.
    Counters(u8),
    /// A message with both a GUID and a component identifier, or with flags that its other fields decide.
    Message,
    /// Extended items in an event whose header cannot have them.
    Items,
    /// Padding of an item that does not reach the next multiple of eight bytes.
    Padding(usize),
    /// A raw record whose own length is not that of its bytes, or whose layout is known.
    Raw,
    /// No logger has buffers of this size.
    BufferSize(u32),
    /// The log file header names no clock, or not the rate of its clock.
    Clock(u32),
    /// The log file header and the producer are of different versions or pointer sizes.
    LogFile,
    /// A name in the log file header that holds a NUL, which would end it.
    Name,
    /// An event for the header buffer after others were written.
    Late,
    /// Writing failed before: the file lacks events.
    Failed,
    /// Writing failed.
    Io(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version { what, versions } => write!(f, "the producer does not write {what}: only {versions} do"),
            Self::Width(header_type) => write!(f, "the header is not that of {}", header_type.name()),
            Self::Length(length) => write!(f, "{length} bytes are more than a length of 16 bits can say"),
            Self::Full { length, left } => {
                write!(f, "an event of {length} bytes does not fit into the {left} left of its buffer")
            }
            Self::Larger { length, size } => {
                write!(f, "the buffer's header and events take {length} bytes, and the buffer has {size}")
            }
            Self::Processor { processor, processors } => write!(f, "there is no processor {processor} of {processors}"),
            Self::Counters(count) => write!(f, "{count} performance counters: a header counts 7 at the most"),
            Self::Message => f.write_str(
                "a message has either a GUID or a component identifier, and its other flags are not those that announce a field",
            ),
            Self::Items => f.write_str("only an EVENT_HEADER can have extended items"),
            Self::Padding(length) => write!(f, "an extended item of {length} bytes of data has other padding than it needs"),
            Self::Raw => f.write_str("the raw record's own length is not that of its bytes, or its layout is known"),
            Self::BufferSize(size) => {
                write!(f, "no logger has buffers of {size} bytes: they are multiples of 8 from 512 bytes to 16 MiB")
            }
            Self::Clock(clock) => {
                write!(f, "the log file header names the clock {clock} without its rate, or it is no clock of the producer")
            }
            Self::LogFile => f.write_str("the log file header is of another version or pointer size than the producer"),
            Self::Name => f.write_str("a name in the log file header holds a NUL, which would end it there"),
            Self::Late => f.write_str("the header buffer was written already: its events come before all others"),
            Self::Failed => f.write_str("writing failed before: the file lacks events"),
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
