//! In damaged traces, every event that the first pass finds becomes a row, without panic.

use crate::{batches, keys};
use etw_layouts_etl::{ClockType, HeaderType};
use etw_layouts_table::{Options, Order, Shape};
use etw_layouts_trace::Trace;
use test_support::logging::logging;
use test_support::traces::{PRODUCERS, fixture_of};

#[test]
fn damaged() {
    let mut random = fastrand::Rng::with_seed(7);
    let fixture =
        |compressed| fixture_of(PRODUCERS[7], ClockType::PerfCounter, compressed, 12, &HeaderType::is_known).unwrap().bytes;
    for whole in [fixture(false), fixture(true), logging().trace()] {
        for _ in 0..60 {
            let mut bytes = whole.clone();
            for _ in 0..random.usize(1..20) {
                let at = random.usize(0..bytes.len());
                bytes[at] = if random.bool() { random.u8(..) } else { 0xFF };
            }
            bytes.truncate(random.usize(1..=bytes.len() * 2).min(bytes.len()));
            let Ok(trace) = Trace::from_bytes(bytes) else { continue };
            for (shape, order) in [(Shape::Narrow, Order::Time), (Shape::Typed, Order::File), (Shape::Typed, Order::Time)] {
                let (rows, counts, _) = batches(&trace, Options { shape, order, ..Options::default() }, 32 << 10);
                assert_eq!((counts.events, keys(&rows).len() as u64), (trace.event_count(), trace.event_count()));
            }
        }
    }
}
