//! A session and its buffers.

use crate::header::DumpHeader;
use crate::pages::PAGE;
use etw_layouts_etl::wire::{BUFFER_HEADER, Generation};
use etw_layouts_etl::write::Producer;
use etw_layouts_etl::{BufferHeader, Clock, ClockType, Event, Events, LogFile};
use etw_layouts_memory::Address;
use std::borrow::Cow;
use std::ops::Range;

/// A session with its buffers, as a dump or other memory contains them. [`save`](Self::save) writes it to a trace file.
#[derive(Clone, Debug)]
pub struct DumpSession<'a> {
    /// Properties of the session and of the computer's clocks, in the form of a trace file: name, mode, buffer size, clock and its
    /// reference point, numbers of lost events and buffers. 0 or empty where unknown.
    pub log_file: LogFile,
    /// Number of the session.
    pub logger_id: u32,
    /// Time when the session started, in units of 100 ns since 1601; 0 if unknown. The reference point of the clock can be another
    /// time.
    pub start_time: i64,
    /// File offset of the session, in bytes; its address if the memory is not a dump.
    pub offset: u64,
    /// The buffers, in the order of the dump.
    pub buffers: Vec<Buffer<'a>>,
    /// The Windows that wrote the events.
    pub producer: Producer,
    /// Time of the bug check.
    pub(crate) stopped: Option<i64>,
}

/// A buffer in a dump.
#[derive(Clone, Debug)]
pub struct Buffer<'a> {
    /// Its header.
    pub header: BufferHeader,
    /// The processor that wrote its events.
    pub processor: u16,
    /// File offset of the buffer, in bytes; its address if the memory is not a dump.
    pub offset: u64,
    /// Address in memory; `None` for buffers that the kernel appended to the dump.
    pub address: Option<Address>,
    /// Bytes up to the valid end, header included; zeros where bytes are missing.
    pub bytes: Cow<'a, [u8]>,
    /// Ranges of missing bytes, in order.
    pub holes: Vec<Range<usize>>,
    /// Whether the buffer is compressed in the dump. `bytes` are decompressed; if that failed, only the header.
    pub is_compressed: bool,
    /// File offset of each page of the buffer, `None` for a missing one; empty if the buffer is contiguous.
    pub(crate) pages: Vec<Option<u64>>,
}

impl DumpSession<'_> {
    /// A session with only these known properties.
    pub(crate) fn unknown(header: &DumpHeader, number: u16, buffer_size: u32, offset: u64) -> Self {
        let producer = Producer { build: header.build, arch: header.arch };
        Self {
            log_file: LogFile { buffer_size, processors: header.processors, clock: 0, ..unknown(&producer) },
            logger_id: number.into(),
            start_time: 0,
            offset,
            buffers: Vec::new(),
            producer,
            stopped: header.time,
        }
    }

    /// The name of the session; empty if unknown.
    pub fn name(&self) -> &str {
        &self.log_file.logger_name
    }

    /// Whether the rate of the clock is known. Otherwise events have no times.
    pub fn has_rate(&self) -> bool {
        self.log_file.has_clock_rate()
    }

    /// Whether the system time that corresponds to the clock is known, which is unnecessary for a clock of system time. Otherwise
    /// events have no times.
    pub fn has_reference(&self) -> bool {
        self.log_file.start_time > 0 || self.log_file.clock_type() == ClockType::SystemTime
    }

    /// The clock that converts time stamps of events to system time.
    pub fn to_clock(&self) -> Clock {
        let ((time, stamp), log) = (self.reference(), &self.log_file);
        Clock::new(log.clock_type(), time, stamp, log.perf_frequency, log.cpu_mhz)
    }

    /// The reference point of the clock: system time, and the value of the clock at that time. Both 0 if unknown.
    pub(crate) fn reference(&self) -> (i64, i64) {
        if self.log_file.start_time > 0 { (self.log_file.start_time, self.log_file.start_stamp) } else { (0, 0) }
    }

    /// Number of buffers without events, except for compressed ones.
    pub fn empty_buffers(&self) -> usize {
        self.buffers.iter().filter(|buffer| buffer.is_empty() && !buffer.is_compressed).count()
    }

    /// Number of buffers that are compressed in the dump.
    pub fn compressed_buffers(&self) -> usize {
        self.buffers.iter().filter(|buffer| buffer.is_compressed).count()
    }
}

/// The properties of an unknown session.
pub(crate) fn unknown(producer: &Producer) -> LogFile {
    LogFile { buffer_size: 0, timer_resolution: 0, perf_frequency: 0, ..LogFile::new(producer) }
}

impl Buffer<'_> {
    /// Whether the buffer has no events.
    pub fn is_empty(&self) -> bool {
        self.bytes.len() <= BUFFER_HEADER
    }

    /// The events in buffer order; offsets are from the start of the buffer. After missing bytes, they continue as [`Events::around`] states.
    pub fn events(&self, generation: Generation) -> impl Iterator<Item = Result<Event<'_>, etw_layouts_etl::Diagnostic>> {
        Events::around(&self.bytes, &self.holes, generation)
    }

    /// The events in buffer order with their sort keys: an event without a time stamp has the key of the event before it.
    pub(crate) fn keyed_events(
        &self,
        generation: Generation,
    ) -> impl Iterator<Item = Result<(i64, Event<'_>), etw_layouts_etl::Diagnostic>> {
        let mut last = i64::MIN;
        self.events(generation).map(move |event| {
            let event = event?;
            last = event.time_stamp().unwrap_or(last);
            Ok((last, event))
        })
    }

    /// File offset of a position in the buffer; for a compressed buffer, or a missing page, that of the buffer itself.
    pub fn place(&self, within: u32) -> u64 {
        if self.is_compressed {
            return self.offset;
        }
        let (page, rest) = (u64::from(within) / PAGE, u64::from(within) % PAGE);
        let in_page = usize::try_from(page).ok().and_then(|page| self.pages.get(page));
        match in_page {
            Some(page) => page.map_or(self.offset, |page| page + rest),
            None => self.offset + u64::from(within),
        }
    }
}
