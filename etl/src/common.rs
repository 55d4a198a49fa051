//! Properties that the log file header states for all buffers of a file.

use crate::buffer_header::{BufferHeader, LARGEST, fits};
use crate::clock::{Clock, DAY};
use crate::compression::Format;
use crate::diagnostic::{BufferPosition, Diagnostic, DiagnosticKind};
use crate::logfile::LogFile;
use crate::source::Source;
use crate::walk::Events;
use crate::wire::{BUFFER_HEADER, Generation, LOG_FILE_MODE, align8};
use std::fmt;

/// The properties shared by the buffers of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Common {
    pub generation: Generation,
    /// Size of the session's buffers, in bytes.
    pub size: u32,
    /// Whether the log file mode announces compressed buffers.
    pub compressed: bool,
    /// The compression format, 3 for XPRESS.
    pub compression: u32,
    /// BuffersWritten; 0 if unknown.
    pub written: u32,
    /// Whether the log file header states the end of the session. Otherwise BuffersWritten is not final.
    pub is_closed: bool,
    /// End of the log file header, in bytes from the start of the file.
    pub header_end: u32,
    /// Minimum number of buffers: `written`, except for circular files with overwritten buffers.
    pub least: u32,
    /// The time span of the session.
    pub span: Span,
}

/// The time span of a session, from its log file header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub clock: Clock,
    start: i64,
    /// `i64::MAX` if unknown.
    end: i64,
}

impl Span {
    pub fn new(log: &LogFile) -> Self {
        let end = Some(log.end_time).filter(|end| *end >= log.start_time && *end > 0);
        Self { clock: log.to_clock(), start: log.start_time, end: end.unwrap_or(i64::MAX) }
    }

    /// Whether a buffer of the session can have this time stamp. In a file made from other files, the time stamp is the system
    /// time of the conversion.
    pub fn has(&self, stamp: i64) -> bool {
        let time = self.clock.system_time(stamp);
        (self.start.saturating_sub(DAY)..=self.end.saturating_add(DAY)).contains(&time) || (self.start > 0 && stamp >= self.start)
    }
}

impl Common {
    /// Whether a buffer other than the first can have this header.
    pub fn has(&self, header: &BufferHeader) -> bool {
        self.has_as(header, false)
    }

    /// Whether a buffer can have this header, as the first buffer or another.
    pub fn has_as(&self, header: &BufferHeader, is_first: bool) -> bool {
        header.is_plausible(self.generation, self.largest(), self.compressed, is_first)
    }

    /// Maximum size of a decompressed buffer, in bytes. Headers of compressed buffers do not confirm the size in the log file
    /// header.
    pub fn largest(&self) -> u32 {
        if self.compressed { LARGEST } else { self.size.min(LARGEST) }
    }

    /// The compression format; `None` if unknown.
    pub fn format(&self) -> Option<Format> {
        Format::new(self.compression.try_into().ok()?)
    }
}

