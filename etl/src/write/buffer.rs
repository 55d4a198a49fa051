//! Writer of a single trace buffer.

use super::{Error, Record};
use crate::buffer_header::{BufferHeader, LARGEST};
use crate::producer::Producer;
use crate::wire::{BUFFER_HEADER, ETW_BUFFER_FLAG, align8};
use crate::xpress;

/// A buffer that accepts events until it is finished.
#[derive(Clone, Debug)]
pub struct BufferWriter {
    producer: Producer,
    size: usize,
    /// The buffer in memory form, each event padded to a multiple of eight bytes.
    bytes: Vec<u8>,
}

impl BufferWriter {
    /// An empty buffer with the given size in bytes, header included.
    ///
    /// # Errors
    ///
    /// The size is not valid for buffers of a session.
    pub fn new(producer: Producer, size: u32) -> Result<Self, Error> {
        if !size.is_multiple_of(8) || !(512..=LARGEST).contains(&size) {
            return Err(Error::BufferSize(size));
        }
        let mut bytes = Vec::with_capacity(size as usize);
        bytes.resize(BUFFER_HEADER, 0);
        Ok(Self { producer, size: size as usize, bytes })
    }

    /// Appends an event. Times can be in any order: events of a buffer are stored in the order of the calls. Readers sort the events of a
    /// buffer by time, as sessions do not always store them sorted.
    ///
    /// # Errors
    ///
    /// The event does not fit, or the producer does not write such events. The buffer is unchanged.
    pub fn push(&mut self, record: &Record<'_>) -> Result<(), Error> {
        self.admit(record.length())?;
        record.write(&self.producer, &mut self.bytes)?;
        self.bytes.resize(align8(self.bytes.len()), 0);
        Ok(())
    }

    /// Appends the bytes of an encoded record.
    pub(super) fn push_written(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.admit(bytes.len())?;
        self.bytes.extend_from_slice(bytes);
        self.bytes.resize(align8(self.bytes.len()), 0);
        Ok(())
    }

    fn admit(&self, length: usize) -> Result<(), Error> {
        let left = self.size - self.bytes.len();
        if length > left { Err(Error::Full { length, left }) } else { Ok(()) }
    }

    /// Whether the buffer has no events.
    pub fn is_empty(&self) -> bool {
        self.bytes.len() == BUFFER_HEADER
    }

    /// Bytes in use, header included.
    pub fn length(&self) -> usize {
        self.bytes.len()
    }

    /// Appends the finished buffer in file form to `out`, and empties it for further events. An uncompressed buffer takes its
    /// full size, and so does one that compression would enlarge. `header` has the members other than sizes; its context is the processor that
    /// wrote the events, and the flags PROC_INDEX and COMPRESSED are those of the writer.
    ///
    /// # Errors
    ///
    /// The version of the producer does not compress, or its buffer headers cannot state this processor.
    pub fn finish(&mut self, header: &BufferHeader, compressed: bool, out: &mut Vec<u8>) -> Result<(), Error> {
        self.emit(header, compressed, self.size, out)
    }

    /// [`finish`](Self::finish), with fewer bytes for an uncompressed buffer.
    pub(super) fn emit(&mut self, header: &BufferHeader, compressed: bool, size: usize, out: &mut Vec<u8>) -> Result<(), Error> {
        let (processor, processors) = (header.context, self.producer.most_processors());
        if u32::from(processor) >= processors {
            return Err(Error::Processor { processor, processors });
        }
        let decided = ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_PROC_INDEX | ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_COMPRESSED;
        let mut flags = ETW_BUFFER_FLAG(header.flags.0 & !decided.0);
        if self.producer.has_processor_index() {
            flags |= ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_PROC_INDEX;
        }
        let start = out.len();
        if compressed {
            self.producer.compresses()?;
            out.resize(start + BUFFER_HEADER, 0);
            xpress::compress(&self.bytes[BUFFER_HEADER..], out);
        }
        // A stream larger than any buffer of the session is discarded in favor of the uncompressed form.
        if compressed && out.len() - start <= size {
            flags |= ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_COMPRESSED;
        } else {
            out.truncate(start);
            out.extend_from_slice(&self.bytes);
            out.resize(start + size, 0xFF);
        }
        let offset = self.bytes.len() as u32;
        let size = (out.len() - start) as u32;
        let header = BufferHeader { size, saved_offset: offset, current_offset: offset, offset, flags, ..*header };
        if let Some(bytes) = out[start..].first_chunk_mut() {
            header.write(self.producer.generation(), bytes);
        }
        self.bytes.truncate(BUFFER_HEADER);
        Ok(())
    }
}
