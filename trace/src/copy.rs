//! Copies events of a trace to a new trace file.

use crate::error::Error;
use crate::event::Event;
use crate::trace::Trace;
use etw_layouts_etl::wire::BUFFER_HEADER;
use etw_layouts_etl::write::{self, Relog};
use etw_layouts_etl::{Buffer, BufferHeader, Filter};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io::{Seek, Write};

/// What was copied from a file.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Copied {
    /// Events of the file, without its log file header.
    pub read: u64,
    /// Matching events that were copied.
    pub matching: u64,
    /// Events that were copied because the matching ones need them.
    pub needed: u64,
    /// Number of events that could not be copied, by reason.
    pub skipped: BTreeMap<String, u64>,
    /// Number of buffers with the same header as a buffer of another file, by the index of that file: their events are copied twice.
    pub repeated: BTreeMap<usize, u64>,
}

/// Error of [`Trace::copy`].
#[derive(Debug)]
pub enum CopyError {
    /// The trace cannot be read.
    Read(Error),
    /// The new file cannot be written.
    Write(write::Error),
}

impl Trace {
    /// Copies the events that match the filter of their file, in the order of buffers. With `needs`, also the events that these need, see [`Trace::needs`].
    /// Returns the counts of each file. An event that cannot be written is counted and left out.
    ///
    /// # Errors
    ///
    /// The trace cannot be read, or changed since it was opened; or the new file cannot be written.
    pub fn copy<W: Write + Seek>(&self, filters: &[Filter], needs: bool, relog: &mut Relog<W>) -> Result<Vec<Copied>, CopyError> {
        let is_match = |event: &Event<'_>| filters.get(event.file_index()).is_none_or(|filter| event.matches(filter));
        let needs = if needs { Some(self.needs(is_match)?) } else { None };
        let mut copied = vec![Copied::default(); self.files.len()];
        let mut repeated = RepeatedBuffers::default();
        let mut buffers = self.buffers();
        while let Some((file, decoded)) = buffers.next_buffer()? {
            let (buffer, copied) = (decoded.buffer(), &mut copied[file]);
            let (processor, mut tick) = (buffer.header().processor(), buffer.header().time_stamp);
            if self.files.len() > 1
                && let Some(known) = repeated.add(file, buffer)
            {
                *copied.repeated.entry(known).or_default() += 1;
            }
            // Corrupt events were reported in the first pass.
            for event in decoded.events().flatten() {
                // The log file header is counted separately, because a corrupt buffer can hide it.
                let is_log_file = buffer.index() == 0 && event.offset() as usize == BUFFER_HEADER;
                copied.read += u64::from(!is_log_file);
                tick = event.time_stamp().unwrap_or(tick);
                let is_match = filters.get(file).is_none_or(|filter| self.matches(filter, file, &event, processor, tick));
                if !is_match {
                    let is_needed = needs.as_ref().map(|needs| needs.contains(file, buffer.index(), &event)).transpose();
                    let is_needed = is_needed.map_err(|error| Error::new(&self.files[file].name, error))?;
                    if is_needed != Some(true) {
                        continue;
                    }
                }
                match relog.push(&event, buffer) {
                    Ok(is_added) if is_match => copied.matching += u64::from(is_added),
                    Ok(is_added) => copied.needed += u64::from(is_added),
                    Err(error @ (write::Error::Io(_) | write::Error::Failed)) => return Err(CopyError::Write(error)),
                    // A corrupt or handmade file can have a version that no Windows release has.
                    Err(error) => *copied.skipped.entry(error.to_string()).or_default() += 1,
                }
            }
        }
        Ok(copied)
    }
}

/// Finds buffers that several files have.
#[derive(Default)]
struct RepeatedBuffers {
    /// The first file with a buffer, by properties that buffers of different contents do not share.
    first: HashMap<(i64, i64, u16, u16, u32, u32), usize>,
}

impl RepeatedBuffers {
    /// Adds a buffer of a file; returns the other file that has it.
    fn add(&mut self, file: usize, buffer: &Buffer<'_>) -> Option<usize> {
        let BufferHeader { time_stamp, sequence, context, logger, offset, size, .. } = *buffer.header();
        let known = *self.first.entry((time_stamp, sequence, context, logger, offset, size)).or_insert(file);
        (known != file && buffer.index() > 0).then_some(known)
    }
}

impl From<Error> for CopyError {
    fn from(error: Error) -> Self {
        Self::Read(error)
    }
}

impl fmt::Display for CopyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => error.fmt(f),
            Self::Write(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CopyError {}
