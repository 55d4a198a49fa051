//! Memory limits, in files of small buffers.

use crate::header::EventHeader;
use crate::logfile::LogFile;
use crate::producer::Producer;
use crate::trace::Trace;
use crate::wire::{Arch, EVENT_HEADER, LOG_FILE_MODE, align8, large, zero};
use crate::write::{FileWriter, Record};
use std::io::Cursor;

/// A compressed file with one event per time stamp; each list is a buffer of a processor, in file order.
fn file(buffers: &[(u16, &[i64])]) -> Vec<u8> {
    let producer = Producer::new(10, 0, 19041, Arch::X64);
    let mode = LOG_FILE_MODE::EVENT_TRACE_COMPRESSED_MODE.0;
    let log = LogFile { buffer_size: 1 << 16, processors: 64, mode, ..LogFile::new(&producer) };
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), producer, log).unwrap();
    let mut header: EVENT_HEADER = zero();
    for (processor, stamps) in buffers {
        for stamp in *stamps {
            header.TimeStamp = large(*stamp);
            writer.push(*processor, &Record::new(EventHeader::Event(header), true, &[0; 0x1000])).unwrap();
        }
        writer.flush(*processor).unwrap();
    }
    writer.finish(0).unwrap().into_inner()
}

/// Size of the largest buffer, decompressed.
fn largest(trace: &Trace<'_>) -> usize {
    trace.buffers().flatten().skip(1).map(|buffer| align8(buffer.header().offset as usize)).max().unwrap()
}

/// Number of returned events, of late events, and of diagnostics, with the given memory limit for all processors.
fn read(trace: &Trace<'_>, most: usize) -> (usize, usize, usize) {
    let (mut order, mut seen) = (trace.by_time(), (0, 0, 0));
    order.shared.most = most;
    while let Some(event) = order.next_event() {
        match event {
            // The event of the log file header is not counted.
            Ok(timed) => seen = (seen.0 + usize::from(timed.buffer > 0), seen.1 + usize::from(timed.late > 0), seen.2),
            Err(_) => seen.2 += 1,
        }
    }
    seen
}

/// One buffer of each processor must fit within the limit; the memory of a finished processor is free for others.
#[test]
fn limit_for_all_processors() {
    let stamps = [1, 2, 3, 4, 5];
    let buffers: Vec<_> = (0..6).map(|processor| (processor, &stamps[..])).collect();
    let bytes = file(&buffers);
    let trace = Trace::from_bytes(&bytes).unwrap();
    let one = largest(&trace);
    for (most, fit) in [(6 * one, 6), (6 * one - 1, 5), (4 * one, 4), (4 * one - 1, 3), (one, 1), (one - 1, 0)] {
        assert_eq!(read(&trace, most), (5 * fit, 0, 6 - fit), "{most} of {one}");
    }
    let bytes = file(&[(0, &[1, 2, 3, 4, 5]), (1, &[6]), (1, &[7, 8, 9, 10, 11])]);
    let trace = Trace::from_bytes(&bytes).unwrap();
    let (one, small) = (largest(&trace), align8(trace.buffers().flatten().nth(2).unwrap().header().offset as usize));
    assert_eq!(read(&trace, one + small), (11, 0, 0));
    assert_eq!(read(&trace, one + small - 1), (5, 0, 2));
}

/// Buffers that are merged with the current one must fit within a quarter of the limit; others are deferred, and their events are
/// late.
#[test]
fn limit_for_merged_buffers() {
    // Neighboring buffers overlap. One event at the start and one at the end are two buffers away from their positions.
    let bytes = file(&[
        (0, &[10, 20, 30, 110]),
        (0, &[31, 120, 130, 210]),
        (0, &[25, 131, 220, 310]),
        (0, &[230, 320, 330, 410]),
        (0, &[331, 420, 430, 510]),
        (0, &[325, 431, 520, 530]),
    ]);
    let trace = Trace::from_bytes(&bytes).unwrap();
    let one = largest(&trace);
    let late = |most| {
        let (events, late, diagnostics) = read(&trace, most);
        assert_eq!((events, diagnostics), (24, 0));
        late
    };
    let of = |more: usize| late(4 * more);
    assert_eq!([of(one), of(2 * one - 1), of(2 * one), of(2 * one + 1)], [2, 2, 0, 0]);
    assert!(late(one) > 2 && late(4 * one - 1) > 2);
}
