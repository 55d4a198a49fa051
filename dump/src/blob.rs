//! The ETW block in the secondary data: sessions and their buffers.

use crate::compressed::unpack;
use crate::diagnostic::{Diagnostic, DiagnosticKind, report};
use crate::header::DumpHeader;
use crate::secondary::Blob;
use crate::session::{Buffer, DumpSession};
use crate::wire::{ETW_DUMP_HEADER, ETW_DUMP_SESSION, view};
use etw_layouts_etl::wire::{BUFFER_HEADER, quad};
use etw_layouts_etl::write::Producer;
use etw_layouts_etl::{BufferHeader, LogFile, Uuid};
use etw_layouts_memory::BufferBytes;

/// Tag of the ETW block.
pub const ETW_TAG: Uuid = Uuid::from_u128(0x2b88b710_1c93_4f7c_b06c_655ecc50decc);

/// Signature of a session. As a buffer size it would be too large, so that sessions and buffers can be distinguished.
const SIGNATURE: u32 = 0x01EB_AFE1;

/// Size of the name of a session, in bytes: Windows allows 1,024 characters.
const NAME: usize = 2048;

/// Maximum ratio of decompressed bytes to bytes of the block.
const EXPANSION: u64 = 16;

/// Whether this is the ETW block, by its tag or by the session in it.
pub(crate) fn is_own(blob: &Blob<'_>) -> bool {
    blob.tag == ETW_TAG || view(blob.data, size_of::<ETW_DUMP_HEADER>()) == Some(SIGNATURE)
}

