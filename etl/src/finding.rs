//! Diagnostics of a trace file, with their places.

use crate::stamp::Stamp;
use std::fmt;

/// A diagnostic of a trace file. At most the rest of the buffer is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The index of the buffer in the file, from 0; between buffers, the index of the next one.
    pub buffer: u32,
    /// The offset of the buffer in the file, in bytes.
    pub buffer_offset: u64,
    /// The offset in the decompressed buffer, in bytes.
    pub offset: u32,
    /// What is wrong.
    pub what: What,
}

/// The place of a buffer in a file.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    pub offset: u64,
    pub index: u32,
}

impl Place {
    /// A diagnostic at an offset in that buffer.
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
            Self::Truncated { size, there } => write!(f, "truncated buffer: {there:#x} of {size:#x} bytes are in the file"),
            Self::Skipped { bytes, next } | Self::Zeroes { bytes, next } => {
                let what = if matches!(self, Self::Zeroes { .. }) { "zeros instead of a buffer" } else { "no buffer header" };
                write!(f, "{what}: skipped {bytes:#x} bytes up to ")?;
                match next {
                    Some(next) => write!(f, "the next buffer at {next:#x}"),
                    None => f.write_str("the end of the file"),
                }
            }
            Self::Unwritten(bytes) => {
                write!(f, "unused space: {bytes:#x} zero bytes after the last buffer")
            }
            Self::Size { stated, taken } => write!(f, "invalid buffer size: {stated:#x}; assuming {taken:#x}"),
            Self::Header => f.write_str("corrupt buffer header: events of this buffer can be wrong"),
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
                write!(f, "invalid start time: {} is before the boot of the system; times can be wrong", Stamp(*time))
            }
            Self::AnotherTrace => {
                f.write_str("second trace in the file: it has its own clock and is not read; split the file at this offset")
            }
            Self::BuffersWritten { stated, read } => {
                let what = if read < stated { "missing buffers" } else { "unexpected buffers" };
                write!(f, "{what}: log file header states {stated}, read {read}")
            }
            Self::LogFileBufferSize { stated, taken } => {
                write!(f, "invalid buffer size in the log file header: {stated:#x}; assuming {taken:#x}")
            }
            Self::LogFileEvent => f.write_str("corrupt event header of the log file header: wrong marker, type or hook ID"),
            Self::Version { major, minor } => {
                write!(f, "invalid version in the log file header: {major}.{minor} has no compressed buffers; assuming 6.2")
            }
            Self::LogFileCompression { stated, taken } => {
                write!(f, "invalid compression format in the header buffer: {stated}; assuming {taken}")
            }
            Self::PointerSize { stated, taken } => {
                write!(f, "invalid pointer size in the log file header: {stated}; assuming {taken}")
            }
            Self::Clock(clock) => {
                write!(f, "unknown clock in the log file header: {clock}; assuming the performance counter, times can be wrong")
            }
            Self::ClockRate => f.write_str("no clock rate in the log file header; assuming 10 MHz, times can be wrong"),
            Self::ClockStamp { clock, stamp } => write!(
                f,
                "the first stamp, {stamp}, is not one of clock {clock}, which the log file header names: one of them is wrong, and times can be \
                 wrong"
            ),
            Self::Offset(offset) => write!(f, "invalid valid end: {offset:#x} is outside the buffer"),
            Self::Tail { bytes, events: 0 } => {
                write!(
                    f,
                    "unexpected data: the {bytes:#x} bytes after the valid end are not all 0xFF; the valid end can be wrong"
                )
            }
            Self::Tail { bytes, events } => {
                write!(f, "unread events: the {bytes:#x} bytes after the valid end begin with {events} complete events")
            }
            Self::TooLarge(size) => {
                write!(f, "decompressed size too large: {size:#x} bytes exceed the buffer size of the session")
            }
            Self::Compression(format) => write!(f, "unknown compression format: {format}"),
            Self::Stream(why) => write!(f, "corrupt compressed data: {why}"),
            Self::Decompressed { stated, there } => {
                write!(f, "wrong decompressed size: {there:#x} bytes, header states {stated:#x}")
            }
            Self::Short { length, header } => {
                write!(f, "event too short: {length:#x} bytes, header needs {header:#x}; rest of the buffer skipped")
            }
            Self::Long { length, left } => {
                write!(f, "event too long: {length:#x} bytes, {left:#x} left in the buffer; rest of the buffer skipped")
            }
            Self::Marker { skipped, next } => {
                let end = if next.is_none() { "the valid end" } else { "the next event" };
                write!(f, "end marker before the valid end of the buffer: skipped {skipped:#x} bytes up to {end}")
            }
            Self::Items => f.write_str("invalid extended data items: event skipped"),
            Self::Layout(name) => write!(f, "unknown event header type: {name}"),
            Self::Memory => f.write_str("memory limit: decompressed buffers exceed 1 GiB; buffer skipped"),
            Self::Fields(fault) => write!(f, "cannot decode payload: {fault}"),
            Self::Rule(rule) => f.write_str(&rule.text),
        }
    }
}

impl std::error::Error for Finding {}
