//! Time order of files with different arrangements of buffers. Most buffers are small and have one event.

use etw_layouts_etl::header::EventHeader;
use etw_layouts_etl::wire::{Arch, ETW_BUFFER_FLAG, ETW_BUFFER_TYPE, EVENT_HEADER, LOG_FILE_MODE, large, zero};
use etw_layouts_etl::write::{BufferWriter, FileWriter, Identity, Producer, Record};
use etw_layouts_etl::{ByTime, Diagnostic, Event, EventRecord, LogFile, Merged, Trace, merge};
use fastrand::Rng;
use std::io::Cursor;

const PRODUCER: Producer = Producer::new(10, 0, 19041, Arch::X64);

/// Processor and time of a buffer and its event.
type Place = (u16, i64);

#[test]
fn arrangements_of_buffers() {
    let mut random = Rng::with_seed(0x0DE2);
    for round in 0..200 {
        let (processors, count) = (random.u16(1..40), random.i64(1..400));
        // Buffers are a little late, because a processor writes a buffer when it is full.
        let mut buffers: Vec<Place> = (1..=count).map(|time| (random.u16(..processors), time)).collect();
        let late: Vec<i64> = (0..processors).map(|_| random.i64(0..30)).collect();
        buffers.sort_by_key(|(processor, time)| time + late[usize::from(*processor)]);
        match round % 4 {
            0 | 1 => {}
            // A circular file without overwritten buffers.
            2 => buffers.rotate_left(random.usize(..count as usize)),
            _ => random.shuffle(&mut buffers),
        }
        assert_order(&buffers);
    }
}

/// Times before the start of the clock, the last possible time, and equal times of several processors.
#[test]
fn times_at_the_edge() {
    assert_order(&[(0, -5), (1, -7), (0, 3), (1, 3), (2, 3), (2, i64::MAX), (0, i64::MAX)]);
}

/// Up to four buffers of a processor are merged while each overlaps an earlier one. An event that is further from its position is late.
#[test]
fn windows() {
    let late = |buffers: &[Vec<i64>]| {
        let log = LogFile { buffer_size: 4096, ..LogFile::new(&PRODUCER) };
        let mut writer = FileWriter::new(Cursor::new(Vec::new()), PRODUCER, log).unwrap();
        let mut header: EVENT_HEADER = zero();
        for stamps in buffers {
            for stamp in stamps {
                header.TimeStamp = large(*stamp);
                writer.push(0, &Record::new(EventHeader::Event(header), true, &[])).unwrap();
            }
            writer.flush(0).unwrap();
        }
        let bytes = writer.finish(0).unwrap().into_inner();
        let (trace, mut late) = (Trace::from_bytes(&bytes).unwrap(), 0);
        let mut order = trace.by_time();
        while let Some(timed) = order.next_event() {
            late += usize::from(timed.unwrap().late > 0);
        }
        late
    };
    // Ten events in each of eight buffers. The first time of each buffer is after the last time of the previous one, equal to it, or before it.
    for (overlap, reach) in [(-1, 1), (0, 1), (1, 3)] {
        for distance in 1..6 {
            let times = |buffer: i64| (0..10).map(move |event| 100 * buffer + 10 * event);
            let mut buffers: Vec<Vec<i64>> = (0..8).map(|buffer| times(buffer).collect()).collect();
            for (buffer, times) in buffers.iter_mut().enumerate().skip(1) {
                times[0] = 100 * buffer as i64 - 10 - overlap;
            }
            buffers[distance].insert(5, 35);
            assert_eq!(late(&buffers), usize::from(distance > reach), "{overlap} {distance}");
        }
    }
}

/// The first processor has many buffers before those of the others.
#[test]
fn far_apart() {
    let mut buffers: Vec<Place> = (0..300_000).map(|time| (0, 100 + time)).collect();
    buffers.extend((0..50).map(|time| (1 + (time % 5) as u16, time * 7_000)));
    assert_order(&buffers);
}

/// The maximum number of processors, with mixed or separate buffers. With one scan of the file per processor, the test would take minutes.
#[test]
fn many_processors() {
    const COUNT: i64 = 200_000;
    let mixed = (0..COUNT).map(|at| ((at % 2048) as u16, at));
    let apart = (0..COUNT).map(|at| ((at * 2048 / COUNT) as u16, at * 2048 % COUNT));
    assert_order(&mixed.collect::<Vec<_>>());
    assert_order(&apart.collect::<Vec<_>>());
}

