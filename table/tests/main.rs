//! Tests of order, bounded memory and damage.

mod columns;
mod damage;
mod memory;
mod order;
mod schemas;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use etw_layouts_etl::{Filter, Schemas};
use etw_layouts_table::{Batch, Batches, Counts, Index, Kind, Options, Rows};
use std::io::Cursor;
use std::sync::Arc;

/// The batches of a trace, with a memory limit for buffers.
fn batches(bytes: &[u8], options: Options, memory: u64) -> (Vec<Batch>, Counts, Arc<Index>) {
    let index = Arc::new(Index::read(bytes, |_| {}).unwrap());
    let (schemas, filter) = (Schemas::built_in(), Filter::new());
    let (source, order) = (Cursor::new(bytes), options.order);
    let rows = Rows { source, name: "trace".to_owned(), index: index.clone(), schemas, filter, order, memory };
    let mut batches = Batches::new(rows, options).unwrap();
    let all: Vec<_> = batches.by_ref().map(Result::unwrap).collect();
    let counts = batches.counts();
    (all, counts, index)
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
