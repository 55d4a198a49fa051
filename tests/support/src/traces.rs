//! Trace files of all versions and clocks, with every kind of event that the version writes.

use etw_layouts::constants::{HOOK_ID, TRACE_HEADER_VERSION_FLAG};
use etw_layouts::events;
use etw_layouts_etl::compression::Format;
use etw_layouts_etl::header::{Counters, EventHeader, Message};
use etw_layouts_etl::payload::PointerSize;
use etw_layouts_etl::wire::{
    Arch, EVENT_HEADER, EVENT_HEADER_EXT_TYPE, EVENT_INSTANCE_GUID_HEADER, EVENT_INSTANCE_HEADER, EVENT_TRACE_HEADER,
    LOG_FILE_MODE, PERFINFO_TRACE_HEADER, SYSTEM_TRACE_HEADER, large, wire_guid, zero,
};
use etw_layouts_etl::write::{Error, FileWriter, Producer, Record};
use etw_layouts_etl::{Buffer, ClockType, DecodedBuffer, HeaderType, Item, LogFile, Scratch, Trace, Uuid};
use std::io::Cursor;

/// A file, and the data from which it was written.
pub struct Fixture {
    pub name: String,
    pub bytes: Vec<u8>,
    /// Processor, kind, time stamp and payload, in order of time.
    pub events: Vec<(u16, HeaderType, Option<i64>, Vec<u8>)>,
    pub log: LogFile,
}

/// Versions and architectures with different file formats.
pub const PRODUCERS: [Producer; 8] = [
    Producer::new(5, 0, 2195, Arch::X86),
    Producer::new(5, 1, 2600, Arch::X86),
    Producer::new(5, 2, 3790, Arch::X64),
    Producer::new(6, 0, 6001, Arch::X64),
    Producer::new(6, 1, 7601, Arch::X86),
    Producer::new(6, 2, 9200, Arch::X64),
    Producer::new(10, 0, 19041, Arch::X86),
    Producer::new(10, 0, 26100, Arch::X64),
];

/// The start of a fixture: the clock value in ticks, and the system time.
pub const START: (i64, i64) = (5_000_000_000, 132_404_547_797_984_230);

/// The clock value at the start of a fixture.
pub fn start_stamp(clock: ClockType) -> i64 {
    if clock == ClockType::SystemTime { START.1 } else { START.0 }
}

/// A file for every valid combination of producer, clock and compression.
pub fn all(rounds: usize) -> Vec<Fixture> {
    let clocks = [ClockType::PerfCounter, ClockType::SystemTime, ClockType::CpuCycle];
    let mut all = Vec::new();
    for producer in PRODUCERS {
        for clock in clocks {
            for compressed in [false, true] {
                all.extend(fixture(producer, clock, compressed, rounds));
            }
        }
    }
    all
}

/// A file; `None` if the producer does not support the clock or compression.
pub fn fixture(producer: Producer, clock: ClockType, compressed: bool, rounds: usize) -> Option<Fixture> {
    fixture_of(producer, clock, compressed, rounds, &|_| true)
}

/// A file with only the selected kinds of events.
pub fn fixture_of(
    producer: Producer,
    clock: ClockType,
    compressed: bool,
    rounds: usize,
    wanted: &dyn Fn(HeaderType) -> bool,
) -> Option<Fixture> {
    let mut log = LogFile::new(&producer);
    log.buffer_size = 4096;
    log.processors = 3;
    (log.start_stamp, log.start_time, log.boot_time) = (start_stamp(clock), START.1, START.1 - 1);
    (log.clock, log.perf_frequency, log.cpu_mhz) = (clock.value(), 3_579_545, 2_400);
    (log.logger_name, log.file_name) = ("A logger".into(), "C:\\Ω.etl".into());
    if compressed {
        log.mode |= LOG_FILE_MODE::EVENT_TRACE_COMPRESSED_MODE.0;
    }
    let mut writer = match FileWriter::new(Cursor::new(Vec::new()), producer, log.clone()) {
        Ok(writer) => writer,
        Err(Error::Version { .. } | Error::Clock(_)) => return None,
        Err(error) => panic!("{error}"),
    };
    let mut events = Vec::new();
    let mut stamp = log.start_stamp;
    for round in 0..rounds {
        let payload: Vec<u8> = (0..round * 7 % 61).map(|byte| (byte * 3) as u8).collect();
        for (index, (is_64_bit, header)) in headers(stamp).into_iter().enumerate() {
            stamp += 1_000 + index as i64;
            let sid = [1, 2, 0, 0, 0, 0, 0, 5, 32, 0, 0, 0];
            let items = [Item::new(EVENT_HEADER_EXT_TYPE(1), &[7; 16]), Item::new(EVENT_HEADER_EXT_TYPE(2), &sid)];
            let items = if matches!(header, EventHeader::Event(_)) { &items[..round % 3] } else { &[] };
            let record = Record::new(header, is_64_bit, &payload).with_items(items.to_vec());
            let processor = (index % 3) as u16;
            if !wanted(record.header_type()) {
                continue;
            }
            match writer.push(processor, &record) {
                Ok(()) => events.push((processor, record.header_type(), record.time_stamp(), payload.clone())),
                Err(Error::Version { .. }) => {}
                Err(error) => panic!("{:?}: {error}", record.header_type()),
            }
        }
        for (header_type, bytes) in raw().into_iter().filter(|(header_type, _)| wanted(*header_type)) {
            writer.push(0, &Record::raw(&bytes)).unwrap();
            let header = if header_type == HeaderType::Wnode { 48 } else { 4 };
            events.push((0, header_type, None, bytes[header..].to_vec()));
        }
    }
    let bytes = writer.finish(START.1 + 10_000_000).unwrap().into_inner();
    Some(Fixture {
        name: format!("{}-{} {clock:?} compressed {compressed}", producer.build, log.pointer_size * 8),
        bytes,
        events,
        log,
    })
}

