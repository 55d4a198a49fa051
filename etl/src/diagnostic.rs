//! Diagnostics of a trace file, with their places.

use etw_layouts_payload::{Fault, FaultKind, FileTime};
use std::fmt;

/// A diagnostic of a trace file. At most the rest of the buffer is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The index of the buffer in the file, from 0; between buffers, the index of the next one.
    pub buffer: u32,
    /// The offset of the buffer in the file, in bytes.
    pub buffer_offset: u64,
    /// The offset in the decompressed buffer, in bytes.
    pub offset: u32,
    /// The kind of diagnostic.
    pub kind: DiagnosticKind,
}

/// The place of a buffer in a file.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BufferPosition {
    pub offset: u64,
    pub index: u32,
}

impl BufferPosition {
    /// A diagnostic at an offset in that buffer.
    pub fn diagnostic(self, offset: u32, kind: DiagnosticKind) -> Diagnostic {
        Diagnostic { buffer: self.index, buffer_offset: self.offset, offset, kind }
    }
}

/// A kind of diagnostic.
// No variant has a member of less than 32 bits: the compiler would then make the tag one byte, and iteration over events, which
// returns this type in a `Result`, would take twice the time.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiagnosticKind {
    /// The file ends within a buffer.
    Truncated {
        /// Size of the buffer, in bytes.
        size: u32,
        /// Number of bytes present.
        present: u32,
    },
    /// No buffer begins at the expected offset; the bytes there are skipped.
    Skipped {
        /// Number of bytes skipped.
        bytes: u64,
        /// Offset of the next buffer in the file; `None` if the file ends first.
        next: Option<u64>,
    },
    /// Zeros instead of a buffer; buffers may be missing.
    Zeroes {
        /// Number of zero bytes.
        bytes: u64,
        /// Offset of the next buffer in the file; `None` if the file ends first.
        next: Option<u64>,
    },
    /// The file ends with this many zero bytes of unused space, after all buffers that the log file header counts.
    Unwritten(u64),
    /// The buffer header states an impossible size, or one that would hide the next buffer.
    Size {
        /// The size in the header.
        stated: u32,
        /// The size assumed instead.
        assumed: u32,
    },
    /// The size in the buffer header is valid, but another member is not: the valid end, flags, type or state.
    Header,
    /// The buffer has the same header as an earlier one, with this sequence number: one of them is a copy.
    Copy(i64),
    /// The buffer has this time by the file's clock, more than a day before the start or after the end of the file.
    BufferTime(i64),
    /// The log file header states a start before the boot of the system.
    StartTime(i64),
    /// There are more or fewer buffers than the log file header counts, but it states no end either: the session was running when the file was
    /// copied, or ended abruptly.
    NotClosed {
        /// The number of buffers in the log file header.
        stated: u32,
        /// The number of buffers read.
        read: u32,
    },
    /// Another trace begins at this offset of the file, with its own clock and buffers. It is not read.
    AnotherTrace(u64),
    /// There are more or fewer buffers than the log file header counts.
    BuffersWritten {
        /// The number in the log file header.
        stated: u32,
        /// The number of buffers read.
        read: u32,
    },
    /// The log file header states a buffer size that its buffers do not have.
    LogFileBufferSize {
        /// The size in the log file header.
        stated: u32,
        /// The size assumed instead.
        assumed: u32,
    },
    /// The first event has the data of a log file header, but its event header is corrupt.
    LogFileEvent,
    /// The log file header states a version without compression, but buffers are compressed. Windows 8 is assumed.
    Version {
        /// The major version.
        major: u32,
        /// The minor version.
        minor: u32,
    },
    /// The compression format in the header buffer is not that of the buffers.
    LogFileCompression {
        /// The format in the header buffer.
        stated: u32,
        /// The format assumed instead.
        assumed: u32,
    },
    /// The pointer size in the log file header is invalid, or differs from that of its event.
    PointerSize {
        /// The pointer size in the log file header.
        stated: u32,
        /// The pointer size assumed instead.
        assumed: u32,
    },
    /// The log file header states this unknown clock. The performance counter is assumed.
    Clock(u32),
    /// The log file header states no clock, such as one that was made for buffers whose own log file header is missing. Events have no times.
    NoTimes,
    /// The log file header does not state the rate of its clock. 10 MHz is assumed.
    ClockRate,
    /// The log file header states a rate of its clock, in Hz, that no clock has. It is used.
    ImplausibleRate(i64),
    /// The first time stamp is not plausible for the clock in the log file header.
    ClockStamp {
        /// The clock in the log file header.
        clock: u32,
        /// The time stamp.
        stamp: i64,
    },
    /// The valid end of the buffer, at this offset, is outside the buffer.
    Offset(u32),
    /// The bytes after the valid end of the buffer are not fill (0xFF): a valid end that is too low hides events.
    Tail {
        /// Number of bytes from the valid end to the end of the buffer.
        bytes: u32,
        /// Number of complete, consecutive events that begin at the valid end. They are not read.
        events: u32,
    },
    /// A compressed buffer states this decompressed size, which exceeds that of the session's buffers.
    TooLarge(u32),
    /// The compression format with this number is unknown.
    Compression(u32),
    /// The compressed stream is corrupt; the error of the decoder.
    Stream(String),
    /// The decompressed size differs from that in the header.
    Decompressed {
        /// The size in the header.
        stated: u32,
        /// The actual size.
        present: u32,
    },
    /// The length of an event is less than that of its header.
    Short {
        /// The length in the event.
        length: u32,
        /// The length that the header needs.
        header: u32,
    },
    /// The event exceeds the valid end of its buffer.
    Long {
        /// The length in the event.
        length: u32,
        /// Number of bytes left in the buffer.
        left: u32,
    },
    /// An end marker before the valid end of the buffer, where sessions never write one.
    Marker {
        /// Number of bytes skipped.
        skipped: u32,
        /// Offset of the next event, relative to the marker; `None` if there is none.
        next: Option<u32>,
    },
    /// Bytes of a buffer in memory are missing. Events follow after them, or none is recognized.
    Missing {
        /// Number of missing bytes.
        bytes: u32,
        /// Offset of the next event in the buffer; `None` if no event follows.
        next: Option<u32>,
    },
    /// The chain of extended items is corrupt: the event is skipped.
    Items,
    /// The layout of the event header is unknown: only the bytes of the event are available. Files written by Windows have no such events.
    Layout {
        /// Name of the header type.
        name: &'static str,
        /// The header type in the event.
        ty: u32,
        /// The marker flags in the event.
        flags: u32,
    },
    /// The schema in the event is invalid, or the payload does not match the schema.
    Fields(Box<Undecoded>),
    /// A rule of the format, verified by [`check`](crate::check), is violated.
    Rule(Box<Rule>),
}

