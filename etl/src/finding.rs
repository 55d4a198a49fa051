//! What is wrong with a file, and where.

use crate::stamp::Stamp;
use std::fmt;

/// Something wrong with a file. It costs the rest of its buffer at the most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The buffer's place among those of the file, from 0; where there is none, that of the next.
    pub buffer: u32,
    /// Where the buffer begins, in bytes from the start of the file.
    pub buffer_offset: u64,
    /// Where in the buffer it is, in bytes from the buffer's start; of the decompressed buffer, if it was compressed.
    pub offset: u32,
    /// What is wrong.
    pub what: What,
}

/// Where a buffer is in a file: enough to find it again.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    pub offset: u64,
    pub index: u32,
}

impl Place {
    /// Something wrong at an offset of that buffer.
    pub fn finding(self, offset: u32, what: What) -> Finding {
        Finding { buffer: self.index, buffer_offset: self.offset, offset, what }
    }
}

/// What is wrong.
// No variant has a member of less than 32 bits: the compiler then makes the tag one byte, and the walk from event to event, which returns
// this by way of a `Result`, takes twice the time.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// The file ends within a buffer.
    Truncated {
        /// The buffer's size.
        size: u32,
        /// The bytes that are there.
        there: u32,
    },
    /// No buffer begins where one must: what is there is left out.
    Skipped {
        /// How many bytes are left out.
        bytes: u64,
        /// Where the next buffer begins in the file; `None` if the file ends before.
        next: Option<u64>,
    },
    /// Only zeroes are where a buffer must begin, and buffers can be missing.
    Zeroes {
        /// How many.
        bytes: u64,
        /// Where the next buffer begins in the file; `None` if the file ends before.
        next: Option<u64>,
    },
    /// The file ends with so many zeroes, space that was never written, behind all buffers that the log file header counts.
    Unwritten(u64),
    /// The buffer's header states a size that it cannot have, or one that would hide the next buffer.
    Size {
        /// What the header states.
        stated: u32,
        /// What is assumed.
        taken: u32,
    },
    /// The buffer's size is in order, and something else in its header is not: the valid end, flags, type or state.
    Header,
    /// The buffer has the header of an earlier one, with this sequence number: one of them is a copy.
    Copy(i64),
    /// The buffer is of this time, by the file's clock, more than a day before the start or behind the end of the file.
    BufferTime(i64),
    /// The log file header states a start before the boot of the system.
    StartTime(i64),
    /// Another trace begins, which has a clock and buffers of its own. It is not read.
    AnotherTrace,
    /// There are more or fewer buffers than the log file header counts.
    BuffersWritten {
        /// What the log file header states.
        stated: u32,
        /// How many were read.
        read: u32,
    },
    /// The log file header states a size that its buffers do not have.
    LogFileBufferSize {
        /// What it states.
        stated: u32,
        /// What is assumed.
        taken: u32,
    },
    /// The first event is a log file header by its data, and its own header is damaged.
    LogFileEvent,
    /// The log file header names a version that does not compress, and there are compressed buffers. Windows 8 is assumed.
    Version {
        /// The major version.
        major: u32,
        /// The minor version.
        minor: u32,
    },
    /// The header buffer names a compression format that is not that of the buffers.
    LogFileCompression {
        /// What it states.
        stated: u32,
        /// What is assumed.
        taken: u32,
    },
    /// The log file header states a pointer size that is not that of its event, or none.
    PointerSize {
        /// What it states.
        stated: u32,
        /// What is assumed.
        taken: u32,
    },
    /// The log file header names no known clock. The performance counter is assumed.
    Clock(u32),
    /// The log file header does not state the rate of its clock. 10 MHz are assumed.
    ClockRate,
    /// The first stamp is not one of the clock that the log file header names.
    ClockStamp {
        /// The clock.
        clock: u32,
        /// The stamp.
        stamp: i64,
    },
    /// The buffer's valid end lies outside it.
    Offset(u32),
    /// Something else than fill (0xFF) is behind the valid end of the buffer: a valid end that is too low hides events.
    Tail {
        /// Bytes from the valid end to the end of the buffer.
        bytes: u32,
        /// Whole events that begin at the valid end and follow each other. They are not read.
        events: u32,
    },
    /// A compressed buffer would decompress to more than its logger's buffers hold.
    TooLarge(u32),
    /// A compression format that is not read.
    Compression(u32),
    /// The compressed stream is malformed.
    Stream(String),
    /// The stream decompressed to another size than the header says.
    Decompressed {
        /// What the header says.
        stated: u32,
        /// What came out.
        there: u32,
    },
    /// An event whose length is less than that of its header.
    Short {
        /// What the event says.
        length: u32,
        /// What its header takes.
        header: u32,
    },
    /// An event that goes beyond the valid end of its buffer.
    Long {
        /// What the event says.
        length: u32,
        /// What is left of the buffer.
        left: u32,
    },
    /// An end marker before the valid end of the buffer, where no logger writes it.
    Marker {
        /// Bytes that are left out.
        skipped: u32,
        /// Where the next event begins in the buffer, from the marker on; `None` if there is none.
        next: Option<u32>,
    },
    /// A malformed chain of extended items: this event is left out.
    Items,
    /// An event whose header has this type, of no known layout: only its bytes are known. No file of a logger has one.
    Layout(&'static str),
    /// Too many buffers at once decompress to too much.
    Memory,
    /// The schema that an event carries, or the payload by it.
    Fields(crate::tracelogging::Fault),
    /// A rule of the format that [`check`](crate::check) knows is broken.
    Rule(Box<Rule>),
}

