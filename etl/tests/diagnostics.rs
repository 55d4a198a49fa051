//! What is wrong with a file, one thing at a time: which diagnostics it gives however it is read, and how many events survive.

use etw_layouts_etl::check::check;
use etw_layouts_etl::header::EventHeader;
use etw_layouts_etl::wire::{ETW_BUFFER_FLAG, Generation};
use etw_layouts_etl::write::FileWriter;
use etw_layouts_etl::{BufferHeader, ClockType, Diagnostic, DiagnosticKind, Event, HeaderType, LogFile, Reader, Scratch, Trace};
use std::io::Cursor;
use test_support::traces::{PRODUCERS, fixture, fixture_of};

/// Members of the log file header of a 64-bit producer, from the start of the file.
const LOG_FILE: usize = 0x48 + 0x20;
const PROCESSORS: usize = LOG_FILE + 0x0C;
const END_TIME: usize = LOG_FILE + 0x10;
const MAXIMUM_FILE_SIZE: usize = LOG_FILE + 0x1C;
const LOG_FILE_MODE: usize = LOG_FILE + 0x20;
const BUFFERS_WRITTEN: usize = LOG_FILE + 0x24;
const POINTER_SIZE: usize = LOG_FILE + 0x2C;
const PERF_FREQUENCY: usize = LOG_FILE + 0x100;
const START_TIME: usize = LOG_FILE + 0x108;
const CLOCK: usize = LOG_FILE + 0x110;

const SIZE: usize = 4096;

/// A file after a change, the kinds of its diagnostics in their order, and how many of its events are lost.
type Case = (String, Vec<u8>, &'static [&'static str], usize);

fn put(bytes: &[u8], at: usize, value: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at..at + value.len()].copy_from_slice(value);
    bytes
}

