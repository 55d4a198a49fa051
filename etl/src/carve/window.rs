//! The part of a source that is being searched.

use std::io::{self, Read};

/// Number of bytes read at once.
const CHUNK: usize = 4 << 20;

#[derive(Debug)]
pub(super) struct Window<R> {
    source: R,
    bytes: Vec<u8>,
    /// Offset of the first of `bytes` in the source.
    offset: u64,
    is_end: bool,
}

impl<R: Read> Window<R> {
    pub fn new(source: R) -> Self {
        Self { source, bytes: Vec::new(), offset: 0, is_end: false }
    }

    /// All bytes present from an offset on: at least `length`, unless the source ends before. Offsets never decrease.
    pub fn from(&mut self, offset: u64, length: usize) -> io::Result<&[u8]> {
        let mut start = usize::try_from(offset - self.offset).unwrap_or(usize::MAX);
        while !self.is_end && self.bytes.len() < start.saturating_add(length) {
            let passed = start.min(self.bytes.len());
            self.bytes.drain(..passed);
            self.offset += passed as u64;
            start -= passed;
            let read = self.source.by_ref().take(CHUNK as u64).read_to_end(&mut self.bytes)?;
            self.is_end = read < CHUNK;
        }
        Ok(self.bytes.get(start..).unwrap_or(&[]))
    }

    /// The number of bytes read so far: the size of the source at its end.
    pub fn read(&self) -> u64 {
        self.offset + self.bytes.len() as u64
    }
}