/// A rule of the format that is broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The rule's name.
    pub name: &'static str,
    /// How it is broken.
    pub text: String,
}

impl Finding {
    /// Whether something is damaged or missing; otherwise it is worth knowing, no more.
    pub fn is_damage(&self) -> bool {
        !matches!(self.what, What::Unwritten(_))
    }
}

impl What {
    /// A name of what is wrong, the same for all findings that differ in numbers only.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Truncated { .. } => "truncated",
            Self::Skipped { .. } => "skipped",
            Self::Zeroes { .. } => "zeroes",
            Self::Header => "buffer-header",
            Self::Unwritten(_) => "unwritten",
            Self::Size { .. } => "buffer-size",
            Self::Copy(_) => "buffer-copy",
            Self::BufferTime(_) => "buffer-time",
            Self::StartTime(_) => "start-time",
            Self::AnotherTrace => "another-trace",
            Self::BuffersWritten { .. } => "buffers-written",
            Self::LogFileBufferSize { .. } => "log-file-buffer-size",
            Self::LogFileEvent => "log-file-event",
            Self::Version { .. } => "version",
            Self::LogFileCompression { .. } => "log-file-compression",
            Self::PointerSize { .. } => "pointer-size",
            Self::Clock(_) => "clock",
            Self::ClockRate => "clock-rate",
            Self::ClockStamp { .. } => "clock-stamp",
            Self::Offset(_) => "valid-end",
            Self::Tail { .. } => "tail",
            Self::TooLarge(_) => "too-large",
            Self::Compression(_) => "compression-format",
            Self::Stream(_) => "compressed-stream",
            Self::Decompressed { .. } => "decompressed-size",
            Self::Short { .. } => "event-too-short",
            Self::Long { .. } => "event-too-long",
            Self::Marker { .. } => "end-marker",
            Self::Items => "extended-items",
            Self::Layout(_) => "layout",
            Self::Memory => "memory",
            Self::Fields(_) => "fields",
            Self::Rule(rule) => rule.name,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "buffer {} at {:#x}, {:#x} within: {}", self.buffer, self.buffer_offset, self.offset, self.what)
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { size, there } => write!(f, "the file ends {there:#x} bytes into this buffer of {size:#x}"),
            Self::Skipped { bytes, next } | Self::Zeroes { bytes, next } => {
                let what =
                    if matches!(self, Self::Zeroes { .. }) { "only zeroes in place of a buffer" } else { "no buffer header" };
                write!(f, "{what}: {bytes:#x} bytes are left out, up to ")?;
                match next {
                    Some(next) => write!(f, "the next buffer at {next:#x}"),
                    None => f.write_str("the end of the file"),
                }
            }
            Self::Unwritten(bytes) => {
                write!(f, "the file ends with {bytes:#x} zero bytes behind all its buffers, space that was never written")
            }
            Self::Size { stated, taken } => write!(f, "wrong buffer size: {stated:#x}; {taken:#x} is assumed"),
            Self::Header => f.write_str("damaged buffer header: the buffer is read, and its events can be wrong"),
            Self::Copy(sequence) => write!(
                f,
                "same header as an earlier buffer, with sequence number {sequence}: one is a copy of the other, so that events are read \
                 twice, and those of another buffer can be lost"
            ),
            Self::BufferTime(time) => write!(
                f,
                "the buffer is of {}, more than a day before the start of the file or after its end: it is of another trace, or the \
                 clock of the log file header is wrong; the times of its events can be wrong",
                Stamp(*time)
            ),
            Self::StartTime(time) => {
                write!(f, "the file starts at {}, before the system booted; times can be wrong", Stamp(*time))
            }
            Self::AnotherTrace => {
                f.write_str("another trace begins here, with a clock of its own, and is not read; split the file at this offset")
            }
            Self::BuffersWritten { stated, read } => {
                let what = if read < stated { "missing buffers" } else { "more buffers than were written" };
                write!(f, "{what}: the log file header counts {stated}, and {read} were read")
            }
            Self::LogFileBufferSize { stated, taken } => {
                write!(f, "wrong buffer size in the log file header: {stated:#x}; {taken:#x} is assumed")
            }
            Self::LogFileEvent => f.write_str("damaged event header of the log file header: marker, type or hook identifier"),
            Self::Version { major, minor } => {
                write!(f, "wrong version {major}.{minor} in the log file header: its buffers are compressed; 6.2 is assumed")
            }
            Self::LogFileCompression { stated, taken } => {
                write!(f, "wrong compression format in the header buffer: {stated}; {taken} is assumed")
            }
            Self::PointerSize { stated, taken } => {
                write!(f, "wrong pointer size in the log file header: {stated}; {taken} is assumed")
            }
            Self::Clock(clock) => {
                write!(
                    f,
                    "unknown clock {clock} in the log file header; the performance counter is assumed, and times can be wrong"
                )
            }
            Self::ClockRate => f.write_str("no clock rate in the log file header; 10 MHz is assumed, and times can be wrong"),
            Self::ClockStamp { clock, stamp } => write!(
                f,
                "the first stamp, {stamp}, is not one of clock {clock}, which the log file header names: one of them is wrong, and times can be \
                 wrong"
            ),
            Self::Offset(offset) => write!(f, "the valid end {offset:#x} lies outside the buffer"),
            Self::Tail { bytes, events: 0 } => {
                write!(f, "the {bytes:#x} bytes behind the valid end are not all 0xFF: the valid end can be wrong")
            }
            Self::Tail { bytes, events } => {
                write!(f, "the {bytes:#x} bytes behind the valid end begin with whole events ({events}), which are not read")
            }
            Self::TooLarge(size) => {
                write!(f, "the buffer would decompress to {size:#x} bytes, more than its logger's buffers hold")
            }
            Self::Compression(format) => write!(f, "the buffer is compressed in the format {format}, which is not known"),
            Self::Stream(why) => write!(f, "the compressed stream is malformed: {why}"),
            Self::Decompressed { stated, there } => {
                write!(f, "the stream decompresses to {there:#x} bytes, and the header says {stated:#x}")
            }
            Self::Short { length, header } => {
                write!(f, "an event of {length:#x} bytes, less than the {header:#x} of its header; the buffer's rest is left out")
            }
            Self::Long { length, left } => {
                write!(f, "an event of {length:#x} bytes with {left:#x} left in the buffer; the buffer's rest is left out")
            }
            Self::Marker { skipped, next } => {
                let end = if next.is_none() { "the valid end" } else { "the next event" };
                write!(f, "end marker before the valid end of the buffer: {skipped:#x} bytes are left out, up to {end}")
            }
            Self::Items => f.write_str("the event's extended items do not fit together; the event is left out"),
            Self::Layout(name) => write!(f, "an event of unknown layout ({name}): only its bytes are known"),
            Self::Memory => f.write_str("the decompressed buffers of all processors take more than 1 GiB; this one is left out"),
            Self::Fields(fault) => write!(f, "the event's fields cannot be decoded: {fault}"),
            Self::Rule(rule) => f.write_str(&rule.text),
        }
    }
}

impl std::error::Error for Finding {}
