//! The blob of ETW in the secondary data: sessions, and the buffers of each.

use crate::finding::{Finding, What, find};
use crate::header::Header;
use crate::secondary::Blob;
use crate::session::{Buffer, Clocks, Session};
use crate::wire::{ETW_DUMP_HEADER, ETW_DUMP_SESSION, view};
use etw_layouts_etl::wire::{BUFFER_HEADER, quad};
use etw_layouts_etl::write::Producer;
use etw_layouts_etl::{ClockType, Guid, Head};
use etw_layouts_memory::compressed::unpack;

/// The tag of the blob.
pub const ETW_TAG: Guid = Guid(0x2b88b710_1c93_4f7c_b06c_655ecc50decc);

/// What a session begins with. No buffer is so large that it could begin with it.
const SIGNATURE: u32 = 0x01EB_AFE1;

/// Compressed buffers become no more than so many times the bytes of the blob.
const EXPANSION: u64 = 16;

/// The sessions of a blob, in its order.
pub(crate) fn sessions<'a>(blob: &Blob<'a>, header: &Header, findings: &mut Vec<Finding>) -> Vec<Session<'a>> {
    let Some(first) = view::<ETW_DUMP_HEADER>(blob.data, 0) else {
        let (size, there) = (size_of::<ETW_DUMP_HEADER>() as u64, blob.data.len() as u64);
        find(findings, blob.offset, What::Truncated { what: "the header of ETW's blob", size, there });
        return Vec::new();
    };
    let clocks = Clocks {
        timer_resolution: first.TimerResolution,
        cpu_mhz: first.CpuSpeedInMHz,
        boot_time: quad(first.BootTime),
        perf_frequency: quad(first.PerfFreq),
    };
    let producer = Producer { build: header.build, arch: header.arch };
    let room = (blob.data.len() as u64).saturating_mul(EXPANSION);
    let mut walk = Walk { blob, at: size_of_val(&first), producer, room, findings };
    let mut sessions = Vec::new();
    while walk.at < blob.data.len() {
        let Some(session) = walk.session(header, clocks) else {
            walk.resume();
            continue;
        };
        sessions.push(session);
    }
    sessions
}

struct Walk<'b, 'a> {
    blob: &'b Blob<'a>,
    at: usize,
    producer: Producer,
    /// How many bytes compressed buffers may still become.
    room: u64,
    findings: &'b mut Vec<Finding>,
}

