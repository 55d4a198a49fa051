//! The buffers of a trace, to copy events with the headers of their buffers.

use crate::buffer;
use crate::error::Error;
use crate::trace::Trace;
use etw_layouts_etl::{DecodedBuffer, Scratch};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Reads the buffers that have events. One buffer is in memory.
#[derive(Debug)]
pub struct Buffers<'t> {
    trace: &'t Trace,
    /// For each file with buffers left, the key of the next one, the index of the file, and the index of the buffer in the list of the file.
    next: BinaryHeap<Reverse<(i64, usize, usize)>>,
    stored: Vec<u8>,
    scratch: Scratch,
}

impl Trace {
    /// The buffers of all files that have events, by the time stamps of the buffers. The buffers of one file stay in file order; its first
    /// buffer, which has no time stamp, comes at the time of the second one.
    #[must_use]
    pub fn buffers(&self) -> Buffers<'_> {
        let mut buffers = Buffers { trace: self, next: BinaryHeap::new(), stored: Vec::new(), scratch: Scratch::default() };
        (0..self.files.len()).for_each(|file| buffers.enqueue(file, 0));
        buffers
    }
}

impl Buffers<'_> {
    /// The next buffer, with the index of its file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or changed since the first pass.
    pub fn next_buffer(&mut self) -> Result<Option<(usize, DecodedBuffer<'_>)>, Error> {
        let Some(Reverse((_, file, number))) = self.next.pop() else { return Ok(None) };
        self.enqueue(file, number + 1);
        let Self { trace, stored, scratch, .. } = self;
        let (opened, index) = (&trace.files[file], &trace.indexes[file]);
        let decoded = buffer::decode(&*opened.source, index, index.buffers[number], stored, scratch);
        Ok(Some((file, decoded.map_err(|error| Error::new(&opened.name, error))?)))
    }

    fn enqueue(&mut self, file: usize, number: usize) {
        let buffers = &self.trace.indexes[file].buffers;
        if let Some(entry) = buffers.get(number) {
            let stamp = match buffers.get(number + 1) {
                Some(second) if entry.index == 0 => second.time_stamp,
                None if entry.index == 0 => entry.last,
                _ => entry.time_stamp,
            };
            self.next.push(Reverse((stamp, file, number)));
        }
    }
}