/// The same file with buffers compressed in another format. A buffer that would become larger than the session's buffers is
/// stored uncompressed.
pub fn in_format(file: &[u8], format: Format) -> Vec<u8> {
    let trace = Trace::from_bytes(file).expect("a trace");
    let largest = trace.log_file().buffer_size as usize;
    let mut out = Vec::new();
    for buffer in trace.buffers() {
        let (buffer, mut scratch) = (buffer.expect("a whole buffer"), Scratch::default());
        if !buffer.header().is_compressed() {
            out.extend_from_slice(buffer.bytes());
            continue;
        }
        let decoded = buffer.decode(&mut scratch);
        let events = &decoded.bytes()[0x48..buffer.header().offset as usize];
        let header = &buffer.bytes()[..0x48];
        let mut own = header.to_vec();
        format.compress(events, &mut own);
        if own.len() > largest {
            own = [header, events].concat();
            own.resize(largest, 0xFF);
            // ETW_BUFFER_FLAG_COMPRESSED.
            own[0x34] &= !0x40;
        }
        let size = own.len() as u32;
        own[..4].copy_from_slice(&size.to_le_bytes());
        out.extend(own);
    }
    // The State of the header buffer contains the format, unless it is the usual one.
    if format != Format::Xpress {
        out[0x2C..0x2E].copy_from_slice(&(format as u16).to_le_bytes());
    }
    out
}

/// The offset of the first event that changes when it is written again.
pub fn written_again_differs(buffer: &Buffer<'_>, decoded: &DecodedBuffer<'_>) -> Option<u32> {
    let has_generation = |producer: &Producer| producer.generation() == buffer.generation();
    let [oldest, .., newest] = PRODUCERS;
    // A corrupt file can have events that no producer of its generation writes.
    let producers = [PRODUCERS.into_iter().rfind(has_generation).unwrap_or(newest), newest, oldest];
    decoded.events().map_while(Result::ok).find_map(|event| {
        let (record, mut bytes) = (Record::from_event(&event), Vec::new());
        let is_written = producers.iter().any(|producer| record.write(producer, &mut bytes).is_ok());
        (!is_written || bytes != event.bytes()).then(|| event.offset())
    })
}