impl<'a> Walk<'_, 'a> {
    fn find(&mut self, what: What) {
        find(self.findings, self.blob.offset + self.at as u64, what);
    }

    fn rest(&self) -> &'a [u8] {
        self.blob.data.get(self.at..).unwrap_or(&[])
    }

    /// Goes to the next session after something that is none, or to the end.
    fn resume(&mut self) {
        self.at = self.at.saturating_add(4);
        self.at = self.at.saturating_add(next(self.rest()));
    }

    /// The session here and its buffers; `None` if there is none.
    fn session(&mut self, header: &Header, clocks: Clocks) -> Option<Session<'a>> {
        let offset = self.blob.offset + self.at as u64;
        let truncated = |size: usize, there: usize| What::Truncated { what: "a session", size: size as u64, there: there as u64 };
        let rest = self.rest();
        let Some(head) = view::<ETW_DUMP_SESSION>(rest, 0) else {
            self.find(truncated(size_of::<ETW_DUMP_SESSION>(), rest.len()));
            return None;
        };
        if head.Signature != SIGNATURE {
            self.find(What::NoSession(head.Signature));
            return None;
        }
        let start = size_of_val(&head);
        let name = rest.get(start..).and_then(|rest| rest.get(..head.NameLength as usize));
        let size = start.saturating_add((head.NameLength as usize).saturating_mul(2));
        let Some(name) = name.filter(|_| size <= rest.len()) else {
            self.find(truncated(size, rest.len()));
            return None;
        };
        if ClockType::of(head.ClockType.0).is_none() {
            self.find(What::Clock(head.ClockType.0));
        }
        let units: Vec<u16> = name.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]])).collect();
        self.at += size;
        let reference = (quad(head.ReferenceTime.StartTime), quad(head.ReferenceTime.StartPerfClock));
        let mut session = Session {
            name: String::from_utf16_lossy(&units),
            logger_id: head.LoggerId,
            mode: head.LoggerMode,
            clock: head.ClockType,
            buffer_size: head.BufferSize,
            start_time: quad(head.StartTime),
            reference,
            offset,
            buffers: Vec::new(),
            clocks,
            has_rate: true,
            file: String::new(),
            events_lost: 0,
            buffers_lost: 0,
            producer: self.producer,
            processors: header.processors,
            stopped: header.time,
        };
        while !self.rest().is_empty() && !self.rest().starts_with(&SIGNATURE.to_le_bytes()) {
            match self.buffer(&session) {
                Some(buffer) => session.buffers.push(buffer),
                None => self.resume(),
            }
        }
        Some(session)
    }

    /// The buffer here; `None` if there is none.
    fn buffer(&mut self, session: &Session<'_>) -> Option<Buffer<'a>> {
        let rest = self.rest();
        let truncated = |size: usize, there: usize| What::Truncated { what: "a buffer", size: size as u64, there: there as u64 };
        let Some(head) = Head::read(self.producer.generation(), rest) else {
            self.find(truncated(BUFFER_HEADER, rest.len()));
            return None;
        };
        // Of a compressed one, the size is what it takes here, and the valid end that of what it becomes.
        let is_compressed = head.is_compressed();
        let end = if is_compressed { head.size } else { head.offset } as usize;
        let largest = if is_compressed { session.buffer_size } else { session.buffer_size.max(head.size) };
        if end < BUFFER_HEADER || end > largest as usize {
            self.find(What::Offset(end as u32));
            return None;
        }
        if head.size != session.buffer_size && !is_compressed {
            self.find(What::BufferSize { session: session.buffer_size, buffer: head.size });
        }
        if u32::from(head.logger) != session.logger_id {
            self.find(What::Logger { session: session.logger_id, buffer: head.logger });
        }
        let bytes = match rest.get(..end) {
            Some(bytes) => bytes,
            None => {
                self.find(truncated(end, rest.len()));
                &rest[..BUFFER_HEADER + next(&rest[BUFFER_HEADER..])]
            }
        };
        let offset = self.blob.offset + self.at as u64;
        self.at += bytes.len();
        let processor = head.context & (self.producer.most_processors() - 1) as u16;
        let bytes = if is_compressed { self.unpacked(session, bytes, offset).into() } else { bytes.into() };
        Some(Buffer { head, processor, offset, address: None, bytes, is_compressed, pages: Vec::new() })
    }

    /// What a compressed buffer becomes; its header alone, if that is more than the whole blob may become.
    fn unpacked(&mut self, session: &Session<'_>, bytes: &[u8], offset: u64) -> Vec<u8> {
        let most = self.room;
        let unpacked = unpack(bytes, session.buffer_size, most, self.producer.generation());
        if let Some(why) = unpacked.fault.or_else(|| unpacked.buffers.is_empty().then(|| "its header is not that of one".into()))
        {
            find(self.findings, offset, What::Compressed(why));
        }
        let image = unpacked.buffers.into_iter().next().unwrap_or_else(|| bytes[..BUFFER_HEADER.min(bytes.len())].to_vec());
        self.room = self.room.saturating_sub(image.len() as u64);
        image
    }
}

/// How far it is to the next session, or to the end.
fn next(rest: &[u8]) -> usize {
    let signature = SIGNATURE.to_le_bytes();
    rest.windows(signature.len()).position(|window| window == signature).unwrap_or(rest.len())
}