fn cases(file: &[u8], other: &[u8]) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut case = |name: &str, bytes, kinds, lost| cases.push((name.into(), bytes, kinds, lost));
    let trace = Trace::from_bytes(file).unwrap();
    let of = |index: usize| {
        let buffer = trace.buffers().nth(index).unwrap().unwrap();
        buffer.decode(&mut Scratch::default()).events().count()
    };
    let buffers = file.len() / SIZE;
    let all: usize = (0..buffers).map(of).sum();
    case("nothing", file.to_vec(), &[], 0);
    for clock in [0_u32, 4, 7] {
        case("clock", put(file, CLOCK, &clock.to_le_bytes()), &["clock"], 0);
    }
    for frequency in [0_i64, -1] {
        case("frequency", put(file, PERF_FREQUENCY, &frequency.to_le_bytes()), &["clock-rate"], 0);
    }
    for size in [0_u32, 1, 3, 4, 16] {
        case("pointer size", put(file, POINTER_SIZE, &size.to_le_bytes()), &["pointer-size"], 0);
    }
    for size in [0_u32, 0x48, 2048, 8192, 0x0100_0001, u32::MAX] {
        case("buffer size", put(file, LOG_FILE, &size.to_le_bytes()), &["log-file-buffer-size"], 0);
    }
    for written in [buffers as u32 - 1, buffers as u32 + 1] {
        case("count", put(file, BUFFERS_WRITTEN, &written.to_le_bytes()), &["buffers-written"], 0);
    }
    case("never closed", put(file, BUFFERS_WRITTEN, &[0; 4]), &[], 0);
    case("space", [file, &[0; 5000]].concat(), &["unwritten"], 0);
    case("cut in a header", [file, &[1; 0x20]].concat(), &["truncated"], 0);
    case("a little space", [file, &[0; 0x20]].concat(), &["unwritten"], 0);
    case("noise behind", [file, &[1; 0x200]].concat(), &["skipped"], 0);
    case("cut to no buffer", file[..SIZE].to_vec(), &["buffers-written"], all - of(0));

    // A circular file that was overwritten from its start has as many buffers as fit into it.
    let circle = |room: usize| {
        let file = put(file, LOG_FILE_MODE, &0x2002_u32.to_le_bytes());
        let file = put(&file, MAXIMUM_FILE_SIZE, &((room * SIZE / 1024) as u32).to_le_bytes());
        put(&file, BUFFERS_WRITTEN, &1000_u32.to_le_bytes())
    };
    let mode = |mode: u32, size: u32| {
        let file = put(&put(file, LOG_FILE_MODE, &mode.to_le_bytes()), MAXIMUM_FILE_SIZE, &size.to_le_bytes());
        put(&file, BUFFERS_WRITTEN, &1000_u32.to_le_bytes())
    };
    case("circle of a MiB", mode(2, 1), &["buffers-written"], 0);
    case("circle of no size", mode(0x2002, 0), &["buffers-written"], 0);
    case("no circle", mode(0x2001, 4), &["buffers-written"], 0);
    // The log file header is of a 64-bit producer, whatever the event's own header says.
    case("width", put(file, 0x4A, &[1]), &[], 0);
    case("circle", circle(buffers), &[], 0);
    case("circle with room", circle(buffers + 2), &["buffers-written"], 0);

    // Another trace, behind this one and behind what is left of it.
    case("another trace", [file, other].concat(), &["another-trace"], 0);
    for damaged in [put(other, 0x4E, &[4, 0]), put(other, 0x4A, &[6]), put(other, 0x4B, &[0xC4])] {
        case("another trace whose first event is damaged", [file, &damaged].concat(), &["another-trace"], 0);
    }
    case("another trace off the grid", [&file[..file.len() - 40], other].concat(), &["buffer-size", "another-trace"], 0);
    case("another trace behind damage", [file, &[1; 100], other].concat(), &["skipped", "another-trace"], 0);

    // Bytes that are cut out and put in.
    let third = 3 * SIZE;
    let out = [&file[..third - 24], &file[third..]].concat();
    case("bytes out", out, &["buffer-size"], 0);
    let inside = [&file[..third], &[7; 3], &file[third..]].concat();
    case("bytes in", inside, &["skipped"], 0);
    // A buffer in another's place: of this file, and of another system, whose clock reads other stamps.
    case("a copy", put(file, third, &file[2 * SIZE..third]), &["buffer-copy"], of(3) - of(2));
    let mut pairs = (1..buffers).flat_map(|from| (from + 2..buffers).map(move |to| (from, to)));
    let (from, to) = pairs.find(|(from, to)| of(*to) >= of(*from)).unwrap();
    let far = put(file, to * SIZE, &file[from * SIZE..][..SIZE]);
    case("a copy of one further back", far, &["buffer-copy"], of(to) - of(from));
    case("a number beyond all", put(file, third + 0x18, &(1_u64 << 40).to_le_bytes()), &[], 0);
    let stamp = |bytes: &[u8], at: usize, value: i64| put(bytes, at + 0x10, &value.to_le_bytes());
    let day = 24 * 3600 * 3_579_545;
    let span = (trace.log_file().start_stamp - day, trace.log_file().start_stamp + day + 3_579_545);
    for (name, value, kinds) in [
        ("a day before", span.0, &[][..]),
        ("more than a day before", span.0 - 1, &["buffer-time"]),
        ("a day after", span.1, &[]),
        ("more than a day after", span.1 + 1, &["buffer-time"]),
        ("as system time", trace.log_file().start_time, &[]),
        ("as system time, long after", trace.log_file().start_time + 1_000 * day, &[]),
    ] {
        case(name, stamp(file, third, value), kinds, 0);
    }
    case("never closed, long after", stamp(&put(file, END_TIME, &[0; 8]), third, span.1 + 1), &[], 0);
    case("no start", put(file, START_TIME, &[0; 8]), &["start-time"], 0);
    let never = stamp(&put(file, START_TIME, &[0; 8]), third, 1 << 62);
    case("no start, and far beyond the end", never, &["start-time", "buffer-time"], 0);
    let without = [&file[..third], &file[third + SIZE..]].concat();
    case("a buffer out", without, &["buffers-written"], of(3));
    case("zeroes", put(file, third, &[0; SIZE]), &["zeroes", "buffers-written"], of(3));
    // What a size of two buffers hides.
    case("two buffers", put(file, third, &(2 * SIZE as u32).to_le_bytes()), &["buffer-size"], 0);
    // Flags that no logger writes, in neighbours of which both have the size of the file's buffers; and the same behind a size of two.
    let flags = |bytes: &[u8], at: usize| put(bytes, at + 0x34, &[0x20, 0x80]);
    case("two of flags", flags(&flags(file, third), third + SIZE), &["buffer-header", "buffer-header"], 0);
    let two = put(&flags(file, third + 2 * SIZE), third, &(2 * SIZE as u32).to_le_bytes());
    case("two buffers and flags", two, &["skipped", "buffer-header", "buffers-written"], of(3));
    case("valid end", put(file, third + 0x30, &u32::MAX.to_le_bytes()), &["buffer-header", "valid-end"], 0);

    // The header of the header buffer.
    case("first header", put(file, 0, &[0; 0x48]), &["buffer-size", "valid-end"], 0);
    case("first size", put(file, 0, &[0xFF; 4]), &["buffer-size"], 0);
    case("first flags", put(file, 0x34, &[0xFF; 2]), &["buffer-header"], 0);

    // Marker, type and hook identifier of the first event.
    case("hook", put(file, 0x4E, &[4, 0]), &["log-file-event"], 0);
    case("type", put(file, 0x4A, &[6]), &["log-file-event", "event-too-short"], of(0));
    case("marker", put(file, 0x4B, &[0xC4]), &["log-file-event", "event-too-short"], of(0));

    // End markers: at the first event of a buffer, and up to the valid end.
    let head = BufferHeader::read(Generation::V6_1, &file[third..]).unwrap();
    case("end marker", put(file, third + 0x48, &[0xFF; 4]), &["end-marker"], 1);
    let rest = vec![0xFF; head.offset as usize - 0x48];
    case("filled", put(file, third + 0x48, &rest), &["end-marker"], of(3));

    // A valid end that is too low hides events; those of the header buffer, and the log file header too.
    let low = 0x48_u32.to_le_bytes();
    case("low valid end", put(&put(file, third + 4, &low), third + 0x30, &low), &["tail"], of(3));
    case("low valid end of the header", put(file, 0x30, &low), &["tail"], of(0));
    let end = third + (head.offset as usize).next_multiple_of(8);
    case("no fill", put(file, end, &[0]), &["tail"], 0);
    case("no fill of two bytes", put(file, end, &[0, 0]), &["tail"], 0);
    case("no fill at the end", put(file, third + SIZE - 1, &[0]), &["tail"], 0);
    cases
}

