//! A buffer of a trace in memory.

use crate::index::{Entry, Index};
use crate::source::Source;
use etw_layouts_etl::{DecodedBuffer, Scratch};
use std::io;
use std::sync::Arc;

/// A decompressed buffer, which events share.
#[derive(Debug)]
pub(crate) struct Buffer {
    /// Index of its file.
    pub file: u32,
    /// Index of its session.
    pub session: u32,
    pub entry: Entry,
    pub processor: u16,
    /// The bytes, header included, up to the valid end.
    pub bytes: Vec<u8>,
}

/// Memory for buffers, which is used again.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    stored: Vec<u8>,
    spare: Vec<Vec<u8>>,
}

impl Pool {
    /// Takes back the memory of a buffer that no event uses.
    pub fn recycle(&mut self, buffer: Arc<Buffer>) {
        self.spare.extend(Arc::into_inner(buffer).map(|buffer| buffer.bytes));
    }

    /// Reads a buffer, and calls `see` with the [ticks](crate::index::ticks) of its events.
    pub fn read(
        &mut self,
        source: &dyn Source,
        index: &Index,
        entry: Entry,
        (file, session): (usize, usize),
        mut see: impl FnMut(i64, &etw_layouts_etl::Event<'_>),
    ) -> io::Result<Buffer> {
        let mut scratch = Scratch::from(self.spare.pop().unwrap_or_default());
        let decoded = decode(source, index, entry, &mut self.stored, &mut scratch)?;
        let processor = decoded.buffer().header().processor();
        for (tick, event) in crate::index::ticks(&decoded).filter_map(Result::ok) {
            see(tick, &event);
        }
        let is_decompressed = decoded.bytes().as_ptr() != decoded.buffer().bytes().as_ptr();
        let mut bytes = scratch.into_bytes();
        if !is_decompressed {
            std::mem::swap(&mut bytes, &mut self.stored);
            bytes.truncate(entry.decoded as usize);
        }
        Ok(Buffer { file: file as u32, session: session as u32, entry, processor, bytes })
    }
}

/// Reads a buffer into memory.
pub(crate) fn decode<'s>(
    source: &dyn Source,
    index: &Index,
    entry: Entry,
    stored: &'s mut Vec<u8>,
    scratch: &'s mut Scratch,
) -> io::Result<DecodedBuffer<'s>> {
    stored.resize(entry.length as usize, 0);
    source.read_at(entry.offset, stored)?;
    let decoded = index.format.buffer(entry.index, entry.offset, stored).ok_or_else(changed)?.decode(scratch);
    if decoded.bytes().len() == entry.decoded as usize { Ok(decoded) } else { Err(changed()) }
}

fn changed() -> io::Error {
    io::Error::other("the file changed while it was read; read it again when nothing writes to it")
}
