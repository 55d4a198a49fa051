//! Writes the buffers of a session as a trace file.

use super::content::Content;
use super::examine::Completeness;
use super::session::{Entry, Session};
use crate::buffer_header::{BufferHeader, FLUSH};
use crate::header::EventHeader;
use crate::logfile::LogFile;
use crate::producer::Producer;
use crate::wire::{Arch, BUFFER_HEADER, ETW_BUFFER_FLAG, ETW_BUFFER_TYPE, Generation, LOG_FILE_MODE};
use crate::write::{BufferWriter, Record};
use std::io::{self, Write};

/// Summary of a file that was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Number of buffers, without a header buffer that was made.
    pub buffers: u64,
    /// Number of bytes.
    pub bytes: u64,
}

impl Session {
    /// Writes the session as a trace file: the header buffer, then the other buffers by time. Whole buffers are copied byte for byte. Of
    /// others, the header with new sizes and the whole events are written, uncompressed. Without a log file header, one is made that states
    /// neither clock nor times. `read` returns the bytes of a source: its index, an offset and a length; fewer at its end.
    ///
    /// # Errors
    ///
    /// Reading or writing fails, or a source has changed.
    pub fn write(
        &self,
        mut out: impl Write,
        read: &mut dyn FnMut(usize, u64, usize) -> io::Result<Vec<u8>>,
    ) -> io::Result<Written> {
        let mut written = Written::default();
        if self.log_file.is_none() {
            let header = self.header().map_err(io::Error::other)?;
            out.write_all(&header)?;
            written.bytes += header.len() as u64;
        }
        for entry in self.buffers.iter().filter(|entry| entry.copy.is_none()) {
            let stored = read(entry.source, entry.found.offset, entry.found.header.size as usize)?;
            let bytes = self.buffer(entry, stored).ok_or_else(|| io::Error::other("the file changed while it was read"))?;
            out.write_all(&bytes)?;
            written.bytes += bytes.len() as u64;
            written.buffers += 1;
        }
        Ok(written)
    }

    /// The bytes of a buffer in the new file; `None` if the source has changed since the search.
    fn buffer(&self, Entry { found, .. }: &Entry, stored: Vec<u8>) -> Option<Vec<u8>> {
        let end = found.end as usize;
        let content = Content::new(&stored, found.header.offset.max(found.end), found.format.is_some(), 0, 1)?;
        if content.plain().len() < end || content.hash(end) != found.hash {
            return None;
        }
        if found.completeness == Completeness::Whole && !found.in_use {
            return (stored.len() == found.header.size as usize).then_some(stored);
        }
        let mut bytes = content.into_plain();
        bytes.truncate(end);
        let end = found.end.next_multiple_of(8);
        bytes.resize(end as usize, 0);
        let size = if self.compressed { bytes.len().max(512) } else { (found.header.size as usize).max(bytes.len()) };
        bytes.resize(size, 0xFF);
        let flags = ETW_BUFFER_FLAG(found.header.flags.0 & !ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_COMPRESSED.0);
        let state = if found.in_use { FLUSH } else { found.header.state };
        let size = bytes.len() as u32;
        let header = BufferHeader { size, saved_offset: end, current_offset: end, offset: end, flags, state, ..found.header };
        header.write(found.generation, bytes.first_chunk_mut::<BUFFER_HEADER>()?);
        Some(bytes)
    }

    /// A header buffer that states what the buffers show: size, pointer size, number of processors, and the first version with this form.
    fn header(&self) -> Result<Vec<u8>, crate::write::Error> {
        let is_64_bit = self.buffers.iter().find_map(|entry| entry.found.is_64_bit).unwrap_or(true);
        let arch = if is_64_bit { Arch::X64 } else { Arch::X86 };
        let (major, minor, build) = match self.generation {
            Generation::V5_1 => (5, 1, 2600),
            Generation::V5_2 => (5, 2, 3790),
            _ => (6, 1, 7600),
        };
        let producer = Producer::new(major, minor, build, arch);
        let processors = self.buffers.iter().map(|entry| u32::from(entry.found.header.processor()) + 1).max().unwrap_or(1);
        let mode = if self.compressed { LOG_FILE_MODE::EVENT_TRACE_COMPRESSED_MODE.0 } else { 0 };
        let log = LogFile { buffer_size: self.buffer_size, processors, mode, ..LogFile::without_times(&producer) };
        let mut writer = BufferWriter::new(producer, self.buffer_size)?;
        writer.push(&Record::new(EventHeader::System(log.event), is_64_bit, &log.payload()))?;
        let header = BufferHeader {
            logger: self.logger,
            flags: ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_FLUSH_MARKER,
            ty: ETW_BUFFER_TYPE::ETW_BUFFER_TYPE_HEADER,
            ..BufferHeader::new(0, 0, 0)
        };
        let mut bytes = Vec::new();
        writer.finish(&header, false, &mut bytes)?;
        Ok(bytes)
    }
}