#[test]
fn each_thing_is_found() {
    let of = |clock| fixture(PRODUCERS[7], clock, false, 20).unwrap().bytes;
    let (file, other) = (of(ClockType::PerfCounter), of(ClockType::SystemTime));
    let whole = read(&file).1;
    for (name, bytes, expected, lost) in cases(&file, &other) {
        let (kinds, events) = read(&bytes);
        assert_eq!(kinds, expected, "{name}");
        assert_eq!(whole - events, lost, "{name}");
        let trace = Trace::from_bytes(&bytes).unwrap();
        let (mut order, mut timed, mut timed_kinds) = (trace.by_time(), 0, Vec::new());
        while let Some(event) = order.next_event() {
            match event {
                Ok(_) => timed += 1,
                Err(diagnostic) => timed_kinds.push(diagnostic.kind.name()),
            }
        }
        timed_kinds.sort();
        let sorted = |mut kinds: Vec<_>| {
            kinds.sort();
            kinds
        };
        assert_eq!((timed, timed_kinds), (events, sorted(kinds)), "{name}");
        let is_damaged = trace.buffers().filter_map(Result::err).any(|diagnostic| diagnostic.is_damage());
        assert_eq!(is_damaged, !matches!(expected, [] | ["unwritten"] | ["end-marker"] | ["tail"]), "{name}");
        // `check` has rules of its own, and each of these too.
        let mut checked = Vec::new();
        check(&trace, &mut |diagnostic| checked.push(diagnostic.kind.name()));
        assert!(expected.iter().all(|kind| checked.contains(kind)), "{name}: {checked:?}");
    }
}

