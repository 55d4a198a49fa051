//! Sessions in memory, as found by a walk.

use crate::compressed::{decoded_buffers, producer};
use crate::pages::PAGE;
use crate::session::{Buffer, DumpSession, unknown};
use crate::source::Source;
use crate::system::MemoryDump;
use etw_layouts::members::WMI_LOGGER_CONTEXT as LOGGER;
use etw_layouts_etl::wire::BUFFER_HEADER;
use etw_layouts_etl::{BufferHeader, LogFile};
use etw_layouts_memory::{self as memory, Address, BufferBytes, FindingKind, MemberLocation, Memory, State, Walk};

/// Selection of the buffers from which events are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BufferSelection {
    /// Buffers with events that have not been written out: all that are not free.
    #[default]
    Pending,
    /// All buffers. Free ones contain events that were already written out, until they are reused: for a session with a log file,
    /// these duplicate part of the file.
    All,
}

/// Minimum allowance for buffers of any dump, in bytes.
const ROOM: u64 = 16 << 20;

impl<S: Source> MemoryDump<S> {
    /// Sessions that a walk through this dump found, as from [`DumpSession::read`], with file offsets.
    pub fn sessions(
        &self,
        walk: &mut Walk<'_, Self>,
        sessions: &[memory::Session],
        selection: BufferSelection,
    ) -> Vec<DumpSession<'static>> {
        // Buffers do not overlap, so their total size rarely exceeds that of memory. Some memory can be missing in the dump.
        let mut left = (self.pages() * PAGE).saturating_mul(2).saturating_add(ROOM);
        let mut read = |session| DumpSession::read_within(walk, session, selection, &mut left);
        let mut sessions: Vec<_> = sessions.iter().map(&mut read).collect();
        for session in &mut sessions {
            session.stopped = self.header().time;
            session.offset = self.offset(Address(session.offset)).unwrap_or(0);
            for buffer in &mut session.buffers {
                let starts = (0..buffer.bytes.len() as u64).step_by(PAGE as usize);
                buffer.pages = starts.map(|at| self.offset(buffer.address?.plus(at)?)).collect();
                buffer.offset = buffer.pages.first().copied().flatten().unwrap_or(0);
            }
        }
        sessions
    }
}

impl DumpSession<'static> {
    /// A session that a walk through any memory found, with the events in its buffers. Faults of buffers become findings of the
    /// walk. Of a buffer that the selection excludes, only the header is kept.
    ///
    /// In 5.0, which stores no reference value of the clock, the session is assumed to start with its first event.
    pub fn read<M: Memory + ?Sized>(walk: &mut Walk<'_, M>, session: &memory::Session, selection: BufferSelection) -> Self {
        let mut unlimited = u64::MAX;
        Self::read_within(walk, session, selection, &mut unlimited)
    }

    /// As [`read`](Self::read); `left` is the number of bytes that buffers may still have.
    fn read_within<M: Memory + ?Sized>(
        walk: &mut Walk<'_, M>,
        session: &memory::Session,
        selection: BufferSelection,
        left: &mut u64,
    ) -> Self {
        let producer = producer(walk);
        let buffers = buffers(walk, session, selection, left);
        let first = || {
            let events = buffers.iter().flat_map(|buffer| buffer.events(producer.generation()));
            events.filter_map(|event| event.ok()?.time_stamp()).min().unwrap_or(0)
        };
        let (start_time, start_stamp) = session.reference.unwrap_or_else(|| (session.start_time.unwrap_or(0), first()));
        let (time, unknown) = (walk.time(session), unknown(&producer));
        Self {
            log_file: LogFile {
                buffer_size: session.buffer_size.unwrap_or(0),
                processors: time.processors.unwrap_or(1),
                mode: session.mode.map_or(0, |mode| mode.0),
                maximum_file_size: session.context.unsigned(LOGGER::MAXIMUM_FILE_SIZE).unwrap_or(0) as u32,
                events_lost: session.events_lost.unwrap_or(0),
                buffers_lost: session.buffers_lost.unwrap_or(0),
                // Without a stated clock, the default clock is used.
                clock: session.clock.map_or(unknown.clock, |clock| clock.0),
                cpu_mhz: time.cpu_mhz.unwrap_or(0),
                perf_frequency: time.perf_frequency.unwrap_or(0),
                boot_time: time.boot_time.unwrap_or(0),
                start_time,
                start_stamp,
                logger_name: session.name.clone().unwrap_or_default(),
                file_name: session.file.clone().unwrap_or_default(),
                ..unknown
            },
            logger_id: session.number,
            start_time: session.start_time.unwrap_or(0),
            offset: session.context.address().0,
            buffers,
            producer,
            stopped: None,
        }
    }
}

/// The decompressed buffers of a session. At most `left` bytes are read.
fn buffers<M: Memory + ?Sized>(
    walk: &mut Walk<'_, M>,
    session: &memory::Session,
    selection: BufferSelection,
    left: &mut u64,
) -> Vec<Buffer<'static>> {
    let generation = producer(walk).generation();
    let place = MemberLocation { structure: "WMI_LOGGER_CONTEXT", address: session.context.address(), member: "GlobalList" };
    let mut buffers = Vec::new();
    for buffer in walk.buffers(session) {
        let size = session.buffer_size.unwrap_or(0).into();
        let Some(after) = left.checked_sub(size).filter(|_| walk.bytes_left() > 0) else {
            walk.report(place, FindingKind::Limit(buffers.len() as u64));
            break;
        };
        *left = after;
        let (address, is_compressed) = (buffer.header.address(), buffer.is_compressed());
        let mut decoded = decoded_buffers(walk, session, &buffer);
        if decoded.is_empty() {
            // A buffer that cannot be decompressed is counted, but has no events.
            let mut header = vec![0; BUFFER_HEADER];
            walk.read(address, &mut header);
            decoded.push(BufferBytes { bytes: header, holes: Vec::new() });
        }
        for BufferBytes { mut bytes, mut holes } in decoded {
            let Some(header) = BufferHeader::read(generation, &bytes) else { continue };
            // The size of an uncompressed buffer is already subtracted.
            let more = if is_compressed { bytes.len() as u64 } else { 0 };
            let Some(after) = left.checked_sub(more) else {
                walk.report(place, FindingKind::Limit(buffers.len() as u64));
                break;
            };
            *left = after;
            if selection == BufferSelection::Pending && buffer.state == State::Free {
                bytes.truncate(BUFFER_HEADER);
                holes.clear();
            }
            buffers.push(Buffer {
                header,
                processor: if is_compressed { header.processor() } else { buffer.processor.unwrap_or(0) },
                offset: address.0,
                address: Some(address),
                bytes: bytes.into(),
                is_compressed,
                pages: Vec::new(),
                holes,
            });
        }
    }
    buffers
}
