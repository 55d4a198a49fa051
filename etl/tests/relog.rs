//! Files of the events that a filter takes, read again and checked.

use crate::events::Seen;
use etw_layouts_etl::check::check;
use etw_layouts_etl::header::Header;
use etw_layouts_etl::wire::{EVENT_HEADER, LOG_FILE_MODE, large, zero};
use etw_layouts_etl::write::{Error, FileWriter, Record, Relog};
use etw_layouts_etl::{ClockType, Event, Filter, LogFile, Scratch, Trace};
use std::collections::BTreeSet;
use std::fs;
use std::io::Cursor;
use test_support::traces::{PRODUCERS, all, fixture};
use test_support::witness;

/// The events of a file that a filter takes, without the log file header, in the order of the file; and whether they are in the
/// header buffer.
fn taken(trace: &Trace<'_>, filter: &Filter) -> Vec<(bool, Seen)> {
    let (mut scratch, mut events) = (Scratch::default(), Vec::new());
    for buffer in trace.buffers().flatten() {
        let processor = buffer.head().processor();
        let header = usize::from(buffer.index() == 0);
        let all = buffer.image(&mut scratch);
        let all = all.events().flatten().skip(header).filter(|event| filter.takes(event, processor, trace.clock()));
        events.extend(all.map(|event| (header > 0, Seen::of(&event, processor))));
    }
    events
}

/// The same in the order of time.
fn taken_by_time(trace: &Trace<'_>, filter: &Filter) -> Vec<(bool, Seen)> {
    let (mut order, mut events) = (trace.by_time(), Vec::new());
    while let Some(timed) = order.next_event() {
        let timed = timed.unwrap();
        let (header, event) = (timed.buffer == 0, timed.event);
        if !(header && event.offset() == 0x48) && filter.takes(&event, timed.processor, trace.clock()) {
            events.push((header, Seen::of(&event, timed.processor)));
        }
    }
    events
}

