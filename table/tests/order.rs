//! The order of rows, with memory for only a few buffers.

use crate::{batches, keys};
use etw_layouts_etl::ClockType;
use etw_layouts_table::{MEMORY, Options, Order, Shape};
use etw_layouts_trace::Trace;
use test_support::traces::{PRODUCERS, fixture};

fn options(shape: Shape, order: Order) -> Options {
    Options { shape, order, ..Options::default() }
}

#[test]
fn slices_do_not_change_rows() {
    for compressed in [false, true] {
        let bytes = fixture(PRODUCERS[7], ClockType::PerfCounter, compressed, 100).unwrap().bytes;
        let trace = Trace::from_bytes(bytes).unwrap();
        let (whole, counts, is_ordered) = batches(&trace, options(Shape::Narrow, Order::Time), MEMORY);
        let whole = keys(&whole);
        assert_eq!((whole.len() as u64, counts.rows, is_ordered), (trace.event_count(), trace.event_count(), true));
        let ticks: Vec<_> = whole.iter().filter_map(|(tick, _)| *tick).collect();
        assert!(ticks.is_sorted() && ticks.len() > 100);
        // The memory is sufficient for about ten buffers.
        let (parts, _, is_ordered) = batches(&trace, options(Shape::Narrow, Order::Time), 40 << 10);
        assert!(trace.slices(None, Order::Time, 40 << 10).0.len() > 5);
        assert!(keys(&parts) == whole && is_ordered, "compressed {compressed}");
        let (file, ..) = batches(&trace, options(Shape::Narrow, Order::File), 40 << 10);
        let sequences: Vec<_> = keys(&file).iter().map(|(_, sequence)| *sequence).collect();
        assert!(sequences.is_sorted_by(|one, other| one < other));
        let mut sorted: Vec<_> = whole.iter().map(|(_, sequence)| *sequence).collect();
        sorted.sort_unstable();
        assert_eq!(sequences, sorted);
        // All typed tables together have the same rows.
        let (typed, ..) = batches(&trace, options(Shape::Typed, Order::Time), 40 << 10);
        let mut sorted = keys(&typed);
        sorted.sort_by_key(|(_, sequence)| *sequence);
        let mut all = whole;
        all.sort_by_key(|(_, sequence)| *sequence);
        assert_eq!(sorted, all);
    }
}
