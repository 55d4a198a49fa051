//! A trace file as a byte slice.

use crate::buffer::{Buffer, Common, Head, LARGEST, XPRESS};
use crate::clock::Clock;
use crate::finding::{Finding, What};
use crate::layout::{BUFFER_HEADER, Generation, LOG_FILE_MODE};
use crate::logfile::LogFile;
use crate::order::{self, ByTime};
use crate::walk::Events;
use std::fmt;

/// A trace file.
#[derive(Clone, Debug)]
pub struct Trace<'a> {
    bytes: &'a [u8],
    log_file: LogFile,
    clock: Clock,
    common: Common,
}

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

impl<'a> Trace<'a> {
    /// Reads the log file header.
    ///
    /// # Errors
    ///
    /// The bytes do not begin with a buffer whose first event is a log file header.
    pub fn new(bytes: &'a [u8]) -> Result<Self, Error> {
        let (log_file, common) = begin(bytes)?;
        Ok(Self { bytes, clock: log_file.to_clock(), log_file, common })
    }

    /// How the file was made.
    pub fn log_file(&self) -> &LogFile {
        &self.log_file
    }

    /// What turns stamps into system time.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// All of its bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Its buffers in file order, the header buffer first.
    pub fn buffers(&self) -> Buffers<'a> {
        Buffers { bytes: self.bytes, at: 0, index: 0, common: self.common, told: false }
    }

    /// Its events in the order of time: one stream a processor, merged. Events of the same time keep the order of their
    /// processors; one without a time keeps its place after the one before it.
    pub fn by_time(&self) -> ByTime<'a> {
        ByTime::new(&self.buffers())
    }

    /// Gives the events in the order of time to `work`: those of [`by_time`](Self::by_time) in the same order, while another
    /// thread decompresses the next buffer of each processor. Takes twice the memory; nothing is gained where buffers are not
    /// compressed, or on a single core.
    pub fn by_time_ahead<T>(&self, work: impl FnOnce(&mut ByTime<'a>) -> T) -> T {
        order::ahead(&self.buffers(), work)
    }
}

/// The log file header at the start of a file, and what it says of the buffers.
pub(crate) fn begin(bytes: &[u8]) -> Result<(LogFile, Common), Error> {
    if bytes.len() < BUFFER_HEADER {
        return Err(Error::Short(bytes.len()));
    }
    let mut events = Events::new(bytes, BUFFER_HEADER, Generation::V6_1, 0, None);
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

/// Whether a buffer can have that size in a file.
pub(crate) fn fits(size: u32) -> bool {
    (BUFFER_HEADER as u32..=LARGEST).contains(&size)
}

/// The buffers of a file, in its order.
#[derive(Clone, Debug)]
pub struct Buffers<'a> {
    bytes: &'a [u8],
    at: usize,
    index: u32,
    common: Common,
    /// Whether it was told that the file ends in the buffer at hand.
    told: bool,
}

/// Where a buffer is in a file: enough to find it again.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    pub(crate) offset: u64,
    pub(crate) index: u32,
}

impl Buffers<'_> {
    /// The buffers of the same file from one on.
    pub(crate) fn from(&self, place: Place) -> Self {
        Self { at: place.offset as usize, index: place.index, told: true, ..self.clone() }
    }
}

/// What the bytes at a place are.
pub(crate) enum Frame {
    /// A buffer.
    Buffer(Head),
    /// Space that was never written, of a size.
    Unwritten(usize),
    /// Something else of a size, and its alleged size.
    Damaged(usize, u32),
    /// Less than a buffer header.
    Rest,
}

impl Common {
    /// What begins with these bytes, of which there may be more.
    pub(crate) fn frame(&self, bytes: &[u8]) -> Frame {
        let Some(head) = Head::read(self.generation, bytes) else { return Frame::Rest };
        // Without a size that all buffers share there is no next place to look at.
        let skip = if self.uniform { self.size as usize } else { usize::MAX };
        if head.size == 0 && bytes[..BUFFER_HEADER].iter().all(|byte| *byte == 0) {
            return Frame::Unwritten(skip);
        }
        match fits(head.size) && (!self.uniform || head.size == self.size) {
            true => Frame::Buffer(head),
            false => Frame::Damaged(skip, head.size),
        }
    }
}

impl<'a> Iterator for Buffers<'a> {
    type Item = Result<Buffer<'a>, Finding>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let rest = &self.bytes[self.at..];
            let offset = self.at as u64;
            let finding = |what| Some(Err(Finding { buffer: offset, at: 0, what }));
            match self.common.frame(rest) {
                Frame::Buffer(head) => {
                    let length = rest.len().min(head.size as usize);
                    if length < head.size as usize && !std::mem::replace(&mut self.told, true) {
                        return finding(What::Truncated { size: head.size, there: length as u32 });
                    }
                    let buffer = Buffer::new(self.index, offset, head, &rest[..length], self.common);
                    self.at += length;
                    self.index += 1;
                    return Some(Ok(buffer));
                }
                Frame::Unwritten(size) => self.at += size.min(rest.len()),
                Frame::Damaged(size, stated) => {
                    self.at += size.min(rest.len());
                    return finding(What::BufferSize(stated));
                }
                Frame::Rest => {
                    self.at = self.bytes.len();
                    return match rest.iter().all(|byte| *byte == 0) {
                        true => None,
                        false => finding(What::Truncated { size: BUFFER_HEADER as u32, there: rest.len() as u32 }),
                    };
                }
            }
        }
    }
}
