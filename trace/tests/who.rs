//! Who did the events of real traces.

use etw_layouts_etl::{Event, Reader, Schemas};
use etw_layouts_trace::{ProcessTable, Processes, ThreadTable, Threads, Who, who};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::PathBuf;

/// The real traces, if they are at hand.
fn traces() -> Vec<(String, Vec<u8>)> {
    let folders = [("ETW_LAYOUTS_ETL", ""), ("ETW_LAYOUTS_CASES", "traces"), ("ETW_LAYOUTS_CASES", "hostile")];
    let mut all = Vec::new();
    for (variable, folder) in folders {
        let Some(path) = std::env::var_os(variable) else {
            eprintln!("real traces not read: set {variable}");
            continue;
        };
        let entries = fs::read_dir(PathBuf::from(path).join(folder)).expect("the folder of traces");
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
        paths.retain(|path| path.extension().is_some_and(|ending| ending == "etl"));
        paths.sort();
        let name = |path: &PathBuf| path.file_name().expect("a name").to_string_lossy().into_owned();
        all.extend(paths.iter().map(|path| (name(path), fs::read(path).expect("a trace"))));
    }
    if let Some(p) = std::env::var_os("WHO_EXTRA") { all.push(("extra".into(), fs::read(p).unwrap())); }
    all
}

fn schemas() -> Schemas {
    Schemas::built_in().with_static_library(etw_layouts_catalog::library())
}

/// Calls a function with each event and its time stamp, in file order.
fn each(bytes: &[u8], mut see: impl FnMut(&Event<'_>, i64)) {
    let mut reader = Reader::new(bytes).expect("a trace");
    while let Some(buffer) = reader.next_buffer().expect("bytes") {
        let Ok(buffer) = buffer else { continue };
        let mut last = buffer.buffer().header().time_stamp;
        for event in buffer.events().filter_map(Result::ok) {
            last = event.time_stamp().unwrap_or(last);
            see(&event, last);
        }
    }
}

fn tables(bytes: &[u8], schemas: &Schemas) -> (ProcessTable, ThreadTable) {
    let (mut processes, mut threads) = (Processes::default(), Threads::default());
    each(bytes, |event, tick| {
        processes.add(event, tick);
        threads.add(event, tick);
    });
    let clock = *Reader::new(bytes).expect("a trace").clock();
    (processes.finish(schemas, &clock), threads.finish(schemas))
}

#[test]
fn explore() {
    let schemas = schemas();
    for (name, bytes) in traces() {
        if Reader::new(&bytes[..]).is_err() { continue; }
        let (processes, threads) = tables(&bytes, &schemas);
        let mut known: HashMap<u32, HashSet<u32>> = HashMap::new();
        each(&bytes, |event, _| {
            if let (Some(t), Some(p)) = (event.thread(), event.process()) { if t != u32::MAX && p != u32::MAX && (t != 0 || p == 0) { known.entry(t).or_default().insert(p); } }
            if let Some(d) = event.decode(Schemas::BUILT_IN).filter(|d| d.schema.provider == "Thread") {
                if let (Some(t), Some(p)) = (d.get("TThreadId").and_then(|v| v.number()), d.get("ProcessId").and_then(|v| v.number())) { known.entry(t as u32).or_default().insert(p as u32); }
            }
        });
        let mut counts: BTreeMap<(String, &str, &str), [usize; 6]> = BTreeMap::new();
        each(&bytes, |event, tick| {
            let Who { by, about } = who(event, &schemas, &processes, &threads, tick);
            let class = event.decode(&schemas).map_or("?".to_owned(), |d| if d.schema.provider.is_empty() { d.to_string() } else { d.schema.provider.to_owned() });
            let c = counts.entry((class, by.known.as_str(), about.known.as_str())).or_default();
            c[0] += 1;
            c[1] += usize::from(by.process.is_some());
            c[2] += usize::from(by.index.is_some());
            c[3] += usize::from(about.process.is_some());
            c[4] += usize::from(about.index.is_some());
            c[5] += usize::from(by.process.is_none() && by.thread.is_some_and(|t| known.contains_key(&t)));
        });
        println!("{name}: {} processes, {} spans", processes.len(), threads.len());
        for (class, c) in counts { println!("   {class:?} {c:?}"); }
    }
}