/// Events are sorted within a buffer and across four buffers of a processor. Events that are further out of order are reported as late, and
/// all others are in order.
#[test]
fn disorder() {
    // Number of events that fill a buffer.
    const FULL: usize = 43;
    let mut random = Rng::with_seed(0xD150);
    for (round, compressed) in (0..60).flat_map(|round| [(round, false), (round, true)]) {
        let processors = random.u16(1..5);
        // Events are shuffled in pairs, within a buffer, or within three buffers.
        let span = if round / 3 % 3 == 1 { [2, FULL][round % 2] } else { [2, FULL, 3 * FULL][round % 3] };
        let (mut events, mut wild) = (Vec::new(), 0);
        for processor in 0..processors {
            // The clock is exact, or ticks so rarely that many events have the same time.
            let tick = [1, 64][round / 9 % 2];
            let mut stamps: Vec<i64> =
                (0..random.i64(400..2000)).map(|place| (place * 7 + random.i64(0..7)) / tick * tick).collect();
            stamps.chunks_mut(span).for_each(|chunk| random.shuffle(chunk));
            match round / 3 % 3 {
                0 => {}
                // Invalid time stamps, later than all others.
                1 => (1..3).for_each(|times| stamps[times * 100] = i64::MAX - 1),
                // One event that is far too late.
                _ => {
                    stamps[390] = 1;
                    wild += 1;
                }
            }
            events.extend(stamps.into_iter().enumerate().map(|(place, stamp)| (place, processor, stamp)));
        }
        // Events of the processors alternate, so that their buffers are mixed.
        events.sort();
        let mode = if compressed { LOG_FILE_MODE::EVENT_TRACE_COMPRESSED_MODE.0 } else { 0 };
        let log = LogFile { processors: processors.into(), buffer_size: 4096, mode, ..LogFile::new(&PRODUCER) };
        let mut writer = FileWriter::new(Cursor::new(Vec::new()), PRODUCER, log).unwrap();
        let mut header: EVENT_HEADER = zero();
        for (place, processor, stamp) in &events {
            header.TimeStamp = large(*stamp);
            let payload = (*place as u64).to_le_bytes();
            writer.push(*processor, &Record::new(EventHeader::Event(header), true, &payload)).unwrap();
        }
        let bytes = writer.finish(0).unwrap().into_inner();
        let trace = Trace::from_bytes(&bytes).unwrap();
        let all = |order: &mut ByTime<'_>| {
            let (mut seen, mut late) = (Vec::new(), Vec::new());
            while let Some(timed) = order.next_event() {
                let timed = timed.unwrap();
                if timed.buffer > 0 {
                    let place = u64::from_le_bytes(timed.event.payload().try_into().unwrap());
                    let stamp = timed.event.time_stamp().unwrap();
                    match timed.late {
                        0 => seen.push((stamp, timed.processor, place as usize)),
                        by => late.push((stamp, by)),
                    }
                }
            }
            (seen, late)
        };
        let (seen, late) = all(&mut trace.by_time());
        // The iterator returns the same events.
        let records = trace.by_time().map(|event| event.unwrap().late()).filter(|by| *by > 0);
        assert!(records.eq(late.iter().map(|(_, by)| *by)), "{round}");
        let mut expected: Vec<_> = events.iter().map(|(place, processor, stamp)| (*stamp, *processor, *place)).collect();
        expected.retain(|(stamp, _, place)| wild == 0 || (*stamp, *place) != (1, 390));
        // Events with the same time and processor keep the file order.
        expected.sort();
        assert!(seen == expected, "{round}: {} in order of {}", seen.len(), expected.len());
        assert!(late.len() == wild && late.iter().all(|(stamp, by)| *stamp == 1 && *by > 7 * 200), "{round}");
    }
}

/// The events of a further header buffer can have any time, independent of the time of the buffer.
#[test]
fn header_buffers() {
    let buffers: Vec<Place> = (1..22).map(|time| (0, time)).collect();
    let mut bytes = file(&buffers);
    let last = bytes.len() - 0x48 - size_of::<EVENT_HEADER>();
    bytes[last + 0x36..][..2].copy_from_slice(&ETW_BUFFER_TYPE::ETW_BUFFER_TYPE_HEADER.0.to_le_bytes());
    bytes[last + 0x48 + 0x10..][..8].copy_from_slice(&3_i64.to_le_bytes());
    let trace = Trace::from_bytes(&bytes).unwrap();
    let events = trace.by_time().flatten().filter(|event| event.buffer() > 0);
    let times: Vec<_> = events.filter_map(|event| event.time_stamp()).collect();
    assert_eq!(times, [1, 2, 3].into_iter().chain(3..21).collect::<Vec<_>>());
}

