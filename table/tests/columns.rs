//! The columns of tables. Other programs rely on them.

use etw_layouts_etl::ClockType;
use etw_layouts_table::{Encoder, Options, Shape, Table, traces};
use etw_layouts_trace::Trace;
use std::sync::Arc;
use test_support::traces::{PRODUCERS, fixture};

#[test]
fn columns() {
    let fixture = fixture(PRODUCERS[7], ClockType::PerfCounter, false, 1).unwrap();
    let options = Options { shape: Shape::Typed, ..Options::default() };
    let (batches, ..) = crate::batches(&Trace::from_bytes(fixture.bytes).unwrap(), options, 1 << 20);
    let is_start = |table: &Arc<Table>| text(table).starts_with("Event { provider: \"Process\", event: \"Start\" }");
    let typed = batches.into_iter().map(|batch| batch.table).find(is_start);
    let traces = [traces(&[]).unwrap().table];
    let tables = Encoder::new(Options::default()).tables().into_iter().chain(traces).chain(typed);
    let seen: String = tables.map(|table| text(&table)).collect();
    assert_eq!(seen, include_str!("columns.txt"), "{seen}");
}

/// A line for each column: its name, its type, whether it can be null, and its extension type.
fn text(table: &Table) -> String {
    let mut text = format!("{:?}\n", table.kind);
    for field in table.schema.fields() {
        let extension = field.extension_type_name().unwrap_or_default();
        let line = format!("  {} {} {} {extension}", field.name(), field.data_type(), field.is_nullable());
        text += &format!("{}\n", line.trim_end());
    }
    text
}
