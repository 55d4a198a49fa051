//! Boundary values: the last one that is accepted, and the first one that is not.

use etw_layouts_etl::header::{Counters, EventHeader, Message};
use etw_layouts_etl::payload::PointerSize;
use etw_layouts_etl::wire::{Arch, ETW_BUFFER_FLAG, EVENT_HEADER, PERFINFO_TRACE_HEADER, large, zero};
use etw_layouts_etl::write::{BufferWriter, Error, FileWriter, Producer, Record};
use etw_layouts_etl::{BufferHeader, Clock, ClockType, DiagnosticKind, LogFile, Reader, Scratch, Trace};
use std::cell::Cell;
use std::io::{Cursor, Read};
use test_support::traces::{PRODUCERS, fixture};

const SIZE: usize = 4096;

fn event(stamp: i64, payload: &[u8]) -> Record<'_> {
    let mut header: EVENT_HEADER = zero();
    header.TimeStamp = large(stamp);
    Record::new(EventHeader::Event(header), true, payload)
}

/// A file shorter than a buffer header has its own error.
#[test]
fn short_files() {
    use etw_layouts_etl::Error::{NoHeader, Short};
    for (length, expected) in [(0, Short(0)), (0x47, Short(0x47)), (0x48, NoHeader), (0x49, NoHeader)] {
        assert_eq!(Trace::from_bytes(vec![0; length]).err(), Some(expected));
    }
}

/// Time stamps so far from the start of the clock that the difference exceeds 64 bits.
#[test]
fn far_stamps() {
    for (start_stamp, stamp) in [(-10, i64::MAX), (10, i64::MIN), (i64::MIN, i64::MAX), (i64::MAX, i64::MIN)] {
        let clock = Clock::new(ClockType::CpuCycle, 77, start_stamp, 0, 2_400);
        let ticks = i128::from(stamp) - i128::from(start_stamp);
        assert_eq!(i128::from(clock.system_time(stamp)), 77 + (ticks * 10).div_euclid(2_400));
    }
}

/// A source that counts the bytes read from it.
struct Counted<'a>(&'a [u8], &'a Cell<usize>);

impl Read for Counted<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let count = self.0.read(out)?;
        self.1.set(self.1.get() + count);
        Ok(count)
    }
}

/// A stream is read only little further than the returned buffer, so that each buffer is available as soon as it is written.
#[test]
fn reading_ahead() {
    for (compressed, size) in [(false, 4096_u32), (true, 4096), (false, 4104)] {
        let mut bytes = fixture(PRODUCERS[7], ClockType::PerfCounter, compressed, 400).unwrap().bytes;
        // If the size in the log file header is wrong, the reader searches the first buffers for it.
        bytes[0x48 + 0x20..][..4].copy_from_slice(&size.to_le_bytes());
        let count = Cell::new(0);
        let mut reader = Reader::new(Counted(&bytes, &count)).unwrap();
        // The first event is at most 64 KiB long.
        assert!(count.get() <= 0x48 + (1 << 16), "{}", count.get());
        let mut end = 0;
        while let Some(decoded) = reader.next_buffer().unwrap() {
            let Ok(decoded) = decoded else { continue };
            end = decoded.buffer().offset() as usize + decoded.buffer().bytes().len();
            assert!(count.get() <= (end + 1024).max(0x48 + (1 << 16)), "{} bytes for {end}", count.get());
        }
        assert!(end == bytes.len() && end > 1 << 16);
    }
}

