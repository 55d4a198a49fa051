//! Search for trace buffers in the memory of a dump, by their headers.

use crate::dump::Dump;
use crate::pages::PAGE;
use crate::session::{Buffer, DumpSession};
use etw_layouts_etl::write::Producer;
use etw_layouts_etl::{BufferHeader, Events};
use etw_layouts_memory::Address;
use std::collections::BTreeMap;

/// A trace buffer in a dump's memory.
#[derive(Clone, Copy, Debug)]
pub struct TraceBuffer<'a> {
    /// Address of the buffer.
    pub address: Address,
    /// Its header.
    pub header: BufferHeader,
    /// Bytes up to the end of the last event, header included; fewer if the dump lacks some.
    pub bytes: &'a [u8],
    /// Whether the dump contains all bytes up to that end.
    pub is_complete: bool,
    /// Number of events.
    pub events: usize,
}

/// Limit of the bytes walked, as a multiple of the size of memory. It applies only if many pages resemble buffers.
const WALKS: u64 = 16;

impl Dump<'_> {
    /// Searches memory for trace buffers, in address order: pages that begin with a consistent header, followed by complete
    /// events up to the valid end. Compressed buffers are not found.
    pub fn trace_buffers(&self) -> Vec<TraceBuffer<'_>> {
        let producer = Producer { build: self.header().build, arch: self.header().arch };
        let mut found = Vec::new();
        let mut left = self.memory().bytes().saturating_mul(WALKS);
        for (start, bytes) in self.memory().iter() {
            // Buffers begin at pages.
            let skip = (PAGE - start.0 % PAGE) % PAGE;
            for at in (skip..bytes.len() as u64).step_by(PAGE as usize) {
                let rest = bytes.get(at as usize..).unwrap_or(&[]);
                let candidate = start.plus(at).and_then(|address| candidate(&producer, address, rest));
                let Some(candidate) = candidate else { continue };
                let Some(after) = left.checked_sub(candidate.bytes.len() as u64) else { return found };
                left = after;
                found.extend(walked(&producer, candidate));
            }
        }
        found
    }
}

impl Dump<'_> {
    /// The trace buffers in memory as sessions, by number. If the dump has data of the session, it provides name and clock;
    /// otherwise both are unknown, and events have no times.
    pub fn memory_sessions(&self) -> Vec<DumpSession<'_>> {
        let mut sessions: BTreeMap<u16, DumpSession<'_>> = BTreeMap::new();
        for found in self.trace_buffers() {
            let header = found.header;
            let offset = self.memory().offset(found.address).unwrap_or(0);
            let session = sessions.entry(header.logger).or_insert_with(|| {
                let known = self.sessions().iter().find(|session| session.logger_id == u32::from(header.logger));
                let unknown = || DumpSession::unknown(self.header(), header.logger, header.size, offset);
                known.map_or_else(unknown, |known| DumpSession {
                    log_file: known.log_file.clone(),
                    buffers: Vec::new(),
                    ..*known
                })
            });
            let processor = header.context & (session.producer.most_processors() - 1) as u16;
            session.buffers.push(Buffer {
                header,
                processor,
                offset,
                address: Some(found.address),
                bytes: found.bytes.into(),
                is_compressed: false,
                pages: Vec::new(),
                holes: Vec::new(),
            });
        }
        sessions.into_values().collect()
    }
}

/// The buffer at the start of the bytes, without its events, if its header is plausible.
fn candidate<'a>(producer: &Producer, address: Address, bytes: &'a [u8]) -> Option<TraceBuffer<'a>> {
    let header = BufferHeader::read(producer.generation(), bytes)?;
    let end = header.end_in_memory(producer)?;
    Some(TraceBuffer {
        address,
        header,
        bytes: &bytes[..bytes.len().min(end as usize)],
        is_complete: bytes.len() >= end as usize,
        events: 0,
    })
}

/// The buffer with its events; `None` if it has no events or an incomplete one, unless the dump truncates the last one.
fn walked<'a>(producer: &Producer, mut buffer: TraceBuffer<'a>) -> Option<TraceBuffer<'a>> {
    for event in Events::in_memory(buffer.bytes, producer.generation()) {
        match event {
            Ok(_) => buffer.events += 1,
            Err(_) if !buffer.is_complete => break,
            Err(_) => return None,
        }
    }
    (buffer.events > 0).then_some(buffer)
}
