//! Makes one trace buffer.

use super::{Error, Record};
use crate::head::{Head, LARGEST};
use crate::producer::Producer;
use crate::wire::{BUFFER_HEADER, ETW_BUFFER_FLAG, ETW_BUFFER_TYPE, align8};
use crate::xpress;

/// A buffer that takes events until it is finished.
#[derive(Clone, Debug)]
pub struct BufferWriter {
    producer: Producer,
    size: usize,
    /// The buffer as in memory, each event padded to a multiple of eight bytes.
    bytes: Vec<u8>,
}

/// What a buffer's header tells beside its size.
#[derive(Clone, Copy, Debug)]
pub struct Identity {
    /// When the buffer is written, by the session's clock.
    pub time_stamp: i64,
    /// Counts the buffers of a logger.
    pub sequence: i64,
    /// The processor that wrote the events.
    pub processor: u16,
    /// The logger's number.
    pub logger: u16,
    /// ETW_BUFFER_STATE: 3 for a flushed buffer.
    pub state: u32,
    /// Without PROC_INDEX and COMPRESSED, which the writer decides.
    pub flags: ETW_BUFFER_FLAG,
    /// What the buffer is for.
    pub ty: ETW_BUFFER_TYPE,
}

impl BufferWriter {
    /// An empty buffer of a size in bytes, its header included.
    ///
    /// # Errors
    ///
    /// No logger has buffers of this size.
    pub fn new(producer: Producer, size: u32) -> Result<Self, Error> {
        if !size.is_multiple_of(8) || !(512..=LARGEST).contains(&size) {
            return Err(Error::BufferSize(size));
        }
        let mut bytes = Vec::with_capacity(size as usize);
        bytes.resize(BUFFER_HEADER, 0);
        Ok(Self { producer, size: size as usize, bytes })
    }

    /// Appends an event, whatever its time: a buffer's events lie in the order in which they were appended. Readers put those of a
    /// buffer into the order of time, as loggers do not always leave them in it.
    ///
    /// # Errors
    ///
    /// It does not fit, or is nothing that the producer writes. The buffer stays as it was.
    pub fn push(&mut self, record: &Record<'_>) -> Result<(), Error> {
        self.admit(record.length())?;
        record.write(&self.producer, &mut self.bytes)?;
        self.bytes.resize(align8(self.bytes.len()), 0);
        Ok(())
    }

    /// Appends a record that was written already.
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

    /// Whether it has no events.
    pub fn is_empty(&self) -> bool {
        self.bytes.len() == BUFFER_HEADER
    }

    /// Bytes in use, its header included.
    pub fn length(&self) -> usize {
        self.bytes.len()
    }

    /// Appends the finished buffer as a file has it, and empties it for more events. Uncompressed it takes its whole size, and so
    /// does one that compression would make larger.
    ///
    /// # Errors
    ///
    /// The producer does not compress, or has no such processor.
    pub fn finish(&mut self, identity: &Identity, compressed: bool, out: &mut Vec<u8>) -> Result<(), Error> {
        self.emit(identity, compressed, self.size, out)
    }

    /// [`finish`](Self::finish), with fewer bytes of an uncompressed buffer.
    pub(super) fn emit(&mut self, identity: &Identity, compressed: bool, size: usize, out: &mut Vec<u8>) -> Result<(), Error> {
        let (processor, processors) = (identity.processor, self.producer.most_processors());
        if u32::from(processor) >= processors {
            return Err(Error::Processor { processor, processors });
        }
        let decided = ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_PROC_INDEX | ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_COMPRESSED;
        let mut flags = ETW_BUFFER_FLAG(identity.flags.0 & !decided.0);
        if self.producer.has_processor_index() {
            flags = flags | ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_PROC_INDEX;
        }
        let start = out.len();
        if compressed {
            self.producer.compresses()?;
            out.resize(start + BUFFER_HEADER, 0);
            xpress::compress(&self.bytes[BUFFER_HEADER..], out);
        }
        // What compression makes larger than any buffer of the logger is kept as it is.
        if compressed && out.len() - start <= size {
            flags = flags | ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_COMPRESSED;
        } else {
            out.truncate(start);
            out.extend_from_slice(&self.bytes);
            out.resize(start + size, 0xFF);
        }
        let offset = self.bytes.len() as u32;
        let head = Head {
            size: (out.len() - start) as u32,
            saved_offset: offset,
            current_offset: offset,
            offset,
            time_stamp: identity.time_stamp,
            sequence: identity.sequence,
            context: identity.processor,
            logger: identity.logger,
            state: identity.state,
            flags,
            ty: identity.ty,
        };
        if let Some(bytes) = out[start..].first_chunk_mut() {
            head.write(self.producer.generation(), bytes);
        }
        self.bytes.truncate(BUFFER_HEADER);
        Ok(())
    }
}
