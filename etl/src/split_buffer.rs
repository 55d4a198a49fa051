//! Splitting a buffer into its parts, and reassembling it.

use crate::buffer::{Buffer, DecodedBuffer};
use crate::buffer_header::{BufferHeader, LARGEST};
use crate::common::Common;
use crate::wire::{BUFFER_HEADER, ETW_BUFFER_FLAG, align8};
use crate::write::{Error, Record};

/// A buffer as its header, its events, and the stale memory between and after them.
#[derive(Clone, Debug)]
pub struct SplitBuffer<'a> {
    /// The header.
    pub header: BufferHeader,
    /// The events, and the padding after each.
    pub records: Vec<(Record<'a>, &'a [u8])>,
    /// The bytes of the header, some of which are stale pointers.
    stale: [u8; BUFFER_HEADER],
    /// The bytes after the last readable event.
    rest: &'a [u8],
    /// The original buffer, decompressed.
    decoded: &'a [u8],
    /// The bytes after the events in the file: those after the valid end of an uncompressed buffer, or those after the stream of
    /// a compressed one.
    after: &'a [u8],
    common: Common,
    is_compressed: bool,
}

impl<'a> SplitBuffer<'a> {
    /// Splits a buffer.
    pub fn of(buffer: &Buffer<'a>, decoded: &DecodedBuffer<'a>) -> Self {
        let bytes = decoded.bytes();
        let mut records = Vec::new();
        let mut at = BUFFER_HEADER.min(bytes.len());
        for event in decoded.events().map_while(Result::ok) {
            let end = event.offset() as usize + event.bytes().len();
            at = align8(end).min(bytes.len());
            records.push((Record::of(&event), &bytes[end..at]));
        }
        let stale = buffer.bytes().first_chunk().copied().unwrap_or([0; BUFFER_HEADER]);
        let after = if buffer.is_compressed() { BUFFER_HEADER } else { bytes.len() };
        Self {
            header: *buffer.header(),
            records,
            stale,
            rest: &bytes[at..],
            decoded: bytes,
            after: buffer.bytes().get(after..).unwrap_or(&[]),
            common: buffer.common(),
            is_compressed: buffer.is_compressed(),
        }
    }

    /// Reassembles the buffer. Unchanged parts give the same bytes. If the events changed, the valid end is updated and the bytes
    /// after it are replaced. A compressed buffer is compressed again in the format of its file, or stored uncompressed if it is
    /// smaller than the session's buffers and the stream is not.
    ///
    /// # Errors
    ///
    /// An event is inconsistent, or the events do not fit into the buffer.
    pub fn bytes(&self) -> Result<Vec<u8>, Error> {
        let mut out = self.stale.to_vec();
        for (record, padding) in &self.records {
            out.resize(align8(out.len()), 0);
            record.write_read(self.common.generation, &mut out)?;
            out.extend_from_slice(padding);
        }
        out.extend_from_slice(self.rest);
        let mut header = self.header;
        if out.get(BUFFER_HEADER..) == self.decoded.get(BUFFER_HEADER..) {
            if self.is_compressed {
                out.truncate(BUFFER_HEADER);
            }
            out.extend_from_slice(self.after);
        } else {
            out.resize(align8(out.len()), 0);
            out = self.changed(&mut header, out)?;
        }
        if let Some(bytes) = out.first_chunk_mut() {
            header.write(self.common.generation, bytes);
        }
        Ok(out)
    }

    /// A buffer with other events, as stored in a file.
    fn changed(&self, header: &mut BufferHeader, decoded: Vec<u8>) -> Result<Vec<u8>, Error> {
        let size = if self.is_compressed { self.common.size } else { header.size };
        let length = decoded.len();
        if length > size.min(LARGEST) as usize {
            return Err(Error::Larger { length, size });
        }
        // In header buffers the values often differ.
        if header.saved_offset == header.offset {
            header.saved_offset = length as u32;
        }
        header.offset = length as u32;
        let mut out = decoded;
        if self.is_compressed {
            let mut compressed = self.stale.to_vec();
            let format = self.common.format();
            let shorter = format.is_some_and(|format| {
                format.compress(&out[BUFFER_HEADER..], &mut compressed);
                compressed.len() <= size as usize
            });
            match shorter {
                true => out = compressed,
                false => header.flags.0 &= !ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_COMPRESSED.0,
            }
            header.size = out.len() as u32;
        } else {
            out.resize(size as usize, 0xFF);
        }
        Ok(out)
    }
}
