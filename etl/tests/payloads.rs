//! Payloads of kernel events in real files: decoded to the last byte, and equal to the output of a consumer on Windows.

use etw_layouts::events;
use etw_layouts_etl::payload::PointerSize;
use etw_layouts_etl::wire::EVENT_HEADER_FLAG;
use etw_layouts_etl::{Event, Schemas, Scratch, Trace};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use test_support::installed;

/// Events that are not decoded to the last byte: the file, the event as [`outcome`] describes it, their number, and the reason.
const REST: &[(&str, &str, usize, &str)] = &[
    (
        "google__process_data_32_v1_a4f7c2",
        "Process/Start, type 1, version 1, 32-bit: bytes after the last field, 43 bytes left",
        1,
        ZEROED_TOKEN_USER,
    ),
    (
        "google__process_data_32_v1_a4f7c2",
        "Process/End, type 2, version 1, 32-bit: bytes after the last field, 43 bytes left",
        1,
        ZEROED_TOKEN_USER,
    ),
    (
        "google__test_data_64_v0",
        "Image/DCStart, type 3, version 0, 32-bit: bytes after the last field, 56 bytes left",
        2,
        OTHER_POINTERS,
    ),
    (
        "google__test_data_64_v0",
        "Image/DCStart, type 3, version 0, 32-bit: bytes after the last field, 60 bytes left",
        1,
        OTHER_POINTERS,
    ),
    (
        "google__test_data_64_v0",
        "Image/DCStart, type 3, version 0, 32-bit: bytes after the last field, 66 bytes left",
        1,
        OTHER_POINTERS,
    ),
];

const ZEROED_TOKEN_USER: &str =
    "made by a test suite: a TOKEN_USER with 4 zero bytes precedes a SID; in files of Windows, no SID follows such a TOKEN_USER";
const OTHER_POINTERS: &str = "made by a test suite: 32-bit headers before payloads with 64-bit pointers";

/// Calls a function with every kernel event of a trace file and the index of its buffer.
pub fn each_kernel_event(path: &Path, mut visit: impl FnMut(u32, &Event<'_>, &Schemas)) {
    let classes: BTreeSet<_> = events::all().map(|(guid, ..)| guid).collect();
    let trace = Trace::from_bytes(std::fs::read(path).unwrap()).unwrap();
    let pointers = if trace.log_file().pointer_size == 4 { PointerSize::Bits32 } else { PointerSize::Bits64 };
    let (schemas, mut scratch) = (Schemas::built_in().with_pointers(pointers), Scratch::default());
    for buffer in trace.buffers() {
        let buffer = buffer.unwrap();
        for event in buffer.decode(&mut scratch).events() {
            let event = event.unwrap();
            // An event of a manifest can have the GUID of a class of kernel events.
            let is_classic =
                event.flags().is_none_or(|flags| flags.contains(EVENT_HEADER_FLAG::EVENT_HEADER_FLAG_CLASSIC_HEADER));
            let is_of_class = is_classic && event.provider().is_some_and(|guid| classes.contains(&guid));
            if event.hook().is_some() || is_of_class {
                visit(buffer.index(), &event, &schemas);
            }
        }
    }
}

/// The trace files of the folder, sorted.
fn files() -> Vec<(String, std::path::PathBuf)> {
    let Some(folder) = installed::folder("ETW_LAYOUTS_ETL") else { return Vec::new() };
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "etl"))
        .map(|path| (path.file_stem().unwrap().display().to_string(), path))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "the folder has no trace files");
    files
}

/// `Ok` if the payload is decoded to its last byte; otherwise a description of the event and of the end of decoding.
fn outcome(event: &Event<'_>, schemas: &Schemas) -> Result<bool, String> {
    let bits = event.pointer_size().map_or("", |size| if size == PointerSize::Bits32 { ", 32-bit" } else { ", 64-bit" });
    let (opcode, version) = (event.opcode().unwrap_or_default(), event.version().unwrap_or_default());
    let Some(decoded) = event.decode(schemas) else {
        let id = event.hook().map_or_else(|| event.provider().unwrap().to_string(), |hook| format!("hook {hook:#06x}"));
        return Err(format!("{id}, type {opcode}, version {version}{bits}: no schema, {} bytes", event.payload().len()));
    };
    let mut values = decoded.iter();
    values.by_ref().for_each(drop);
    let checked = decoded.fields.check();
    assert_eq!(values.fault(), checked.err(), "{decoded}");
    match checked {
        Ok(()) => Ok(decoded.is_exact),
        Err(fault) => {
            let left = values.rest().len();
            Err(format!("{decoded}, type {opcode}, version {version}{bits}: {}, {left} bytes left", fault.reason))
        }
    }
}

/// Every kernel event of every trace is decoded to its last byte, except those in [`REST`].
#[test]
fn to_the_last_byte() {
    let (mut whole, mut other_version, mut rest) = (0_usize, BTreeMap::<String, usize>::new(), BTreeMap::new());
    for (name, path) in files() {
        each_kernel_event(&path, |_, event, schemas| match outcome(event, schemas) {
            Ok(is_exact) => {
                whole += 1;
                if !is_exact {
                    let decoded = event.decode(schemas).unwrap();
                    *other_version.entry(format!("{decoded}, version {}", event.version().unwrap())).or_default() += 1;
                }
            }
            Err(description) => *rest.entry((name.clone(), description)).or_insert(0_usize) += 1,
        });
    }
    if whole == 0 {
        return;
    }
    let left: usize = rest.values().sum();
    println!("{whole} of {} kernel events are decoded to the last byte; by an earlier version: {other_version:?}", whole + left);
    for ((name, description), count) in &rest {
        let reason = REST.iter().find(|rest| (rest.0, rest.1) == (name, description)).map_or("not explained", |rest| rest.3);
        println!("{count}\t{name}\t{description}\t{reason}");
    }
    assert!(left * 100 <= whole);
    let explained: BTreeMap<_, _> =
        REST.iter().map(|(file, event, count, _)| (((*file).to_owned(), (*event).to_owned()), *count)).collect();
    assert_eq!(rest, explained);
}
