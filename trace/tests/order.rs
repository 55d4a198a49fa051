//! Both orders, against the reader of the format.

use crate::real::open;
use etw_layouts_etl as etl;
use etw_layouts_trace::Event;
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
fn of(event: &Event<'_>) -> (u64, Vec<u8>) {
    (event.place().sequence(), event.header().bytes().to_vec())
}

#[test]
fn both_orders_have_the_events_of_the_reader() {
    for (name, bytes) in traces() {
        let reader = etl::Trace::from_bytes(&bytes[..]).expect("a trace");
        let (mut expected, mut scratch, mut ticks) = (Vec::new(), etl::Scratch::default(), Vec::new());
        for buffer in reader.buffers().filter_map(Result::ok) {
            let index = u64::from(buffer.index());
            let mut last = buffer.header().time_stamp;
            for event in buffer.decode(&mut scratch).events().filter_map(Result::ok) {
                last = event.time_stamp().unwrap_or(last);
                ticks.push((last, expected.len()));
                expected.push((index << 32 | u64::from(event.offset()), event.bytes().to_vec()));
            }
        }
        let trace = open(&[(&name, &bytes)]);
        let in_file: Vec<_> = trace.events().in_file_order().map(|event| of(&event.expect("an event"))).collect();
        assert_eq!(in_file, expected, "{name}");
        ticks.sort_unstable();
        let by_time: Vec<_> = trace.events().map(|event| of(&event.expect("an event"))).collect();
        let sorted: Vec<_> = ticks.iter().map(|(_, at)| expected[*at].clone()).collect();
        assert_eq!(by_time, sorted, "{name}");
        assert_eq!(trace.event_count(), expected.len() as u64, "{name}");
    }
}
