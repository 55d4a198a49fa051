//! A trace file as a stream of bytes: file order, and memory for two buffers.

use crate::buffer::{Buffer, Image, Scratch};
use crate::buffers::Frames;
use crate::clock::Clock;
use crate::common::{Error, Start, begin};
use crate::finding::Finding;
use crate::logfile::LogFile;
use crate::source::Source;
use std::io::{self, Read};

/// Reads a trace file in file order.
#[derive(Debug)]
pub struct Reader<R> {
    window: Window<R>,
    frames: Frames,
    log_file: LogFile,
    clock: Clock,
    scratch: Scratch,
}

/// Part of a source: the buffer read last, and what was read behind it.
#[derive(Debug)]
struct Window<R> {
    source: R,
    bytes: Vec<u8>,
    /// How many of these bytes are passed.
    passed: usize,
    /// Where the next one is in the file.
    offset: u64,
}

impl<R: Read> Reader<R> {
    /// Reads the log file header.
    ///
    /// # Errors
    ///
    /// The source fails, or does not begin as a trace file; then an error of the kind `InvalidData`.
    pub fn new(source: R) -> io::Result<Self> {
        let mut window = Window { source, bytes: Vec::new(), passed: 0, offset: 0 };
        let invalid = |error: Error| io::Error::new(io::ErrorKind::InvalidData, error);
        let Start { log_file, common, findings } = begin(&mut window)?.map_err(invalid)?;
        let clock = log_file.to_clock();
        Ok(Self { window, frames: Frames::new(common, &findings), log_file, clock, scratch: Scratch::default() })
    }

    /// How the file was made.
    pub fn log_file(&self) -> &LogFile {
        &self.log_file
    }

    /// What turns stamps into system time.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The next buffer, as it was in memory, or what is wrong in its place, as of [`Buffers`](crate::Buffers); `None` at the end. The
    /// first bytes behind a buffer are read before it is given out.
    ///
    /// # Errors
    ///
    /// The source fails.
    pub fn next_image(&mut self) -> io::Result<Option<Result<Image<'_>, Finding>>> {
        let next = self.frames.next(&mut self.window)?;
        let (bytes, common) = (self.window.rest(), self.frames.common());
        Ok(next.map(|frame| {
            let frame = frame?;
            let bytes = &bytes[..frame.length];
            Ok(Buffer::new(frame, bytes, common).image(&mut self.scratch))
        }))
    }
}

impl<R> Window<R> {
    /// The bytes from the last offset on.
    fn rest(&self) -> &[u8] {
        &self.bytes[self.passed..]
    }
}

impl<R: Read> Source for Window<R> {
    type Error = io::Error;

    fn bytes(&mut self, offset: u64, length: usize) -> io::Result<&[u8]> {
        let distance = offset - self.offset;
        let held = distance.min(self.rest().len() as u64);
        self.passed += held as usize;
        // Bytes are moved only when more than these are passed, so that many small steps are no more work than a large one.
        if self.passed > self.bytes.len() / 2 {
            self.bytes.drain(..self.passed);
            self.passed = 0;
        }
        io::copy(&mut self.source.by_ref().take(distance - held), &mut io::sink())?;
        self.offset = offset;
        // Memory is taken as bytes arrive.
        let missing = length.saturating_sub(self.rest().len());
        self.source.by_ref().take(missing as u64).read_to_end(&mut self.bytes)?;
        let rest = self.rest();
        Ok(&rest[..length.min(rest.len())])
    }
}
