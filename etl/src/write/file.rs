//! Writer of a whole file.

use super::{BufferWriter, Error, Record};
use crate::buffer_header::BufferHeader;
use crate::event::Event;
use crate::header::EventHeader;
use crate::logfile::LogFile;
use crate::producer::Producer;
use crate::wire::{ETW_BUFFER_FLAG, ETW_BUFFER_TYPE, LOG_FILE_MODE, large};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::{Seek, SeekFrom, Write};

/// Writes a file buffer by buffer, with memory for one buffer per processor.
///
/// After a failed write the file lacks events, and every further call fails.
#[derive(Debug)]
pub struct FileWriter<W> {
    out: W,
    /// Offset at which the file begins in the output.
    start: u64,
    producer: Producer,
    log_file: LogFile,
    compressed: bool,
    /// Events of the header buffer after the log file header.
    header: Vec<Vec<u8>>,
    /// Whether the header buffer has been written.
    has_header: bool,
    open: BTreeMap<u16, BufferWriter>,
    bytes: Vec<u8>,
    buffers: u32,
    /// The latest time stamp so far.
    latest: i64,
    /// Whether a write has failed.
    failed: bool,
    flags: ETW_BUFFER_FLAG,
}

impl<W: Write + Seek> FileWriter<W> {
    /// Creates a file with the properties of `log_file`: buffer size, clock, processors, names, and, in its mode, whether buffers
    /// are compressed. The writer determines BuffersWritten and EndTime.
    ///
    /// # Errors
    ///
    /// `log_file` differs from the producer in version or pointer size, lacks the rate of its clock, or states an invalid buffer
    /// size; compression is requested but not available in the version; or a name is too long or contains a NUL.
    pub fn new(out: W, producer: Producer, log_file: LogFile) -> Result<Self, Error> {
        let is_known = log_file.has_clock() && log_file.has_clock_rate() && producer.has_clock(log_file.clock_type());
        if !is_known {
            return Err(Error::Clock(log_file.clock));
        }
        Self::copied(out, producer, log_file)
    }

    /// As [`new`](Self::new), for a header from a file. Its clock is written unchanged, even if it is damaged.
    pub(super) fn copied(out: W, producer: Producer, log_file: LogFile) -> Result<Self, Error> {
        let [major, minor, ..] = log_file.version;
        let version = [u32::from(major), u32::from(minor), log_file.build];
        if version != producer.build.number || log_file.pointer_size != producer.pointer_size() {
            return Err(Error::LogFile);
        }
        BufferWriter::new(producer, log_file.buffer_size)?;
        let compressed = log_file.mode & LOG_FILE_MODE::EVENT_TRACE_COMPRESSED_MODE.0 != 0;
        if compressed {
            producer.compresses()?;
        }
        if log_file.logger_name.contains('\0') || log_file.file_name.contains('\0') {
            return Err(Error::Name);
        }
        let mut out = out;
        let (start, latest) = (out.stream_position()?, log_file.start_stamp);
        let mut new = Self {
            out,
            start,
            producer,
            log_file,
            compressed,
            header: Vec::new(),
            has_header: false,
            open: BTreeMap::new(),
            bytes: Vec::new(),
            buffers: 0,
            latest,
            failed: false,
            flags: ETW_BUFFER_FLAG(0),
        };
        new.header_buffer()?;
        Ok(new)
    }

    /// Adds an event to the header buffer, after the log file header.
    ///
    /// # Errors
    ///
    /// As [`push`](Self::push); also if other events were already written.
    pub fn push_header(&mut self, record: &Record<'_>) -> Result<(), Error> {
        let mut bytes = Vec::new();
        record.write(&self.producer, &mut bytes)?;
        self.push_header_written(bytes)
    }

    /// [`push_header`](Self::push_header) for the bytes of an encoded event.
    pub(super) fn push_header_written(&mut self, bytes: Vec<u8>) -> Result<(), Error> {
        if self.has_header {
            return Err(Error::Late);
        }
        self.header.push(bytes);
        let result = self.header_buffer();
        if result.is_err() {
            self.header.pop();
        }
        result
    }

