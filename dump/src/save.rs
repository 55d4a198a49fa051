//! A session as a trace file.

use crate::events::Timed;
use crate::session::Session;
use etw_layouts_etl::wire::LOG_FILE_MODE;
use etw_layouts_etl::write::{self, FileWriter};
use etw_layouts_etl::{ClockType, LogFile};
use std::collections::BTreeMap;
use std::fmt;
use std::io::{Seek, Write};

/// What was saved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    /// Buffers that have events.
    pub buffers: usize,
    /// Events of all of them.
    pub events: usize,
}

/// Why a session cannot be saved.
#[derive(Debug)]
#[non_exhaustive]
pub enum SaveError {
    /// So many bytes would be written; no dump has so many buffers, so large.
    Large(u64),
    /// How fast the session's clock ticks is not known.
    Rate(ClockType),
    /// At which system time the session's clock had which value is not known.
    Reference,
    /// Which clock the session has is not known.
    Clock,
    /// The writer refused it.
    Write(write::Error),
}

/// Bytes of a file, at most: 1 GiB.
const MOST: u64 = 1 << 30;

impl Session<'_> {
    /// Writes its buffers as a trace file: those with events, in the order of their time, each as large as in memory. The header is made
    /// of what session and dump say: clock, boot time, processors, name; and the time at which the system stopped as that of the end.
    ///
    /// Events are kept byte for byte. Those of a buffer are put into the order of their time, in which loggers do not always leave them.
    ///
    /// # Errors
    ///
    /// The session has a clock without a rate or a reference time, or buffers of a size that no logger has, or writing fails.
    pub fn save<W: Write + Seek>(&self, out: W) -> Result<Saved, SaveError> {
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
        let mut buffers: BTreeMap<u32, Vec<Timed<'_>>> = BTreeMap::new();
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
        let mut saved = Saved::default();
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

/// A name as a file can have it.
fn name(name: &str) -> String {
    name.split('\0').next().unwrap_or_default().into()
}

impl fmt::Display for SaveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Large(size) => write!(f, "the file would have {size} bytes, and 1 GiB is more than any dump's session needs"),
            Self::Rate(clock) => {
                write!(
                    f,
                    "the session's clock is {clock:?}, and its rate is not known; for a full dump, give the kernel's symbols"
                )
            }
            Self::Reference => f.write_str("no system time of the session's clock is known, and so its events have no times"),
            Self::Clock => f.write_str("which clock the session has is not known, and so neither are times"),
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
