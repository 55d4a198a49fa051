//! A trace file as a stream of bytes: file order, and memory for two buffers.

use crate::buffer::{Buffer, Common, Image, Scratch};
use crate::clock::Clock;
use crate::finding::{Finding, What};
use crate::layout::{BUFFER_HEADER, align8};
use crate::logfile::LogFile;
use crate::trace::{Error, Frame, begin};
use std::io::{self, Read};

/// Reads a trace file in file order.
#[derive(Debug)]
pub struct Reader<R> {
    source: R,
    /// The buffer read last, and what was read behind it.
    bytes: Vec<u8>,
    /// Bytes of the buffer read last.
    used: usize,
    at: u64,
    index: u32,
    log_file: LogFile,
    clock: Clock,
    common: Common,
    scratch: Scratch,
    done: bool,
}

impl<R: Read> Reader<R> {
    /// Reads the log file header.
    ///
    /// # Errors
    ///
    /// The source fails, or does not begin as a trace file; then an error of the kind `InvalidData`.
    pub fn new(mut source: R) -> io::Result<Self> {
        let mut bytes = Vec::new();
        // The first event is the log file header.
        fill(&mut source, &mut bytes, BUFFER_HEADER + align8(u16::MAX.into()))?;
        let invalid = |error: Error| io::Error::new(io::ErrorKind::InvalidData, error);
        let (log_file, common) = begin(&bytes).map_err(invalid)?;
        let clock = log_file.to_clock();
        let scratch = Scratch::default();
        Ok(Self { source, bytes, used: 0, at: 0, index: 0, log_file, clock, common, scratch, done: false })
    }

    /// How the file was made.
    pub fn log_file(&self) -> &LogFile {
        &self.log_file
    }

    /// What turns stamps into system time.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The next buffer, as it was in memory; `None` at the end. A buffer that the file ends in is a finding among its events.
    ///
    /// # Errors
    ///
    /// The source fails.
    pub fn next_image(&mut self) -> io::Result<Option<Result<Image<'_>, Finding>>> {
        while !self.done {
            self.bytes.drain(..std::mem::take(&mut self.used));
            fill(&mut self.source, &mut self.bytes, BUFFER_HEADER)?;
            let offset = self.at;
            let finding = |what| Ok(Some(Err(Finding { buffer: offset, at: 0, what })));
            match self.common.frame(&self.bytes) {
                Frame::Buffer(head) => {
                    fill(&mut self.source, &mut self.bytes, head.size as usize)?;
                    let length = self.bytes.len().min(head.size as usize);
                    self.at += length as u64;
                    self.used = length;
                    let index = self.index;
                    self.index += 1;
                    let mut fault = None;
                    if length < head.size as usize {
                        self.done = true;
                        fault = Some(What::Truncated { size: head.size, there: length as u32 });
                    }
                    let buffer = Buffer::new(index, offset, head, &self.bytes[..length], self.common);
                    return Ok(Some(Ok(buffer.image(&mut self.scratch).or_fault(fault))));
                }
                Frame::Unwritten(size) => self.skip(size)?,
                Frame::Damaged(size, stated) => {
                    self.skip(size)?;
                    return finding(What::BufferSize(stated));
                }
                Frame::Rest => {
                    self.done = true;
                    if self.bytes.iter().any(|byte| *byte != 0) {
                        return finding(What::Truncated { size: BUFFER_HEADER as u32, there: self.bytes.len() as u32 });
                    }
                }
            }
        }
        Ok(None)
    }

    /// Passes over bytes, of which some were read.
    fn skip(&mut self, size: usize) -> io::Result<()> {
        if size == usize::MAX {
            self.done = true;
            return Ok(());
        }
        self.at += size as u64;
        self.used = size.min(self.bytes.len());
        let rest = (size - self.used) as u64;
        self.done = io::copy(&mut self.source.by_ref().take(rest), &mut io::sink())? < rest;
        Ok(())
    }
}

/// Reads until there are `length` bytes, or to the end. Memory is taken as bytes arrive.
fn fill(source: &mut impl Read, bytes: &mut Vec<u8>, length: usize) -> io::Result<()> {
    let missing = length.saturating_sub(bytes.len());
    source.by_ref().take(missing as u64).read_to_end(bytes)?;
    Ok(())
}
