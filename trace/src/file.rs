//! A file of a trace.

use crate::error::Error;
use crate::source::{Sequential, Source};
use etw_layouts_etl::{BufferFormat, Clock, LogFile, Reader};

/// A file of a trace: its name, its bytes and its log file header.
#[derive(Debug)]
pub struct TraceFile {
    pub(crate) name: String,
    pub(crate) source: Box<dyn Source>,
    pub(crate) log_file: LogFile,
    pub(crate) clock: Clock,
    pub(crate) format: BufferFormat,
    /// The number of the session.
    pub(crate) logger: u16,
    /// Sequence number and time stamp of its first buffer after the header buffer.
    pub(crate) first: Option<(i64, i64)>,
}

impl TraceFile {
    /// Reads the start of a file.
    ///
    /// # Errors
    ///
    /// The source fails, or is not a trace file.
    pub fn new(name: impl Into<String>, source: impl Source + 'static) -> Result<Self, Error> {
        let (name, source): (String, Box<dyn Source>) = (name.into(), Box::new(source));
        let failed = |error| Error::new(&name, error);
        let mut reader = Reader::new(Sequential::new(&*source)).map_err(failed)?;
        let (log_file, clock, format) = (reader.log_file().clone(), *reader.clock(), reader.format());
        let (mut logger, mut first) = (None, None);
        while first.is_none()
            && let Some(buffer) = reader.next_buffer().map_err(failed)?
        {
            let Ok(decoded) = buffer else { continue };
            let header = decoded.buffer().header();
            match logger {
                None => logger = Some(header.logger),
                Some(_) => first = Some((header.sequence, header.time_stamp)),
            }
        }
        drop(reader);
        Ok(Self { name, source, log_file, clock, format, logger: logger.unwrap_or_default(), first })
    }

    /// The name of the file, as it was given.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Properties from the log file header.
    #[must_use]
    pub fn log_file(&self) -> &LogFile {
        &self.log_file
    }

    /// The clock that converts time stamps to system time.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Size in bytes, when the file was opened.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.source.length()
    }
}
