//! The first pass over a trace: its buffers with their times, the computer, and the names of processes.

use crate::processes::ProcessNames;
use etw_layouts_etl::processes::Processes;
use etw_layouts_etl::{Clock, DecodedBuffer, Diagnostic, Event, LogFile, Reader, Schemas};
use std::io::{self, Read};

/// The result of the first pass over a trace. With it, the second pass reads events in any order, with memory that does not depend on the size of
/// the trace.
#[derive(Clone, Debug)]
pub struct Index {
    log_file: LogFile,
    pub(crate) buffers: Vec<Entry>,
    events: u64,
    host: Option<String>,
    pub(crate) processes: ProcessNames,
}

/// A buffer of the trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// Index within the file, from 0.
    pub index: u32,
    /// Offset within the file, in bytes.
    pub offset: u64,
    /// Size in the file, in bytes.
    pub length: u32,
    /// Size in memory, in bytes.
    pub decoded: u32,
    /// The earliest and the latest [key](keyed) of its events.
    pub keys: (i64, i64),
}

/// The place of an event in its trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// Index of its buffer within the file, from 0.
    pub buffer: u32,
    /// Offset of its buffer within the file, in bytes.
    pub buffer_offset: u64,
    /// Offset of the event within the decompressed buffer, in bytes.
    pub offset: u32,
    /// The processor that wrote it.
    pub processor: u16,
}

impl Place {
    pub(crate) fn of(buffer: &DecodedBuffer<'_>, entry: (u32, u64), event: &Event<'_>) -> Self {
        let processor = buffer.buffer().header().processor();
        Self { buffer: entry.0, buffer_offset: entry.1, offset: event.offset(), processor }
    }

    /// A number that identifies the event in its trace: the buffer in the high half, the offset in the low half. It increases in file order.
    pub fn sequence(self) -> u64 {
        u64::from(self.buffer) << 32 | u64::from(self.offset)
    }
}

/// An item of the first pass.
#[derive(Debug)]
pub enum Seen<'a> {
    /// An event.
    Event(&'a Event<'a>, Place),
    /// A diagnostic of the file.
    Diagnostic(Diagnostic),
}

/// Maximum number of process events that are kept.
const MOST_PROCESSES: usize = 1 << 17;

impl Index {
    /// Reads a trace to its end. `see` is called for each event and each diagnostic, in file order: to collect the schemas in the trace,
    /// or to count.
    ///
    /// # Errors
    ///
    /// The source fails, or is not a trace file. In the second case, the error has the kind `InvalidData`.
    pub fn read(source: impl Read, mut see: impl FnMut(Seen<'_>)) -> io::Result<Self> {
        let mut reader = Reader::new(source)?;
        let (log_file, clock) = (reader.log_file().clone(), *reader.clock());
        let (mut buffers, mut events, mut found) = (Vec::new(), 0, Found::default());
        while let Some(buffer) = reader.next_buffer()? {
            let decoded = match buffer {
                Ok(decoded) => decoded,
                Err(diagnostic) => {
                    see(Seen::Diagnostic(diagnostic));
                    continue;
                }
            };
            let buffer = decoded.buffer();
            let at = (buffer.index(), buffer.offset());
            let mut entry = Entry {
                index: at.0,
                offset: at.1,
                length: buffer.bytes().len() as u32,
                decoded: decoded.bytes().len() as u32,
                keys: (i64::MAX, i64::MIN),
            };
            for item in keyed(&decoded) {
                match item {
                    Ok((key, event)) => {
                        events += 1;
                        entry.keys = (entry.keys.0.min(key), entry.keys.1.max(key));
                        found.add(&event, key, &clock);
                        see(Seen::Event(&event, Place::of(&decoded, at, &event)));
                    }
                    Err(diagnostic) => see(Seen::Diagnostic(diagnostic)),
                }
            }
            let is_empty = entry.keys.0 > entry.keys.1;
            if is_empty {
                entry.keys = (decoded.buffer().header().time_stamp, decoded.buffer().header().time_stamp);
            }
            // The second pass needs the first buffer, because its log file header describes all others.
            if !is_empty || entry.offset == 0 {
                buffers.push(entry);
            }
        }
        let Found { processes, host, .. } = found;
        Ok(Self { log_file, buffers, events, host, processes: ProcessNames::new(processes.finish()) })
    }

    /// Properties from the log file header.
    pub fn log_file(&self) -> &LogFile {
        &self.log_file
    }

    /// Number of events.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Name of the computer, which the system configuration in kernel traces states.
    pub fn host(&self) -> Option<&str> {
        self.host.as_deref()
    }
}

/// The events of a buffer, each with its key for time order: its time stamp, or that of the previous event if it has none.
pub(crate) fn keyed<'s>(buffer: &DecodedBuffer<'s>) -> impl Iterator<Item = Result<(i64, Event<'s>), Diagnostic>> + use<'s> {
    let mut last = buffer.buffer().header().time_stamp;
    buffer.events().map(move |event| {
        let event = event?;
        last = event.time_stamp().unwrap_or(last);
        Ok((last, event))
    })
}

/// Properties of the computer, from events.
#[derive(Default)]
struct Found {
    processes: Processes,
    kept: usize,
    host: Option<String>,
}

impl Found {
    fn add(&mut self, event: &Event<'_>, stamp: i64, clock: &Clock) {
        // Start, end, rundown and configuration events of the kernel have low event types.
        if !matches!(event.opcode(), Some(1..=4 | 10 | 39)) {
            return;
        }
        let Some(decoded) = event.decode(Schemas::BUILT_IN) else { return };
        match (decoded.schema.provider, decoded.schema.event) {
            ("Process", "Start" | "End" | "DCStart" | "DCEnd" | "Defunct") if self.kept < MOST_PROCESSES => {
                self.kept += 1;
                // A payload that cannot be decoded is reported when its event is read.
                let _ = self.processes.add(event, clock.system_time(stamp));
            }
            ("SystemConfig", "CPU") if self.host.is_none() => {
                self.host = decoded.get("ComputerName").map(|name| name.to_string()).filter(|name| !name.is_empty());
            }
            _ => {}
        }
    }
}
