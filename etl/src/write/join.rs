//! Combines the log file headers of several files.

use crate::clock::ClockType;
use crate::logfile::LogFile;
use etw_layouts_payload::FileTime;
use std::fmt;

/// Error of files that cannot share a log file header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotOneSession {
    /// Index of the file that differs from the first one.
    pub file: usize,
    /// The property that differs.
    pub property: &'static str,
    /// The value in the first file.
    pub first: String,
    /// The value in the other file.
    pub other: String,
}

impl fmt::Display for NotOneSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { property, first, other, .. } = self;
        write!(f, "different {property}: {first} and {other}")
    }
}

impl std::error::Error for NotOneSession {}

impl LogFile {
    /// The log file header for the events of several files: that of the file that starts first, with the most processors, the
    /// largest buffers and the [lost](Self::lost) events and buffers. Events keep their time stamps, so all files must be from the same
    /// boot of the same system, and their clocks must convert every time stamp to the same time. Parts of one session meet
    /// these conditions.
    ///
    /// # Errors
    ///
    /// The files do not match, or there is no file.
    pub fn join(logs: &[&Self]) -> Result<Self, NotOneSession> {
        let none = || NotOneSession { file: 0, property: "file", first: "none".into(), other: "none".into() };
        let first = *logs.first().ok_or_else(none)?;
        for (file, log) in logs.iter().enumerate() {
            let facts = first.facts().into_iter().zip(log.facts());
            if let Some(((property, first), (_, other))) = facts.into_iter().find(|(first, other)| first != other) {
                return Err(NotOneSession { file, property, first, other });
            }
            if !first.to_clock().is_same(&log.to_clock()) {
                let start = |log: &Self| format!("{} at the time stamp {}", FileTime(log.start_time), log.start_stamp);
                return Err(NotOneSession {
                    file,
                    property: "relation of time stamps to system time",
                    first: start(first),
                    other: start(log),
                });
            }
        }
        let mut joined = logs.iter().min_by_key(|log| log.start_time).map_or_else(|| first.clone(), |log| (*log).clone());
        for log in logs {
            joined.processors = joined.processors.max(log.processors);
            joined.buffer_size = joined.buffer_size.max(log.buffer_size);
        }
        let (events, buffers) = Self::lost(logs.iter().copied());
        [joined.events_lost, joined.buffers_lost] = [events, buffers].map(|lost| u32::try_from(lost).unwrap_or(u32::MAX));
        // If a file was never closed, the end is unknown.
        let is_closed = logs.iter().all(|log| log.end_time != 0);
        joined.end_time = logs.iter().map(|log| log.end_time).max().filter(|_| is_closed).unwrap_or(0);
        Ok(joined)
    }

    /// The properties that files of the same boot share, with the rate of the clock.
    fn facts(&self) -> [(&'static str, String); 4] {
        let [major, minor, ..] = self.version;
        let name = self.clock_type().name();
        let rate = match self.clock_type() {
            ClockType::PerfCounter => format!("{name}, {} Hz", self.perf_frequency),
            ClockType::CpuCycle => format!("{name}, {} MHz", self.cpu_mhz),
            ClockType::SystemTime => name.into(),
        };
        [
            ("version of Windows", format!("{major}.{minor}.{}", self.build)),
            ("pointer size", format!("{} bytes", self.pointer_size)),
            ("clock", rate),
            ("boot time", FileTime(self.boot_time).to_string()),
        ]
    }
}
