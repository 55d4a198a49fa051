//! Files of the events that a filter takes, read again and checked.

use crate::events::Seen;
use etw_layouts_etl::check::check;
use etw_layouts_etl::header::Header;
use etw_layouts_etl::wire::{EVENT_HEADER, LOG_FILE_MODE, large, zero};
use etw_layouts_etl::write::{Error, FileWriter, Record, Relog};
use etw_layouts_etl::{ClockType, Filter, LogFile, Scratch, Trace};
use std::fs;
use std::io::Cursor;
use test_support::traces::{PRODUCERS, all, fixture};
use test_support::witness;

/// The events of a file that a filter takes, without the log file header, by processor and in the order of the file; and whether
/// they are in the header buffer.
fn taken(trace: &Trace<'_>, filter: &Filter) -> Vec<(bool, Seen)> {
    let (mut scratch, mut events) = (Scratch::default(), Vec::new());
    for buffer in trace.buffers().flatten() {
        let processor = buffer.head().processor();
        let header = usize::from(buffer.index() == 0);
        let all = buffer.image(&mut scratch);
        let all = all.events().flatten().skip(header).filter(|event| filter.takes(event, processor, trace.clock()));
        events.extend(all.map(|event| (header > 0, Seen::of(&event, processor))));
    }
    events.sort_by_key(|(_, event)| event.processor);
    events
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
            relog.push(&event, buffer.index(), processor).unwrap();
        }
    }
    Some(relog.finish().unwrap().into_inner())
}

fn findings(trace: &Trace<'_>) -> Vec<&'static str> {
    let mut kinds = Vec::new();
    check(trace, &mut |finding| kinds.push(finding.what.kind()));
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
    // Buffers of a processor that lie in no order of time.
    let uncompressed = fixture(PRODUCERS[7], ClockType::SystemTime, false, 40).unwrap();
    let (header, data) = uncompressed.bytes.split_at(4096);
    files.push(("reversed".into(), data.rchunks(4096).fold(header.to_vec(), |file, buffer| [&file, buffer].concat())));
    let mut compressions = 0;
    for (name, bytes) in &files {
        let trace = Trace::new(bytes).unwrap();
        let all = taken(&trace, &Filter::new());
        let middle = all.get(all.len() / 2).and_then(|(_, event)| event.time).map(|stamp| trace.clock().system_time(stamp));
        for filter in
            [Filter::new(), Filter::new().opcode(1), Filter::new().to(middle.unwrap_or(0)), Filter::new().process(u32::MAX - 1)]
        {
            let expected = taken(&trace, &filter);
            for compressed in [false, true] {
                let Some(again) = saved(&trace, &filter, compressed) else { continue };
                let again = Trace::new(&again).unwrap();
                assert!(taken(&again, &Filter::new()) == expected, "{name}, compressed {compressed}, {filter:?}");
                // A record of unknown layout stays one.
                let raw = expected.iter().filter(|(_, event)| !event.header_type.is_known()).count();
                assert_eq!(findings(&again), vec!["layout"; raw], "{name}, compressed {compressed}, {filter:?}");
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

#[test]
fn circular() {
    let mode = LOG_FILE_MODE::EVENT_TRACE_FILE_MODE_CIRCULAR | LOG_FILE_MODE::EVENT_TRACE_SECURE_MODE;
    let log = LogFile { mode: mode.0, ..LogFile::new(&PRODUCERS[7]) };
    let bytes = Relog::new(Cursor::new(Vec::new()), &log, true).unwrap().finish().unwrap().into_inner();
    let mode = LOG_FILE_MODE(Trace::new(&bytes).unwrap().log_file().mode);
    assert_eq!(format!("{mode:?}"), "EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_SECURE_MODE | EVENT_TRACE_COMPRESSED_MODE");
}

/// Events of 600 processors in buffers of 1 MiB, and such as lie in no order of time within a buffer: of each buffer that is read
/// one is written at the most, and no more are open than fit into 256 MiB.
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
    }
    let bytes = writer.finish(0).unwrap().into_inner();
    let trace = Trace::new(&bytes).unwrap();
    let buffers: Vec<_> = trace.buffers().map(Result::unwrap).collect();
    assert_eq!(buffers.len(), 1 + usize::from(PROCESSORS));
    for disorder in [false, true] {
        let mut relog = Relog::new(Cursor::new(Vec::new()), trace.log_file(), true).unwrap();
        let (mut scratch, mut added, mut refused) = (Scratch::default(), 0, 0);
        for buffer in buffers[..1].iter().chain(buffers[1..].iter().rev()) {
            let image = buffer.image(&mut scratch);
            let mut events: Vec<_> = image.events().map(Result::unwrap).collect();
            if disorder && buffer.index() > 0 {
                events.reverse();
            }
            for event in events {
                match relog.push(&event, buffer.index(), buffer.head().processor()) {
                    Ok(is_added) => added += usize::from(is_added),
                    Err(Error::Order { .. }) => refused += 1,
                    Err(error) => panic!("{error}"),
                }
            }
        }
        let all = 10 * usize::from(PROCESSORS);
        // The first event out of order begins a buffer, the others are later than none.
        assert_eq!((added, refused), if disorder { (all / 10 * 2, all / 10 * 8) } else { (all, 0) });
        let again = relog.finish().unwrap().into_inner();
        let again = Trace::new(&again).unwrap();
        assert_eq!(again.buffers().count(), 1 + usize::from(PROCESSORS) * (1 + usize::from(disorder)));
        assert_eq!((taken(&again, &Filter::new()).len(), findings(&again)), (added, vec![]));
        // What was begun first is not kept for the end, where the first processor would come first.
        assert!(again.buffers().flatten().nth(1).unwrap().head().processor() > PROCESSORS - 257);
    }
}
