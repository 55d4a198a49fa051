//! Tests of order, bounded memory and damage.

mod columns;
mod damage;
mod memory;
mod order;
mod schemas;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use etw_layouts_table::{Batch, Counts, Encoder, Error, Kind, Merge, Options, parts};
use etw_layouts_trace::Trace;

/// The batches of a trace, merged, with a memory limit for buffers, and whether they are in order.
fn batches(trace: &Trace, options: Options, memory: u64) -> (Vec<Batch>, Counts, bool) {
    let (slices, is_ordered) = trace.slices(None, options.order, memory);
    let (mut encoder, mut events) = (Encoder::new(options), trace.no_events());
    let (mut merge, mut all, mut counts) = (Merge::default(), Vec::new(), Counts::default());
    let mut keep = |batch| {
        all.push(batch);
        Ok::<_, Error>(())
    };
    for slice in slices {
        parts(&mut encoder, events.of_slice(slice), &[], &mut |part| {
            let part = part.unwrap();
            counts.add(part.counts);
            part.batches.into_iter().for_each(|batch| merge.add(batch, &mut keep).unwrap());
            true
        });
    }
    merge.rest(&mut keep).unwrap();
    (all, counts, is_ordered)
}

/// Tick and sequence of all events, in the order of rows.
fn keys(batches: &[Batch]) -> Vec<(Option<i64>, u64)> {
    let mut all = Vec::new();
    for batch in batches.iter().filter(|batch| batch.table.kind != Kind::Stacks) {
        let column = |name| batch.rows.column_by_name(name).unwrap();
        let ticks = column("tick").as_primitive::<Int64Type>();
        all.extend(ticks.iter().zip(column("sequence").as_primitive::<UInt64Type>().values().iter().copied()));
    }
    all
}
