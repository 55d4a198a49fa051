//! Writes events of a file that was read into another.

use super::{Error, FileWriter, Record};
use crate::event::Event;
use crate::logfile::LogFile;
use crate::producer::Producer;
use crate::wire::{Arch, BUFFER_HEADER, LOG_FILE_MODE};
use std::io::{Seek, Write};

/// Takes events of a file, in its order, and writes a file of these alone: with the same log file header but for what tells of
/// buffers and compression, each event in a buffer of its processor and those of the header buffer in the header buffer. A circular
/// file becomes a sequential one. Memory for one buffer a processor, 256 MiB at the most.
#[derive(Debug)]
pub struct Relog<W> {
    writer: FileWriter<W>,
    log_file: LogFile,
    latest: i64,
    /// The buffer that the last event came from, and whether one was written early because of its events.
    from: (u32, bool),
}

/// What the open buffers of all processors may take: 256 MiB. A file can be made to tell of 2,048 processors and buffers of 16 MiB.
const MOST: usize = 256 << 20;

impl<W: Write + Seek> Relog<W> {
    /// A file like that of `log_file`, compressed or not.
    ///
    /// # Errors
    ///
    /// As [`FileWriter::new`]; above all, the version cannot compress.
    pub fn new(out: W, log_file: &LogFile, compressed: bool) -> Result<Self, Error> {
        let mut log = log_file.clone();
        let arch = if log.pointer_size == 8 { Arch::X64 } else { Arch::X86 };
        let producer = Producer::new(log.version[0].into(), log.version[1].into(), log.build, arch);
        let (circular, flag) = (LOG_FILE_MODE::EVENT_TRACE_FILE_MODE_CIRCULAR.0, LOG_FILE_MODE::EVENT_TRACE_COMPRESSED_MODE.0);
        if log.mode & circular != 0 {
            log.mode = log.mode & !circular | LOG_FILE_MODE::EVENT_TRACE_FILE_MODE_SEQUENTIAL.0;
        }
        log.mode = if compressed { log.mode | flag } else { log.mode & !flag };
        let writer = FileWriter::new(out, producer, log)?;
        Ok(Self { writer, log_file: log_file.clone(), latest: log_file.start_time, from: (0, false) })
    }

    /// Adds an event of the buffer with that place in its file, and of that processor; the log file header itself is passed over, as
    /// the new file has its own. Whether it was added.
    ///
    /// # Errors
    ///
    /// As [`FileWriter::push`]; of events that lie in no order of time within their buffer, one at the most begins a new buffer.
    /// What is refused is not in the file, which goes on.
    pub fn push(&mut self, event: &Event<'_>, buffer: u32, processor: u16) -> Result<bool, Error> {
        if is_log_file(event, buffer) {
            return Ok(false);
        }
        if self.from.0 != buffer {
            self.from = (buffer, false);
        }
        let record = Record::of(event);
        if buffer == 0 {
            self.writer.push_header(&record)?;
        } else {
            let size = self.log_file.buffer_size as usize;
            self.writer.close_unless(processor, (MOST / size.max(1)).max(1))?;
            match self.writer.push(processor, &record) {
                // Where the buffers of a processor lie in no order of time, each begins anew; but no more than one for each that
                // was read, or a small file could become a huge one.
                Err(Error::Order { .. }) if !self.from.1 => {
                    self.from.1 = true;
                    self.writer.flush(processor)?;
                    self.writer.push(processor, &record)?;
                }
                result => result?,
            }
        }
        if let Some(stamp) = event.time_stamp() {
            self.latest = self.latest.max(self.log_file.to_clock().system_time(stamp));
        }
        Ok(true)
    }

    /// Writes what is left, and the header. A file that was never closed, or before it began, ends with its last event.
    ///
    /// # Errors
    ///
    /// As [`FileWriter::finish`].
    pub fn finish(self) -> Result<W, Error> {
        let end = Some(self.log_file.end_time).filter(|end| *end >= self.log_file.start_time && *end != 0);
        self.writer.finish(end.unwrap_or(self.latest))
    }
}

/// Whether an event is the log file header, with which a file begins.
fn is_log_file(event: &Event<'_>, buffer: u32) -> bool {
    buffer == 0 && event.offset() as usize == BUFFER_HEADER
}
