//! A trace file in memory.

use crate::buffers::Buffers;
use crate::clock::Clock;
use crate::common::{Common, Error, Start, begin};
use crate::diagnostic::Diagnostic;
use crate::logfile::LogFile;
use crate::order::ByTime;
use std::borrow::Cow;
use std::path::Path;
use std::{fs, io};

/// A trace file in memory.
///
/// ```no_run
/// let trace = etw_layouts_etl::Trace::open("boot.etl")?;
/// for event in trace.events().by_time() {
///     let event = event?;
///     if let (Some(time), Some(provider)) = (event.time(), event.provider()) {
///         println!("{time} {provider} {} bytes on processor {}", event.payload().len(), event.processor());
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Trace<'a> {
    bytes: Cow<'a, [u8]>,
    log_file: LogFile,
    clock: Clock,
    common: Common,
    /// Diagnostics of the log file header.
    diagnostics: Vec<Diagnostic>,
}

impl Trace<'static> {
    /// Reads a trace file into memory. [`Reader`](crate::Reader) reads in file order with two buffers in memory.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or it is not a trace file. In the second case, the error has the kind `InvalidData` and the text of an [`Error`].
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        let named =
            |kind: io::ErrorKind, error: &dyn std::fmt::Display| io::Error::new(kind, format!("{}: {error}", path.display()));
        let bytes = fs::read(path).map_err(|error| named(error.kind(), &error))?;
        Self::from_bytes(bytes).map_err(|error| named(io::ErrorKind::InvalidData, &error))
    }
}

impl<'a> Trace<'a> {
    /// Reads the log file header of a trace file in memory: a borrowed slice, or an owned vector.
    ///
    /// # Errors
    ///
    /// The bytes do not begin with a buffer that has a log file header as its first event.
    pub fn from_bytes(bytes: impl Into<Cow<'a, [u8]>>) -> Result<Self, Error> {
        let bytes = bytes.into();
        let Ok(start) = begin(&mut &*bytes);
        let Start { log_file, common, diagnostics } = start?;
        Ok(Self { clock: log_file.to_clock(), bytes, log_file, common, diagnostics })
    }

    /// Properties from the log file header, such as the producer and the session's settings.
    pub fn log_file(&self) -> &LogFile {
        &self.log_file
    }

    /// The clock that converts time stamps to system time.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The bytes of the file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The buffers in file order, the header buffer first. Diagnostics about the log file header come first; a wrong number of buffers
    /// is reported last.
    pub fn buffers(&self) -> Buffers<'_> {
        Buffers::new(&self.bytes, self.common, &self.diagnostics)
    }

    /// The events sorted by time: the events of each processor are sorted, then merged. Events with equal times keep the order of their
    /// processors. An event without time stays after the event before it.
    pub fn by_time(&self) -> ByTime<'_> {
        ByTime::new(&self.buffers(), self.clock)
    }
}
