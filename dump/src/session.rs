//! A session in a dump, and its buffers.

use crate::header::Header;
use crate::pages::PAGE;
use etw_layouts_etl::wire::{EVENT_TRACE_CLOCK, Generation, LOG_FILE_MODE};
use etw_layouts_etl::write::Producer;
use etw_layouts_etl::{Clock, ClockType, Events, Head};
use etw_layouts_memory::Address;
use std::borrow::Cow;

/// A session whose buffers are in a dump.
#[derive(Clone, Debug)]
pub struct Session<'a> {
    /// Its name.
    pub name: String,
    /// Its number.
    pub logger_id: u32,
    /// How it logs.
    pub mode: LOG_FILE_MODE,
    /// Its clock.
    pub clock: EVENT_TRACE_CLOCK,
    /// Bytes of its buffers in memory.
    pub buffer_size: u32,
    /// When it began, in units of 100 ns since 1601; 0 if that is not known.
    pub start_time: i64,
    /// One moment as the system time and as its clock.
    pub reference: (i64, i64),
    /// Where it begins, in bytes from the start of the file.
    pub offset: u64,
    /// Its buffers, in the order in which they lie in the dump.
    pub buffers: Vec<Buffer<'a>>,
    /// What the clocks of all sessions need.
    pub clocks: Clocks,
    /// Whether it is known how fast its clock ticks. Where it is not, its events have no times.
    pub has_rate: bool,
    /// Its log file, where that is told.
    pub file: String,
    /// Events that it lost, where that is told.
    pub events_lost: u32,
    /// Buffers that it could not write, where that is told.
    pub buffers_lost: u32,
    /// Who wrote it.
    pub(crate) producer: Producer,
    /// How many processors there were.
    pub(crate) processors: u32,
    /// When the system stopped.
    pub(crate) stopped: Option<i64>,
}

/// What a dump tells of its system's clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clocks {
    /// In units of 100 ns.
    pub timer_resolution: u32,
    /// The rate of the processor.
    pub cpu_mhz: u32,
    /// System time in units of 100 ns since 1601.
    pub boot_time: i64,
    /// Ticks a second of the performance counter.
    pub perf_frequency: i64,
}

/// A buffer in a dump.
#[derive(Clone, Debug)]
pub struct Buffer<'a> {
    /// Its header.
    pub head: Head,
    /// The processor that wrote its events.
    pub processor: u16,
    /// Where it begins, in bytes from the start of the file.
    pub offset: u64,
    /// Where it was in memory; `None` of what the kernel has copied behind the dump.
    pub address: Option<Address>,
    /// Its bytes up to the valid end, header included; fewer if the dump has fewer.
    pub bytes: Cow<'a, [u8]>,
    /// Whether it is compressed in the dump. Its bytes are decompressed; if that failed, there is no more of them than the header.
    pub is_compressed: bool,
    /// Where each page of it is in the file; none if all lie one behind the other.
    pub(crate) pages: Vec<u64>,
}

impl Session<'_> {
    /// A session of which no more than this is known.
    pub(crate) fn unknown(header: &Header, number: u16, buffer_size: u32, offset: u64) -> Self {
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

    /// Whether it is known at which system time its clock had which value, which a clock that is the system time need not tell. Where it is
    /// not, its events have no times.
    pub fn has_reference(&self) -> bool {
        self.reference.0 > 0 || self.clock_type() == ClockType::SystemTime
    }

    /// What turns the stamps of its events into system time.
    pub fn to_clock(&self) -> Clock {
        let (time, stamp) = if self.reference.0 > 0 { self.reference } else { (0, 0) };
        Clock::new(self.clock_type(), time, stamp, self.clocks.perf_frequency, self.clocks.cpu_mhz)
    }

    /// Its clock. A value without meaning is taken for the performance counter.
    pub fn clock_type(&self) -> ClockType {
        ClockType::of(self.clock.0).unwrap_or(ClockType::PerfCounter)
    }

    /// How many of its buffers have no events, but for compressed ones.
    pub fn empty_buffers(&self) -> usize {
        self.buffers.iter().filter(|buffer| buffer.is_empty() && !buffer.is_compressed).count()
    }

    /// How many of its buffers are compressed in the dump.
    pub fn compressed_buffers(&self) -> usize {
        self.buffers.iter().filter(|buffer| buffer.is_compressed).count()
    }
}

impl Buffer<'_> {
    /// Whether it has no events.
    pub fn is_empty(&self) -> bool {
        self.bytes.len() <= etw_layouts_etl::wire::BUFFER_HEADER
    }

    /// Its events, in its order; offsets are from the start of the buffer.
    pub fn events(&self, generation: Generation) -> Events<'_> {
        Events::in_memory(&self.bytes, generation)
    }

    /// Where something in it is, in bytes from the start of the file. Of what is compressed, that is where the buffer begins.
    pub fn place(&self, within: u32) -> u64 {
        if self.is_compressed {
            return self.offset;
        }
        let (page, rest) = (u64::from(within) / PAGE, u64::from(within) % PAGE);
        let in_page = usize::try_from(page).ok().and_then(|page| self.pages.get(page));
        in_page.map_or(self.offset + u64::from(within), |page| page + rest)
    }
}