/// A violated rule of the format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Name of the rule.
    pub name: &'static str,
    /// Description of the violation.
    pub text: String,
}

/// An event with a payload that cannot be decoded to its end; see [`names::undecoded`](crate::names::undecoded).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undecoded {
    /// Name and version of the event.
    pub event: String,
    /// The error.
    pub fault: Fault,
    /// Number of bytes of the payload that are not decoded.
    pub left: usize,
}

impl Diagnostic {
    /// Whether data is damaged or missing. Other diagnostics are for information only.
    pub fn is_damage(&self) -> bool {
        !matches!(self.kind, DiagnosticKind::Unwritten(_) | DiagnosticKind::NotClosed { .. }) && !self.is_uncovered()
    }

    /// Whether a payload is decoded, but longer than its schema, as those of newer versions of a provider are.
    pub fn is_uncovered(&self) -> bool {
        matches!(&self.kind, DiagnosticKind::Fields(undecoded) if undecoded.fault.reason.is_longer())
    }
}

impl DiagnosticKind {
    /// Name of the kind for payloads that are [longer](Diagnostic::is_uncovered) than their schemas.
    pub const UNCOVERED: &'static str = "uncovered-payload";

    /// Name of the kind of diagnostic, independent of its numbers.
    pub fn name(&self) -> &'static str {
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
            Self::NotClosed { .. } => "not-closed",
            Self::AnotherTrace(_) => "another-trace",
            Self::BuffersWritten { .. } => "buffers-written",
            Self::LogFileBufferSize { .. } => "log-file-buffer-size",
            Self::LogFileEvent => "log-file-event",
            Self::Version { .. } => "version",
            Self::LogFileCompression { .. } => "log-file-compression",
            Self::PointerSize { .. } => "pointer-size",
            Self::Clock(_) => "clock",
            Self::NoTimes => "no-times",
            Self::ClockRate | Self::ImplausibleRate(_) => "clock-rate",
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
            Self::Missing { .. } => "missing-bytes",
            Self::Items => "extended-items",
            Self::Layout { .. } => "layout",
            Self::Fields(undecoded) if undecoded.fault.reason.is_longer() => Self::UNCOVERED,
            Self::Fields(_) => "fields",
            Self::Rule(rule) => rule.name,
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "buffer {} at {:#x}, offset {:#x}: {}", self.buffer, self.buffer_offset, self.offset, self.kind)
    }
}