/// The kinds of diagnostics and the count of events, the same from a slice and from a stream.
fn read(bytes: &[u8]) -> (Vec<&'static str>, usize) {
    let (mut kinds, mut events, mut scratch) = (Vec::new(), 0, Scratch::default());
    for buffer in Trace::from_bytes(bytes).unwrap().buffers() {
        let mut report = |diagnostic: Diagnostic| {
            let message = diagnostic.kind.to_string();
            assert!(!message.is_empty() && diagnostic.to_string().ends_with(&message));
            kinds.push(diagnostic.kind.name());
        };
        let Ok(buffer) = buffer.map_err(&mut report) else { continue };
        for event in buffer.decode(&mut scratch).events() {
            match event {
                Ok(_) => events += 1,
                Err(diagnostic) => report(diagnostic),
            }
        }
    }
    let (mut streamed, mut count) = (Vec::new(), 0);
    let mut reader = Reader::new(bytes).unwrap();
    while let Some(decoded) = reader.next_buffer().unwrap() {
        let Ok(decoded) = decoded.map_err(|diagnostic| streamed.push(diagnostic.kind.name())) else { continue };
        for event in decoded.events() {
            match event {
                Ok(_) => count += 1,
                Err(diagnostic) => streamed.push(diagnostic.kind.name()),
            }
        }
    }
    assert_eq!((&streamed, count), (&kinds, events));
    (kinds, events)
}

/// A first stamp that is not one of the stated clock: of system time, a performance counter of 10 or 3.58 MHz, or a processor of 2.4 GHz.
#[test]
fn stamps_of_another_clock() {
    const START: i64 = 132_404_547_797_984_230;
    let file = |clock: ClockType, frequency: i64, uptime: i64, start_stamp: i64| {
        let mut log = LogFile::new(&PRODUCERS[7]);
        (log.buffer_size, log.clock, log.perf_frequency, log.cpu_mhz) = (4096, clock.value(), frequency, 2_400);
        (log.boot_time, log.start_time, log.start_stamp) = (START - uptime * 10_000_000, START, start_stamp);
        FileWriter::new(Cursor::new(Vec::new()), PRODUCERS[7], log).unwrap().finish(START).unwrap().into_inner()
    };
    let wrong = &["clock-stamp"][..];
    let [counter, cycles] = [ClockType::PerfCounter, ClockType::CpuCycle];
    for (frequency, uptime) in [(10_000_000, 61), (3_579_545, 61), (3_579_545, 600_000)] {
        // Clocks do not tick exactly as they state, and begin soon after the boot.
        for drift in [0, 3, -1] {
            let read = |rate: i64| (uptime + uptime * drift / 100) * rate;
            for (clock, stamp, kinds) in [
                (counter, read(frequency), &[][..]),
                (cycles, read(2_400_000_000), &[]),
                (ClockType::SystemTime, START + drift, &[]),
                (cycles, read(frequency), wrong),
                (counter, read(2_400_000_000), wrong),
                (ClockType::SystemTime, read(frequency), wrong),
                (ClockType::SystemTime, read(2_400_000_000), wrong),
                (cycles, START + drift, wrong),
                // At 10 MHz the times are the same.
                (counter, START + drift, if frequency == 10_000_000 { &[] } else { wrong }),
                (counter, 0, wrong),
                (cycles, 0, wrong),
                (ClockType::SystemTime, 0, wrong),
                // Of neither clock: a system whose counter does not begin at the boot.
                (counter, 1_000, &[]),
                (cycles, 1_000, &[]),
            ] {
                assert_eq!(self::read(&file(clock, frequency, uptime, stamp)).0, kinds, "{clock:?} {frequency} {uptime} {stamp}");
            }
        }
    }
    // After a minute something is known; of a clock without a rate, nothing.
    assert_eq!(self::read(&file(cycles, 3_579_545, 60, 0)).0, wrong);
    const RATE: usize = LOG_FILE + 0x34;
    for (clock, at, rate) in [(cycles, PERF_FREQUENCY, &[0; 8][..]), (counter, RATE, &[0; 4])] {
        assert!(self::read(&put(&file(clock, 3_579_545, 600, 6_000_000_000), at, rate)).0.is_empty(), "{clock:?}");
    }
    // A processor of no rate.
    let mut log = LogFile::new(&PRODUCERS[7]);
    (log.buffer_size, log.clock, log.cpu_mhz) = (4096, cycles.value(), 1);
    let bytes = FileWriter::new(Cursor::new(Vec::new()), PRODUCERS[7], log).unwrap().finish(START).unwrap().into_inner();
    assert_eq!((self::read(&bytes).0, self::read(&put(&bytes, RATE, &[0; 4])).0), (vec![], vec!["clock-rate"]));
    // Soon after the boot, or if the boot is not known, nothing is known of the clocks that count from it.
    for stamp in [0, 5 * 2_400_000_000, 5 * 3_579_545] {
        for clock in [counter, cycles] {
            assert!(self::read(&file(clock, 3_579_545, 5, stamp)).0.is_empty(), "{clock:?} {stamp}");
        }
    }
}