/// The sessions of a block, in file order.
pub(crate) fn sessions(blob: &Blob<'_>, header: &DumpHeader, diagnostics: &mut Vec<Diagnostic>) -> Vec<DumpSession<'static>> {
    if blob.tag != ETW_TAG {
        report(diagnostics, blob.offset, DiagnosticKind::Tag(blob.tag));
    }
    let Some(first) = view::<ETW_DUMP_HEADER>(blob.data, 0) else {
        let (size, present) = (size_of::<ETW_DUMP_HEADER>() as u64, blob.data.len() as u64);
        report(
            diagnostics,
            blob.offset,
            DiagnosticKind::Truncated { part: "the header of ETW's secondary data block", size, present },
        );
        return Vec::new();
    };
    let producer = Producer { build: header.build, arch: header.arch };
    let common = LogFile {
        processors: header.processors,
        timer_resolution: first.TimerResolution,
        cpu_mhz: first.CpuSpeedInMHz,
        boot_time: quad(first.BootTime),
        perf_frequency: quad(first.PerfFreq),
        ..LogFile::new(&producer)
    };
    let room = (blob.data.len() as u64).saturating_mul(EXPANSION);
    let mut walk = Walk { blob, at: size_of_val(&first), producer, room, diagnostics };
    let mut sessions = Vec::new();
    while walk.at < blob.data.len() {
        let Some(session) = walk.session(header, &common) else {
            walk.resume(None);
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
    /// Number of decompressed bytes still allowed.
    room: u64,
    diagnostics: &'b mut Vec<Diagnostic>,
}

impl<'a> Walk<'_, 'a> {
    fn report(&mut self, kind: DiagnosticKind) {
        report(self.diagnostics, self.blob.offset + self.at as u64, kind);
    }

    fn rest(&self) -> &'a [u8] {
        self.blob.data.get(self.at..).unwrap_or(&[])
    }

    /// Recovers after bytes that are neither session nor buffer: continues with the next session, the next buffer of the current
    /// session, or the end.
    fn resume(&mut self, session: Option<&DumpSession<'_>>) {
        let rest = self.rest();
        let skipped = (4..rest.len()).find(|at| self.is_start(session, &rest[*at..])).unwrap_or(rest.len());
        self.report(DiagnosticKind::Skipped(skipped as u64));
        self.at += skipped;
    }

    /// Whether the bytes begin with a session, or with a buffer of the current session.
    fn is_start(&self, session: Option<&DumpSession<'_>>, bytes: &[u8]) -> bool {
        bytes.starts_with(&SIGNATURE.to_le_bytes()) || session.is_some_and(|session| self.is_buffer(session, bytes))
    }

    /// Whether the bytes certainly begin with a buffer of the session.
    fn is_buffer(&self, session: &DumpSession<'_>, bytes: &[u8]) -> bool {
        // The size is compared first, because this is fastest. A compressed buffer has a different size.
        let size = session.log_file.buffer_size;
        let Some(header) = BufferHeader::read(self.producer.generation(), bytes) else { return false };
        let fits = |value: u32| (BUFFER_HEADER as u32..=size).contains(&value);
        (header.size == size || header.is_compressed())
            && u32::from(header.logger) == session.logger_id
            && fits(header.size)
            && fits(header.offset)
    }

    /// Reads the session at this position with its buffers. `common` has the properties that all sessions of the dump share, such as clock
    /// rates. `None` if no session begins here.
    fn session(&mut self, header: &DumpHeader, common: &LogFile) -> Option<DumpSession<'static>> {
        let offset = self.blob.offset + self.at as u64;
        let truncated = |size: usize, present: usize| DiagnosticKind::Truncated {
            part: "a session",
            size: size as u64,
            present: present as u64,
        };
        let rest = self.rest();
        let Some(head) = view::<ETW_DUMP_SESSION>(rest, 0) else {
            self.report(truncated(size_of::<ETW_DUMP_SESSION>(), rest.len()));
            return None;
        };
        if head.Signature != SIGNATURE {
            self.report(DiagnosticKind::NoSession(head.Signature));
            return None;
        }
        let log_file = LogFile {
            mode: head.LoggerMode.0,
            clock: head.ClockType.0,
            buffer_size: head.BufferSize,
            start_time: quad(head.ReferenceTime.StartTime),
            start_stamp: quad(head.ReferenceTime.StartPerfClock),
            ..common.clone()
        };
        if !log_file.has_clock() {
            self.report(DiagnosticKind::Clock(log_file.clock));
        }
        let mut session = DumpSession {
            log_file,
            logger_id: head.LoggerId,
            start_time: quad(head.StartTime),
            offset,
            buffers: Vec::new(),
            producer: self.producer,
            stopped: header.time,
        };
        let after = &rest[size_of_val(&head)..];
        let (name, size) = self.name(&session, after, head.NameLength);
        session.log_file.logger_name = name;
        if !session.log_file.has_clock_rate() {
            self.report(DiagnosticKind::Rate);
        } else if !session.has_reference() {
            self.report(DiagnosticKind::Reference);
        }
        self.at += size_of_val(&head) + size;
        while !self.rest().is_empty() && !self.rest().starts_with(&SIGNATURE.to_le_bytes()) {
            match self.buffer(&session) {
                Some(buffer) => session.buffers.push(buffer),
                None => self.resume(Some(&session)),
            }
        }
        Some(session)
    }

    /// The name of a session, and the number of bytes up to its first buffer or the next session.
    fn name(&mut self, session: &DumpSession<'_>, bytes: &[u8], stated: u32) -> (String, usize) {
        let length = stated as usize;
        let end = length.saturating_mul(2);
        let units = |length: usize| bytes[..length].chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
        // A name contains no zero, and a zero follows it.
        let may_be = end <= bytes.len() && length.is_multiple_of(2) && {
            let mut after = bytes[length..end].chunks_exact(2);
            !units(length).any(|unit| unit == 0) && after.next().is_none_or(|unit| unit == [0, 0])
        };
        let begins = |at: usize| self.is_start(Some(session), &bytes[at..]);
        if may_be && (end == bytes.len() || begins(end)) {
            return (String::from_utf16_lossy(&units(length).collect::<Vec<_>>()), end);
        }
        let next = (0..bytes.len()).find(|at| begins(*at));
        // A buffer with a damaged header can follow a valid name.
        let is_sound = may_be && length > 0 && next.is_none_or(|next| next >= end + BUFFER_HEADER);
        let room = if is_sound { length } else { next.unwrap_or(bytes.len()).min(NAME) };
        let name: Vec<u16> = units(room).take_while(|unit| *unit != 0).collect();
        if !is_sound {
            let present = bytes.len() as u64;
            self.report(match next {
                None if end > bytes.len() => {
                    DiagnosticKind::Truncated { part: "the name of a session", size: end as u64, present }
                }
                _ => DiagnosticKind::NameLength { stated, found: name.len() as u32 * 2 },
            });
        }
        (String::from_utf16_lossy(&name), if is_sound { end } else { next.unwrap_or(bytes.len()) })
    }

    /// The buffer at this position; `None` if there is none.
    fn buffer(&mut self, session: &DumpSession<'_>) -> Option<Buffer<'static>> {
        let rest = self.rest();
        let truncated = |size: usize, present: usize| DiagnosticKind::Truncated {
            part: "a buffer",
            size: size as u64,
            present: present as u64,
        };
        let Some(header) = BufferHeader::read(self.producer.generation(), rest) else {
            self.report(truncated(BUFFER_HEADER, rest.len()));
            return None;
        };
        // For a compressed buffer, the size is that in the dump, and the valid end that of the decompressed buffer.
        let is_compressed = header.is_compressed();
        let end = if is_compressed { header.size } else { header.offset } as usize;
        let size = session.log_file.buffer_size;
        let largest = if is_compressed { size } else { size.max(header.size) };
        if end < BUFFER_HEADER || end > largest as usize {
            self.report(DiagnosticKind::Offset(end as u32));
            return None;
        }
        // A buffer is accepted if its size or its session number is correct.
        if header.size != size && !is_compressed && u32::from(header.logger) != session.logger_id {
            self.report(DiagnosticKind::NoBuffer);
            return None;
        }
        if header.size != size && !is_compressed {
            self.report(DiagnosticKind::BufferSize { session: size, buffer: header.size });
        }
        if u32::from(header.logger) != session.logger_id {
            self.report(DiagnosticKind::Logger { session: session.logger_id, buffer: header.logger });
        }
        let bytes = match rest.get(..end) {
            // If nothing begins at the stated end, but something begins earlier, the end is wrong.
            Some(bytes) if end < rest.len() && !self.is_start(Some(session), &rest[end..]) => {
                let next = (BUFFER_HEADER..end).find(|at| self.is_start(Some(session), &rest[*at..]));
                if next.is_some() {
                    self.report(DiagnosticKind::Offset(header.offset));
                }
                &bytes[..next.unwrap_or(end)]
            }
            Some(bytes) => bytes,
            None => {
                self.report(truncated(end, rest.len()));
                let next = (BUFFER_HEADER..rest.len()).find(|at| self.is_start(Some(session), &rest[*at..]));
                &rest[..next.unwrap_or(rest.len())]
            }
        };
        let offset = self.blob.offset + self.at as u64;
        self.at += bytes.len();
        let processor = header.context & (self.producer.most_processors() - 1) as u16;
        let bytes = if is_compressed { self.unpacked(session, bytes, offset) } else { bytes.to_vec() };
        Some(Buffer {
            header,
            processor,
            offset,
            address: None,
            bytes: bytes.into(),
            is_compressed,
            pages: Vec::new(),
            holes: Vec::new(),
        })
    }

    /// The decompressed buffer; only its header if the limit for the block is exceeded.
    fn unpacked(&mut self, session: &DumpSession<'_>, bytes: &[u8], offset: u64) -> Vec<u8> {
        let most = self.room;
        let stored = BufferBytes { bytes: bytes.to_vec(), holes: Vec::new() };
        let unpacked = unpack(&stored, 0, session.log_file.buffer_size, most, self.producer.generation());
        if let Some(why) =
            unpacked.fault.or_else(|| unpacked.buffers.is_empty().then(|| "its header is not that of a compressed buffer".into()))
        {
            report(self.diagnostics, offset, DiagnosticKind::Compressed(why));
        }
        let buffer = unpacked.buffers.into_iter().next().unwrap_or_else(|| bytes[..BUFFER_HEADER.min(bytes.len())].to_vec());
        self.room = self.room.saturating_sub(buffer.len() as u64);
        buffer
    }
}
