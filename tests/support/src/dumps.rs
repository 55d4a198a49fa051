//! Triage dumps, built from the specs with any sessions and memory.

use bytemuck::{Pod, bytes_of, pod_read_unaligned};
use etw_layouts::constants::{DUMP_TYPE, EVENT_TRACE_CLOCK, LOG_FILE_MODE};
use etw_layouts::members::{ETW_REG_ENTRY, LIST_ENTRY};
use etw_layouts::runtime::ViewMut;
use etw_layouts::win10_2004::x64::{
    DUMP_BLOB_FILE_HEADER, DUMP_BLOB_HEADER, DUMP_HEADER64, ETW_DUMP_HEADER, ETW_DUMP_SESSION, TRIAGE_DATA_BLOCK, TRIAGE_DUMP64,
};
use etw_layouts::win10_2004::x86::{DUMP_HEADER32, TRIAGE_DUMP32};
use etw_layouts::{Arch, Build, structures};
use etw_layouts_etl::wire::{large, wire_guid, zero};
use etw_layouts_etl::write::Producer;
use etw_layouts_etl::{ClockType, HeaderType, LogFile, Trace, Uuid};

use crate::traces::{START, fixture_of};

/// The time at which the system stopped.
pub const STOPPED: i64 = START.1 + 600_000_000;

/// The tag of ETW's blob.
pub const ETW: Uuid = Uuid::from_u128(0x2b88b710_1c93_4f7c_b06c_655ecc50decc);

/// A session in a blob.
pub struct Session {
    pub log: LogFile,
    pub logger_id: u32,
    /// Each buffer up to its valid end.
    pub buffers: Vec<Vec<u8>>,
    /// The trace file from which the session was made.
    pub file: Vec<u8>,
}

impl Session {
    /// Makes a session from a trace file. `None` if the producer does not support the clock.
    pub fn new(producer: Producer, clock: ClockType, logger_id: u16, rounds: usize) -> Option<Self> {
        let made = fixture_of(producer, clock, false, rounds, &HeaderType::is_known)?;
        Some(Self::of_trace(made.bytes, made.log, logger_id))
    }

    /// The session of a trace file with this log file header.
    pub fn of_trace(file: Vec<u8>, log: LogFile, logger_id: u16) -> Self {
        let trace = Trace::from_bytes(&file).expect("a trace");
        let buffers = trace.buffers().skip(1).map(|buffer| {
            let buffer = buffer.expect("a buffer");
            let mut bytes = buffer.bytes()[..buffer.header().offset as usize].to_vec();
            // The logger ID in ClientContext, which trace files of the writer lack.
            bytes[0x2A..0x2C].copy_from_slice(&logger_id.to_le_bytes());
            bytes
        });
        let buffers = buffers.collect();
        Self { log, logger_id: logger_id.into(), buffers, file }
    }

    fn write(&self, out: &mut Vec<u8>) {
        let name: Vec<u8> = self.log.logger_name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let mut head: ETW_DUMP_SESSION = zero();
        head.Signature = 0x01EB_AFE1;
        head.LoggerId = self.logger_id;
        head.LoggerMode = LOG_FILE_MODE(self.log.mode);
        head.ClockType = EVENT_TRACE_CLOCK(self.log.clock);
        head.BufferSize = self.log.buffer_size;
        head.NameLength = name.len() as u32;
        head.StartTime = large(START.1);
        head.ReferenceTime.StartTime = large(self.log.start_time);
        head.ReferenceTime.StartPerfClock = large(self.log.start_stamp);
        out.extend_from_slice(bytes_of(&head));
        out.extend_from_slice(&name);
        out.resize(out.len() + name.len(), 0);
        self.buffers.iter().for_each(|buffer| out.extend_from_slice(buffer));
    }
}