/// Damage of any length is skipped, also before a truncated buffer of which only the header is left.
#[test]
#[cfg_attr(miri, ignore = "it takes minutes")]
fn long_damage() {
    const STEP: usize = 1 << 16;
    let file = fixture(PRODUCERS[7], ClockType::PerfCounter, false, 20).unwrap().bytes;
    let (start, rest) = file.split_at(2 * SIZE);
    let kinds = |bytes: &[u8]| -> Vec<_> {
        let trace = Trace::from_bytes(bytes).unwrap();
        let diagnostics = trace.buffers().filter_map(Result::err);
        diagnostics.map(|diagnostic| (diagnostic.offset, diagnostic.kind.clone())).collect()
    };
    for (byte, length) in
        [-1, 0, 1].into_iter().flat_map(|more| [1, 2].map(|steps| (1 + steps as u8, (steps * STEP as i64 + more) as usize)))
    {
        let damage = vec![byte; length];
        let bytes = [start, &damage, rest].concat();
        let skipped = |bytes| DiagnosticKind::Skipped { bytes: length as u64, next: Some((2 * SIZE + length) as u64) }.eq(bytes);
        assert!(matches!(&kinds(&bytes)[..], [(_, kind)] if skipped(kind)), "{length}");
        let mut zeroes = bytes;
        zeroes[2 * SIZE..][..length].fill(0);
        let expected = DiagnosticKind::Zeroes { bytes: length as u64, next: Some((2 * SIZE + length) as u64) };
        assert!(kinds(&zeroes).iter().any(|(_, kind)| *kind == expected), "{length}: {:?}", kinds(&zeroes));
        for present in (0x40..0x300).step_by(if length == STEP { 1 } else { 0x48 }) {
            let cut = [start, &damage, &rest[..present]].concat();
            let found = Trace::from_bytes(&cut)
                .unwrap()
                .buffers()
                .flatten()
                .any(|buffer| buffer.offset() as usize == start.len() + length);
            assert_eq!(found, present >= 0x48, "{length} {present:#x}");
        }
        // Damage at the end of the file.
        let end = [&file[..], &damage].concat();
        assert_eq!(kinds(&end).len(), 1);
    }
}

/// Members of event headers that the writer does not set are kept.
#[test]
fn kept_members() {
    let mut out = Vec::new();
    let mut header: PERFINFO_TRACE_HEADER = zero();
    let mut version = header.Version();
    version.0 = 0x7805;
    header.set_Version(version);
    let counters = Counters { count: 2, ..Counters::default() };
    Record::new(EventHeader::PerfInfo(header, counters), true, &[]).write(&PRODUCERS[7], &mut out).unwrap();
    assert_eq!(out[..2], [0x05, 0x7A]);
    // Flags of optional members are errors if the message lacks the member: sequence number, provider, component, time, thread and process.
    let bits = [1, 2, 4, 8, 0x20].map(|bit| (None, bit, false));
    for (component, flags, is_right) in bits.into_iter().chain([(Some(1), 2, true), (None, 0x40, true)]) {
        let message = Message { component, other_flags: flags, ..Message::default() };
        let result = Record::new(EventHeader::Message(message), true, &[]).write(&PRODUCERS[7], &mut Vec::new());
        assert_eq!(result.is_ok(), is_right, "{component:?} {flags:#x}");
    }
}

/// The longest event, and one that fills its buffer.
#[test]
fn largest_events() {
    let payload = vec![0; 0xFFFF - size_of::<EVENT_HEADER>() + 1];
    let write = |payload| event(0, payload).write(&PRODUCERS[7], &mut Vec::new());
    assert!(write(&payload[1..]).is_ok() && matches!(write(&payload), Err(Error::Length(0x1_0000))));
    let mut buffer = BufferWriter::new(PRODUCERS[7], 512).unwrap();
    let left = 512 - buffer.length() - size_of::<EVENT_HEADER>();
    assert!(matches!(buffer.push(&event(0, &payload[..left + 1])), Err(Error::Full { .. })));
    buffer.push(&event(0, &payload[..left])).unwrap();
    assert_eq!(buffer.length(), 512);
    // If an event does not fit into any buffer, nothing is written, not even the header buffer.
    let log = LogFile { buffer_size: 1024, ..LogFile::new(&PRODUCERS[7]) };
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), PRODUCERS[7], log).unwrap();
    assert!(matches!(writer.push(0, &event(0, &payload[..1024])), Err(Error::Full { .. })));
    writer.push_header(&event(0, &[])).unwrap();
}