fn assert_order(buffers: &[Place]) {
    let bytes = file(buffers);
    let trace = Trace::from_bytes(&bytes).unwrap();
    let mut expected = buffers.to_vec();
    expected.sort_by_key(|(processor, time)| (*time, *processor));
    assert!(in_time(&mut trace.by_time()) == expected);
}

/// All events except that of the header buffer.
fn in_time(order: &mut ByTime<'_>) -> Vec<Place> {
    let mut seen = Vec::new();
    while let Some(stamp) = order.next_stamp() {
        let timed = order.next_event().unwrap().unwrap();
        assert_eq!(timed.event.time_stamp(), stamp.ok());
        let time = Event::time_stamp(&timed.event).unwrap();
        seen.extend((timed.buffer > 0).then_some((timed.processor, time)));
    }
    seen
}

fn file(buffers: &[Place]) -> Vec<u8> {
    let mut log = LogFile { processors: 2048, buffer_size: 4096, ..LogFile::new(&PRODUCER) };
    // In compressed files, buffers can have any size.
    log.mode |= LOG_FILE_MODE::EVENT_TRACE_COMPRESSED_MODE.0;
    let mut bytes = FileWriter::new(Cursor::new(Vec::new()), PRODUCER, log).unwrap().finish(0).unwrap().into_inner();
    let mut writer = BufferWriter::new(PRODUCER, 4096).unwrap();
    // BuffersWritten.
    bytes[0x48 + 0x20 + 0x24..][..4].copy_from_slice(&(1 + buffers.len() as u32).to_le_bytes());
    let header: EVENT_HEADER = zero();
    writer.push(&Record::new(EventHeader::Event(header), true, &[])).unwrap();
    let identity = Identity {
        time_stamp: 0,
        sequence: 0,
        processor: 0,
        logger: 0,
        state: 3,
        flags: ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_PROC_INDEX,
        ty: ETW_BUFFER_TYPE::ETW_BUFFER_TYPE_GENERIC,
    };
    let mut one = Vec::new();
    writer.finish(&identity, false, &mut one).unwrap();
    let size = 0x48 + size_of::<EVENT_HEADER>();
    one.truncate(size);
    for (processor, time) in buffers {
        let mut put = |at: usize, value: &[u8]| one[at..at + value.len()].copy_from_slice(value);
        put(0, &(size as u32).to_le_bytes());
        put(0x10, &time.to_le_bytes());
        put(0x28, &processor.to_le_bytes());
        put(0x48 + 0x10, &time.to_le_bytes());
        bytes.extend_from_slice(&one);
    }
    bytes
}

/// The events of several traces are merged by time. Each has the index of its trace.
#[test]
fn merged() {
    let all: Vec<Place> = (0..40).map(|number| (number % 3, 10 * i64::from(number) + 5)).collect();
    let files = [0, 1].map(|half| file(&all.iter().copied().skip(half * 7).step_by(1 + half).collect::<Vec<_>>()));
    let traces = files.each_ref().map(|bytes| Trace::from_bytes(bytes).unwrap());
    let of = |trace: &Trace<'_>| trace.by_time().map(|event| event.unwrap().time_stamp().unwrap()).collect::<Vec<_>>();
    let mut expected: Vec<_> =
        traces.iter().enumerate().flat_map(|(file, trace)| of(trace).into_iter().map(move |time| (time, file))).collect();
    expected.sort();
    let events = merge(&traces).map(|(file, event)| (event.unwrap().time_stamp().unwrap(), file));
    assert!(events.eq(expected.iter().copied()));
    let (mut order, mut count) = (merge(&traces), 0);
    while let Some((file, event)) = order.next_event() {
        assert_eq!((event.unwrap().event.time_stamp(), file), (Some(expected[count].0), expected[count].1));
        count += 1;
    }
    assert_eq!(count, expected.len());
}

/// Traces and events can be sent to other threads.
#[test]
fn threads() {
    fn is_sendable<T: Send + Sync + 'static>(_: Option<T>) {}
    is_sendable(None::<Trace<'static>>);
    is_sendable(None::<EventRecord<'static>>);
    is_sendable(None::<Merged<'static>>);
    is_sendable(None::<Diagnostic>);
}
