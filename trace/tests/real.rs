//! Traces to read.

use etw_layouts_etl::Schemas;
use etw_layouts_trace::{BytesSource, Options, Trace, TraceFile};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A real trace: from the folder of traces, or, compressed, from that of cases. `None` if it is in neither.
pub fn read(name: &str) -> Option<Vec<u8>> {
    let folder = |variable| std::env::var_os(variable).map(PathBuf::from);
    let found = folder("ETW_LAYOUTS_ETL").and_then(|folder| fs::read(folder.join(name)).ok()).or_else(|| {
        let path = folder("ETW_LAYOUTS_CASES")?.join("traces").join(format!("{name}.xz"));
        decompressed(&path)
    });
    if found.is_none() {
        eprintln!("{name} not read: set ETW_LAYOUTS_ETL and ETW_LAYOUTS_CASES");
    }
    found
}

fn decompressed(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    std::io::copy(&mut liblzma::read::XzDecoder::new(fs::File::open(path).ok()?), &mut bytes).ok()?;
    Some(bytes)
}

/// Opens traces from memory.
pub fn open(files: &[(&str, &[u8])]) -> Trace {
    let file = |(name, bytes): &(&str, &[u8])| TraceFile::new(*name, BytesSource(bytes.to_vec())).expect("a trace");
    Trace::new(files.iter().map(file).collect(), Options::new()).expect("a trace")
}

/// The process of each thread, by the first event of the thread. Thread 0 is that of the idle process.
pub fn processes(trace: &Trace) -> HashMap<u32, u32> {
    let mut processes = HashMap::from([(0, 0)]);
    for event in trace.events().map(|event| event.expect("an event")) {
        let header = event.header();
        let Some(decoded) = header.decode(Schemas::BUILT_IN) else { continue };
        let number = |name| decoded.get(name).and_then(|value| value.number());
        if let ("Thread", "Start" | "DCStart" | "DCEnd" | "End") = (decoded.schema.provider, decoded.schema.event)
            && let (Some(thread), Some(process)) = (number("TThreadId"), number("ProcessId"))
        {
            processes.entry(thread as u32).or_insert(process as u32);
        }
    }
    processes
}
