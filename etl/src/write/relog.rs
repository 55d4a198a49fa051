//! Copies events of one file to another.

use super::{BufferWriter, Error, FileWriter};
use crate::buffer::Buffer;
use crate::buffer_header::{BufferHeader, FLAGS, FLUSH, STATES};
use crate::event::Event;
use crate::logfile::LogFile;
use crate::producer::Producer;
use crate::wire::{Arch, BUFFER_HEADER, ETW_BUFFER_FLAG, ETW_BUFFER_TYPE, Generation, LOG_FILE_MODE};
use std::io::{Seek, Write};

/// Copies selected events of a file to a new file, byte for byte and in file order. A new buffer has the header of its source buffer,
/// except for sizes. Neighboring buffers of one processor are merged; buffers without selected events are omitted. Events
/// from the first buffer of a further file, and events that do not fit into the header buffer, get separate buffers. The log file
/// header is copied, even with a damaged clock; only the number of buffers and the compression are new. Needs memory for one buffer.
#[derive(Debug)]
pub struct Relog<W> {
    writer: FileWriter<W>,
    producer: Producer,
    log_file: LogFile,
    latest: i64,
    /// The buffer under construction.
    buffer: BufferWriter,
    /// That buffer, if it has events.
    open: Option<Open>,
    /// The time stamp of the latest event in the header buffer; `None` after its end.
    header: Option<i64>,
    /// The time stamp of the last buffer with one.
    time_stamp: i64,
}

/// A buffer with events.
#[derive(Clone, Copy, Debug)]
struct Open {
    header: BufferHeader,
    /// Whether the events are those of the first buffer of a file, which has no time stamp.
    is_first: bool,
    /// The time stamp of its latest event.
    latest: i64,
}

impl<W: Write + Seek> Relog<W> {
    /// Creates a file with the properties of `log_file`, compressed or not.
    ///
    /// # Errors
    ///
    /// The version cannot compress; the buffer size is invalid; or a name is too long or contains a NUL. Unlike [`FileWriter::new`], any
    /// clock is accepted.
    pub fn new(out: W, log_file: &LogFile, compressed: bool) -> Result<Self, Error> {
        let mut log = log_file.clone();
        let arch = if log.pointer_size == 8 { Arch::X64 } else { Arch::X86 };
        let producer = Producer::new(log.version[0].into(), log.version[1].into(), log.build, arch);
        let flag = LOG_FILE_MODE::EVENT_TRACE_COMPRESSED_MODE.0;
        log.mode = if compressed { log.mode | flag } else { log.mode & !flag };
        let writer = FileWriter::copied(out, producer, log)?;
        let buffer = BufferWriter::new(producer, log_file.buffer_size)?;
        let (latest, time_stamp) = (log_file.start_time, log_file.start_stamp);
        let header = Some(log_file.start_stamp);
        Ok(Self { writer, producer, log_file: log_file.clone(), latest, buffer, open: None, header, time_stamp })
    }

    /// Adds an event of a buffer, and returns whether it was added. The log file header itself is skipped, as the new file has
    /// its own.
    ///
    /// # Errors
    ///
    /// The processor number exceeds that of any version; the event does not fit into the buffers of the file, which happens only
    /// with damage; or writing fails. A rejected event is not written, but further events can be added.
    pub fn push(&mut self, event: &Event<'_>, buffer: &Buffer<'_>) -> Result<bool, Error> {
        if is_log_file(event, buffer.index()) {
            return Ok(false);
        }
        // An event that does not fit into the header buffer, or is earlier than its last one, is added as a normal event.
        let stamp = event.time_stamp();
        self.header = self.header.filter(|last| buffer.index() == 0 && stamp.is_none_or(|stamp| stamp >= *last));
        self.header = self.header.filter(|_| self.writer.push_header_written(event.bytes().to_vec()).is_ok());
        match &mut self.header {
            Some(last) => *last = stamp.unwrap_or(*last),
            None => self.push_to_buffer(event, buffer)?,
        }
        if let Some(stamp) = event.time_stamp() {
            let time = self.log_file.to_clock().time(stamp);
            self.latest = self.latest.max(time.map_or(0, |time| time.0));
        }
        Ok(true)
    }

    fn push_to_buffer(&mut self, event: &Event<'_>, buffer: &Buffer<'_>) -> Result<(), Error> {
        let (mut header, is_first) = (header(buffer), buffer.index() == 0);
        if is_first {
            header.time_stamp = self.time_stamp;
        }
        let stamp = event.time_stamp();
        let (processor, processors) = (header.context, self.producer.most_processors());
        if u32::from(processor) >= processors {
            return Err(Error::Processor { processor, processors });
        }
        // The buffers of a processor are read in time order, so that only neighboring ones can be merged.
        let goes_on = |Open { header: open, is_first: of_first, latest }: Open| {
            let is_next = if is_first { stamp.is_none_or(|stamp| stamp >= latest) } else { open.time_stamp <= header.time_stamp };
            (open.context, open.ty, of_first) == (processor, header.ty, is_first) && is_next
        };
        if !self.open.is_some_and(goes_on) {
            self.close()?;
        }
        let mut result = self.buffer.push_written(event.bytes());
        if matches!(result, Err(Error::Full { .. })) {
            self.close()?;
            result = self.buffer.push_written(event.bytes());
        }
        result?;
        let Open { header: first, latest, .. } = self.open.unwrap_or(Open { header, is_first, latest: i64::MIN });
        let flags = first.flags | header.flags;
        self.time_stamp = header.time_stamp;
        self.open = Some(Open {
            header: BufferHeader { sequence: first.sequence, flags, ..header },
            is_first,
            latest: latest.max(stamp.unwrap_or(latest)),
        });
        Ok(())
    }

    /// Writes the current buffer if it has events.
    fn close(&mut self) -> Result<(), Error> {
        match self.open.take() {
            Some(Open { header, .. }) => self.writer.write_closed(&mut self.buffer, &header),
            None => Ok(()),
        }
    }

    /// Writes the remaining buffer, and the header. If the end time of the file is missing or before its start, it becomes the
    /// time of the last event.
    ///
    /// # Errors
    ///
    /// As [`FileWriter::finish`].
    pub fn finish(mut self) -> Result<W, Error> {
        self.close()?;
        let end = Some(self.log_file.end_time).filter(|end| *end >= self.log_file.start_time && *end != 0);
        self.writer.finish(end.unwrap_or(self.latest))
    }
}

/// The buffer header, without values that sessions never write and readers would treat as damage. Additional header buffers
/// become normal buffers, as their events do not belong to the header buffer of another file.
fn header(buffer: &Buffer<'_>) -> BufferHeader {
    let header = buffer.header();
    let (first, last) = (ETW_BUFFER_TYPE::ETW_BUFFER_TYPE_HEADER, ETW_BUFFER_TYPE::ETW_BUFFER_TYPE_MAXIMUM);
    let is_data = header.ty != first && header.ty.0 < last.0;
    let is_state = header.state < STATES || buffer.generation() < Generation::V6_0;
    BufferHeader {
        context: header.processor(),
        state: if is_state { header.state } else { FLUSH },
        flags: ETW_BUFFER_FLAG(header.flags.0 & FLAGS),
        ty: if is_data { header.ty } else { ETW_BUFFER_TYPE::ETW_BUFFER_TYPE_GENERIC },
        ..*header
    }
}

/// Whether the event is the log file header at the start of a file.
fn is_log_file(event: &Event<'_>, buffer: u32) -> bool {
    buffer == 0 && event.offset() as usize == BUFFER_HEADER
}
