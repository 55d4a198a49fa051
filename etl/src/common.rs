//! What the start of a file tells of all its buffers.

use crate::compression::Format;
use crate::finding::Place;
use crate::head::{Head, fits};
use crate::logfile::LogFile;
use crate::walk::Events;
use crate::wire::{BUFFER_HEADER, Generation, LOG_FILE_MODE};
use std::fmt;

/// What one file's buffers have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Common {
    pub generation: Generation,
    /// Bytes of the logger's buffers.
    pub size: u32,
    /// Whether every buffer takes `size` bytes of the file.
    pub uniform: bool,
    /// The compression format, 3 for XPRESS.
    pub compression: u32,
}

impl Common {
    /// The compression format; `None` if it is not known.
    pub fn format(&self) -> Option<Format> {
        Format::new(self.compression.try_into().ok()?)
    }
}

/// The log file header at the start of a file, and what it says of the buffers.
pub(crate) fn begin(bytes: &[u8]) -> Result<(LogFile, Common), Error> {
    if bytes.len() < BUFFER_HEADER {
        return Err(Error::Short(bytes.len()));
    }
    let mut events = Events::new(bytes, BUFFER_HEADER, Generation::V6_1, Place::default(), None);
    let log_file = match events.next() {
        Some(Ok(event)) => LogFile::read(&event).ok_or(Error::NoHeader)?,
        _ => return Err(Error::NoHeader),
    };
    let generation = log_file.generation();
    let head = Head::read(generation, bytes).ok_or(Error::Short(bytes.len()))?;
    let compressed = log_file.mode & LOG_FILE_MODE::EVENT_TRACE_COMPRESSED_MODE.0 != 0;
    let compression = match head.state & 0xFFFF {
        format @ (2 | 4) if compressed => format,
        _ => XPRESS,
    };
    let uniform = !compressed && head.size == log_file.buffer_size && fits(head.size);
    Ok((log_file.clone(), Common { generation, size: log_file.buffer_size, uniform, compression }))
}

/// The format of nearly all compressed files.
pub(crate) const XPRESS: u32 = 3;

/// Why bytes are no trace file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// There are fewer bytes than a buffer header has.
    Short(usize),
    /// The first buffer does not begin with a log file header.
    NoHeader,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short(length) => write!(f, "{length} bytes are less than a buffer header has: not a trace file"),
            Self::NoHeader => f.write_str(
                "the first buffer does not begin with a log file header: not a trace file (.etl), or its start is lost",
            ),
        }
    }
}

impl std::error::Error for Error {}
