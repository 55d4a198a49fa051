//! Streaming reader of trace files: file order, with memory for two buffers.

use crate::buffer::{Buffer, BufferFormat, DecodedBuffer, Scratch};
use crate::buffers::Frames;
use crate::clock::Clock;
use crate::common::{Error, Start, begin};
use crate::diagnostic::Diagnostic;
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

/// The most recent buffer of a source, and the bytes read after it.
#[derive(Debug)]
struct Window<R> {
    source: R,
    bytes: Vec<u8>,
    /// Number of consumed bytes in `bytes`.
    passed: usize,
    /// Offset of the next byte within the file.
    offset: u64,
}

impl<R: Read> Reader<R> {
    /// Reads the log file header.
    ///
    /// # Errors
    ///
    /// The source fails, or its bytes do not begin a trace file. In the second case, the error has the kind `InvalidData`.
    pub fn new(source: R) -> io::Result<Self> {
        let mut window = Window { source, bytes: Vec::new(), passed: 0, offset: 0 };
        let invalid = |error: Error| io::Error::new(io::ErrorKind::InvalidData, error);
        let Start { log_file, common, diagnostics } = begin(&mut window)?.map_err(invalid)?;
        let clock = log_file.to_clock();
        Ok(Self { window, frames: Frames::new(common, &diagnostics), log_file, clock, scratch: Scratch::default() })
    }

    /// Properties from the log file header, such as the producer and the session's settings.
    pub fn log_file(&self) -> &LogFile {
        &self.log_file
    }

    /// The clock that converts time stamps to system time.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The format of all buffers of the file, with which they can be read in any order.
    pub fn format(&self) -> BufferFormat {
        BufferFormat::new(self.frames.common())
    }

    /// The next buffer, decompressed, or a diagnostic in its place, as from [`Buffers`](crate::Buffers); `None` at the end. The
    /// first bytes after a buffer are read before the buffer is returned.
    ///
    /// # Errors
    ///
    /// The source fails.
    pub fn next_buffer(&mut self) -> io::Result<Option<Result<DecodedBuffer<'_>, Diagnostic>>> {
        let next = self.frames.next(&mut self.window)?;
        let (bytes, common) = (self.window.rest(), self.frames.common());
        Ok(next.map(|frame| {
            let frame = frame?;
            let bytes = &bytes[..frame.length];
            Ok(Buffer::new(frame, bytes, common).decode(&mut self.scratch))
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
        let buffered = distance.min(self.rest().len() as u64);
        self.passed += buffered as usize;
        // Bytes are moved only when more than half are consumed, so that many small steps cost no more than a large one.
        if self.passed > self.bytes.len() / 2 {
            self.bytes.drain(..self.passed);
            self.passed = 0;
        }
        io::copy(&mut self.source.by_ref().take(distance - buffered), &mut io::sink())?;
        self.offset = offset;
        // Memory is allocated as bytes arrive.
        let missing = length.saturating_sub(self.rest().len());
        self.source.by_ref().take(missing as u64).read_to_end(&mut self.bytes)?;
        let rest = self.rest();
        Ok(&rest[..length.min(rest.len())])
    }
}
