//! Tables of a trace: both shapes in all formats of files, and the copies of files without the rows of another trace.

use super::trace;
use etw_layouts_table::write::{Format, Writer, retain};
use etw_layouts_table::{Batch, Counts, Error, Kind, Merge, Options, Order, Rows, Shape};
use etw_layouts_trace::{self as reader, BytesSource, Trace, TraceFile};
use std::collections::BTreeMap;
use std::io::{Cursor, Seek, Write};
use std::sync::LazyLock;
use test_support::logging::logging;

/// The trace whose rows are in the same files at first.
static OTHER: LazyLock<Vec<u8>> = LazyLock::new(|| logging().trace());

const FORMATS: [Format; 4] = [Format::Parquet, Format::Arrow, Format::Csv, Format::Jsonl];

/// Every event is a row in both shapes. Files that had rows of another trace too are the same, without these rows, as files that never had them.
pub fn run(input: &[u8]) {
    let open = |name: &str, bytes: &[u8]| {
        let file = TraceFile::new(name, BytesSource(bytes.to_vec())).ok()?;
        Trace::new(vec![file], reader::Options::new()).ok()
    };
    let Some(trace) = open("input", input) else { return };
    let other = open("other", &OTHER).expect("a trace");
    for (shape, order) in [(Shape::Narrow, Order::Time), (Shape::Typed, Order::File)] {
        let options = Options { shape, order, ..Options::default() };
        let (alone, both) = (tables(&[&trace], options), tables(&[&other, &trace], options));
        for format in FORMATS {
            for (key, batches) in &both {
                let expected = alone.get(key).map_or(&[][..], Vec::as_slice);
                let (copy, rows) = copied(format, batches);
                assert_eq!(rows, expected.iter().map(|batch| batch.rows.num_rows() as u64).sum::<u64>());
                if matches!(format, Format::Csv | Format::Jsonl) && !expected.is_empty() {
                    assert!(copy == written(format, expected), "{format:?}");
                }
            }
            assert!(alone.keys().all(|key| both.contains_key(key)));
        }
    }
}

type Key = (Kind, u128);

/// The batches of each table.
fn tables(traces: &[&Trace], options: Options) -> BTreeMap<Key, Vec<Batch>> {
    let (mut merge, mut tables) = (Merge::default(), BTreeMap::<Key, Vec<Batch>>::new());
    let mut keep = |batch: Batch| {
        tables.entry((batch.table.kind.clone(), batch.table.layout)).or_default().push(batch);
        Ok::<_, Error>(())
    };
    let (mut counts, mut expected) = (Counts::default(), 0);
    for trace in traces {
        let rows = Rows { trace, file: None, filters: &[], options, threads: 1 };
        let result = rows.read::<Error>(|part| {
            counts.add(part.counts);
            part.batches.into_iter().try_for_each(|batch| merge.add(batch, &mut keep))
        });
        result.expect("bytes in memory");
        expected += trace.event_count();
    }
    merge.rest(&mut keep).expect("batches in memory");
    let rows = tables.iter().filter(|((kind, _), _)| *kind != Kind::Stacks).flat_map(|(_, batches)| batches);
    let rows: u64 = rows.map(|batch| batch.rows.num_rows() as u64).sum();
    assert_eq!((counts.events, counts.rows, rows), (expected, expected, expected));
    tables
}

/// A file with the batches of a table.
fn written(format: Format, batches: &[Batch]) -> Vec<u8> {
    let mut writer = Writer::new(format, &batches[0].table, Vec::new()).expect("memory");
    batches.iter().for_each(|batch| writer.write(&batch.rows).expect("memory"));
    writer.finish().expect("memory")
}

/// A copy of the file of a table with the rows of the input only, and their number.
fn copied(format: Format, batches: &[Batch]) -> (Vec<u8>, u64) {
    let mut file = tempfile::tempfile().expect("a temporary file");
    file.write_all(&written(format, batches)).expect("a temporary file");
    file.rewind().expect("a temporary file");
    let (rows, copy) = retain(format, file, Cursor::new(Vec::new()), |name| name == "input").expect("a file of a table");
    (copy.into_inner(), rows)
}

/// The seeds of traces.
pub fn seeds() -> Vec<Vec<u8>> {
    trace::seeds()
}