/// Events that a low valid end hides are counted.
#[test]
fn hidden_events() {
    let file = fixture_of(PRODUCERS[7], ClockType::PerfCounter, false, 20, &HeaderType::is_known).unwrap().bytes;
    let trace = Trace::from_bytes(&file).unwrap();
    let mut scratch = Scratch::default();
    let buffer = trace.buffers().nth(3).unwrap().unwrap();
    let decoded = buffer.decode(&mut scratch);
    for skipped in [0, 1, 2] {
        let end = decoded.events().nth(skipped).unwrap().unwrap().offset();
        let at = buffer.offset() as usize;
        let bytes = put(&put(&file, at + 4, &end.to_le_bytes()), at + 0x30, &end.to_le_bytes());
        let trace = Trace::from_bytes(&bytes).unwrap();
        let damaged = trace.buffers().nth(3).unwrap().unwrap();
        let kind = damaged.decode(&mut Scratch::default()).fault().unwrap().kind.clone();
        assert_eq!(kind, DiagnosticKind::Tail { bytes: 4096 - end, events: (decoded.events().count() - skipped) as u32 });
    }
}

/// What the log file header says wrongly of compressed buffers costs none of their events.
#[test]
fn headers_of_compressed_files() {
    let file = fixture(PRODUCERS[7], ClockType::PerfCounter, true, 30).unwrap().bytes;
    let whole = read(&file).1;
    let largest = Trace::from_bytes(&file).unwrap().buffers().map(|buffer| buffer.unwrap().header().offset).max().unwrap();
    for (name, at, value, expected) in [
        ("nothing", 0, &file[..1], &[][..]),
        ("as large as the largest", LOG_FILE, &largest.to_le_bytes()[..], &[]),
        ("too small", LOG_FILE, &(largest - 8).to_le_bytes(), &["log-file-buffer-size"]),
        ("far too small", LOG_FILE, &0x48_u32.to_le_bytes(), &["log-file-buffer-size"]),
        ("LZNT1", 0x2C, &[2], &["log-file-compression"]),
        ("XPRESS-HUFFMAN", 0x2C, &[4], &["log-file-compression"]),
        ("2.0", LOG_FILE + 4, &[2, 0], &["version"]),
        ("5.2", LOG_FILE + 4, &[5, 2], &["version"]),
        ("6.0", LOG_FILE + 4, &[6, 0], &["version"]),
    ] {
        let (kinds, events) = read(&put(&file, at, value));
        assert_eq!((&kinds[..], events), (expected, whole), "{name}");
    }
    // Without the mode of compressed buffers, there is no compression format either.
    let mode = put(&put(&file, LOG_FILE_MODE + 3, &[0]), 0x2C, &[2]);
    assert_eq!(read(&mode).1, whole);
    // The first buffers need not be compressed.
    let (uncompressed, first) = (fixture(PRODUCERS[7], ClockType::PerfCounter, false, 30).unwrap().bytes, size_of_first(&file));
    let buffers = u32::from_le_bytes(file[BUFFERS_WRITTEN..][..4].try_into().unwrap());
    let three = &uncompressed[SIZE..4 * SIZE];
    let mixed = [&file[..first], three, &file[first..]].concat();
    let mixed = put(&put(&mixed, BUFFERS_WRITTEN, &(buffers + 3).to_le_bytes()), 0x2C, &[2]);
    assert_eq!(read(&mixed).0, ["log-file-compression"]);
}

/// Bytes of the header buffer.
fn size_of_first(file: &[u8]) -> usize {
    u32::from_le_bytes(*file.first_chunk().unwrap()) as usize
}

