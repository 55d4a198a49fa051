//! Files with a single fault: their diagnostics, which are the same in all ways of reading, and the number of events that can still be read.

use etw_layouts_etl::check::check;
use etw_layouts_etl::header::EventHeader;
use etw_layouts_etl::wire::Generation;
use etw_layouts_etl::{BufferHeader, ClockType, Diagnostic, DiagnosticKind, Event, HeaderType, Reader, Scratch, Trace};
use test_support::traces::{PRODUCERS, fixture, fixture_of};

/// Members of the log file header of a 64-bit producer, from the start of the file.
pub const LOG_FILE: usize = 0x48 + 0x20;
pub const PROCESSORS: usize = LOG_FILE + 0x0C;
const END_TIME: usize = LOG_FILE + 0x10;
const MAXIMUM_FILE_SIZE: usize = LOG_FILE + 0x1C;
pub const LOG_FILE_MODE: usize = LOG_FILE + 0x20;
pub const BUFFERS_WRITTEN: usize = LOG_FILE + 0x24;
pub const POINTER_SIZE: usize = LOG_FILE + 0x2C;
pub const PERF_FREQUENCY: usize = LOG_FILE + 0x100;
pub const START_TIME: usize = LOG_FILE + 0x108;
pub const CLOCK: usize = LOG_FILE + 0x110;

pub const SIZE: usize = 4096;

/// The name and the bytes of a damaged file, the kinds of its diagnostics in order, and the number of lost events.
type Case = (String, Vec<u8>, &'static [&'static str], usize);

