//! Makes a whole file.

use super::{BufferWriter, Error, Identity, Record};
use crate::clock::ClockType;
use crate::event::Event;
use crate::header::Header;
use crate::logfile::LogFile;
use crate::producer::Producer;
use crate::wire::{ETW_BUFFER_FLAG, ETW_BUFFER_TYPE, LOG_FILE_MODE, large};
use std::collections::BTreeMap;
use std::io::{Seek, SeekFrom, Write};

/// Writes a file, a buffer at a time: memory for one buffer a processor.
///
/// Once writing fails the file lacks events, and so every further call fails too.
#[derive(Debug)]
pub struct FileWriter<W> {
    out: W,
    /// Where the file begins.
    start: u64,
    producer: Producer,
    log_file: LogFile,
    compressed: bool,
    /// The header buffer's events after the log file header.
    header: Vec<Vec<u8>>,
    /// Whether the header buffer is written.
    has_header: bool,
    open: BTreeMap<u16, BufferWriter>,
    bytes: Vec<u8>,
    buffers: u32,
    /// The latest time stamp so far.
    latest: i64,
    /// Whether something could not be written.
    failed: bool,
    flags: ETW_BUFFER_FLAG,
}

impl<W: Write + Seek> FileWriter<W> {
    /// A file as `log_file` tells: buffer size, clock, processors, names, and by its mode whether buffers are compressed.
    /// BuffersWritten and EndTime are the writer's.
    ///
    /// # Errors
    ///
    /// `log_file` is not of the producer's version and pointer size, or does not tell its clock's rate, or its buffers have a size
    /// that no logger's have, or are to be compressed by a version that cannot, or its names are too long or hold a NUL.
    pub fn new(out: W, producer: Producer, log_file: LogFile) -> Result<Self, Error> {
        let [major, minor, ..] = log_file.version;
        let version = [u32::from(major), u32::from(minor), log_file.build];
        if version != producer.build.number || log_file.pointer_size != producer.pointer_size() {
            return Err(Error::LogFile);
        }
        let clock = ClockType::of(log_file.clock).ok_or(Error::Clock(log_file.clock))?;
        let rate = match clock {
            ClockType::PerfCounter => log_file.perf_frequency > 0,
            ClockType::CpuCycle => log_file.cpu_mhz > 0,
            ClockType::SystemTime => true,
        };
        if !rate || !producer.has_clock(clock) {
            return Err(Error::Clock(log_file.clock));
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
    /// As [`push`](Self::push); or other events were written already.
    pub fn push_header(&mut self, record: &Record<'_>) -> Result<(), Error> {
        let mut bytes = Vec::new();
        record.write(&self.producer, &mut bytes)?;
        self.push_header_written(bytes)
    }

    /// [`push_header`](Self::push_header), of an event that was written before.
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

    /// Adds an event of a processor, behind those of the same processor that were added before, whatever its time.
    ///
    /// # Errors
    ///
    /// There is no such processor, the producer does not write such an event, or it does not fit into any buffer; or writing fails,
    /// or failed before.
    pub fn push(&mut self, processor: u16, record: &Record<'_>) -> Result<(), Error> {
        if self.failed {
            return Err(Error::Failed);
        }
        let processors = self.log_file.processors.min(self.producer.most_processors());
        if u32::from(processor) >= processors {
            return Err(Error::Processor { processor, processors });
        }
        let buffer = match self.open.entry(processor) {
            std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::btree_map::Entry::Vacant(entry) => {
                entry.insert(BufferWriter::new(self.producer, self.log_file.buffer_size)?)
            }
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

    /// Writes a buffer of its own that holds events of a processor which were written before, such as those of a buffer that was found
    /// in memory. They are kept byte for byte and in their order.
    ///
    /// # Errors
    ///
    /// There is no such processor, or the events do not fit into a buffer, of which nothing is written then; or writing fails, or failed
    /// before.
    pub fn push_written<'e>(&mut self, processor: u16, events: impl IntoIterator<Item = Event<'e>>) -> Result<(), Error> {
        let processors = self.log_file.processors.min(self.producer.most_processors());
        if u32::from(processor) >= processors {
            return Err(Error::Processor { processor, processors });
        }
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

    /// Flags of the buffers that are written from here on, such as EVENTS_LOST.
    pub fn set_flags(&mut self, flags: ETW_BUFFER_FLAG) {
        self.flags = flags;
    }

    /// Writes a processor's buffer as it is, if it has events.
    ///
    /// # Errors
    ///
    /// Writing fails, or failed before.
    pub fn flush(&mut self, processor: u16) -> Result<(), Error> {
        if self.failed {
            return Err(Error::Failed);
        }
        self.write_header()?;
        let Some(buffer) = self.open.get_mut(&processor).filter(|buffer| !buffer.is_empty()) else { return Ok(()) };
        let identity = Identity {
            // When it is written: now.
            time_stamp: self.latest,
            sequence: self.buffers.into(),
            processor,
            logger: 0,
            state: FLUSH,
            flags: self.flags,
            ty: ETW_BUFFER_TYPE::ETW_BUFFER_TYPE_GENERIC,
        };
        self.bytes.clear();
        buffer.finish(&identity, self.compressed, &mut self.bytes)?;
        self.write_buffer()
    }

    /// Writes a buffer that is none of those which are open.
    pub(super) fn write_closed(&mut self, buffer: &mut BufferWriter, identity: &Identity) -> Result<(), Error> {
        if self.failed {
            return Err(Error::Failed);
        }
        self.write_header()?;
        self.bytes.clear();
        buffer.finish(identity, self.compressed, &mut self.bytes)?;
        self.write_buffer()
    }

    /// Writes the header buffer, if it is not written yet.
    fn write_header(&mut self) -> Result<(), Error> {
        if !self.has_header {
            self.header_buffer()?;
            self.write_buffer()?;
            self.has_header = true;
        }
        Ok(())
    }

    /// Writes the buffer that was made. If that fails it is lost, and the writer takes nothing more.
    fn write_buffer(&mut self) -> Result<(), Error> {
        let result = self.out.write_all(&self.bytes);
        self.failed = result.is_err();
        result?;
        self.buffers += 1;
        Ok(())
    }

    /// Writes what is left, and the header buffer anew with the count of buffers and `end_time`, in units of 100 ns since 1601.
    ///
    /// # Errors
    ///
    /// Writing fails, or failed before.
    pub fn finish(mut self, end_time: i64) -> Result<W, Error> {
        // A file without events has its header buffer.
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

    /// Makes the header buffer; of a compressed file it takes no more than it needs.
    fn header_buffer(&mut self) -> Result<(), Error> {
        let mut buffer = BufferWriter::new(self.producer, self.log_file.buffer_size)?;
        let payload = self.log_file.payload();
        let mut system = self.log_file.event;
        system.SystemTime = large(self.log_file.start_stamp);
        buffer.push(&Record::new(Header::System(system), self.log_file.pointer_size == 8, &payload))?;
        for bytes in &self.header {
            buffer.push_written(bytes)?;
        }
        let size = match self.compressed {
            true => buffer.length().next_multiple_of(512),
            false => self.log_file.buffer_size as usize,
        };
        let identity = Identity {
            time_stamp: 0,
            sequence: 0,
            processor: 0,
            logger: 0,
            state: FLUSH,
            flags: ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_FLUSH_MARKER,
            ty: ETW_BUFFER_TYPE::ETW_BUFFER_TYPE_HEADER,
        };
        self.bytes.clear();
        buffer.emit(&identity, false, size, &mut self.bytes)
    }
}

/// The state of a buffer that is written out.
pub(super) const FLUSH: u32 = 3;
