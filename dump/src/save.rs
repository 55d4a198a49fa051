//! Conversion of a session to a trace file.

use crate::session::DumpSession;
use etw_layouts_etl::wire::LOG_FILE_MODE;
use etw_layouts_etl::write::{self, FileWriter, Producer};
use etw_layouts_etl::{ClockType, LogFile};
use std::fmt;
use std::io::{Cursor, Seek, Write};

/// Summary of a saved session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SaveSummary {
    /// Number of buffers with events.
    pub buffers: usize,
    /// Number of events.
    pub events: usize,
}

/// Error of a session that cannot be saved.
#[derive(Debug)]
#[non_exhaustive]
pub enum SaveError {
    /// The file would have this many bytes, which exceeds the limit of 1 GiB.
    Large(u64),
    /// The rate of the session's clock is unknown. The caller can state it with
    /// [`Kernel::with_time`](etw_layouts_memory::Kernel::with_time).
    Rate(ClockType),
    /// The system time that corresponds to the session's clock is unknown.
    Reference,
    /// The clock of the session is unknown.
    Clock,
    /// The size of the session's buffers is unknown.
    BufferSize,
    /// The writer returned an error.
    Write(write::Error),
}

/// Maximum size of the file, in bytes: 1 GiB.
const MAX_FILE_SIZE: u64 = 1 << 30;

impl DumpSession<'_> {
    /// Writes the buffers with events to a trace file, each with its size in memory, never compressed. The file header is that of
    /// the session; the end time is that of the bug check, or of the last event. Names that do not fit into the header are left out.
    ///
    /// Events are copied byte for byte. Within a buffer they are sorted by time. Buffers are sorted by the time of their earliest
    /// event, then by processor and sequence number. Sessions sort neither, but tools that read a file in order expect both.
    /// A damaged end of a buffer is left out; [`events`](Self::events) reports it.
    ///
    /// # Errors
    ///
    /// The clock of the session lacks its rate or reference time, the buffer size is unknown or invalid, or writing fails.
    pub fn save<W: Write + Seek>(&self, out: W) -> Result<SaveSummary, SaveError> {
        self.check()?;
        let generation = self.producer.generation();
        let mut buffers = Vec::new();
        for buffer in &self.buffers {
            let mut events: Vec<_> = buffer.keyed_events(generation).flatten().collect();
            events.sort_by_key(|(stamp, _)| *stamp);
            buffers.extend(events.first().map(|(first, _)| (*first, buffer.processor, buffer.header.sequence)).zip(Some(events)));
        }
        buffers.sort_by_key(|(order, _)| *order);
        let log = self.header();
        let size = (buffers.len() as u64 + 1).saturating_mul(log.buffer_size.into());
        if size > MAX_FILE_SIZE {
            return Err(SaveError::Large(size));
        }
        let (clock, mut latest) = (log.to_clock(), log.start_stamp);
        let mut writer = open(out, self.producer, log)?;
        let mut saved = SaveSummary::default();
        for ((_, processor, _), events) in &buffers {
            writer.push_written(*processor, events.iter().map(|(_, event)| *event))?;
            latest = events.last().map_or(latest, |(stamp, _)| latest.max(*stamp));
            (saved.buffers, saved.events) = (saved.buffers + 1, saved.events + events.len());
        }
        let latest = clock.system_time(latest);
        writer.finish(self.stopped.map_or(latest, |stopped| stopped.max(latest)))?;
        Ok(saved)
    }

    fn check(&self) -> Result<(), SaveError> {
        match &self.log_file {
            log if !log.has_clock_rate() && !log.has_clock() => Err(SaveError::Clock),
            log if !log.has_clock_rate() => Err(SaveError::Rate(log.clock_type())),
            _ if !self.has_reference() => Err(SaveError::Reference),
            log if log.buffer_size == 0 => Err(SaveError::BufferSize),
            _ => Ok(()),
        }
    }

    /// The header of the file.
    fn header(&self) -> LogFile {
        let log = &self.log_file;
        let most = self.buffers.iter().map(|buffer| u32::from(buffer.processor) + 1).max().unwrap_or(1);
        let (start_time, start_stamp) = self.reference();
        LogFile {
            processors: log.processors.max(most).min(self.producer.most_processors()),
            mode: log.mode & !LOG_FILE_MODE::EVENT_TRACE_COMPRESSED_MODE.0,
            clock: log.clock_type().value(),
            start_time,
            start_stamp,
            logger_name: name(&log.logger_name),
            file_name: name(&log.file_name),
            ..log.clone()
        }
    }
}

/// Creates the file. If the names do not fit into the header buffer, they are omitted.
fn open<W: Write + Seek>(out: W, producer: Producer, log: LogFile) -> Result<FileWriter<W>, write::Error> {
    let is_full = matches!(
        FileWriter::new(Cursor::new(Vec::new()), producer, log.clone()),
        Err(write::Error::Full { .. } | write::Error::Length(_))
    );
    let log = if is_full { LogFile { logger_name: String::new(), file_name: String::new(), ..log } } else { log };
    FileWriter::new(out, producer, log)
}

/// The part of a name that a trace file can contain: up to the first NUL.
fn name(name: &str) -> String {
    name.split('\0').next().unwrap_or_default().into()
}

impl fmt::Display for SaveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Large(size) => write!(f, "session too large: the file would have {size} bytes, the limit is 1 GiB"),
            Self::Rate(clock) => {
                let clock = match clock {
                    ClockType::PerfCounter => "performance counter",
                    ClockType::SystemTime => "system time",
                    ClockType::CpuCycle => "processor cycles",
                };
                write!(f, "unknown rate of the session's clock ({clock}); for a full dump, give the symbols of the kernel")
            }
            Self::Reference => f.write_str("unknown system time of the session's clock: its events have no times"),
            Self::Clock => f.write_str("unknown clock: the session does not state it, so times are unknown"),
            Self::BufferSize => f.write_str("unknown buffer size: it cannot be read from the session"),
            Self::Write(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SaveError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Write(error) => Some(error),
            _ => None,
        }
    }
}

impl From<write::Error> for SaveError {
    fn from(error: write::Error) -> Self {
        Self::Write(error)
    }
}
