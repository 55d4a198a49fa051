//! Sessions of a memory dump, as found by a walk.

use crate::pages::PAGE;
use crate::session::{Buffer, Clocks, DumpSession};
use crate::source::Source;
use crate::system::MemoryDump;
use etw_layouts_etl::wire::{BUFFER_HEADER, EVENT_TRACE_CLOCK, LOG_FILE_MODE};
use etw_layouts_etl::write::Producer;
use etw_layouts_etl::{BufferHeader, ClockType, Events};
use etw_layouts_memory::salvage::Which;
use etw_layouts_memory::{self as memory, FindingKind, Place, State, Walk};
use std::borrow::Cow;

/// Minimum allowance for buffers of any dump, in bytes.
const ROOM: u64 = 16 << 20;

impl<S: Source> MemoryDump<S> {
    /// Sessions that a walk through this dump found, with the events in their buffers. Faults of buffers become diagnostics of
    /// the walk.
    ///
    /// For buffers that `which` excludes, only the header is read.
    pub fn sessions(&self, walk: &mut Walk<'_, Self>, sessions: &[memory::Session], which: Which) -> Vec<DumpSession<'static>> {
        // Buffers do not overlap: their total size hardly exceeds that of memory, some of which may not be in the dump.
        let mut left = (self.pages() * PAGE).saturating_mul(2).saturating_add(ROOM);
        sessions.iter().map(|session| self.session(walk, session, which, &mut left)).collect()
    }

    fn session(
        &self,
        walk: &mut Walk<'_, Self>,
        session: &memory::Session,
        which: Which,
        left: &mut u64,
    ) -> DumpSession<'static> {
        let producer = Producer { build: walk.kernel().build(), arch: walk.kernel().arch() };
        let listed = walk.buffers(session);
        let place = Place { structure: "WMI_LOGGER_CONTEXT", address: session.context.address(), member: "GlobalList" };
        let mut buffers = Vec::new();
        for buffer in listed {
            let size = session.buffer_size.unwrap_or(0).into();
            let Some(after) = left.checked_sub(size) else {
                walk.find(place, FindingKind::Limit(buffers.len() as u64));
                break;
            };
            *left = after;
            let (address, is_compressed) = (buffer.header.address(), buffer.is_compressed());
            let mut decoded = walk.decoded_buffers(session, &buffer, producer.generation());
            if decoded.is_empty() {
                // A buffer that cannot be decompressed is counted, but has no events.
                let mut header = vec![0; BUFFER_HEADER];
                walk.read(address, &mut header);
                decoded.push(header);
            }
            for mut bytes in decoded {
                let Some(header) = BufferHeader::read(producer.generation(), &bytes) else { continue };
                // The size of an uncompressed buffer is already subtracted.
                let more = if is_compressed { bytes.len() as u64 } else { 0 };
                let Some(after) = left.checked_sub(more) else {
                    walk.find(place, FindingKind::Limit(buffers.len() as u64));
                    break;
                };
                *left = after;
                if which == Which::Pending && buffer.state == State::Free {
                    bytes.truncate(BUFFER_HEADER);
                }
                let starts = (0..bytes.len() as u64).step_by(PAGE as usize);
                let pages: Vec<u64> = starts.filter_map(|at| self.offset(address.plus(at)?)).collect();
                buffers.push(Buffer {
                    header,
                    processor: if is_compressed { header.processor() } else { buffer.processor.unwrap_or(0) },
                    offset: pages.first().copied().unwrap_or(0),
                    address: Some(address),
                    bytes: Cow::Owned(bytes),
                    is_compressed,
                    pages,
                });
            }
        }
        let time = walk.time(session);
        let clock = session.clock.map_or(EVENT_TRACE_CLOCK(ClockType::PerfCounter.value()), |clock| EVENT_TRACE_CLOCK(clock.0));
        let rate = match ClockType::of(clock.0).unwrap_or(ClockType::PerfCounter) {
            ClockType::PerfCounter => time.perf_frequency,
            ClockType::CpuCycle => time.cpu_mhz.map(i64::from),
            ClockType::SystemTime => Some(1),
        };
        let first = || {
            let events = buffers.iter().flat_map(|buffer| Events::in_memory(&buffer.bytes, producer.generation()));
            events.filter_map(|event| event.ok()?.time_stamp()).min().unwrap_or(0)
        };
        // 5.0 stores no reference value of its clock: the session is assumed to start with its first event.
        let reference = session.reference.unwrap_or_else(|| (session.start_time.unwrap_or(0), first()));
        DumpSession {
            name: session.name.clone().unwrap_or_default(),
            logger_id: session.number,
            mode: session.mode.map_or(LOG_FILE_MODE(0), |mode| LOG_FILE_MODE(mode.0)),
            clock,
            buffer_size: session.buffer_size.unwrap_or(0),
            start_time: session.start_time.unwrap_or(0),
            reference,
            offset: self.offset(session.context.address()).unwrap_or(0),
            buffers,
            clocks: Clocks {
                timer_resolution: 0,
                cpu_mhz: time.cpu_mhz.unwrap_or(0),
                boot_time: time.boot_time.unwrap_or(0),
                perf_frequency: time.perf_frequency.unwrap_or(0),
            },
            has_rate: rate.is_some_and(|rate| rate > 0),
            file: session.file.clone().unwrap_or_default(),
            events_lost: session.events_lost.unwrap_or(0),
            buffers_lost: session.buffers_lost.unwrap_or(0),
            producer,
            processors: time.processors.unwrap_or(1),
            stopped: self.header().time,
        }
    }
}
