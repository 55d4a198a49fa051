//! Conversion of a session's buffers in memory to a trace file.

use crate::buffer::{Buffer, State};
use crate::finding::{FindingKind, Place};
use crate::kernel::Time;
use crate::memory::Memory;
use crate::session::Session;
use crate::walk::Walk;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use etw_layouts::constants::LOG_FILE_MODE;
use etw_layouts::members::{TRACE_LOGFILE_HEADER as HEADER, WMI_LOGGER_CONTEXT as LOGGER};
use etw_layouts::structures;
use etw_layouts_etl::wire::Generation;
use etw_layouts_etl::write::{self, FileWriter, Producer};
use etw_layouts_etl::{BufferHeader, ClockType, Event, Events, LogFile};
use std::io::{Cursor, Seek, Write};

/// Selection of the buffers to save.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Which {
    /// Buffers with events that have not been written out: all that are not free.
    #[default]
    Pending,
    /// All buffers. Free ones contain events that were already written out, until they are reused: for a session with a log file,
    /// these duplicate part of the file.
    All,
}

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
pub enum Error {
    /// The rate of the session's clock is unknown: set it with [`Kernel::with_time`](crate::Kernel::with_time), or add the
    /// address of the global variable.
    Rate(ClockType),
    /// Data of the session that the header needs could not be read.
    Session(&'static str),
    /// The writer returned an error.
    Write(write::Error),
}

/// The events of a buffer.
struct Found {
    processor: u16,
    /// The first time stamp, the sort key of the buffers.
    first: Option<i64>,
    sequence: i64,
    bytes: Vec<u8>,
}

impl<M: Memory + ?Sized> Walk<'_, M> {
    /// Writes a session's buffers to a trace file, in time order. The file header is derived from the session and its kernel:
    /// clock, boot time, processors and names.
    ///
    /// A buffer with a missing or corrupt end gives the events before it, and a finding. The file is never compressed, whatever
    /// the mode of the session. In 5.0, which stores no reference value of the clock, the session is assumed to start with its
    /// first event.
    ///
    /// # Errors
    ///
    /// Memory lacks data for the header, or writing fails.
    pub fn save<W: Write + Seek>(&mut self, session: &Session, which: Which, out: W) -> Result<SaveSummary, Error> {
        let build = self.kernel().build();
        let producer = Producer { build, arch: self.kernel().arch() };
        let generation = producer.generation();
        let buffers = self.buffers(session);
        let pending = buffers.iter().filter(|buffer| which == Which::All || buffer.state != State::Free);
        let mut found: Vec<Found> = pending.flat_map(|buffer| self.found(session, buffer, generation)).collect();
        found.sort_by_key(|found| (found.first, found.sequence));
        let log = self.header(session, &producer, &found)?;
        let clock = log.to_clock();
        let mut latest = log.start_stamp;
        let mut writer = open(out, producer, log)?;
        let mut saved = SaveSummary::default();
        for found in &found {
            let events: Vec<Event<'_>> = Events::in_memory(&found.bytes, generation).filter_map(Result::ok).collect();
            latest = events.iter().filter_map(Event::time_stamp).fold(latest, i64::max);
            (saved.buffers, saved.events) = (saved.buffers + 1, saved.events + events.len());
            writer.push_written(found.processor, events)?;
        }
        writer.finish(clock.system_time(latest))?;
        Ok(saved)
    }

    /// The events of a buffer; a compressed buffer can contain several buffers.
    fn found(&mut self, session: &Session, buffer: &Buffer, generation: Generation) -> Vec<Found> {
        let decoded = self.decoded_buffers(session, buffer, generation);
        decoded.into_iter().filter_map(|bytes| self.found_in(buffer, bytes, generation)).collect()
    }

    /// The events of a decompressed buffer; `None` if there are none.
    fn found_in(&mut self, buffer: &Buffer, bytes: Vec<u8>, generation: Generation) -> Option<Found> {
        let (mut first, mut count) = (None, 0);
        for event in Events::in_memory(&bytes, generation) {
            match event {
                Ok(event) => (first, count) = (first.or(event.time_stamp()), count + 1),
                Err(wrong) => {
                    let place = Place { structure: "WMI_BUFFER_HEADER", address: buffer.header.address(), member: "" };
                    self.find(place, FindingKind::Events(wrong.kind.to_string()));
                }
            }
        }
        let (mut processor, mut sequence) = (buffer.processor.unwrap_or(0), buffer.sequence.unwrap_or(0));
        if let Some(header) = BufferHeader::read(generation, &bytes).filter(|_| buffer.is_compressed()) {
            (processor, sequence) = (header.processor(), header.sequence);
        }
        (count > 0).then_some(Found { processor, first, sequence, bytes })
    }

