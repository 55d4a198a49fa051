//! Real traces.

use etw_layouts_trace::{BytesSource, Options, Trace, TraceFile};
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
