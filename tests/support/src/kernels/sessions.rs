//! Sessions, their buffers and consumers.

use super::put::{BOOT, BUFFER, Buffer, FREQUENCY, PROCESSORS, REFERENCE, Session, State};
use super::{Kit, module};
use etw_layouts::Arch;
use etw_layouts_etl::header::EventHeader;
use etw_layouts_etl::wire::{SYSTEM_TRACE_HEADER, large, zero};
use etw_layouts_etl::write::{Producer, Record};

const LOGGER: &str = "WMI_LOGGER_CONTEXT";

/// Makes a session with this number of buffers.
pub fn session(kit: &mut Kit, number: u32, name: &'static str, file: &'static str, mode: u32, buffers: usize) -> Session {
    let at = kit.make(LOGGER);
    for (member, value) in [
        ("LoggerId", number.into()),
        ("BufferSize", BUFFER.into()),
        ("LoggerMode", mode.into()),
        ("ClockType", 1),
        ("UsePerfClock", 1),
        ("NumberOfBuffers", buffers as u64),
        ("BuffersAvailable", 1),
        ("MinimumBuffers", 4),
        ("MaximumBuffers", 26),
        ("BuffersWritten", 1000 + u64::from(number)),
        ("LogBuffersLost", 7),
        ("RealTimeBuffersLost", 8),
        ("EventsLost", 9),
        ("MaximumFileSize", 20),
        ("StartTime.QuadPart", REFERENCE.0 as u64),
        ("ReferenceTime.StartTime.QuadPart", REFERENCE.0 as u64),
        ("ReferenceTime.StartPerfClock.QuadPart", REFERENCE.1 as u64),
        ("ReferenceSystemTime.QuadPart", REFERENCE.0 as u64),
        ("ReferenceTimeStamp.QuadPart", REFERENCE.1 as u64),
        ("Persistent", 1),
        ("RealTime", 1),
    ] {
        kit.set(LOGGER, at, member, value);
    }
    let is_number = kit.build.number >= [10, 0, 19041];
    kit.set(LOGGER, at, "GetCpuClock", if is_number { 1 } else { module(kit.arch).0 + 0x100 });
    kit.text(LOGGER, at, "LoggerName", name);
    kit.text(LOGGER, at, "LogFileName", file);
    let security = kit.room(0x40, 16);
    // The low bits are a count of cached references.
    kit.set(LOGGER, at, "SecurityDescriptor.Value", security | 5);
    if kit.place(LOGGER, at, "LoggerHeader").is_some() {
        let header = kit.make("TRACE_LOGFILE_HEADER");
        kit.set("TRACE_LOGFILE_HEADER", header, "PerfFreq.QuadPart", FREQUENCY as u64);
        kit.set("TRACE_LOGFILE_HEADER", header, "BootTime.QuadPart", BOOT as u64);
        kit.set(LOGGER, at, "LoggerHeader", header);
    }
    let buffers: Vec<Buffer> = (0..buffers).map(|index| buffer(kit, number, index)).collect();
    link_buffers(kit, at, &buffers, number.is_multiple_of(2));
    let consumers = consumers(kit, at, number);
    Session { at, number, name, file, mode, buffers, consumers, security }
}

fn buffer(kit: &mut Kit, session: u32, index: usize) -> Buffer {
    const HEADER: &str = "WMI_BUFFER_HEADER";
    let at = kit.room(BUFFER as usize, super::PAGE as usize);
    let [major, minor, build] = kit.build.number;
    let producer = Producer::new(major, minor, build, kit.arch);
    let state = [State::Logging, State::Flush, State::Free][index % 3];
    let processor = (index % PROCESSORS as usize) as u16;
    let (mut bytes, mut events) = (vec![0; kit.layout(HEADER).unwrap().size], Vec::new());
    for event in 0..12_i64 {
        // The times of different processors' buffers overlap. A later buffer in the list begins earlier.
        let stamp = REFERENCE.1 + event * 1_000 + 100 - index as i64;
        let payload: Vec<u8> = (0..event * 9).map(|byte| byte as u8 ^ session as u8).collect();
        let mut header: SYSTEM_TRACE_HEADER = zero();
        (header.ThreadId, header.ProcessId, header.SystemTime) = (8, 4, large(stamp));
        header.set_Version(2);
        Record::new(EventHeader::System(header), kit.arch != Arch::X86, &payload).write(&producer, &mut bytes).unwrap();
        bytes.resize(bytes.len().next_multiple_of(8), 0xAA);
        events.push((stamp, payload));
    }
    let end = bytes.len() as u64;
    // Bytes after the valid end are meaningless.
    bytes.resize(BUFFER as usize, 0xC3);
    let header = kit.layout(HEADER).unwrap().size;
    bytes[..header].fill(0);
    kit.write(at, &bytes);
    let number = match state {
        State::Free => 0,
        State::Logging => 1,
        State::Flush => 3,
    };
    let (current, saved) = match state {
        // The saved offset is from an earlier use.
        State::Logging => (end, header as u64 + 8),
        State::Flush => (u64::from(BUFFER) - 8, end),
        // The event that did not fit has moved the offset past the end.
        State::Free => (u64::from(BUFFER) + 0x30, end),
    };
    for (member, value) in [
        ("BufferSize", BUFFER.into()),
        ("CurrentOffset", current),
        ("SavedOffset", saved),
        ("TimeStamp.QuadPart", REFERENCE.1 as u64),
        ("SequenceNumber", index as u64),
        ("ClientContext.ProcessorNumber", processor.into()),
        ("ClientContext.LoggerId", session.into()),
        ("BufferType", 0),
    ] {
        kit.set(HEADER, at, member, value);
    }
    if kit.build.number >= [6, 2, 0] {
        // PROC_INDEX.
        kit.set(HEADER, at, "BufferFlag", 0x20);
        kit.set(HEADER, at, "ClientContext.ProcessorIndex", processor.into());
    }
    match kit.kind(HEADER, "State") {
        Some("WMI_BUFFER_STATE") => {
            let bit = match state {
                State::Free => "State.Free",
                State::Logging => "State.InUse",
                State::Flush => "State.Flush",
            };
            kit.set(HEADER, at, bit, 1)
        }
        _ => kit.set(HEADER, at, "State", number),
    };
    Buffer { at, processor, state, events }
}

