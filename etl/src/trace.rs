//! A trace file in memory.

use crate::buffers::Buffers;
use crate::clock::Clock;
use crate::common::{Common, Error, Start, begin};
use crate::diagnostic::Diagnostic;
use crate::logfile::LogFile;
use std::borrow::Cow;

/// A trace file in memory, which is read in file order. The crate `etw-layouts-trace` reads files of any size, in the order of time.
///
/// ```no_run
/// let trace = etw_layouts_etl::Trace::from_bytes(std::fs::read("boot.etl")?)?;
/// for event in trace.events() {
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
}