/// A valid end that no compressed buffer has, and one that is higher than its stream leads.
#[test]
fn valid_ends_of_compressed_buffers() {
    let file = fixture(PRODUCERS[7], ClockType::PerfCounter, true, 30).unwrap().bytes;
    let whole = read(&file).1;
    let trace = Trace::from_bytes(&file).unwrap();
    let buffer = trace.buffers().nth(2).unwrap().unwrap();
    let (at, offset) = (buffer.offset() as usize, buffer.header().offset);
    let events = buffer.decode(&mut Scratch::default()).events().count();
    for (end, kinds) in
        [(0x40, "valid-end"), ((1 << 24) + 8, "too-large"), (u32::MAX, "too-large"), (offset + 64, "decompressed-size")]
    {
        let bytes = put(&put(&file, at + 4, &end.to_le_bytes()), at + 0x30, &end.to_le_bytes());
        let (found, survived) = read(&bytes);
        assert_eq!(found.last(), Some(&kinds), "{end:#x}");
        assert_eq!(whole - survived, if kinds == "decompressed-size" { 0 } else { events }, "{end:#x}");
        if kinds == "decompressed-size" {
            let trace = Trace::from_bytes(&bytes).unwrap();
            let damaged = trace.buffers().flatten().nth(2).unwrap();
            let kind = damaged.decode(&mut Scratch::default()).fault().unwrap().kind.clone();
            assert_eq!(kind, DiagnosticKind::Decompressed { stated: end, there: offset });
        }
    }
    // A buffer of no events is a header alone.
    let mut empty = file[at..at + 0x48].to_vec();
    for place in [0, 4, 0x30] {
        empty[place..place + 4].copy_from_slice(&0x48_u32.to_le_bytes());
    }
    empty[0x18..0x20].fill(0);
    let buffers = u32::from_le_bytes(file[BUFFERS_WRITTEN..][..4].try_into().unwrap()) + 1;
    let bytes = put(&[&file[..at], &empty, &file[at..]].concat(), BUFFERS_WRITTEN, &buffers.to_le_bytes());
    assert_eq!(read(&bytes), (vec![], whole));
}

/// Two members of the first event's header that are wrong are none of a trace file.
#[test]
fn no_log_file_header() {
    let file = fixture(PRODUCERS[7], ClockType::PerfCounter, false, 20).unwrap().bytes;
    let [hook, ty, marker] = [(0x4E, 4), (0x4A, 6), (0x4B, 0xC4)];
    for (one, other) in [(hook, ty), (ty, marker), (hook, marker)] {
        assert!(Trace::from_bytes(put(&put(&file, one.0, &[one.1]), other.0, &[other.1])).is_err(), "{one:x?} {other:x?}");
    }
    let error = Trace::from_bytes(put(&put(&file, hook.0, &[4]), PROCESSORS, &[0; 4])).unwrap_err().to_string();
    assert!(error.contains("log file header"), "{error}");
    for (read, expected) in [(1, "missing"), (2, "unexpected"), (3, "unexpected")] {
        assert!(DiagnosticKind::BuffersWritten { stated: 2, read }.to_string().starts_with(expected), "{read}");
    }
}

/// Before 6.0 SavedOffset can be zero, State holds flags, and 5.1 has neither flags nor a type of a buffer: such a buffer is found again behind a
/// damaged one.
#[test]
fn buffers_of_old_versions() {
    for (producer, changes) in [
        (1, &[(4, 0), (0x2C, 0xFF_FF), (0x2C, 7), (0x34, 0x8000), (0x36, 8)][..]),
        (2, &[(4, 0), (0x2C, 0xFF_FF), (0x2C, 7)]),
        (3, &[]),
    ] {
        let file = fixture(PRODUCERS[producer], ClockType::PerfCounter, false, 20).unwrap().bytes;
        let (third, fourth) = (3 * SIZE, 4 * SIZE);
        for (at, value) in
            [(4, 0_u32), (0x2C, 0xFF_FF), (0x2C, 7), (0x36, 8), (4, 0x50), (0x34, 0x8000), (0x30, 0x47), (0x30, 0x1001)]
        {
            // The buffer before it is destroyed, and the one behind it is no buffer either.
            let bytes = put(&file, third - SIZE, &[0xA5; 0x48]);
            let bytes =
                put(&put(&bytes, third + at, &value.to_le_bytes()[..if at > 0x30 { 2 } else { 4 }]), fourth, &[0x5A; 0x48]);
            let found = Trace::from_bytes(&bytes).unwrap().buffers().flatten().any(|buffer| buffer.offset() == third as u64);
            assert_eq!(found, changes.contains(&(at, value)), "{producer} {at:#x} {value:#x}");
        }
    }
}