/// A fixture of uncompressed buffers whose stamps are swapped between neighbours, in every third pair of each buffer.
fn swapped(mut bytes: Vec<u8>) -> Vec<u8> {
    let mut places = Vec::new();
    let (trace, mut scratch) = (Trace::new(&bytes).unwrap(), Scratch::default());
    for buffer in trace.buffers().skip(1).flatten() {
        let image = buffer.image(&mut scratch);
        let events: Vec<_> = image.events().flatten().collect();
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

/// The saved file; `None` if the version cannot compress.
fn saved(trace: &Trace<'_>, filter: &Filter, compressed: bool) -> Option<Vec<u8>> {
    let mut relog = match Relog::new(Cursor::new(Vec::new()), trace.log_file(), compressed) {
        Err(Error::Version { .. }) if compressed => return None,
        relog => relog.unwrap(),
    };
    let mut scratch = Scratch::default();
    for buffer in trace.buffers().flatten() {
        let processor = buffer.head().processor();
        for event in buffer.image(&mut scratch).events().flatten().filter(|e| filter.takes(e, processor, trace.clock())) {
            relog.push(&event, &buffer).unwrap();
        }
    }
    Some(relog.finish().unwrap().into_inner())
}

fn findings(trace: &Trace<'_>) -> BTreeSet<&'static str> {
    let mut kinds = BTreeSet::new();
    check(trace, &mut |finding| {
        kinds.insert(finding.what.kind());
    });
    kinds
}

#[test]
#[cfg_attr(miri, ignore = "it takes minutes")]
fn relogged() {
    let mut files: Vec<_> = all(12).into_iter().map(|fixture| (fixture.name, fixture.bytes)).collect();
    if let Some(folder) = witness::folder("ETW_LAYOUTS_ETL") {
        let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let paths = paths.filter(|path| path.extension().is_some_and(|extension| extension == "etl"));
        files.extend(paths.map(|path| (path.display().to_string(), fs::read(path).unwrap())));
    }
    let uncompressed = fixture(PRODUCERS[7], ClockType::SystemTime, false, 40).unwrap().bytes;
    let (header, data) = uncompressed.split_at(4096);
    // Buffers of a processor that lie in no order of time, and in a circle.
    files.push(("reversed".into(), data.rchunks(4096).fold(header.to_vec(), |file, buffer| [&file, buffer].concat())));
    files.push(("circle".into(), [header, &data[5 * 4096..], &data[..5 * 4096]].concat()));
    files.push(("swapped".into(), swapped(uncompressed)));
    let mut compressions = 0;
    for (name, bytes) in &files {
        let trace = Trace::new(bytes).unwrap();
        let all = taken(&trace, &Filter::new());
        let middle = all.get(all.len() / 2).and_then(|(_, event)| event.time).map(|stamp| trace.clock().system_time(stamp));
        for filter in
            [Filter::new(), Filter::new().opcode(1), Filter::new().to(middle.unwrap_or(0)), Filter::new().process(u32::MAX - 1)]
        {
            let (expected, in_time) = (taken(&trace, &filter), taken_by_time(&trace, &filter));
            for compressed in [false, true] {
                let Some(again) = saved(&trace, &filter, compressed) else { continue };
                let again = Trace::new(&again).unwrap();
                assert!(taken(&again, &Filter::new()) == expected, "{name}, compressed {compressed}, {filter:?}");
                assert!(taken_by_time(&again, &Filter::new()) == in_time, "{name}, compressed {compressed}, {filter:?}");
                // What breaks a rule does so in the new file, too, and nothing else.
                assert!(findings(&again).is_subset(&findings(&trace)), "{name}, compressed {compressed}, {filter:?}");
                let (old, new) = (trace.log_file(), again.log_file());
                assert_eq!(
                    (&old.logger_name, old.start_time, old.events_lost),
                    (&new.logger_name, new.start_time, new.events_lost)
                );
                assert_eq!(again.clock(), trace.clock());
                compressions += again.buffers().flatten().filter(|buffer| buffer.head().is_compressed()).count();
            }
        }
    }
    assert!(compressions > 0);
}

/// The buffers of a circle are copied as they lie, so that it stays one.
#[test]
fn modes() {
    let mode = LOG_FILE_MODE::EVENT_TRACE_FILE_MODE_CIRCULAR | LOG_FILE_MODE::EVENT_TRACE_SECURE_MODE;
    let log = LogFile { mode: mode.0, ..LogFile::new(&PRODUCERS[7]) };
    for (compressed, names) in [(false, ""), (true, " | EVENT_TRACE_COMPRESSED_MODE")] {
        let bytes = Relog::new(Cursor::new(Vec::new()), &log, compressed).unwrap().finish().unwrap().into_inner();
        let mode = LOG_FILE_MODE(Trace::new(&bytes).unwrap().log_file().mode);
        assert_eq!(format!("{mode:?}"), format!("EVENT_TRACE_FILE_MODE_CIRCULAR | EVENT_TRACE_SECURE_MODE{names}"));
    }
}

/// Nothing is refused for its time, and of each buffer that is read one is written at the most: events of 600 processors in buffers
/// of 1 MiB, one processor's behind the other's and mixed, in the order of time and against it.
#[test]
#[cfg_attr(miri, ignore = "it takes minutes")]
fn bounds() {
    const PROCESSORS: u16 = 600;
    let log = LogFile { buffer_size: 1 << 20, processors: PROCESSORS.into(), ..LogFile::new(&PRODUCERS[7]) };
    let log = LogFile { mode: LOG_FILE_MODE::EVENT_TRACE_COMPRESSED_MODE.0, ..log };
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), PRODUCERS[7], log).unwrap();
    let mut header: EVENT_HEADER = zero();
    for (processor, stamp) in (0..PROCESSORS).flat_map(|processor| (0..10).map(move |stamp| (processor, stamp))) {
        header.TimeStamp = large(stamp);
        writer.push(processor, &Record::new(Header::Event(header), true, &[])).unwrap();
        if stamp == 5 {
            writer.flush(processor).unwrap();
        }
    }
    let bytes = writer.finish(0).unwrap().into_inner();
    let trace = Trace::new(&bytes).unwrap();
    let buffers: Vec<_> = trace.buffers().map(Result::unwrap).collect();
    assert_eq!(buffers.len(), 1 + 2 * usize::from(PROCESSORS));
    let mut mixed = buffers.clone();
    mixed[1..].sort_by_key(|buffer| buffer.head().time_stamp);
    for (buffers, disorder) in [(&buffers, false), (&buffers, true), (&mixed, false), (&mixed, true)] {
        let mut relog = Relog::new(Cursor::new(Vec::new()), trace.log_file(), true).unwrap();
        let (mut scratch, mut expected) = (Scratch::default(), Vec::new());
        for buffer in buffers {
            let image = buffer.image(&mut scratch);
            let mut events: Vec<_> = image.events().map(Result::unwrap).collect();
            if disorder && buffer.index() > 0 {
                events.reverse();
            }
            for event in events {
                if relog.push(&event, buffer).unwrap() {
                    expected.push((false, Seen::of(&event, buffer.head().processor())));
                }
            }
        }
        let again = relog.finish().unwrap().into_inner();
        let again = Trace::new(&again).unwrap();
        assert!(again.buffers().count() <= buffers.len());
        assert!(expected.len() == 10 * usize::from(PROCESSORS) && taken(&again, &Filter::new()) == expected);
    }
}
