//! A trace file as a byte slice.

use crate::buffers::Buffers;
use crate::clock::Clock;
use crate::common::{Common, Error, Start, begin};
use crate::finding::Finding;
use crate::logfile::LogFile;
use crate::order::{self, ByTime};

/// A trace file.
#[derive(Clone, Debug)]
pub struct Trace<'a> {
    bytes: &'a [u8],
    log_file: LogFile,
    clock: Clock,
    common: Common,
    /// What is wrong with the log file header.
    findings: Vec<Finding>,
}

impl<'a> Trace<'a> {
    /// Reads the log file header.
    ///
    /// # Errors
    ///
    /// The bytes do not begin with a buffer whose first event is a log file header.
    pub fn new(bytes: &'a [u8]) -> Result<Self, Error> {
        let mut source = bytes;
        let Ok(start) = begin(&mut source);
        let Start { log_file, common, findings } = start?;
        Ok(Self { bytes, clock: log_file.to_clock(), log_file, common, findings })
    }

    /// How the file was made.
    pub fn log_file(&self) -> &LogFile {
        &self.log_file
    }

    /// What turns stamps into system time.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// All of its bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Its buffers in file order, the header buffer first, and what is wrong with them: what concerns the log file header comes first,
    /// and whether there are as many buffers as it counts, last.
    pub fn buffers(&self) -> Buffers<'a> {
        Buffers::new(self.bytes, self.common, &self.findings)
    }

    /// Its events in the order of time: one stream a processor, merged. Events of the same time keep the order of their
    /// processors; one without a time keeps its place after the one before it.
    pub fn by_time(&self) -> ByTime<'a> {
        ByTime::new(&self.buffers())
    }

    /// Gives the events in the order of time to `work`: those of [`by_time`](Self::by_time) in the same order, while another
    /// thread decompresses the next four buffers of each processor. Takes three times the memory; nothing is gained where buffers are
    /// not compressed, or on a single core.
    pub fn by_time_ahead<T>(&self, work: impl FnOnce(&mut ByTime<'a>) -> T) -> T {
        order::ahead(&self.buffers(), work)
    }
}