/// Values that are assumed instead of wrong values in the log file header.
#[test]
fn assumptions() {
    let file = fixture(PRODUCERS[7], ClockType::PerfCounter, false, 20).unwrap();
    let time = |bytes: &[u8]| Trace::from_bytes(bytes).unwrap().clock().system_time(file.log.start_stamp + 1_000);
    assert_eq!(time(&put(&file.bytes, CLOCK, &[9])), time(&file.bytes));
    assert_eq!(time(&put(&file.bytes, PERF_FREQUENCY, &[0; 8])), file.log.start_time + 1_000);
    // A pointer size that is wrong is not taken where neither width has a clock, nor one that no producer has, whatever is in its place.
    let no_clock = put(&file.bytes, CLOCK, &[9]);
    for bytes in [put(&no_clock, POINTER_SIZE, &[4]), put(&put(&no_clock, POINTER_SIZE, &[3]), START_TIME, &[1, 0, 0, 0])] {
        assert_eq!(Trace::from_bytes(&bytes).unwrap().log_file().pointer_size, 8);
    }
    // Of one buffer alone: the size in the log file header, its own, the largest of all.
    for (stated, own, expected) in [(0, SIZE as u32, SIZE as u32), (0, 0, 1 << 24), (SIZE as u32, 2 * SIZE as u32, SIZE as u32)] {
        let bytes = put(&put(&file.bytes[..SIZE], LOG_FILE, &u32::to_le_bytes(stated)), 0, &u32::to_le_bytes(own));
        assert_eq!(Trace::from_bytes(&bytes).unwrap().log_file().buffer_size, expected, "{stated} {own}");
    }
    for size in [0, 1, 3, 4, 16] {
        let bytes = put(&file.bytes, POINTER_SIZE, &[size]);
        let trace = Trace::from_bytes(&bytes).unwrap();
        assert_eq!((trace.log_file().pointer_size, &trace.log_file().logger_name[..]), (8, "A logger"));
    }
    let bytes = put(&file.bytes, LOG_FILE, &[0; 4]);
    assert_eq!(Trace::from_bytes(&bytes).unwrap().log_file().buffer_size, SIZE as u32);
}

/// A clock that is too slow makes buffers later than the end of the file.
#[test]
fn slow_clock() {
    let file = fixture(PRODUCERS[7], ClockType::PerfCounter, false, 20).unwrap().bytes;
    let bytes = put(&file, PERF_FREQUENCY, &1_i64.to_le_bytes());
    let (kinds, events) = read(&bytes);
    assert_eq!((kinds, events), (vec!["buffer-time"; file.len() / SIZE - 1], read(&file).1));
}

/// The processor is an index of 11 bits if the buffer's flags announce one, and a byte otherwise, which Windows 7 has beside an 8.
#[test]
fn processors_of_buffers() {
    let index = ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_PROC_INDEX.0;
    for (flags, context, processor) in
        [(0, 0x0803, 3), (0, 0x08FF, 255), (index, 0x01FF, 0x1FF), (index, 0x07FF, 0x7FF), (index, 0x0803, 3)]
    {
        let mut bytes = [0; 0x48];
        bytes[0x28..0x2A].copy_from_slice(&u16::to_le_bytes(context));
        bytes[0x34..0x36].copy_from_slice(&u16::to_le_bytes(flags));
        assert_eq!(BufferHeader::read(Generation::V6_1, &bytes).unwrap().processor(), processor, "{flags:#x} {context:#x}");
    }
}

