//! The order of time of files whose buffers lie in every way, a small one for each event.

use etw_layouts_etl::header::Header;
use etw_layouts_etl::wire::{Arch, ETW_BUFFER_FLAG, ETW_BUFFER_TYPE, EVENT_HEADER, LOG_FILE_MODE, zero};
use etw_layouts_etl::write::{BufferWriter, FileWriter, Identity, Producer, Record};
use etw_layouts_etl::{ByTime, Event, LogFile, Trace};
use fastrand::Rng;
use std::io::Cursor;

const PRODUCER: Producer = Producer::new(10, 0, 19041, Arch::X64);

/// Processor and time of a buffer and its event.
type Place = (u16, i64);

#[test]
#[cfg_attr(miri, ignore = "it takes minutes")]
fn every_way_buffers_lie() {
    let mut random = Rng::with_seed(0x0DE2);
    for round in 0..200 {
        let (processors, count) = (random.u16(1..40), random.i64(1..400));
        // Each is a little late, as processors write their buffers when they are full.
        let mut buffers: Vec<Place> = (1..=count).map(|time| (random.u16(..processors), time)).collect();
        let late: Vec<i64> = (0..processors).map(|_| random.i64(..30)).collect();
        buffers.sort_by_key(|(processor, time)| time + late[usize::from(*processor)]);
        match round % 4 {
            0 | 1 => {}
            // In a circle, which has cut off nothing.
            2 => buffers.rotate_left(random.usize(..count as usize)),
            _ => random.shuffle(&mut buffers),
        }
        assert_order(&buffers);
    }
}

/// The first processor has many buffers before those of the others.
#[test]
#[cfg_attr(miri, ignore = "it takes minutes")]
fn far_apart() {
    let mut buffers: Vec<Place> = (0..300_000).map(|time| (0, 100 + time)).collect();
    buffers.extend((0..50).map(|time| (1 + (time % 5) as u16, time * 7_000)));
    assert_order(&buffers);
}

/// As many processors as there can be, whose buffers are mixed or apart; were the file scanned for each, this would take minutes.
#[test]
#[cfg_attr(miri, ignore = "it takes minutes")]
fn many_processors() {
    const COUNT: i64 = 200_000;
    let mixed = (0..COUNT).map(|at| ((at % 2048) as u16, at));
    let apart = (0..COUNT).map(|at| ((at * 2048 / COUNT) as u16, at * 2048 % COUNT));
    assert_order(&mixed.collect::<Vec<_>>());
    assert_order(&apart.collect::<Vec<_>>());
}

fn assert_order(buffers: &[Place]) {
    let bytes = file(buffers);
    let trace = Trace::new(&bytes).unwrap();
    let mut expected = buffers.to_vec();
    expected.sort_by_key(|(processor, time)| (*time, *processor));
    assert!(in_time(&mut trace.by_time()) == expected);
    assert!(trace.by_time_ahead(in_time) == expected);
}

/// All events but that of the header buffer.
fn in_time(order: &mut ByTime<'_>) -> Vec<Place> {
    let mut seen = Vec::new();
    while let Some(timed) = order.next_event() {
        let timed = timed.unwrap();
        let time = Event::time_stamp(&timed.event).unwrap();
        seen.extend((timed.buffer > 0).then_some((timed.processor, time)));
    }
    seen
}

fn file(buffers: &[Place]) -> Vec<u8> {
    let mut log = LogFile { processors: 2048, buffer_size: 4096, ..LogFile::new(&PRODUCER) };
    // Such files have buffers of any size.
    log.mode |= LOG_FILE_MODE::EVENT_TRACE_COMPRESSED_MODE.0;
    let mut bytes = FileWriter::new(Cursor::new(Vec::new()), PRODUCER, log).unwrap().finish(0).unwrap().into_inner();
    let mut writer = BufferWriter::new(PRODUCER, 4096).unwrap();
    // BuffersWritten.
    bytes[0x48 + 0x20 + 0x24..][..4].copy_from_slice(&(1 + buffers.len() as u32).to_le_bytes());
    let header: EVENT_HEADER = zero();
    writer.push(&Record::new(Header::Event(header), true, &[])).unwrap();
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