/// Compresses all buffers of a session into its first buffer, from its start or after its header. The original contents of the
/// first buffer are lost.
pub fn compress(kit: &mut Kit, session: &Session, is_behind: bool) {
    const HEADER: &str = "WMI_BUFFER_HEADER";
    let header = kit.layout(HEADER).unwrap().size;
    let packed: Vec<u8> = session.buffers.iter().flat_map(|buffer| pack(kit, buffer)).collect();
    let (at, start) = (session.buffers[0].at, if is_behind { header } else { 0 });
    assert!(start + packed.len() <= BUFFER as usize);
    kit.write(at + start as u64, &packed);
    kit.set(HEADER, at, "State", 5);
    if is_behind {
        for member in ["CurrentOffset", "SavedOffset", "Offset"] {
            kit.set(HEADER, at, member, (start + packed.len()) as u64);
        }
    }
}

/// A compressed buffer, as in a file.
fn pack(kit: &Kit, buffer: &Buffer) -> Vec<u8> {
    const HEADER: &str = "WMI_BUFFER_HEADER";
    let size = kit.layout(HEADER).unwrap().size;
    let from = (buffer.at - kit.image.base) as usize;
    let word = |member: &str| {
        let at = from + kit.place(HEADER, 0, member).unwrap() as usize;
        u32::from_le_bytes(kit.image.bytes[at..at + 4].try_into().unwrap())
    };
    let end = word(if buffer.state == State::Logging { "CurrentOffset" } else { "SavedOffset" });
    let image = &kit.image.bytes[from..from + end as usize];
    let mut packed = image[..size].to_vec();
    etw_layouts_etl::xpress::compress(&image[size..], &mut packed);
    let length = packed.len() as u32;
    for (member, value) in [("BufferSize", length), ("Offset", end), ("SavedOffset", end)] {
        let at = kit.place(HEADER, 0, member).unwrap() as usize;
        packed[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
    // COMPRESSED.
    packed[kit.place(HEADER, 0, "BufferFlag").unwrap() as usize] |= 0x40;
    packed
}

fn link_buffers(kit: &mut Kit, session: u64, buffers: &[Buffer], short: bool) {
    let head = kit.place("WMI_LOGGER_CONTEXT", session, "GlobalList").unwrap();
    let entries: Vec<u64> =
        buffers.iter().map(|buffer| kit.place("WMI_BUFFER_HEADER", buffer.at, "GlobalEntry").unwrap()).collect();
    match (kit.kind("WMI_LOGGER_CONTEXT", "GlobalList"), kit.kind("WMI_BUFFER_HEADER", "GlobalEntry")) {
        (Some("LIST_ENTRY"), Some("LIST_ENTRY")) => kit.double(head, &entries),
        (Some("LIST_ENTRY"), _) => kit.single(head, &entries),
        // Windows Server 2003 has only the 8-byte form.
        _ => kit.interlocked(head, &entries, short || kit.build.number < [6, 0, 0]),
    }
}

fn consumers(kit: &mut Kit, session: u64, number: u32) -> Vec<(u64, u64)> {
    const CONSUMER: &str = "ETW_REALTIME_CONSUMER";
    let Some(head) = kit.place("WMI_LOGGER_CONTEXT", session, "Consumers") else { return Vec::new() };
    let count = if number == 5 { 2 } else { 0 };
    let consumers: Vec<(u64, u64)> = (0..count)
        .map(|index| {
            let (at, process) = (kit.make(CONSUMER), kit.room(0x10, 16));
            let has = kit.set(CONSUMER, at, "ProcessObject", process);
            // 6.0 stores the process ID.
            let process = if has { process } else { 4096 + index };
            assert!(has || kit.set(CONSUMER, at, "ProcessId", process));
            kit.set(CONSUMER, at, "LoggerId", number.into());
            kit.set(CONSUMER, at, "BuffersLost", 40 + index);
            (at, process)
        })
        .collect();
    let links: Vec<u64> = consumers.iter().map(|(at, _)| kit.place(CONSUMER, *at, "Links").unwrap()).collect();
    kit.double(head, &links);
    kit.set("WMI_LOGGER_CONTEXT", session, "NumConsumers", count);
    consumers
}