/// The start of a file.
pub(crate) struct Start {
    pub log_file: LogFile,
    pub common: Common,
    /// Diagnostics of the log file header.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads the log file header.
pub(crate) fn begin<S: Source>(source: &mut S) -> Result<Result<Start, Error>, S::Error> {
    // The first event is the log file header.
    let bytes = source.bytes(0, BUFFER_HEADER + align8(u16::MAX.into()))?;
    if bytes.len() < BUFFER_HEADER {
        return Ok(Err(Error::Short(bytes.len())));
    }
    let mut wrong = Vec::new();
    let repaired = || {
        let read = log_file(&LogFile::repaired(bytes)?);
        read.inspect(|_| wrong.push(DiagnosticKind::LogFileEvent))
    };
    let Some((mut log_file, pointer_size, header_end)) = log_file(bytes).or_else(repaired) else {
        return Ok(Err(truncated(bytes).unwrap_or(Error::NoHeader)));
    };
    let Some(header) = BufferHeader::read(log_file.generation(), bytes) else { return Ok(Err(Error::Short(bytes.len()))) };
    let compressed = log_file.mode & LOG_FILE_MODE::EVENT_TRACE_COMPRESSED_MODE.0 != 0;
    let stated = match header.state & 0xFFFF {
        format @ (2 | 4) if compressed => format,
        _ => XPRESS,
    };
    let sample = if compressed { first_compressed(source, header.size)? } else { None };
    let compression = sample.as_ref().map_or(stated, |(header, bytes)| format_of(header, bytes, stated));
    if compression != stated {
        wrong.push(DiagnosticKind::LogFileCompression { stated, assumed: compression });
    }
    let [major, minor, ..] = log_file.version;
    if sample.is_some() && log_file.generation() < Generation::V6_1 {
        wrong.push(DiagnosticKind::Version { major: major.into(), minor: minor.into() });
        [log_file.version[0], log_file.version[1]] = COMPRESSES;
    }
    let generation = log_file.generation();
    let written = log_file.buffers_written;
    let common = Common {
        generation,
        size: log_file.buffer_size,
        compressed,
        compression,
        written,
        is_closed: log_file.end_time != 0,
        header_end,
        least: written,
        span: Span::new(&log_file),
    };
    let size = buffer_size(source, common, header.size)?;
    let common = Common { size, least: least(&log_file, size), ..common };

    if size != log_file.buffer_size {
        wrong.push(DiagnosticKind::LogFileBufferSize { stated: log_file.buffer_size, assumed: size });
        log_file.buffer_size = size;
    }
    if pointer_size != log_file.pointer_size {
        wrong.push(DiagnosticKind::PointerSize { stated: pointer_size, assumed: log_file.pointer_size });
    }
    if !log_file.states_times() {
        wrong.push(DiagnosticKind::NoTimes);
    } else if !log_file.has_clock() {
        wrong.push(DiagnosticKind::Clock(log_file.clock));
    }
    if log_file.start_time < log_file.boot_time {
        wrong.push(DiagnosticKind::StartTime(log_file.start_time));
    }
    if log_file.states_times() && !log_file.has_clock_rate() {
        wrong.push(DiagnosticKind::ClockRate);
    }
    if let Some(rate) = log_file.to_clock().rate().filter(|rate| *rate > FASTEST) {
        wrong.push(DiagnosticKind::ImplausibleRate(rate));
    }
    if !log_file.has_stamp_of_clock() {
        wrong.push(DiagnosticKind::ClockStamp { clock: log_file.clock, stamp: log_file.start_stamp });
    }
    let diagnostics = wrong.into_iter().map(|kind| FILE.diagnostic(BUFFER_HEADER as u32, kind)).collect();
    Ok(Ok(Start { log_file, common, diagnostics }))
}

/// Greatest plausible rate of a clock, in Hz. Performance counters and processors have at most a few GHz.
const FASTEST: i64 = 100_000_000_000;

/// The error of a file that begins with a log file header and ends within its first buffer.
fn truncated(bytes: &[u8]) -> Option<Error> {
    let size = BufferHeader::read(Generation::V6_1, bytes)?.size;
    let is_cut = LogFile::is_marked(bytes) && fits(size) && bytes.len() < size as usize;
    is_cut.then_some(Error::Truncated { length: bytes.len(), size })
}

/// The log file header from the first event, the pointer size that it states, and the end of the event.
pub(crate) fn log_file(bytes: &[u8]) -> Option<(LogFile, u32, u32)> {
    let event = Events::new(bytes, BUFFER_HEADER, Generation::V6_1, BufferPosition::default(), None).next()?.ok()?;
    Some((LogFile::read(&event)?, LogFile::stated_pointer_size(&event)?, (BUFFER_HEADER + event.bytes().len()) as u32))
}

/// The first version with compressed buffers: Windows 8.
const COMPRESSES: [u8; 2] = [6, 2];

/// The header and bytes of a compressed buffer among the first ones after the header buffer.
fn first_compressed<S: Source>(source: &mut S, from: u32) -> Result<Option<(BufferHeader, Vec<u8>)>, S::Error> {
    let mut at = from;
    for _ in 0..8 {
        if !fits(at) {
            break;
        }
        let start = at as usize;
        let header = BufferHeader::read(Generation::V6_1, source.bytes(0, start + BUFFER_HEADER)?.get(start..).unwrap_or(&[]));
        let Some(header) = header.filter(|header| header.is_plausible(Generation::V6_1, LARGEST, true, false)) else { break };
        if header.is_compressed() {
            let end = start + header.size as usize;
            return Ok(source.bytes(0, end)?.get(start..end).map(|bytes| (header, bytes.to_vec())));
        }
        at += header.size;
    }
    Ok(None)
}

/// The compression format of a buffer: the stated one, unless the stream is valid only in another format.
fn format_of(header: &BufferHeader, bytes: &[u8], stated: u32) -> u32 {
    let mut decoded = vec![0; header.offset as usize - BUFFER_HEADER];
    let mut is = |format: &u32| {
        let format = Format::new(*format as u16);
        format.is_some_and(|format| format.decompress(&bytes[BUFFER_HEADER..], &mut decoded) == Ok(decoded.len()))
    };
    [stated, XPRESS, 2, 4].into_iter().find(|format| is(format)).unwrap_or(stated)
}

/// The size of the session's buffers: that of the log file header, unless the buffers show another. `own` is the size in the
/// header of the header buffer.
fn buffer_size<S: Source>(source: &mut S, common: Common, own: u32) -> Result<u32, S::Error> {
    let stated = common.size;
    if fits(stated) && stated == own {
        return Ok(stated);
    }
    let mut heads = |at: u32, size: u32| {
        let at = if fits(at) { at as usize } else { return Ok(false) };
        let bytes = source.bytes(0, at + BUFFER_HEADER)?.get(at..).unwrap_or(&[]);
        let header = BufferHeader::read(common.generation, bytes);
        Ok(header.is_some_and(|header| header.is_plausible(common.generation, size, common.compressed, false)))
    };
    // In files with compressed buffers the header buffer has a different size.
    Ok(if fits(stated) && (heads(own, stated)? || heads(stated, stated)?) {
        stated
    } else if !common.compressed && heads(own, own)? {
        own
    } else if heads(own, LARGEST)? {
        LARGEST
    } else if fits(stated) {
        stated
    } else if fits(own) && !common.compressed {
        own
    } else {
        LARGEST
    })
}

/// The minimum number of buffers that a log file header states; 0 if it states none.
pub(crate) fn least(log: &LogFile, size: u32) -> u32 {
    if log.mode & LOG_FILE_MODE::EVENT_TRACE_FILE_MODE_CIRCULAR.0 == 0 || log.maximum_file_size == 0 {
        return log.buffers_written;
    }
    // A closed circular file contains only its last buffers, up to its maximum size.
    let unit = if log.mode & LOG_FILE_MODE::EVENT_TRACE_USE_KBYTES_FOR_SIZE.0 != 0 { 1 << 10 } else { 1 << 20 };
    let room = u64::from(log.maximum_file_size) * unit / u64::from(size.max(1));
    u32::try_from(room.saturating_sub(1)).unwrap_or(u32::MAX).min(log.buffers_written)
}

/// The place of diagnostics about the whole file.
pub(crate) const FILE: BufferPosition = BufferPosition { offset: 0, index: 0 };

/// The format of nearly all compressed files.
pub(crate) const XPRESS: u32 = 3;

/// Error of bytes that are not a trace file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// There are fewer bytes than the size of a buffer header; the number of bytes.
    Short(usize),
    /// The file begins with a log file header, and ends within it.
    Truncated {
        /// The number of bytes.
        length: usize,
        /// The size of the first buffer, in bytes.
        size: u32,
    },
    /// The first buffer does not begin with a log file header.
    NoHeader,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short(0) => f.write_str("not a trace file: empty"),
            Self::Short(1) => f.write_str("not a trace file: only 1 byte, less than a buffer header"),
            Self::Short(length) => write!(f, "not a trace file: only {length} bytes, less than a buffer header"),
            Self::Truncated { length, size } => {
                write!(f, "truncated trace file: {length} bytes, but the first buffer has {size:#x}")
            }
            Self::NoHeader => f.write_str(
                "not a trace file (.etl), or its start is missing: the first buffer does not begin with a log file header",
            ),
        }
    }
}

impl std::error::Error for Error {}
