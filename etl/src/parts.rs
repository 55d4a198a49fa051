//! A buffer taken apart, and put together again.

use crate::buffer::{Buffer, Head, Image};
use crate::layout::{Arch, BUFFER_HEADER, Build, Generation, align8};
use crate::write::{Error, Record, Target};
use crate::xpress;

/// A buffer as its header, its events, and what lies between and behind them: stale memory.
#[derive(Clone, Debug)]
pub struct Parts<'a> {
    /// The header.
    pub head: Head,
    /// The events, and the padding after each.
    pub records: Vec<(Record<'a>, &'a [u8])>,
    /// The bytes of the header, of which some are stale pointers.
    stale: [u8; BUFFER_HEADER],
    /// What follows the last event that could be read.
    rest: &'a [u8],
    /// What follows the valid end of an uncompressed buffer.
    tail: &'a [u8],
    /// The buffer decompressed, and its stream.
    stream: Option<(&'a [u8], &'a [u8])>,
    generation: Generation,
}

impl<'a> Parts<'a> {
    /// Takes a buffer apart.
    pub fn of(buffer: &Buffer<'a>, image: &Image<'a>) -> Self {
        let bytes = image.bytes();
        let mut records = Vec::new();
        let mut at = BUFFER_HEADER.min(bytes.len());
        for event in image.events().map_while(Result::ok) {
            let end = event.offset() as usize + event.bytes().len();
            at = align8(end).min(bytes.len());
            records.push((Record::of(&event), &bytes[end..at]));
        }
        let mut stale = [0; BUFFER_HEADER];
        if let Some(first) = bytes.first_chunk() {
            stale = *first;
        }
        let compressed = buffer.head().is_compressed();
        let after = |from: usize| buffer.bytes().get(from..).unwrap_or(&[]);
        Self {
            head: *buffer.head(),
            records,
            stale,
            rest: &bytes[at..],
            tail: if compressed { &[] } else { after(bytes.len()) },
            stream: compressed.then(|| (bytes, after(BUFFER_HEADER))),
            generation: buffer.generation(),
        }
    }

    /// Puts the buffer together: what was taken apart unchanged is the same, byte for byte. A compressed buffer is compressed
    /// anew only if it changed.
    ///
    /// # Errors
    ///
    /// An event that is not consistent.
    pub fn bytes(&self) -> Result<Vec<u8>, Error> {
        // What was read is not held against the versions that write it.
        let (major, minor) = match self.generation {
            Generation::V5_1 => (5, 1),
            Generation::V5_2 | Generation::V6_0 | Generation::V6_1 => (10, 0),
        };
        let target = Target { build: Build::new(major, minor, 0, 0), arch: Arch::X64 };
        let mut out = self.stale.to_vec();
        for (record, padding) in &self.records {
            record.write(&target, &mut out)?;
            out.extend_from_slice(padding);
        }
        out.extend_from_slice(self.rest);
        out.extend_from_slice(self.tail);
        let mut head = self.head;
        if let Some((image, stream)) = self.stream {
            let same = out.get(BUFFER_HEADER..) == image.get(BUFFER_HEADER..);
            let image = std::mem::replace(&mut out, self.stale.to_vec());
            match same {
                true => out.extend_from_slice(stream),
                false => {
                    xpress::compress(&image[BUFFER_HEADER..], &mut out);
                    (head.size, head.offset, head.saved_offset) = (out.len() as u32, image.len() as u32, image.len() as u32);
                }
            }
        }
        if let Some(bytes) = out.first_chunk_mut() {
            head.write(self.generation, bytes);
        }
        Ok(out)
    }
}