impl fmt::Display for DiagnosticKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { size, present } => write!(f, "truncated buffer: {present:#x} of {size:#x} bytes are in the file"),
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
            Self::Size { stated, assumed } => write!(f, "invalid buffer size: {stated:#x}; assuming {assumed:#x}"),
            Self::Header => f.write_str(
                "corrupt buffer header: wrong end of the events, flags, type or state; events of this buffer can be wrong",
            ),
            Self::Copy(sequence) => write!(
                f,
                "same header as an earlier buffer, with sequence number {sequence}: one is a copy; events are duplicated, and those of \
                 another buffer can be missing"
            ),
            Self::BufferTime(time) => write!(
                f,
                "invalid buffer time: {} is more than a day before the start of the file or after its end; the buffer is from another \
                 trace, or the clock in the log file header is wrong",
                FileTime(*time)
            ),
            Self::StartTime(time) => {
                write!(f, "invalid start time: {} is before the boot of the system; times can be wrong", FileTime(*time))
            }
            Self::NotClosed { stated, read } => write!(
                f,
                "file was not closed: the session was running, or ended abruptly; the file has {read} buffers, the log file header states {stated}"
            ),
            Self::AnotherTrace(offset) => {
                write!(f, "second trace in the file, with its own clock: not read; split the file at offset {offset:#x}")
            }
            Self::BuffersWritten { stated, read } if read < stated => {
                write!(
                    f,
                    "missing buffers: the file has {read} of the {stated} that the log file header states; their events are lost"
                )
            }
            Self::BuffersWritten { stated, read } => {
                write!(f, "unexpected buffers: the file has {read}, the log file header states {stated}")
            }
            Self::LogFileBufferSize { stated, assumed } => {
                write!(f, "invalid buffer size in the log file header: {stated:#x}; assuming {assumed:#x}")
            }
            Self::LogFileEvent => f.write_str("corrupt event header of the log file header: wrong marker, type or hook ID"),
            Self::Version { major, minor } => {
                write!(f, "invalid version in the log file header: {major}.{minor} has no compressed buffers; assuming 6.2")
            }
            Self::LogFileCompression { stated, assumed } => {
                write!(f, "invalid compression format in the header buffer: {stated}; assuming {assumed}")
            }
            Self::PointerSize { stated, assumed } => {
                write!(f, "invalid pointer size in the log file header: {stated}; assuming {assumed}")
            }
            Self::Clock(clock) => {
                write!(f, "unknown clock in the log file header: {clock}; assuming the performance counter, times can be wrong")
            }
            Self::ImplausibleRate(rate) => {
                write!(f, "implausible clock rate in the log file header: {rate} Hz; times can be wrong")
            }
            Self::NoTimes => f.write_str(
                "the log file header states no clock, such as that of carved buffers: clock and Windows version are unknown, events have \
                 no times, and durations are those of a clock of 10 MHz",
            ),
            Self::ClockRate => f.write_str("no clock rate in the log file header; assuming 10 MHz, times can be wrong"),
            Self::ClockStamp { clock, stamp } => write!(
                f,
                "clock mismatch: the first time stamp, {stamp}, is implausible for clock {clock} of the log file header; times can be wrong"
            ),
            Self::Offset(offset) => {
                write!(f, "wrong end of the events in the buffer: offset {offset:#x} is outside the buffer or in its header")
            }
            Self::Tail { bytes, events: 0 } => {
                write!(
                    f,
                    "unexpected data: the {bytes:#x} bytes after the end of the events in the buffer are not all 0xFF; the end can be wrong"
                )
            }
            Self::Tail { bytes, events } => {
                let events = if *events == 1 { "1 complete event".to_owned() } else { format!("{events} complete events") };
                write!(f, "unread events: the {bytes:#x} bytes after the end of the events in the buffer begin with {events}")
            }
            Self::TooLarge(size) => {
                write!(f, "decompressed size too large: {size:#x} bytes exceed the buffer size of the session")
            }
            Self::Compression(format) => write!(f, "unknown compression format: {format}"),
            Self::Stream(why) => write!(f, "corrupt compressed data: {why}"),
            Self::Decompressed { stated, present } => {
                write!(f, "wrong decompressed size: {present:#x} bytes, header states {stated:#x}")
            }
            Self::Short { length, header } => {
                write!(f, "event too short: {length:#x} bytes, header needs {header:#x}; rest of the buffer skipped")
            }
            Self::Long { length, left } => {
                write!(f, "event too long: {length:#x} bytes, {left:#x} left in the buffer; rest of the buffer skipped")
            }
            Self::Marker { skipped, next } => {
                let end = if next.is_none() { "that end" } else { "the next event" };
                write!(f, "end marker before the end of the events in the buffer: skipped {skipped:#x} bytes up to {end}")
            }
            Self::Missing { bytes, next } => {
                write!(f, "missing memory: {bytes:#x} bytes of the buffer; ")?;
                match next {
                    Some(next) => write!(f, "events are lost up to the next one at offset {next:#x}"),
                    None => f.write_str("no event is recognized after them"),
                }
            }
            Self::Items => f.write_str("invalid extended data items: event skipped"),
            Self::Layout { name, ty, flags } => {
                write!(f, "unknown event header: type {ty:#04x}, marker flags {flags:#04x} ({name}); event not decoded")
            }
            Self::Fields(undecoded) => undecoded.fmt(f),
            Self::Rule(rule) => f.write_str(&rule.text),
        }
    }
}

impl fmt::Display for Undecoded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { event, fault, left } = self;
        match fault.reason {
            reason if reason.is_longer() => {
                let bytes = if *left == 1 { "byte" } else { "bytes" };
                let offset = fault.offset;
                write!(
                    f,
                    "payload is longer than its schema: {event}, {left} {bytes} after the last field, at payload offset {offset:#x}"
                )?;
                match reason {
                    FaultKind::Unstated => {
                        f.write_str("; no source states the members or length of that field: name one with --manifests")
                    }
                    _ => Ok(()),
                }
            }
            _ => write!(f, "cannot decode payload of {event}: {fault}"),
        }
    }
}

impl std::error::Error for Diagnostic {}
