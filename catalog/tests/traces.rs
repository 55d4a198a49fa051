//! Events of real traces, decoded with the schemas of the trace, the specs and the catalogue.

use etw_layouts_catalog::library;
use etw_layouts_etl::payload::PointerSize;
use etw_layouts_etl::{HeaderType, LogFile, Schemas, Trace};
use etw_layouts_schemas::trace::collect;
use liblzma::bufread::XzDecoder;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::{fs, io};
use test_support::installed;

/// Events that are not decoded to their last byte: trace, event, version, number of events, and the reason.
const RECORDED: [(&str, &str, u16, usize, &str); 6] = [
    ("google__process_data_32_v1_a4f7c2", "Process/End", 1, 1, SID),
    ("google__process_data_32_v1_a4f7c2", "Process/Start", 1, 1, SID),
    (
        "google__test_data_64_v0",
        "Image/DCStart",
        0,
        4,
        "the header is that of a 32-bit process, but BaseAddress has 8 bytes. The other 20 events seem complete only because half of ModuleSize, as a name, is empty",
    ),
    ("microsoft__net.4.5.2.x64", "PerfView/ClrEnableParameters", 0, 2, EVENT_SOURCE),
    ("microsoft__net.4.5.2.x86", "PerfView/ClrEnableParameters", 0, 2, EVENT_SOURCE),
    ("microsoft__net.4.5.x86", "PerfView/ClrEnableParameters", 0, 2, EVENT_SOURCE),
];
const SID: &str = "the two pointers before the SID are 0, which means that there is no SID, but a SID follows";
const EVENT_SOURCE: &str = "the provider's own manifest states no field for the last 4 bytes";

/// Every event with a schema is decoded to its last byte, or the reason is recorded. Events without a schema are WPP messages.
#[test]
fn coverage() {
    let mut paths = Vec::new();
    for (variable, folder) in [("ETW_LAYOUTS_ETL", ""), ("ETW_LAYOUTS_CASES", "traces")] {
        let Some(root) = installed::folder(variable) else { continue };
        // Traces without the name of a repository are made.
        let is_real = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().contains("__"));
        let entries = fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        paths.extend(entries.filter(|path| is_real(path) && path.is_file()));
    }
    let (mut partly, mut without): (BTreeMap<_, usize>, BTreeMap<_, usize>) = Default::default();
    let (mut decoded_events, mut traces) = (0, Vec::new());
    for path in &paths {
        let name = path.file_name().unwrap().to_string_lossy();
        let Some((name, bytes)) = read(&name, path) else { continue };
        let trace = Trace::from_bytes(&bytes).unwrap();
        let log = trace.log_file();
        let pointers = if log.pointer_size == 4 { PointerSize::Bits32 } else { PointerSize::Bits64 };
        let own = collect(&trace).library();
        let schemas = Schemas::built_in().with_static_library(library()).with_pointers(pointers).with_build(log.build);
        let schemas = own.into_iter().fold(schemas, |schemas, own| schemas.with_first_library(own.bytes()).unwrap());
        for record in trace.events().filter_map(Result::ok) {
            let event = record.event();
            match event.decode(&schemas) {
                Some(decoded) if decoded.fields.check().is_ok() => decoded_events += 1,
                Some(decoded) => {
                    let key = (name.clone(), decoded.to_string(), event.version().unwrap_or(0));
                    *partly.entry(key).or_default() += 1;
                }
                None if LogFile::read(&event).is_some() => decoded_events += 1,
                None => *without.entry((name.clone(), event.header_type() == HeaderType::Message)).or_default() += 1,
            }
        }
        traces.push(name);
    }
    println!("{decoded_events} events of {} traces decoded; without a schema: {without:?}", traces.len());
    let recorded = RECORDED.iter().filter(|(trace, ..)| traces.iter().any(|own| own == trace));
    let recorded: BTreeMap<_, _> = recorded
        .map(|(trace, event, version, count, _)| (((*trace).to_owned(), (*event).to_owned(), *version), *count))
        .collect();
    assert_eq!(partly, recorded);
    assert!(without.keys().all(|(_, is_message)| *is_message), "{without:?}");
    assert!(traces.is_empty() || decoded_events > 100_000, "{decoded_events}");
}

/// The name and the bytes of a trace, decompressed.
fn read(name: &str, path: &Path) -> Option<(String, Vec<u8>)> {
    if let Some(name) = name.strip_suffix(".etl") {
        return Some((name.to_owned(), fs::read(path).unwrap()));
    }
    let name = name.strip_suffix(".etl.xz")?;
    let mut bytes = Vec::new();
    XzDecoder::new(io::BufReader::new(fs::File::open(path).unwrap())).read_to_end(&mut bytes).unwrap();
    Some((name.to_owned(), bytes))
}
