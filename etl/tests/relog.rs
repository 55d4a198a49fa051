//! Copies of the events that a filter selects, read again and checked.

use crate::diagnostics::{CLOCK, PERF_FREQUENCY, put};
use crate::events::Seen;
use etw_layouts_etl::check::check;
use etw_layouts_etl::header::EventHeader;
use etw_layouts_etl::wire::{ETW_BUFFER_FLAG, EVENT_HEADER, LOG_FILE_MODE, large, zero};
use etw_layouts_etl::write::{Error, FileWriter, Record, Relog};
use etw_layouts_etl::{ClockType, Event, Filter, LogFile, Scratch, Trace};
use std::collections::BTreeSet;
use std::fs;
use std::io::Cursor;
use test_support::installed;
use test_support::traces::{PRODUCERS, all, fixture};

/// The events of a file that a filter selects, in file order, without the log file header. The flag is true for events in the
/// header buffer.
fn taken(trace: &Trace<'_>, filter: &Filter) -> Vec<(bool, Seen)> {
    let (mut scratch, mut events) = (Scratch::default(), Vec::new());
    for buffer in trace.buffers().flatten() {
        let processor = buffer.header().processor();
        let header = usize::from(buffer.index() == 0);
        let all = buffer.decode(&mut scratch);
        let all = all.events().flatten().skip(header).filter(|event| filter.matches(event, processor, trace.clock()));
        events.extend(all.map(|event| (header > 0, Seen::of(&event, processor))));
    }
    events
}

/// Swaps the time stamps of every third pair of neighboring events in each uncompressed buffer.
fn swapped(mut bytes: Vec<u8>) -> Vec<u8> {
    let mut places = Vec::new();
    let (trace, mut scratch) = (Trace::from_bytes(&bytes).unwrap(), Scratch::default());
    for buffer in trace.buffers().skip(1).flatten() {
        let decoded = buffer.decode(&mut scratch);
        let events: Vec<_> = decoded.events().flatten().collect();
        for pair in events.chunks_exact(2).step_by(3) {
            let place = |event: &Event<'_>| {
                let stamp = event.time_stamp()?.to_le_bytes();
                let at = event.bytes().windows(8).position(|bytes| bytes == stamp)?;
                Some(buffer.offset() as usize + event.offset() as usize + at)
            };
            places.extend(place(&pair[0]).zip(place(&pair[1])));
        }
    }
    assert!(places.len() > 10);
    for (one, other) in places {
        (0..8).for_each(|at| bytes.swap(one + at, other + at));
    }
    bytes
}

/// The new file; `None` if the version cannot compress.
fn saved(trace: &Trace<'_>, filter: &Filter, compressed: bool) -> Option<Vec<u8>> {
    let mut relog = match Relog::new(Cursor::new(Vec::new()), trace.log_file(), compressed) {
        Err(Error::Version { .. }) if compressed => return None,
        relog => relog.unwrap(),
    };
    let mut scratch = Scratch::default();
    for buffer in trace.buffers().flatten() {
        let processor = buffer.header().processor();
        for event in buffer.decode(&mut scratch).events().flatten().filter(|e| filter.matches(e, processor, trace.clock())) {
            relog.push(&event, &buffer).unwrap();
        }
    }
    Some(relog.finish().unwrap().into_inner())
}