/// Of so many processors the last has one number less.
#[test]
fn processors_of_files() {
    let file = fixture(PRODUCERS[7], ClockType::PerfCounter, false, 20).unwrap().bytes;
    let found = |bytes: &[u8]| {
        let mut found = 0;
        check(&Trace::from_bytes(bytes).unwrap(), &mut |diagnostic| found += usize::from(diagnostic.kind.name() == "processor"));
        found
    };
    let last = Trace::from_bytes(&file).unwrap().buffers().map(|buffer| buffer.unwrap().header().processor()).max().unwrap();
    assert_eq!(found(&put(&file, PROCESSORS, &(u32::from(last) + 1).to_le_bytes())), 0);
    let of_last = Trace::from_bytes(&file)
        .unwrap()
        .buffers()
        .filter(|buffer| buffer.as_ref().unwrap().header().processor() == last)
        .count();
    assert_eq!((found(&put(&file, PROCESSORS, &u32::from(last).to_le_bytes())), of_last > 0), (of_last, true));
}

/// Each rule that only `check` has is broken alone.
#[test]
fn each_rule_is_checked() {
    let of = |compressed, known: bool| {
        fixture_of(PRODUCERS[7], ClockType::PerfCounter, compressed, 20, &|header| header.is_known() || !known).unwrap().bytes
    };
    let (file, compressed) = (of(false, true), of(true, true));
    let unknown = rules_of(&of(false, false));
    assert!(!unknown.is_empty() && unknown.iter().all(|kind| *kind == "layout"));
    let (second, third) = (2 * SIZE, 3 * SIZE);
    let stamp = |at: usize| i64::from_le_bytes(file[at + 0x10..][..8].try_into().unwrap());
    let trace = Trace::from_bytes(&file).unwrap();
    let buffer = trace.buffers().nth(2).unwrap().unwrap();
    let is_manifest = |event: &Event<'_>| matches!(event.header(), EventHeader::Event(_));
    let event = buffer.decode(&mut Scratch::default()).events().flatten().find(is_manifest).unwrap().offset() as usize;
    let before = (stamp(second) - 1).to_le_bytes();
    // Which 5.2 may leave empty.
    let of_5_2 = fixture_of(PRODUCERS[2], ClockType::PerfCounter, false, 20, &HeaderType::is_known).unwrap().bytes;
    let cases: &[(&str, Vec<u8>, &[&str])] = &[
        ("no SavedOffset", put(&of_5_2, second + 4, &[0; 4]), &[]),
        ("sound", file.clone(), &[]),
        ("sound and compressed", compressed.clone(), &[]),
        ("same time", put(&file, third + 0x10, &stamp(second).to_le_bytes()), &[]),
        ("earlier", put(&file, third + 0x10, &before), &["buffer-order"]),
        ("earlier in a circle", put(&put(&file, third + 0x10, &before), LOG_FILE_MODE, &[0x02]), &[]),
        ("no processor", put(&file, PROCESSORS, &[0; 4]), &["processors", "processor"]),
        ("no end", put(&file, END_TIME, &[0; 8]), &[]),
        ("ends before it starts", put(&file, END_TIME, &[1, 0, 0, 0, 0, 0, 0, 0]), &["end-time"]),
        ("ends as it starts", put(&file, END_TIME, &file[START_TIME..][..8]), &[]),
        ("second header", put(&file, second + 0x36, &[4]), &["header-buffer"]),
        ("no header", put(&file, 0x36, &[0]), &["header-buffer"]),
        ("SavedOffset of the header buffer", put(&file, 4, &[1]), &[]),
        ("type", put(&file, second + 0x36, &[8]), &["buffer-type"]),
        ("flag", put(&file, second + 0x35, &[0x80]), &["buffer-flags"]),
        ("SavedOffset", put(&file, second + 4, &[1]), &["saved-offset"]),
        ("mode", put(&compressed, LOG_FILE_MODE + 3, &[0]), &["compressed-mode"]),
        ("events", put(&file, second + event + 0x10, &[0xFF; 7]), &["event-order"]),
    ];
    for (name, bytes, expected) in cases {
        let mut found = rules_of(bytes);
        found.dedup();
        assert_eq!(found, *expected, "{name}");
    }
}

/// The rules of `check` that a file breaks.
fn rules_of(bytes: &[u8]) -> Vec<&'static str> {
    let mut kinds = Vec::new();
    check(&Trace::from_bytes(bytes).unwrap(), &mut |diagnostic| {
        if matches!(diagnostic.kind, DiagnosticKind::Rule(_) | DiagnosticKind::Layout { .. }) {
            kinds.push(diagnostic.kind.name());
        }
    });
    kinds
}