/// A dump with this memory and these sessions.
pub fn dump(build: Build, arch: Arch, memory: &[(u64, Vec<u8>)], sessions: &[Session]) -> Vec<u8> {
    let mut out = match arch {
        Arch::X86 => [bytes_of(&header32(build.number[2])), bytes_of(&zero::<TRIAGE_DUMP32>())].concat(),
        Arch::X64 => [bytes_of(&header64(build.number[2], 0x8664)), bytes_of(&zero::<TRIAGE_DUMP64>())].concat(),
        Arch::Arm64 => [bytes_of(&header64(build.number[2], 0xAA64)), bytes_of(&zero::<TRIAGE_DUMP64>())].concat(),
    };
    let (blocks, list) = (out.len(), memory.len() * size_of::<TRIAGE_DATA_BLOCK>());
    let mut at = blocks + list;
    for (address, bytes) in memory {
        let block = TRIAGE_DATA_BLOCK { Address: *address, Offset: at as u32, Size: bytes.len() as u32 };
        out.extend_from_slice(bytes_of(&block));
        at += bytes.len();
    }
    memory.iter().for_each(|(_, bytes)| out.extend_from_slice(bytes));
    let valid = out.len();
    out.extend_from_slice(b"TRGD");
    let size = out.len() as u32;
    match arch {
        Arch::X86 => change(&mut out, size_of::<DUMP_HEADER32>(), |triage: &mut TRIAGE_DUMP32| {
            (triage.SizeOfDump, triage.ValidOffset) = (size, valid as u32);
            (triage.DataBlocksOffset, triage.DataBlocksCount) = (blocks as u32, memory.len() as u32);
        }),
        Arch::X64 | Arch::Arm64 => change(&mut out, size_of::<DUMP_HEADER64>(), |triage: &mut TRIAGE_DUMP64| {
            (triage.SizeOfDump, triage.ValidOffset) = (size, valid as u32);
            (triage.DataBlocksOffset, triage.DataBlocksCount) = (blocks as u32, memory.len() as u32);
        }),
    }
    secondary(build, sessions, &mut out);
    out
}

/// The secondary data: ETW's blob between two other blobs.
fn secondary(build: Build, sessions: &[Session], out: &mut Vec<u8>) {
    let mut header: DUMP_BLOB_FILE_HEADER = zero();
    (header.Signature1, header.Signature2) = (u32::from_le_bytes(*b"Dump"), u32::from_le_bytes(*b"Blob"));
    (header.HeaderSize, header.BuildNumber) = (size_of_val(&header) as u32, 0xF000_0000 | build.number[2]);
    out.extend_from_slice(bytes_of(&header));
    blob(Uuid::from_u128(7), &[7; 13], out);
    let mut first: ETW_DUMP_HEADER = zero();
    (first.TimerResolution, first.BuildNumber) = (156_250, header.BuildNumber);
    if let Some(Session { log, .. }) = sessions.first() {
        (first.CpuSpeedInMHz, first.PerfFreq, first.BootTime) = (log.cpu_mhz, large(log.perf_frequency), large(log.boot_time));
    }
    let mut data = bytes_of(&first).to_vec();
    sessions.iter().for_each(|session| session.write(&mut data));
    blob(ETW, &data, out);
    blob(Uuid::from_u128(0), &[], out);
}

fn blob(tag: Uuid, data: &[u8], out: &mut Vec<u8>) {
    let mut header: DUMP_BLOB_HEADER = zero();
    (header.HeaderSize, header.Tag) = (size_of_val(&header) as u32, wire_guid(tag));
    (header.DataSize, header.PostPad) = (data.len() as u32, (data.len().next_multiple_of(8) - data.len()) as u32);
    out.extend_from_slice(bytes_of(&header));
    out.extend_from_slice(data);
    out.resize(out.len() + header.PostPad as usize, 0);
}

pub(crate) fn header64(build: u32, machine: u32) -> DUMP_HEADER64 {
    let mut header: DUMP_HEADER64 = left_out();
    header.ValidDump = u32::from_le_bytes(*b"DU64");
    (header.MajorVersion, header.MinorVersion, header.MachineImageType, header.NumberProcessors) = (15, build, machine, 3);
    (header.BugCheckCode, header.BugCheckParameter1, header.BugCheckParameter4) = (0x7E, 1, 4);
    (header.BugCheckParameter2, header.BugCheckParameter3) = (2, 3);
    header.DumpType = DUMP_TYPE::DUMP_TYPE_TRIAGE;
    (header.SystemTime, header.SystemUpTime) = (large(STOPPED), large(600_000_000));
    header
}