fn diagnostics(trace: &Trace<'_>) -> BTreeSet<&'static str> {
    let mut kinds = BTreeSet::new();
    check(trace, &mut |diagnostic| {
        kinds.insert(diagnostic.kind.name());
    });
    kinds
}

#[test]
fn relogged() {
    let mut files: Vec<_> = all(12).into_iter().map(|fixture| (fixture.name, fixture.bytes)).collect();
    if let Some(folder) = installed::folder("ETW_LAYOUTS_ETL") {
        let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let paths = paths.filter(|path| path.extension().is_some_and(|extension| extension == "etl"));
        files.extend(paths.map(|path| (path.display().to_string(), fs::read(path).unwrap())));
    }
    let uncompressed = fixture(PRODUCERS[7], ClockType::SystemTime, false, 40).unwrap().bytes;
    let (header, data) = uncompressed.split_at(4096);
    // Buffers of a processor in reverse order, in circular order, and with swapped time stamps.
    files.push(("reversed".into(), data.rchunks(4096).fold(header.to_vec(), |file, buffer| [&file, buffer].concat())));
    files.push(("circle".into(), [header, &data[5 * 4096..], &data[..5 * 4096]].concat()));
    files.push(("swapped".into(), swapped(uncompressed)));
    // A damaged clock is copied unchanged.
    let counted = fixture(PRODUCERS[7], ClockType::PerfCounter, false, 40).unwrap().bytes;
    for (at, value) in [(CLOCK, 0_i64), (CLOCK, 7), (PERF_FREQUENCY, 0), (PERF_FREQUENCY, -1)] {
        let size = if at == CLOCK { 4 } else { 8 };
        files.push((format!("{at:#x}: {value}"), put(&counted, at, &value.to_le_bytes()[..size])));
    }
    let mut compressions = 0;
    for (name, bytes) in &files {
        let trace = Trace::from_bytes(bytes).unwrap();
        let all = taken(&trace, &Filter::new());
        let middle = all.get(all.len() / 2).and_then(|(_, event)| event.time).map(|stamp| trace.clock().system_time(stamp));
        for filter in
            [Filter::new(), Filter::new().opcode(1), Filter::new().to(middle.unwrap_or(0)), Filter::new().process(u32::MAX - 1)]
        {
            let expected = taken(&trace, &filter);
            for compressed in [false, true] {
                let Some(again) = saved(&trace, &filter, compressed) else { continue };
                let again = Trace::from_bytes(&again).unwrap();
                assert!(taken(&again, &Filter::new()) == expected, "{name}, compressed {compressed}, {filter:?}");
                // The new file has no diagnostics that the old file does not have.
                assert!(diagnostics(&again).is_subset(&diagnostics(&trace)), "{name}, compressed {compressed}, {filter:?}");
                let (old, new) = (trace.log_file(), again.log_file());
                assert_eq!(
                    (&old.logger_name, old.start_time, old.events_lost),
                    (&new.logger_name, new.start_time, new.events_lost)
                );
                assert_eq!(again.clock(), trace.clock());
                compressions += again.buffers().flatten().filter(|buffer| buffer.header().is_compressed()).count();
            }
        }
    }
    assert!(compressions > 0);
}

/// The new file keeps the log file mode, such as circular, except for the compression flag.
#[test]
fn modes() {
    let mode = LOG_FILE_MODE::EVENT_TRACE_FILE_MODE_CIRCULAR | LOG_FILE_MODE::EVENT_TRACE_SECURE_MODE;
    let log = LogFile { mode: mode.0, ..LogFile::new(&PRODUCERS[7]) };
    for (compressed, names) in [(false, ""), (true, " | EVENT_TRACE_COMPRESSED_MODE")] {
        let bytes = Relog::new(Cursor::new(Vec::new()), &log, compressed).unwrap().finish().unwrap().into_inner();
        let mode = LOG_FILE_MODE(Trace::from_bytes(&bytes).unwrap().log_file().mode);
        assert_eq!(format!("{mode:?}"), format!("EVENT_TRACE_FILE_MODE_CIRCULAR | EVENT_TRACE_SECURE_MODE{names}"));
    }
}

/// One log file header for several files: the earliest start, the maxima and the sums. Files of different systems are an error.
#[test]
fn joined() {
    let log = fixture(PRODUCERS[7], ClockType::PerfCounter, false, 1).unwrap().log;
    let first =
        LogFile { processors: 4, buffer_size: 8192, events_lost: 1, buffers_lost: 2, end_time: log.start_time + 9, ..log };
    // The same clock, one second earlier.
    let (start_stamp, start_time) = (first.start_stamp - 3_579_545, first.start_time - 10_000_000);
    let other =
        LogFile { processors: 9, buffer_size: 4096, start_stamp, start_time, end_time: first.end_time + 1, ..first.clone() };
    for logs in [[&first, &other], [&other, &first]] {
        let joined = LogFile::join(&logs).unwrap();
        assert_eq!((joined.processors, joined.buffer_size, joined.end_time), (9, 8192, other.end_time));
        assert_eq!((joined.start_stamp, joined.start_time), (start_stamp, start_time));
        assert_eq!((joined.events_lost, joined.buffers_lost), (2, 4));
        let open = LogFile { end_time: 0, ..logs[1].clone() };
        assert_eq!(LogFile::join(&[logs[0], &open]).unwrap().end_time, 0);
    }
    let clock = |clock: ClockType| LogFile { clock: clock.value(), ..first.clone() };
    let system = clock(ClockType::SystemTime);
    for (logs, what) in [
        ([&first, &LogFile { build: 1, ..first.clone() }], "version of Windows"),
        ([&first, &LogFile { pointer_size: 4, ..first.clone() }], "pointer size"),
        ([&first, &system], "clock"),
        ([&first, &LogFile { perf_frequency: 5, ..first.clone() }], "clock"),
        ([&first, &LogFile { boot_time: 1, ..first.clone() }], "boot time"),
        ([&first, &LogFile { start_stamp: start_stamp + 1, ..first.clone() }], "relation of time stamps to system time"),
        ([&first, &LogFile { start_time: start_time + 1, ..first.clone() }], "relation of time stamps to system time"),
        ([&system, &LogFile { start_time: start_time + 1, ..system.clone() }], "relation of time stamps to system time"),
    ] {
        let apart = LogFile::join(&logs).unwrap_err();
        assert_eq!((apart.file, apart.property), (1, what));
        assert!(apart.first != apart.other && apart.to_string().contains(&apart.other), "{apart}");
    }
    assert_eq!(LogFile::join(&[]).unwrap_err().property, "file");
    assert!(
        LogFile::join(&[
            &system,
            &LogFile { start_time: system.start_time + 7, start_stamp: system.start_stamp + 7, ..system.clone() }
        ])
        .is_ok()
    );
}

/// Values in a buffer header that no session writes are not copied; all others are.
#[test]
fn identities() {
    const STATES: u8 = 7;
    let file = fixture(PRODUCERS[7], ClockType::PerfCounter, false, 20).unwrap().bytes;
    let two = 2 * 4096;
    for (at, value, state, flags, ty) in [
        (0x2C, &[3, 0, 0, 0][..], 3, 0x20, 0),
        (0x2C, &[STATES, 0, 0, 0], 3, 0x20, 0),
        (0x2C, &[STATES - 1, 0, 0, 0], 6, 0x20, 0),
        (0x2C, &[1, 0, 0, 0], 1, 0x20, 0),
        (0x34, &[2, 0x80], 3, 0x22, 0),
        (0x36, &[7, 0], 3, 0x20, 7),
        (0x36, &[8, 0], 3, 0x20, 0),
        (0x36, &[4, 0], 3, 0x20, 0),
    ] {
        let mut bytes = file.clone();
        bytes[two + at..][..value.len()].copy_from_slice(value);
        let trace = Trace::from_bytes(&bytes).unwrap();
        let again = saved(&trace, &Filter::new(), false).unwrap();
        let head = |bytes: &[u8]| *Trace::from_bytes(bytes).unwrap().buffers().flatten().nth(2).unwrap().header();
        let (old, new) = (head(&bytes), head(&again));
        assert_eq!((new.state, new.flags.0, new.ty.0), (state, flags, ty), "{at:#x} {value:x?}");
        assert_eq!((new.sequence, new.logger, new.time_stamp), (old.sequence, old.logger, old.time_stamp));
    }
    // A version without buffer states keeps the byte. A version with buffer states replaces an unknown state.
    for (producer, is_kept) in [(PRODUCERS[2], true), (PRODUCERS[3], false)] {
        let mut bytes = fixture(producer, ClockType::PerfCounter, false, 20).unwrap().bytes;
        bytes[two + 0x2C] = STATES;
        let again = saved(&Trace::from_bytes(&bytes).unwrap(), &Filter::new(), false).unwrap();
        let head = |bytes: &[u8]| *Trace::from_bytes(bytes).unwrap().buffers().flatten().nth(2).unwrap().header();
        let (old, new) = (head(&bytes), head(&again));
        assert_eq!(new.state, if is_kept { old.state } else { 3 }, "{producer:?}");
    }
    // If the events of two buffers fit into one, they are merged, with the sequence number of the first and the flags of both.
    let trace = Trace::from_bytes(&file).unwrap();
    let processors: Vec<_> = trace.buffers().flatten().map(|buffer| buffer.header().processor()).collect();
    let first = (1..processors.len() - 1).find(|at| processors[*at] == processors[*at + 1]);
    let (mut relog, mut scratch) = (Relog::new(Cursor::new(Vec::new()), &log_of(&file), false).unwrap(), Scratch::default());
    let mut bytes = file.clone();
    let first = first.unwrap_or(1);
    for (at, flags, sequence) in [(first, 2, 40_u64), (first + 1, 4, 41)] {
        bytes[at * 4096 + 0x34] |= flags;
        bytes[at * 4096 + 0x18..][..8].copy_from_slice(&sequence.to_le_bytes());
        bytes.copy_within(first * 4096 + 0x28..first * 4096 + 0x2A, at * 4096 + 0x28);
    }
    let trace = Trace::from_bytes(&bytes).unwrap();
    for buffer in trace.buffers().flatten().skip(first).take(2) {
        let event = buffer.decode(&mut scratch).events().flatten().next().unwrap();
        relog.push(&event, &buffer).unwrap();
    }
    let again = relog.finish().unwrap().into_inner();
    let merged: Vec<_> = Trace::from_bytes(&again).unwrap().buffers().flatten().skip(1).map(|one| *one.header()).collect();
    assert_eq!(merged.iter().map(|one| (one.sequence, one.flags.0 & 6)).collect::<Vec<_>>(), [(40, 6)]);
    // If a file was never closed, or ends before it starts, the time of its last event becomes the end time. Otherwise the end time is kept.
    let log = Trace::from_bytes(&file).unwrap().log_file().clone();
    let last = log.to_clock().system_time(fixture_end(&file));
    for (end, expected) in [(0, last), (log.start_time - 1, last), (log.start_time, log.start_time), (7 + last, 7 + last)] {
        let mut bytes = file.clone();
        bytes[0x48 + 0x20 + 0x10..][..8].copy_from_slice(&i64::to_le_bytes(end));
        let again = saved(&Trace::from_bytes(&bytes).unwrap(), &Filter::new(), false).unwrap();
        assert_eq!(Trace::from_bytes(&again).unwrap().log_file().end_time, expected);
    }
}

/// `push_written` writes the events of a buffer as a separate buffer, with the flags that were set.
#[test]
fn events_of_a_buffer() {
    let file = fixture(PRODUCERS[7], ClockType::PerfCounter, false, 20).unwrap();
    let (trace, mut scratch) = (Trace::from_bytes(&file.bytes).unwrap(), Scratch::default());
    let buffer = trace.buffers().nth(2).unwrap().unwrap();
    let decoded = buffer.decode(&mut scratch);
    let events = || decoded.events().map(Result::unwrap);
    let mut writer =
        FileWriter::new(Cursor::new(Vec::new()), PRODUCERS[7], LogFile { processors: 2, ..file.log.clone() }).unwrap();
    assert!(matches!(writer.push_written(2, events()), Err(Error::Processor { processor: 2, processors: 2 })));
    let twice = events().chain(events());
    assert!(matches!(writer.push_written(1, twice), Err(Error::Full { .. })));
    writer.set_flags(ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_EVENTS_LOST);
    writer.push_written(1, events()).unwrap();
    let again = writer.finish(0).unwrap().into_inner();
    let again = Trace::from_bytes(&again).unwrap();
    let [_, only] = again.buffers().map(Result::unwrap).collect::<Vec<_>>()[..] else { panic!("two buffers") };
    assert!(only.header().processor() == 1 && only.header().flags.contains(ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_EVENTS_LOST));
    assert_eq!(only.decode(&mut Scratch::default()).bytes()[0x48..], decoded.bytes()[0x48..]);
}

fn log_of(bytes: &[u8]) -> LogFile {
    Trace::from_bytes(bytes).unwrap().log_file().clone()
}

/// The last time stamp of a file.
fn fixture_end(bytes: &[u8]) -> i64 {
    crate::events::in_file(&Trace::from_bytes(bytes).unwrap()).into_iter().filter_map(|event| event.time).max().unwrap()
}

/// Events are accepted in any order of times, and at most one buffer is written per source buffer. The file has 600 processors and buffers
/// of 1 MiB, sorted by processor or by time, with events in time order or in reverse.
#[test]
fn bounds() {
    const PROCESSORS: u16 = 600;
    let log = LogFile { buffer_size: 1 << 20, processors: PROCESSORS.into(), ..LogFile::new(&PRODUCERS[7]) };
    let log = LogFile { mode: LOG_FILE_MODE::EVENT_TRACE_COMPRESSED_MODE.0, ..log };
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), PRODUCERS[7], log).unwrap();
    let mut header: EVENT_HEADER = zero();
    for (processor, stamp) in (0..PROCESSORS).flat_map(|processor| (0..10).map(move |stamp| (processor, stamp))) {
        header.TimeStamp = large(stamp);
        writer.push(processor, &Record::new(EventHeader::Event(header), true, &[])).unwrap();
        if stamp == 5 {
            writer.flush(processor).unwrap();
        }
    }
    let bytes = writer.finish(0).unwrap().into_inner();
    let trace = Trace::from_bytes(&bytes).unwrap();
    let buffers: Vec<_> = trace.buffers().map(Result::unwrap).collect();
    assert_eq!(buffers.len(), 1 + 2 * usize::from(PROCESSORS));
    let mut mixed = buffers.clone();
    mixed[1..].sort_by_key(|buffer| buffer.header().time_stamp);
    for (buffers, disorder) in [(&buffers, false), (&buffers, true), (&mixed, false), (&mixed, true)] {
        let mut relog = Relog::new(Cursor::new(Vec::new()), trace.log_file(), true).unwrap();
        let (mut scratch, mut expected) = (Scratch::default(), Vec::new());
        for buffer in buffers {
            let decoded = buffer.decode(&mut scratch);
            let mut events: Vec<_> = decoded.events().map(Result::unwrap).collect();
            if disorder && buffer.index() > 0 {
                events.reverse();
            }
            for event in events {
                if relog.push(&event, buffer).unwrap() {
                    expected.push((false, Seen::of(&event, buffer.header().processor())));
                }
            }
        }
        let again = relog.finish().unwrap().into_inner();
        let again = Trace::from_bytes(&again).unwrap();
        assert!(again.buffers().count() <= buffers.len());
        assert!(expected.len() == 10 * usize::from(PROCESSORS) && taken(&again, &Filter::new()) == expected);
    }
}