    /// Adds an event of a processor after those that were added before. Times can be in any order.
    ///
    /// # Errors
    ///
    /// The processor number is out of range; the producer does not write such an event; the event does not fit into any buffer;
    /// or this or an earlier write fails.
    pub fn push(&mut self, processor: u16, record: &Record<'_>) -> Result<(), Error> {
        if self.failed {
            return Err(Error::Failed);
        }
        self.admit(processor)?;
        let buffer = match self.open.entry(processor) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(BufferWriter::new(self.producer, self.log_file.buffer_size)?),
        };
        let stamp = record.time_stamp().unwrap_or(self.latest);
        let result = match buffer.push(record) {
            Err(Error::Full { .. }) if !buffer.is_empty() => {
                self.flush(processor)?;
                self.open.get_mut(&processor).map_or(Ok(()), |buffer| buffer.push(record))
            }
            result => result,
        };
        if result.is_ok() {
            self.latest = self.latest.max(stamp);
        }
        result
    }

    /// Writes a separate buffer with encoded events of a processor, such as those of a buffer found in memory. The events are
    /// kept byte for byte and in order.
    ///
    /// # Errors
    ///
    /// The processor number is out of range; the events do not fit into one buffer, and none is written; or this or an earlier
    /// write fails.
    pub fn push_written<'e>(&mut self, processor: u16, events: impl IntoIterator<Item = Event<'e>>) -> Result<(), Error> {
        self.admit(processor)?;
        self.flush(processor)?;
        let mut buffer = BufferWriter::new(self.producer, self.log_file.buffer_size)?;
        let mut latest = self.latest;
        for event in events {
            buffer.push_written(event.bytes())?;
            latest = latest.max(event.time_stamp().unwrap_or(latest));
        }
        self.latest = latest;
        self.open.insert(processor, buffer);
        self.flush(processor)
    }

    /// Verifies that the file has the processor.
    fn admit(&self, processor: u16) -> Result<(), Error> {
        let processors = self.log_file.processors.min(self.producer.most_processors());
        if u32::from(processor) < processors { Ok(()) } else { Err(Error::Processor { processor, processors }) }
    }

    /// Sets the flags of buffers written from now on, such as EVENTS_LOST.
    pub fn set_flags(&mut self, flags: ETW_BUFFER_FLAG) {
        self.flags = flags;
    }

    /// Writes the current buffer of a processor if it has events, even if it is not full.
    ///
    /// # Errors
    ///
    /// This or an earlier write fails.
    pub fn flush(&mut self, processor: u16) -> Result<(), Error> {
        if self.failed {
            return Err(Error::Failed);
        }
        self.write_header()?;
        let Some(buffer) = self.open.get_mut(&processor).filter(|buffer| !buffer.is_empty()) else { return Ok(()) };
        // The latest time stamp represents the time of writing.
        let header = BufferHeader::new(processor, self.latest, self.buffers.into());
        let header = BufferHeader { flags: self.flags, ..header };
        self.bytes.clear();
        buffer.finish(&header, self.compressed, &mut self.bytes)?;
        self.write_buffer()
    }

    /// Writes a buffer that is not one of the open buffers.
    pub(super) fn write_closed(&mut self, buffer: &mut BufferWriter, header: &BufferHeader) -> Result<(), Error> {
        if self.failed {
            return Err(Error::Failed);
        }
        self.write_header()?;
        self.bytes.clear();
        buffer.finish(header, self.compressed, &mut self.bytes)?;
        self.write_buffer()
    }

    /// Writes the header buffer unless it has been written.
    fn write_header(&mut self) -> Result<(), Error> {
        if !self.has_header {
            self.header_buffer()?;
            self.write_buffer()?;
            self.has_header = true;
        }
        Ok(())
    }

    /// Writes the finished buffer. On failure it is lost, and the writer accepts nothing more.
    fn write_buffer(&mut self) -> Result<(), Error> {
        let result = self.out.write_all(&self.bytes);
        self.failed = result.is_err();
        result?;
        self.buffers += 1;
        Ok(())
    }

    /// Writes the remaining buffers, and updates the header buffer with the number of buffers and `end_time`, in units of 100 ns
    /// since 1601.
    ///
    /// # Errors
    ///
    /// This or an earlier write fails.
    pub fn finish(mut self, end_time: i64) -> Result<W, Error> {
        // A file without events still has its header buffer.
        self.flush(0)?;
        let open: Vec<_> = self.open.keys().copied().collect();
        open.into_iter().try_for_each(|processor| self.flush(processor))?;
        self.log_file.end_time = end_time;
        self.log_file.buffers_written = self.buffers;
        self.header_buffer()?;
        self.out.seek(SeekFrom::Start(self.start))?;
        self.out.write_all(&self.bytes)?;
        self.out.seek(SeekFrom::End(0))?;
        Ok(self.out)
    }

    /// Builds the header buffer; in a compressed file it takes no more space than necessary.
    fn header_buffer(&mut self) -> Result<(), Error> {
        let mut buffer = BufferWriter::new(self.producer, self.log_file.buffer_size)?;
        let payload = self.log_file.payload();
        let mut system = self.log_file.event;
        system.SystemTime = large(self.log_file.start_stamp);
        buffer.push(&Record::new(EventHeader::System(system), self.log_file.pointer_size == 8, &payload))?;
        for bytes in &self.header {
            buffer.push_written(bytes)?;
        }
        let size = match self.compressed {
            true => buffer.length().next_multiple_of(512),
            false => self.log_file.buffer_size as usize,
        };
        let header = BufferHeader {
            flags: ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_FLUSH_MARKER,
            ty: ETW_BUFFER_TYPE::ETW_BUFFER_TYPE_HEADER,
            ..BufferHeader::new(0, 0, 0)
        };
        self.bytes.clear();
        buffer.emit(&header, false, size, &mut self.bytes)
    }
}
