//! Both orders, against the reader of the format.

use etw_layouts_etl::{self as etl, Diagnostic};
use etw_layouts_trace::{BytesSource, Event, Options, Trace, TraceFile};
use std::fs;
use std::path::PathBuf;

/// Traces of every version, and the real ones.
fn traces() -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<_> = test_support::traces::all(40).into_iter().map(|fixture| (fixture.name, fixture.bytes)).collect();
    match std::env::var_os("ETW_LAYOUTS_ETL") {
        Some(folder) => {
            let paths = fs::read_dir(folder).expect("the folder of traces").map(|entry| entry.expect("an entry").path());
            let mut paths: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|ending| ending == "etl")).collect();
            paths.sort();
            all.extend(paths.into_iter().map(|path| (path.display().to_string(), fs::read(&path).expect("a trace"))));
        }
        None => eprintln!("real traces not read: set ETW_LAYOUTS_ETL"),
    }
    all
}

/// The place and the bytes of an event.
pub type Seen = (u64, Vec<u8>);

pub fn seen(event: &Event<'_>) -> Seen {
    (event.place().sequence(), event.header().bytes().to_vec())
}

/// The trace of a file; `None` if the bytes are not one.
pub fn opened(name: &str, bytes: &[u8]) -> Option<Trace> {
    let file = TraceFile::new(name, BytesSource(bytes.to_vec())).ok()?;
    Some(Trace::new(vec![file], Options::new()).expect("bytes in memory"))
}

/// Both orders have the events of the reader of the format, and the trace has its diagnostics. Returns the events in file order, and the number of diagnostics;
/// `None` if the bytes are not a trace.
pub fn assert_orders(name: &str, bytes: &[u8]) -> Option<(Vec<Seen>, usize)> {
    let trace = opened(name, bytes);
    let Ok(reader) = etl::Trace::from_bytes(bytes) else {
        assert!(trace.is_none(), "{name}");
        return None;
    };
    let trace = trace.expect("a trace");
    let (mut expected, mut scratch, mut ticks, mut diagnostics) = (Vec::new(), etl::Scratch::default(), Vec::new(), Vec::new());
    for buffer in reader.buffers() {
        let Ok(buffer) = buffer.map_err(|diagnostic| diagnostics.push(diagnostic)) else { continue };
        let index = u64::from(buffer.index());
        let mut last = buffer.header().time_stamp;
        for event in buffer.decode(&mut scratch).events() {
            let Ok(event) = event.map_err(|diagnostic| diagnostics.push(diagnostic)) else { continue };
            last = event.time_stamp().unwrap_or(last);
            ticks.push((last, expected.len()));
            expected.push((index << 32 | u64::from(event.offset()), event.bytes().to_vec()));
        }
    }
    let in_file: Vec<_> = trace.events().in_file_order().map(|event| seen(&event.expect("an event"))).collect();
    assert!(in_file == expected, "{name}: {} of {}", in_file.len(), expected.len());
    ticks.sort_unstable();
    assert!(trace.events().is_ordered(), "{name}");
    let by_time = trace.events().map(|event| seen(&event.expect("an event")));
    assert!(by_time.eq(ticks.iter().map(|(_, at)| expected[*at].clone())), "{name}: the order of time");
    assert_eq!(trace.event_count(), expected.len() as u64, "{name}");
    let found: Vec<&Diagnostic> = trace.diagnostics().iter().map(|(_, diagnostic)| diagnostic).collect();
    assert!(diagnostics.iter().take(found.len()).all(|diagnostic| found.contains(&diagnostic)), "{name}: {diagnostics:?}");
    Some((expected, diagnostics.len()))
}

#[test]
fn both_orders_have_the_events_of_the_reader() {
    for (name, bytes) in traces() {
        assert_eq!(assert_orders(&name, &bytes).expect("a trace").1, 0, "{name}");
    }
}
