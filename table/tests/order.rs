//! The order of rows, with memory for only a few buffers.

use crate::{batches, keys};
use etw_layouts_etl::header::{Counters, EventHeader};
use etw_layouts_etl::wire::{Arch, PERFINFO_TRACE_HEADER, large, zero};
use etw_layouts_etl::write::{FileWriter, Producer, Record};
use etw_layouts_etl::{ClockType, LogFile};
use etw_layouts_table::{MEMORY, Options, Order, Shape};
use std::io::Cursor;
use test_support::traces::{PRODUCERS, fixture};

fn options(shape: Shape, order: Order) -> Options {
    Options { shape, order, ..Options::default() }
}

#[test]
fn slices_do_not_change_rows() {
    for compressed in [false, true] {
        let bytes = fixture(PRODUCERS[7], ClockType::PerfCounter, compressed, 100).unwrap().bytes;
        let (whole, counts, index) = batches(&bytes, options(Shape::Narrow, Order::Time), MEMORY);
        let whole = keys(&whole);
        assert_eq!((whole.len() as u64, counts.rows, counts.is_ordered), (index.events(), index.events(), true));
        let ticks: Vec<_> = whole.iter().filter_map(|(tick, _)| *tick).collect();
        assert!(ticks.is_sorted() && ticks.len() > 100);
        // The memory is sufficient for about ten buffers.
        let (parts, counts, _) = batches(&bytes, options(Shape::Narrow, Order::Time), 40 << 10);
        assert!(keys(&parts) == whole && counts.is_ordered, "compressed {compressed}");
        let (file, ..) = batches(&bytes, options(Shape::Narrow, Order::File), 40 << 10);
        let sequences: Vec<_> = keys(&file).iter().map(|(_, sequence)| *sequence).collect();
        assert!(sequences.is_sorted_by(|one, other| one < other));
        let mut sorted: Vec<_> = whole.iter().map(|(_, sequence)| *sequence).collect();
        sorted.sort_unstable();
        assert_eq!(sequences, sorted);
        // All typed tables together have the same rows.
        let (typed, ..) = batches(&bytes, options(Shape::Typed, Order::Time), 40 << 10);
        let mut sorted = keys(&typed);
        sorted.sort_by_key(|(_, sequence)| *sequence);
        let mut all = whole;
        all.sort_by_key(|(_, sequence)| *sequence);
        assert_eq!(sorted, all);
    }
}

/// All buffers of a trace have the same range of times. They do not fit into memory together, and cannot be sorted separately.
#[test]
fn buffers_far_out_of_order() {
    let producer = Producer::new(10, 0, 19041, Arch::X64);
    let log = LogFile { processors: 64, buffer_size: 4096, ..LogFile::new(&producer) };
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), producer, log).unwrap();
    let mut header: PERFINFO_TRACE_HEADER = zero();
    for index in 0..64 * 100 {
        header.set_SystemTime(large(index * 100));
        writer
            .push((index % 64) as u16, &Record::new(EventHeader::PerfInfo(header, Counters::default()), true, &[1; 8]))
            .unwrap();
    }
    let bytes = writer.finish(0).unwrap().into_inner();
    let (rows, counts, index) = batches(&bytes, options(Shape::Narrow, Order::Time), 8 << 10);
    assert_eq!((counts.rows, keys(&rows).len() as u64, counts.is_ordered), (index.events(), index.events(), false));
    // With memory for all buffers, the rows are sorted.
    let (rows, counts, _) = batches(&bytes, options(Shape::Narrow, Order::Time), MEMORY);
    assert!(counts.is_ordered && keys(&rows).is_sorted_by_key(|(tick, _)| tick.unwrap_or(i64::MIN)));
}