/// The writer sets PROC_INDEX depending on the version. Long names need a larger header buffer.
#[test]
fn written_buffers() {
    let index = ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_PROC_INDEX;
    for producer in PRODUCERS.into_iter().filter(|producer| producer.build.number >= [5, 2, 0]) {
        let file = fixture(producer, ClockType::SystemTime, false, 2).unwrap().bytes;
        for buffer in Trace::from_bytes(&file).unwrap().buffers() {
            assert_eq!(buffer.unwrap().header().flags.contains(index), producer.build.number >= [6, 2, 0], "{producer:?}");
        }
    }
    let log = LogFile { logger_name: "x".repeat(400), mode: 0x0400_0000, buffer_size: 4096, ..LogFile::new(&PRODUCERS[7]) };
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), PRODUCERS[7], log.clone()).unwrap();
    writer.push(0, &event(0, &[])).unwrap();
    let file = writer.finish(0).unwrap().into_inner();
    let trace = Trace::from_bytes(&file).unwrap();
    assert_eq!(trace.log_file().logger_name, log.logger_name);
    assert!(trace.buffers().all(|buffer| buffer.is_ok()));
}

/// Bytes after the event header are extended items only if the flag EXTENDED_INFO is set.
#[test]
fn items_by_their_flag() {
    let item = [16_u8, 0, 1, 0, 0, 0, 8, 0, 9, 9, 9, 9, 9, 9, 9, 9];
    let file = |size: u8, announced: bool| {
        let mut file = fixture(PRODUCERS[7], ClockType::PerfCounter, false, 1).unwrap().bytes[..SIZE].to_vec();
        let mut buffer = BufferWriter::new(Producer::new(10, 0, 26100, Arch::X64), SIZE as u32).unwrap();
        let payload = [&[size], &item[1..]].concat();
        buffer.push(&event(1, &payload)).unwrap();
        buffer.finish(&BufferHeader::new(0, 1, 1), false, &mut file).unwrap();
        // EXTENDED_INFO.
        file[SIZE + 0x48 + 4] |= u8::from(announced);
        file
    };
    // The flags state the pointer size. Without these flags, the header type states it: Event32 or Event64.
    for (flags, ty, size) in [
        (0, 0x12, PointerSize::Bits32),
        (0, 0x13, PointerSize::Bits64),
        (0x20, 0x13, PointerSize::Bits32),
        (0x40, 0x12, PointerSize::Bits64),
    ] {
        let mut file = file(16, false);
        (file[SIZE + 0x48 + 2], file[SIZE + 0x48 + 4]) = (ty, flags);
        let trace = Trace::from_bytes(&file[..]).unwrap();
        let event = trace.events().flatten().last().unwrap();
        assert_eq!(event.event().pointer_size(), Some(size), "{flags:#x} {ty:#x}");
    }
    let read = |file: &[u8]| -> (Vec<usize>, usize) {
        let (mut items, mut faults, mut scratch) = (Vec::new(), 0, Scratch::default());
        let trace = Trace::from_bytes(file).unwrap();
        let buffer = trace.buffers().flatten().nth(1).unwrap();
        for event in buffer.decode(&mut scratch).events() {
            match event {
                Ok(event) => items.push(event.items().count()),
                Err(diagnostic) => faults += usize::from(diagnostic.kind.name() == "extended-items"),
            }
        }
        (items, faults)
    };
    assert_eq!((read(&file(16, false)), read(&file(16, true))), ((vec![0], 0), (vec![1], 0)));
    // The size of the item is too large, or too small.
    assert_eq!((read(&file(24, true)), read(&file(8, true))), ((vec![], 1), (vec![], 1)));
}

/// A raw record must have an unknown marker and its correct length. Its third byte can be any header type.
#[test]
fn raw_records() {
    let raw = |bytes: &[u8]| Record::raw(bytes).write(&PRODUCERS[7], &mut Vec::new());
    assert!(raw(&[8, 0, 1, 0xA0, 7, 7, 7, 7]).is_ok());
    assert!(matches!(raw(&[16, 0, 1, 0xA0, 7, 7, 7, 7]), Err(Error::Raw)));
    let mut known = Vec::new();
    event(0, &[]).write(&PRODUCERS[7], &mut known).unwrap();
    assert!(matches!(raw(&known), Err(Error::Raw)));
}
