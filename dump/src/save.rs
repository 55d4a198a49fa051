//! Conversion of a session to a trace file.

use crate::events::TimedEvent;
use crate::session::DumpSession;
use etw_layouts_etl::wire::LOG_FILE_MODE;
use etw_layouts_etl::write::{self, FileWriter};
use etw_layouts_etl::{ClockType, LogFile};
use etw_layouts_memory::salvage::SaveSummary;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{Seek, Write};

/// Error of a session that cannot be saved.
#[derive(Debug)]
#[non_exhaustive]
pub enum SaveError {
    /// The file would have this many bytes, which exceeds the limit of 1 GiB.
    Large(u64),
    /// The rate of the session's clock is unknown.
    Rate(ClockType),
    /// The system time that corresponds to the session's clock is unknown.
    Reference,
    /// The clock of the session is unknown.
    Clock,
    /// The writer returned an error.
    Write(write::Error),
}

/// Maximum size of the file, in bytes: 1 GiB.
const MOST: u64 = 1 << 30;

impl DumpSession<'_> {
    /// Writes the buffers to a trace file: those with events, in time order, each with its size in memory. The file header is
    /// derived from the session and the dump: clock, boot time, processors, name; the end time is that of the bug check.
    ///
    /// Events are copied byte for byte. The events of a buffer are sorted by time, as sessions do not always store them sorted.
    ///
    /// # Errors
    ///
    /// The clock of the session lacks its rate or reference time, the buffer size is invalid, or writing fails.
    pub fn save<W: Write + Seek>(&self, out: W) -> Result<SaveSummary, SaveError> {
        if !self.has_rate && ClockType::of(self.clock.0).is_none() {
            return Err(SaveError::Clock);
        }
        if !self.has_rate {
            return Err(SaveError::Rate(self.clock_type()));
        }
        if !self.has_reference() {
            return Err(SaveError::Reference);
        }
        let (events, _) = self.events();
        let mut buffers: BTreeMap<u32, Vec<TimedEvent<'_>>> = BTreeMap::new();
        let mut order = Vec::new();
        for event in events {
            let buffer = buffers.entry(event.buffer).or_insert_with(|| {
                order.push(event.buffer);
                Vec::new()
            });
            buffer.push(event);
        }
        let size = (order.len() as u64 + 1).saturating_mul(self.buffer_size.into());
        if size > MOST {
            return Err(SaveError::Large(size));
        }
        let log = self.log_file();
        let clock = log.to_clock();
        let mut latest = clock.system_time(log.start_stamp);
        let mut writer = FileWriter::new(out, self.producer, log)?;
        let mut saved = SaveSummary::default();
        for events in order.iter().filter_map(|number| buffers.get(number)) {
            let Some(first) = events.first() else { continue };
            writer.push_written(first.processor, events.iter().map(|event| event.event))?;
            latest = events.iter().filter_map(|event| event.time).fold(latest, i64::max);
            (saved.buffers, saved.events) = (saved.buffers + 1, saved.events + events.len());
        }
        writer.finish(self.stopped.map_or(latest, |stopped| stopped.max(latest)))?;
        Ok(saved)
    }

    fn log_file(&self) -> LogFile {
        let producer = self.producer;
        let most = self.buffers.iter().map(|buffer| u32::from(buffer.processor) + 1).max().unwrap_or(1);
        LogFile {
            buffer_size: self.buffer_size,
            processors: self.processors.max(most).min(producer.most_processors()),
            mode: self.mode.0 & !LOG_FILE_MODE::EVENT_TRACE_COMPRESSED_MODE.0,
            timer_resolution: self.clocks.timer_resolution,
            clock: self.clock_type().value(),
            cpu_mhz: self.clocks.cpu_mhz,
            perf_frequency: self.clocks.perf_frequency,
            boot_time: self.clocks.boot_time,
            start_time: self.reference.0,
            start_stamp: self.reference.1,
            events_lost: self.events_lost,
            buffers_lost: self.buffers_lost,
            logger_name: name(&self.name),
            file_name: name(&self.file),
            ..LogFile::new(&producer)
        }
    }
}

/// A name without characters that a file cannot have.
fn name(name: &str) -> String {
    name.split('\0').next().unwrap_or_default().into()
}

impl fmt::Display for SaveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Large(size) => write!(f, "session too large: the file would have {size} bytes, the limit is 1 GiB"),
            Self::Rate(clock) => {
                write!(f, "unknown rate of the session's clock, {clock:?}; for a full dump, give the symbols of the kernel")
            }
            Self::Reference => f.write_str("unknown system time of the session's clock: its events have no times"),
            Self::Clock => f.write_str("unknown clock: the session does not state it, so times are unknown"),
            Self::Write(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SaveError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Write(error) => Some(error),
            Self::Large(_) | Self::Rate(_) | Self::Reference | Self::Clock => None,
        }
    }
}

impl From<write::Error> for SaveError {
    fn from(error: write::Error) -> Self {
        Self::Write(error)
    }
}
