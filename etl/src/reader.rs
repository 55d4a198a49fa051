//! A trace file as a stream of bytes: file order, and memory for two buffers.

use crate::buffer::{Buffer, Image, Scratch};
use crate::buffers::{Frames, Source};
use crate::clock::Clock;
use crate::common::{Error, begin};
use crate::finding::Finding;
use crate::logfile::LogFile;
use crate::wire::{BUFFER_HEADER, align8};
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
    /// Where it begins in the file.
    offset: u64,
}

impl<R: Read> Reader<R> {
    /// Reads the log file header.
    ///
    /// # Errors
    ///
    /// The source fails, or does not begin as a trace file; then an error of the kind `InvalidData`.
    pub fn new(source: R) -> io::Result<Self> {
        let mut window = Window { source, bytes: Vec::new(), offset: 0 };
        // The first event is the log file header.
        let bytes = window.bytes(0, BUFFER_HEADER + align8(u16::MAX.into()))?;
        let invalid = |error: Error| io::Error::new(io::ErrorKind::InvalidData, error);
        let (log_file, common) = begin(bytes).map_err(invalid)?;
        let clock = log_file.to_clock();
        Ok(Self { window, frames: Frames::new(common), log_file, clock, scratch: Scratch::default() })
    }

    /// How the file was made.
    pub fn log_file(&self) -> &LogFile {
        &self.log_file
    }

    /// What turns stamps into system time.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The next buffer, as it was in memory; `None` at the end. A buffer in which the file ends comes after a finding that says so.
    ///
    /// # Errors
    ///
    /// The source fails.
    pub fn next_image(&mut self) -> io::Result<Option<Result<Image<'_>, Finding>>> {
        let next = self.frames.next(&mut self.window)?;
        let (bytes, common) = (&self.window.bytes, self.frames.common());
        Ok(next.map(|frame| {
            let frame = frame?;
            let bytes = &bytes[..frame.length];
            Ok(Buffer::new(frame, bytes, common).image(&mut self.scratch))
        }))
    }
}

impl<R: Read> Source for Window<R> {
    type Error = io::Error;

    fn bytes(&mut self, offset: u64, length: usize) -> io::Result<&[u8]> {
        let passed = offset - self.offset;
        let held = passed.min(self.bytes.len() as u64);
        self.bytes.drain(..held as usize);
        io::copy(&mut self.source.by_ref().take(passed - held), &mut io::sink())?;
        self.offset = offset;
        // Memory is taken as bytes arrive.
        let missing = length.saturating_sub(self.bytes.len());
        self.source.by_ref().take(missing as u64).read_to_end(&mut self.bytes)?;
        Ok(&self.bytes[..length.min(self.bytes.len())])
    }
}