/// A header of each kind, with whether its writer is 64-bit. Times begin at `from`.
pub fn headers(from: i64) -> Vec<(bool, EventHeader)> {
    let mut stamp = from;
    let mut next = |index: i64| {
        stamp += 1_000 + index;
        large(stamp)
    };
    let mut all = Vec::new();
    let mut index = 0;
    for wide in [false, true] {
        let mut time = || {
            index += 1;
            next(index - 1)
        };
        let mut system: SYSTEM_TRACE_HEADER = zero();
        (system.ThreadId, system.ProcessId, system.SystemTime, system.KernelTime) = (11, 12, time(), 13);
        system.set_Version(2);
        system.set_Packet({
            let mut packet = system.Packet();
            packet.set_HookId(etw_layouts::constants::HOOK_ID(0x0301));
            packet
        });
        all.push((wide, EventHeader::System(system)));
        system.SystemTime = time();
        system.KernelTime = 0;
        all.push((wide, EventHeader::Compact(system)));
        for counters in [
            Counters::default(),
            Counters { pebs: Some(99), ..Counters::default() },
            Counters { pebs: Some(98), count: 7, pmc: [1, 2, 3, 4, 5, 6, 7] },
            Counters { pebs: None, count: 2, pmc: [8, 9, 0, 0, 0, 0, 0] },
        ] {
            let mut perfinfo: PERFINFO_TRACE_HEADER = zero();
            perfinfo.set_SystemTime(time());
            perfinfo.set_Packet(system.Packet());
            all.push((wide, EventHeader::PerfInfo(perfinfo, counters)));
        }
        let mut full: EVENT_TRACE_HEADER = zero();
        (full.ThreadId, full.ProcessId, full.TimeStamp) = (21, 22, time());
        full.set_Guid(wire_guid(Uuid::from_u128(0x3d6f_a8d1_fe05_11d0_9dda_00c0_4fd7_ba7c)));
        all.push((wide, EventHeader::Full(full)));
        let mut instance: EVENT_INSTANCE_GUID_HEADER = zero();
        (instance.TimeStamp, instance.InstanceId) = (time(), 5);
        all.push((wide, EventHeader::Instance(instance)));
        let mut event: EVENT_HEADER = zero();
        (event.ThreadId, event.ProcessId, event.TimeStamp) = (31, 32, time());
        let descriptor = &mut event.EventDescriptor;
        (descriptor.Id, descriptor.Version, descriptor.Opcode) = (1000, 3, 9);
        (descriptor.Channel, descriptor.Level, descriptor.Task) = (11, 4, 7);
        // Headers of 32-bit writers have no keyword, to test the difference.
        descriptor.Keyword = if wide { 1 << 63 | 2 } else { 0 };
        event.ProviderId = wire_guid(Uuid::from_u128(0xa61e_a624_4944_55fc_c2a8_3782_8829_438d));
        all.push((wide, EventHeader::Event(event)));
        let whole = Message {
            number: 43,
            other_flags: 0x80,
            sequence: Some(77),
            guid: Some(Uuid::from_u128(0x2818_ef08_6a54_396f_2244_5a6e_a4a9_8cf0)),
            time_stamp: Some(etw_layouts_etl::wire::quad(time())),
            thread_and_process: Some((41, 42)),
            ..Message::default()
        };
        all.push((wide, EventHeader::Message(whole)));
        let component = Message { guid: None, component: Some(6), sequence: None, ..whole };
        all.push((wide, EventHeader::Message(Message { time_stamp: Some(etw_layouts_etl::wire::quad(time())), ..component })));
        all.push((wide, EventHeader::Message(Message { number: 2, ..Message::default() })));
        let mut handle: EVENT_INSTANCE_HEADER = zero();
        (handle.TimeStamp, handle.RegHandle) = (time(), 0xABCD);
        all.push((wide, EventHeader::InstanceHandle(handle)));
    }
    all
}

/// Records with an unknown layout.
pub fn raw() -> Vec<(HeaderType, Vec<u8>)> {
    let typed = |header_type, ty: u8| (header_type, vec![12, 0, ty, 0xC0, 1, 2, 3, 4, 5, 6, 7, 8]);
    let mut wnode = vec![0; 56];
    wnode[0] = 56;
    vec![
        typed(HeaderType::Timed, 0x0C),
        typed(HeaderType::Error, 0x0D),
        typed(HeaderType::WnodeTyped, 0x0E),
        typed(HeaderType::MessageTyped, 0x0F),
        typed(HeaderType::Unknown, 0x77),
        (HeaderType::Time32, vec![9, 0, 0, 0xB0, 1, 2, 3, 4, 5]),
        (HeaderType::Wnode, wnode),
    ]
}

/// A payload of a kernel event without variable parts, with small numbers, few flags and long addresses.
pub fn fixed_payload(hook: u16, version: u8) -> Vec<u8> {
    let schema = events::find((hook >> 8) as u8, hook as u8, version).expect("a schema").schema;
    let of = |length: usize| [4, 16, 0, 0, 2, 0, 0, 0].into_iter().cycle().take(length).collect::<Vec<u8>>();
    (1..256).map(of).find(|payload| schema.decode(payload, PointerSize::Bits64).check().is_ok()).expect("a length")
}

/// A file of kernel events that alternate between `kinds`: hook, version and payload.
pub fn kernel_events(kinds: &[(u16, u8, Vec<u8>)], count: usize) -> Vec<u8> {
    const PRODUCER: Producer = Producer::new(10, 0, 19041, Arch::X64);
    let log = LogFile { processors: 4, ..LogFile::new(&PRODUCER) };
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), PRODUCER, log).expect("a writer");
    let mut system: SYSTEM_TRACE_HEADER = zero();
    let mut header: PERFINFO_TRACE_HEADER = zero();
    for index in 0..count {
        let (hook, version, payload) = &kinds[index % kinds.len()];
        let mut packet = system.Packet();
        packet.set_HookId(HOOK_ID(*hook));
        system.set_Packet(packet);
        header.set_Packet(packet);
        header.set_Version(TRACE_HEADER_VERSION_FLAG((*version).into()));
        header.set_SystemTime(large(index as i64 * 100));
        let record = Record::new(EventHeader::PerfInfo(header, Counters::default()), true, payload);
        writer.push((index % 4) as u16, &record).expect("an event");
    }
    writer.finish(0).expect("a file").into_inner()
}