pub(crate) fn header32(build: u32) -> DUMP_HEADER32 {
    let mut header: DUMP_HEADER32 = left_out();
    header.ValidDump = u32::from_le_bytes(*b"DUMP");
    (header.MajorVersion, header.MinorVersion, header.MachineImageType, header.NumberProcessors) = (15, build, 0x14C, 3);
    (header.BugCheckCode, header.BugCheckParameter1, header.BugCheckParameter4) = (0x7E, 1, 4);
    (header.BugCheckParameter2, header.BugCheckParameter3) = (2, 3);
    header.DumpType = DUMP_TYPE::DUMP_TYPE_TRIAGE;
    (header.SystemTime, header.SystemUpTime) = (large(STOPPED), large(600_000_000));
    header
}

/// A structure that the kernel left unwritten.
fn left_out<T: Pod>() -> T {
    pod_read_unaligned(&b"PAGE".repeat(size_of::<T>() / 4))
}

pub(crate) fn change<T: Pod>(bytes: &mut [u8], at: usize, change: impl FnOnce(&mut T)) {
    let place = &mut bytes[at..at + size_of::<T>()];
    let mut value = pod_read_unaligned(place);
    change(&mut value);
    place.copy_from_slice(bytes_of(&value));
}

/// A pool allocation with a registration, after the pool header. The registration points to the GUID entry.
pub fn registration(build: Build, arch: Arch, guid_entry: u64) -> Vec<u8> {
    let layout = structures::ETW_REG_ENTRY.select(build, arch).expect("a layout").layout;
    let before = if arch == Arch::X86 { 8 } else { 16 };
    let mut bytes = vec![0; before + layout.size];
    bytes[4..8].copy_from_slice(b"EtwR");
    let mut entry = ViewMut::at(layout, &mut bytes, before).expect("room");
    entry.set(ETW_REG_ENTRY::GUID_ENTRY, guid_entry).expect("a pointer");
    let list = structures::LIST_ENTRY.select(build, arch).expect("a layout").layout;
    let at = before + layout.find(ETW_REG_ENTRY::REG_LIST).expect("a list").offset;
    let mut links = ViewMut::at(list, &mut bytes, at).expect("room");
    links.set(LIST_ENTRY::FLINK, guid_entry).expect("a pointer");
    links.set(LIST_ENTRY::BLINK, guid_entry).expect("a pointer");
    bytes
}

/// The address of kernel data.
pub fn base(arch: Arch) -> u64 {
    if arch == Arch::X86 { 0x8430_0000 } else { 0xFFFF_8C0B_E300_0000 }
}

/// A dump of every kind of content: a trace buffer and a registration in memory, two sessions, and an empty buffer.
pub fn whole(build: Build, arch: Arch) -> Vec<u8> {
    let producer = Producer { build: Build { revision: 0, ..build }, arch };
    let mut first = Session::new(producer, ClockType::PerfCounter, 11, 4).expect("a session");
    let second = Session::new(producer, ClockType::SystemTime, 35, 2).expect("a session");
    let mut empty = first.buffers[0][..0x48].to_vec();
    // The valid end, and the flag of buffers without events.
    empty[0x30..0x34].copy_from_slice(&0x48_u32.to_le_bytes());
    empty[0x34..0x36].copy_from_slice(&0x100_u16.to_le_bytes());
    first.buffers.push(empty);
    let trace = first.buffers[0].clone();
    let memory = [(base(arch), trace), (base(arch) + 0x5000, registration(build, arch, base(arch) + 0x9000))];
    dump(build, arch, &memory, &[first, second])
}

/// The revisions of real dumps with ETW's blob, and later ones.
pub fn targets() -> impl Iterator<Item = (Build, Arch)> {
    let revisions = etw_layouts::LAYOUTS.revisions().filter(|revision| revision.build.number >= [10, 0, 19041]);
    revisions.flat_map(|revision| revision.architectures().map(move |arch| (revision.build, arch)))
}