pub fn put(bytes: &[u8], at: usize, value: &[u8]) -> Vec<u8> {
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
    case("undamaged", file.to_vec(), &[], 0);
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
    case("little space", [file, &[0; 0x20]].concat(), &["unwritten"], 0);
    case("noise at the end", [file, &[1; 0x200]].concat(), &["skipped"], 0);
    case("only the header buffer", file[..SIZE].to_vec(), &["buffers-written"], all - of(0));

    // A circular file with overwritten buffers has as many buffers as fit into it.
    let circle = |room: usize| {
        let file = put(file, LOG_FILE_MODE, &0x2002_u32.to_le_bytes());
        let file = put(&file, MAXIMUM_FILE_SIZE, &((room * SIZE / 1024) as u32).to_le_bytes());
        put(&file, BUFFERS_WRITTEN, &1000_u32.to_le_bytes())
    };
    let mode = |mode: u32, size: u32| {
        let file = put(&put(file, LOG_FILE_MODE, &mode.to_le_bytes()), MAXIMUM_FILE_SIZE, &size.to_le_bytes());
        put(&file, BUFFERS_WRITTEN, &1000_u32.to_le_bytes())
    };
    case("circular, 1 MiB", mode(2, 1), &["buffers-written"], 0);
    case("circular, no maximum size", mode(0x2002, 0), &["buffers-written"], 0);
    case("not circular", mode(0x2001, 4), &["buffers-written"], 0);
    // The header of the first event states 32 bits, but the log file header is that of a 64-bit producer.
    case("width in the event header", put(file, 0x4A, &[1]), &[], 0);
    case("full circular file", circle(buffers), &[], 0);
    case("circular file with free space", circle(buffers + 2), &["buffers-written"], 0);

    // Another trace, after this one and after a damaged end.
    case("another trace", [file, other].concat(), &["another-trace"], 0);
    for damaged in [put(other, 0x4E, &[4, 0]), put(other, 0x4A, &[6]), put(other, 0x4B, &[0xC4])] {
        case("another trace with a damaged first event", [file, &damaged].concat(), &["another-trace"], 0);
    }
    case(
        "another trace at an unexpected offset",
        [&file[..file.len() - 40], other].concat(),
        &["buffer-size", "another-trace"],
        0,
    );
    case("another trace after damage", [file, &[1; 100], other].concat(), &["skipped", "another-trace"], 0);

    // Bytes removed and inserted.
    let third = 3 * SIZE;
    let out = [&file[..third - 24], &file[third..]].concat();
    case("bytes removed", out, &["buffer-size"], 0);
    let inside = [&file[..third], &[7; 3], &file[third..]].concat();
    case("bytes inserted", inside, &["skipped"], 0);
    // A buffer replaced by another buffer of this file, and buffers with time stamps of another clock.
    case("a copy", put(file, third, &file[2 * SIZE..third]), &["buffer-copy"], of(3) - of(2));
    let mut pairs = (1..buffers).flat_map(|from| (from + 2..buffers).map(move |to| (from, to)));
    let (from, to) = pairs.find(|(from, to)| of(*to) >= of(*from)).unwrap();
    let far = put(file, to * SIZE, &file[from * SIZE..][..SIZE]);
    case("a copy of a buffer further before", far, &["buffer-copy"], of(to) - of(from));
    case("a sequence number greater than all others", put(file, third + 0x18, &(1_u64 << 40).to_le_bytes()), &[], 0);
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
    case("a buffer removed", without, &["buffers-written"], of(3));
    case("zeroes", put(file, third, &[0; SIZE]), &["zeroes", "buffers-written"], of(3));
    // A size of two buffers hides the second one.
    case("size of two buffers", put(file, third, &(2 * SIZE as u32).to_le_bytes()), &["buffer-size"], 0);
    // Flags that no session writes, in two neighboring buffers with a valid size, and after a buffer with the size of two.
    let flags = |bytes: &[u8], at: usize| put(bytes, at + 0x34, &[0x20, 0x80]);
    case("flags of two buffers", flags(&flags(file, third), third + SIZE), &["buffer-header", "buffer-header"], 0);
    let two = put(&flags(file, third + 2 * SIZE), third, &(2 * SIZE as u32).to_le_bytes());
    case("size of two buffers, and flags", two, &["skipped", "buffer-header", "buffers-written"], of(3));
    case("valid end", put(file, third + 0x30, &u32::MAX.to_le_bytes()), &["buffer-header", "valid-end"], 0);

    // The header of the header buffer.
    case("first header", put(file, 0, &[0; 0x48]), &["buffer-size", "valid-end"], 0);
    case("first size", put(file, 0, &[0xFF; 4]), &["buffer-size"], 0);
    case("first flags", put(file, 0x34, &[0xFF; 2]), &["buffer-header"], 0);

    // Marker, type and hook identifier of the first event.
    case("hook", put(file, 0x4E, &[4, 0]), &["log-file-event"], 0);
    case("type", put(file, 0x4A, &[6]), &["log-file-event", "event-too-short"], of(0));
    case("no event header", put(file, 0x48, &[0; 0x20]), &["log-file-event", "event-too-short"], of(0));
    case("event header", put(file, 0x48, &[0xA5; 0x10]), &["log-file-event", "event-too-long"], of(0));
    case("marker", put(file, 0x4B, &[0xC4]), &["log-file-event", "event-too-short"], of(0));

    // End markers: at the first event of a buffer, and up to the valid end.
    let head = BufferHeader::read(Generation::V6_1, &file[third..]).unwrap();
    case("end marker", put(file, third + 0x48, &[0xFF; 4]), &["end-marker"], 1);
    let rest = vec![0xFF; head.offset as usize - 0x48];
    case("filled", put(file, third + 0x48, &rest), &["end-marker"], of(3));

    // A valid end that is too low hides events. In the header buffer, it hides the log file header too.
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
        let (mut records, mut record_kinds) = (0, Vec::new());
        for event in trace.events() {
            match event {
                Ok(_) => records += 1,
                Err(diagnostic) => record_kinds.push(diagnostic.kind.name()),
            }
        }
        assert_eq!((records, record_kinds), (events, kinds), "{name}");
        let is_damaged = trace.buffers().filter_map(Result::err).any(|diagnostic| diagnostic.is_damage());
        assert_eq!(is_damaged, !matches!(expected, [] | ["unwritten"] | ["end-marker"] | ["tail"]), "{name}");
        // `check` reports all of these, in addition to its own rules.
        let mut checked = Vec::new();
        check(&trace, &mut |diagnostic| checked.push(diagnostic.kind.name()));
        assert!(expected.iter().all(|kind| checked.contains(kind)), "{name}: {checked:?}");
    }
}

/// The kinds of diagnostics, and the number of events. They must be the same from a slice and from a stream.
pub fn read(bytes: &[u8]) -> (Vec<&'static str>, usize) {
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

/// Files that break a single rule of `check`.
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
    // In 5.2, SavedOffset can be zero.
    let of_5_2 = fixture_of(PRODUCERS[2], ClockType::PerfCounter, false, 20, &HeaderType::is_known).unwrap().bytes;
    let cases: &[(&str, Vec<u8>, &[&str])] = &[
        ("no SavedOffset", put(&of_5_2, second + 4, &[0; 4]), &[]),
        ("sound", file.clone(), &[]),
        ("valid and compressed", compressed.clone(), &[]),
        ("same time", put(&file, third + 0x10, &stamp(second).to_le_bytes()), &[]),
        ("earlier", put(&file, third + 0x10, &before), &["buffer-order"]),
        ("earlier in a circular file", put(&put(&file, third + 0x10, &before), LOG_FILE_MODE, &[0x02]), &[]),
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

/// The rules of `check` that a file violates.
fn rules_of(bytes: &[u8]) -> Vec<&'static str> {
    let mut kinds = Vec::new();
    check(&Trace::from_bytes(bytes).unwrap(), &mut |diagnostic| {
        if matches!(diagnostic.kind, DiagnosticKind::Rule(_) | DiagnosticKind::Layout { .. }) {
            kinds.push(diagnostic.kind.name());
        }
    });
    kinds
}
