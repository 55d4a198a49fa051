//! The order of time for buffers and times in any arrangement.

use crate::order::assert_orders;
use crate::real::open;
use etw_layouts_etl::header::EventHeader;
use etw_layouts_etl::wire::{Arch, EVENT_HEADER, LOG_FILE_MODE, large, zero};
use etw_layouts_etl::write::{FileWriter, Producer, Record};
use etw_layouts_etl::{Diagnostic, LogFile};
use etw_layouts_trace::{Error, Event, Order, Record as EventRecord, Trace, in_order};
use fastrand::Rng;
use std::io::Cursor;

const PRODUCER: Producer = Producer::new(10, 0, 19041, Arch::X64);

/// A trace of buffers, each of a processor with the times of its events.
fn file(log: LogFile, payload: &[u8], buffers: &[(u16, Vec<i64>)]) -> Vec<u8> {
    let log = LogFile { processors: 64, ..log };
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), PRODUCER, log).expect("a writer");
    let mut header: EVENT_HEADER = zero();
    for (processor, times) in buffers {
        for time in times {
            header.TimeStamp = large(*time);
            writer.push(*processor, &Record::new(EventHeader::Event(header), true, payload)).expect("an event");
        }
        writer.flush(*processor).expect("a buffer");
    }
    writer.finish(0).expect("a file").into_inner()
}

fn log(buffer_size: u32) -> LogFile {
    let mut log = LogFile { buffer_size, ..LogFile::new(&PRODUCER) };
    log.mode |= LOG_FILE_MODE::EVENT_TRACE_COMPRESSED_MODE.0;
    log
}

/// Late, circular and shuffled buffers, with events that are in order, shuffled, of equal times, or of impossible times.
#[test]
fn arrangements() {
    let mut random = Rng::with_seed(0x0DE2);
    for round in 0..120 {
        let (processors, count) = (random.u16(1..40), random.i64(1..300));
        let tick = [1, 64][round / 4 % 2];
        let mut buffers: Vec<_> = (0..count)
            .map(|buffer| {
                let mut times: Vec<_> = (0..random.i64(1..6)).map(|event| (buffer * 7 + event * 3) / tick * tick).collect();
                match round / 8 % 4 {
                    0 => {}
                    1 => random.shuffle(&mut times),
                    2 => times[0] = [i64::MAX, i64::MIN, -5, 1][random.usize(..4)],
                    _ => times[0] += random.i64(-500..500),
                }
                (random.u16(..processors), times)
            })
            .collect();
        // A processor writes a buffer when it is full.
        let late: Vec<i64> = (0..processors).map(|_| random.i64(0..30)).collect();
        buffers.sort_by_key(|(processor, times)| times[times.len() - 1].saturating_add(late[usize::from(*processor)]));
        match round % 4 {
            0 | 1 => {}
            2 => buffers.rotate_left(random.usize(..count as usize)),
            _ => random.shuffle(&mut buffers),
        }
        assert_orders(&format!("{round}"), &file(log(4096), &[], &buffers)).expect("a trace");
    }
}

/// The first processor has all its buffers before those of the others.
#[test]
fn far_apart() {
    let mut buffers: Vec<_> = (0..60_000).map(|time| (0, vec![100 + time])).collect();
    buffers.extend((0..50).map(|time| (1 + (time % 5) as u16, vec![time * 1_400])));
    assert_orders("far apart", &file(log(4096), &[], &buffers)).expect("a trace");
}

/// More buffers of the same time than fit in memory: all events are there, and the trace says that it is not in order.
#[test]
fn more_of_one_time_than_fits() {
    let payload = vec![0; 60_000];
    let times = |buffer: i64| (0..16).map(|event| event * 1_000 + buffer).collect();
    let buffers: Vec<_> = (0..160).map(|buffer| ((buffer % 64) as u16, times(buffer))).collect();
    let trace = open(&[("of one time", &file(log(1 << 20), &payload, &buffers))]);
    let events = trace.events();
    assert!(!events.is_ordered());
    let all = |event: Result<Event<'_>, Error>| event.expect("an event").place().sequence();
    let (mut seen, expected): (Vec<_>, Vec<_>) = (events.map(all).collect(), trace.events().in_file_order().map(all).collect());
    seen.sort_unstable();
    assert!(seen == expected && seen.len() == 1 + 160 * 16, "{}", seen.len());
}

/// The events of several sessions are merged by system time. Equal times keep the order of the sessions.
#[test]
fn merged() {
    let buffers: Vec<_> = (0..40).map(|number| ((number % 3) as u16, vec![10 * number, 10 * number + 5])).collect();
    let files: Vec<_> = (0..3)
        .map(|number| {
            let log = log(4096);
            // The last two begin together.
            let (start_time, name) = (log.start_time + [7, 0, 0][number], format!("Session {number}"));
            file(LogFile { start_time, logger_name: name, ..log }, &[], &buffers[number..])
        })
        .collect();
    let trace = open(&[("a", &files[0]), ("b", &files[1]), ("c", &files[2])]);
    assert_eq!(trace.sessions().len(), 3);
    let key = |event: Result<Event<'_>, Error>| {
        let event = event.expect("an event");
        let time = event.file().clock().system_time(event.tick());
        (time, event.session_index(), event.tick(), event.place().sequence())
    };
    let seen: Vec<_> = trace.events().map(key).collect();
    let mut expected: Vec<_> = trace.events().in_file_order().map(key).collect();
    expected.sort_unstable();
    assert_eq!(seen, expected);
    assert_eq!(seen.len(), 3 + 2 * (40 + 39 + 38));
    // The events of one file alone.
    assert!(trace.events_of(1).map(key).eq(seen.into_iter().filter(|key| key.1 == 1)));
}

/// The results of threads are in the order of the slices, also if a slice has more than can wait. An error ends the work.
#[test]
fn results_of_threads() {
    let buffers: Vec<_> = (0..40).map(|buffer| (0, (0..50).map(|event| buffer * 50 + event).collect())).collect();
    let trace = Trace::from_bytes(file(log(1 << 14), &[0; 8], &buffers)).expect("a trace");
    let expected: Vec<_> = trace.events().map(|event| event.expect("an event").tick()).collect();
    for (threads, taken) in [1, 2, 5].into_iter().flat_map(|threads| [(threads, expected.len()), (threads, 700)]) {
        let (slices, _) = trace.slices(None, Order::Time, 1 << 13);
        assert!(slices.len() > 10);
        let mut ticks = Vec::new();
        let result = in_order(
            slices,
            threads,
            || trace.no_events(),
            |events, slice, put| _ = events.of_slice(slice).all(|event| put(event.expect("an event").tick())),
            |tick| {
                ticks.push(tick);
                if ticks.len() == taken { Err(()) } else { Ok(()) }
            },
        );
        assert_eq!((result, &ticks[..]), (Err(()), &expected[..taken]), "{threads} threads");
    }
}

/// Traces and events can be sent to other threads.
#[test]
fn threads() {
    fn is_sendable<T: Send + Sync + 'static>(_: Option<T>) {}
    is_sendable(None::<Trace>);
    is_sendable(None::<Event<'static>>);
    is_sendable(None::<EventRecord>);
    is_sendable(None::<Error>);
    is_sendable(None::<Diagnostic>);
}