    /// The log file header of a session.
    fn header(&mut self, session: &Session, producer: &Producer, found: &[Found]) -> Result<LogFile, Error> {
        let most = found.iter().map(|found| u32::from(found.processor) + 1).max().unwrap_or(1);
        // Without a stated clock, the default clock is used.
        let clock = session.clock.and_then(|clock| ClockType::of(clock.0)).unwrap_or(ClockType::PerfCounter);
        let started = found.iter().filter_map(|found| found.first).min().unwrap_or(0);
        let started = session.start_time.map(|time| (time, started));
        let (start_time, start_stamp) =
            session.reference.or(started).ok_or(Error::Session("the reference value of its clock"))?;
        let time = self.time(session);
        let rate = match clock {
            ClockType::PerfCounter => time.perf_frequency,
            ClockType::CpuCycle => time.cpu_mhz.map(i64::from),
            ClockType::SystemTime => Some(1),
        };
        rate.filter(|rate| *rate > 0).ok_or(Error::Rate(clock))?;
        let processors = time.processors.unwrap_or(1).max(most);
        Ok(LogFile {
            buffer_size: session.buffer_size.ok_or(Error::Session("the buffer size"))?,
            processors: processors.min(producer.most_processors()),
            mode: session.mode.map_or(0, |mode| mode.0 & !LOG_FILE_MODE::EVENT_TRACE_COMPRESSED_MODE.0),
            maximum_file_size: session.context.unsigned(LOGGER::MAXIMUM_FILE_SIZE).unwrap_or(0) as u32,
            events_lost: session.events_lost.unwrap_or(0),
            buffers_lost: session.buffers_lost.unwrap_or(0),
            timer_resolution: 0,
            clock: clock.value(),
            cpu_mhz: time.cpu_mhz.unwrap_or(0),
            perf_frequency: time.perf_frequency.unwrap_or(0),
            boot_time: time.boot_time.unwrap_or(0),
            start_time,
            start_stamp,
            logger_name: name(session.name.as_deref()),
            file_name: name(session.file.as_deref()),
            ..LogFile::new(producer)
        })
    }

    /// Properties of the computer's clocks and processors, from the caller, the kernel's global variables, or, up to 5.2, the
    /// file header that the session has prepared.
    pub fn time(&mut self, session: &Session) -> Time {
        let known = self.kernel().time();
        let at = session.context.unsigned(LOGGER::LOGGER_HEADER).map(|at| self.kernel().address(at)).filter(|at| !at.is_null());
        let header = at.and_then(|at| self.object(&structures::TRACE_LOGFILE_HEADER, at));
        let of_header = |token| header.as_ref().and_then(|header| header.quad(token));
        let mhz = header.as_ref().and_then(|header| header.unsigned(HEADER::CPU_SPEED_IN_M_HZ)).map(|mhz| mhz as i64);
        let processors = self.processors().map(|count| count as u32);
        let mut global = |name, size| self.integer(self.kernel().global(name)?, size).map(|value| value as i64);
        let of_global = global("EtwCPUSpeedInMHz", 4).or(mhz).and_then(|mhz| u32::try_from(mhz).ok());
        Time {
            perf_frequency: known.perf_frequency.or_else(|| global("EtwPerfFreq", 8)).or(of_header(HEADER::PERF_FREQ)),
            boot_time: known.boot_time.or_else(|| global("EtwpBootTime", 8)).or(of_header(HEADER::BOOT_TIME)),
            cpu_mhz: known.cpu_mhz.or(of_global),
            processors,
        }
    }
}

/// Creates the file. If the names do not fit into the header buffer, they are omitted.
fn open<W: Write + Seek>(out: W, producer: Producer, log: LogFile) -> Result<FileWriter<W>, Error> {
    let fits = !matches!(
        FileWriter::new(Cursor::new(Vec::new()), producer, log.clone()),
        Err(write::Error::Full { .. } | write::Error::Length(_))
    );
    let log = if fits { log } else { LogFile { logger_name: String::new(), file_name: String::new(), ..log } };
    Ok(FileWriter::new(out, producer, log)?)
}

/// A name without characters that a file cannot have.
fn name(name: Option<&str>) -> String {
    name.unwrap_or_default().split('\0').next().unwrap_or_default().into()
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rate(clock) => {
                write!(f, "unknown rate of the session's clock, {clock:?}; give its rate")
            }
            Self::Session(what) => write!(f, "cannot read {what} of the session"),
            Self::Write(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for Error {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Write(error) => Some(error),
            _ => None,
        }
    }
}

impl From<write::Error> for Error {
    fn from(error: write::Error) -> Self {
        Self::Write(error)
    }
}
