//! A session in a dump, and its buffers.

use crate::header::DumpHeader;
use crate::pages::PAGE;
use etw_layouts_etl::wire::{EVENT_TRACE_CLOCK, Generation, LOG_FILE_MODE};
use etw_layouts_etl::write::Producer;
use etw_layouts_etl::{BufferHeader, Clock, ClockType, Events};
use etw_layouts_memory::Address;
use std::borrow::Cow;

/// A session whose buffers are in a dump.
#[derive(Clone, Debug)]
pub struct DumpSession<'a> {
    /// Its name.
    pub name: String,
    /// Number of the session.
    pub logger_id: u32,
    /// Logging mode.
    pub mode: LOG_FILE_MODE,
    /// Clock of the session.
    pub clock: EVENT_TRACE_CLOCK,
    /// Size of its buffers in memory, in bytes.
    pub buffer_size: u32,
    /// Start time, in units of 100 ns since 1601; 0 if unknown.
    pub start_time: i64,
    /// Reference point of the clock: system time, and the value of the clock at that time.
    pub reference: (i64, i64),
    /// File offset of the session, in bytes.
    pub offset: u64,
    /// The buffers, in the order of the dump.
    pub buffers: Vec<Buffer<'a>>,
    /// Clock properties, which are the same for all sessions.
    pub clocks: Clocks,
    /// Whether the rate of the clock is known. Otherwise events have no times.
    pub has_rate: bool,
    /// Name of the log file; empty if unknown.
    pub file: String,
    /// Number of lost events; 0 if unknown.
    pub events_lost: u32,
    /// Number of lost buffers; 0 if unknown.
    pub buffers_lost: u32,
    /// The Windows that wrote the events.
    pub producer: Producer,
    /// Number of processors.
    pub(crate) processors: u32,
    /// Time of the bug check.
    pub(crate) stopped: Option<i64>,
}

/// Clock properties of the system in a dump.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clocks {
    /// Resolution of the timer, in units of 100 ns.
    pub timer_resolution: u32,
    /// Rate of the processor, in MHz.
    pub cpu_mhz: u32,
    /// System time at boot, in units of 100 ns since 1601.
    pub boot_time: i64,
    /// Rate of the performance counter, in Hz.
    pub perf_frequency: i64,
}

/// A buffer in a dump.
#[derive(Clone, Debug)]
pub struct Buffer<'a> {
    /// Its header.
    pub header: BufferHeader,
    /// The processor that wrote its events.
    pub processor: u16,
    /// File offset of the buffer, in bytes.
    pub offset: u64,
    /// Address in memory; `None` for buffers that the kernel appended to the dump.
    pub address: Option<Address>,
    /// Bytes up to the valid end, header included; fewer if the dump lacks some.
    pub bytes: Cow<'a, [u8]>,
    /// Whether the buffer is compressed in the dump. `bytes` are decompressed; if that failed, only the header.
    pub is_compressed: bool,
    /// File offset of each page of the buffer; empty if the buffer is contiguous.
    pub(crate) pages: Vec<u64>,
}

impl DumpSession<'_> {
    /// A session with only these known properties.
    pub(crate) fn unknown(header: &DumpHeader, number: u16, buffer_size: u32, offset: u64) -> Self {
        Self {
            name: String::new(),
            logger_id: number.into(),
            mode: LOG_FILE_MODE(0),
            clock: EVENT_TRACE_CLOCK(0),
            buffer_size,
            start_time: 0,
            reference: (0, 0),
            offset,
            buffers: Vec::new(),
            clocks: Clocks::default(),
            has_rate: false,
            file: String::new(),
            events_lost: 0,
            buffers_lost: 0,
            producer: Producer { build: header.build, arch: header.arch },
            processors: header.processors,
            stopped: header.time,
        }
    }

    /// Whether the system time that corresponds to the clock is known, which is unnecessary for a clock of system time. Otherwise
    /// events have no times.
    pub fn has_reference(&self) -> bool {
        self.reference.0 > 0 || self.clock_type() == ClockType::SystemTime
    }

    /// The clock that converts time stamps of events to system time.
    pub fn to_clock(&self) -> Clock {
        let (time, stamp) = if self.reference.0 > 0 { self.reference } else { (0, 0) };
        Clock::new(self.clock_type(), time, stamp, self.clocks.perf_frequency, self.clocks.cpu_mhz)
    }

    /// Type of the clock. An invalid value is treated as the performance counter.
    pub fn clock_type(&self) -> ClockType {
        ClockType::of(self.clock.0).unwrap_or(ClockType::PerfCounter)
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

impl Buffer<'_> {
    /// Whether the buffer has no events.
    pub fn is_empty(&self) -> bool {
        self.bytes.len() <= etw_layouts_etl::wire::BUFFER_HEADER
    }

    /// The events in buffer order; offsets are from the start of the buffer.
    pub fn events(&self, generation: Generation) -> Events<'_> {
        Events::in_memory(&self.bytes, generation)
    }

    /// File offset of a position in the buffer; for a compressed buffer, that of the buffer itself.
    pub fn place(&self, within: u32) -> u64 {
        if self.is_compressed {
            return self.offset;
        }
        let (page, rest) = (u64::from(within) / PAGE, u64::from(within) % PAGE);
        let in_page = usize::try_from(page).ok().and_then(|page| self.pages.get(page));
        in_page.map_or(self.offset + u64::from(within), |page| page + rest)
    }
}
