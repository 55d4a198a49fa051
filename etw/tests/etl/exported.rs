//! `export`: rows equal the events that `events` prints, field by field, in all shapes and orders.

use crate::kernel::{kernel_trace, process, trace_of_hooks};
use crate::{Folder, damaged, json, mixed, run, text};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use test_support::installed;
use test_support::logging::logging;

/// A trace of two processes; the second process opens files.
fn opening() -> Vec<u8> {
    let open =
        |path: &str| [vec![1; 16], vec![2; 16], path.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect()].concat();
    trace_of_hooks(&[
        (10, 0x0301, 4, process(100, 0x103, "a")),
        (20, 0x0440, 4, open("C:\\one.txt")),
        (30, 0x0440, 4, open("C:\\two.txt")),
    ])
}

/// Traces of all kinds, and small real traces; all real traces with `ETW_LAYOUTS_ALL`. Files with the same bytes are exported once, so one of
/// them is enough.
fn traces(folder: &Folder) -> Vec<String> {
    let made = [
        ("kernel.etl", kernel_trace()),
        ("mixed.etl", mixed()),
        ("logging.etl", logging().trace()),
        ("damaged.etl", damaged()),
        ("opening.etl", opening()),
    ];
    let mut files: Vec<_> = made.into_iter().map(|(name, bytes)| folder.file(name, bytes)).collect();
    let most = if installed::all() { u64::MAX } else { 256 << 10 };
    files.extend(crate::shared().into_iter().filter(|file| fs::metadata(file).unwrap().len() <= most));
    let mut seen = BTreeSet::new();
    files.retain(|file| seen.insert(fs::read(file).unwrap()));
    files
}

/// The output of `events`. The known threads at an event differ between time order and file order.
fn printed(files: &[String], order: &str) -> String {
    let print = |file: &String| run(&["events", "--format", "json", "--payload", "fields", "--order", order, file]).1;
    files.iter().map(print).collect()
}

fn key(event: &Value) -> (String, u64) {
    let number = |name: &str| event[name].as_u64().unwrap();
    (event["file"].as_str().unwrap().to_owned(), number("buffer") << 32 | number("offset"))
}

/// The rows of a table in all files of a folder, including the values of partitions.
fn rows(folder: &Path, out: &mut Vec<Value>) {
    let mut paths: Vec<_> = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            rows(&path, out);
            continue;
        }
        for mut row in json(&fs::read_to_string(&path).unwrap()) {
            for part in path.iter().filter_map(|part| part.to_str()?.split_once('=')) {
                row[part.0] = percent(part.1).into();
            }
            out.push(row);
        }
    }
}

fn percent(text: &str) -> String {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap().as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
        bytes.extend(part[2..].bytes());
    }
    String::from_utf8(bytes).unwrap()
}

#[test]
fn rows_are_events() {
    let folder = Folder::new("exported");
    let files = traces(&folder);
    let events = ["time", "file"]
        .map(|order| -> BTreeMap<_, _> { json(&printed(&files, order)).into_iter().map(|event| (key(&event), event)).collect() });
    let inputs: Vec<_> = files.iter().map(String::as_str).collect();
    let stat = json(&run(&[&["stat", "--by", "id", "--format", "json"][..], &inputs].concat()).1);
    for (shape, table) in [("narrow", "events"), ("typed", "typed")] {
        for (order, events) in ["time", "file"].iter().zip(&events) {
            let dataset = folder.0.join(format!("{shape}-{order}"));
            let output = text(&dataset);
            let options = ["export", "--format", "jsonl", "--shape", shape, "--order", order, "-o", &output];
            let (status, out, err) = run(&[&options[..], &inputs].concat());
            assert_eq!(status, 1, "{out}{err}");
            let mut all = Vec::new();
            rows(&dataset.join(table), &mut all);
            assert_eq!(all.len(), events.len(), "{shape} {order}");
            for row in &all {
                let event = &events[&(row["trace"].as_str().unwrap().to_owned(), row["sequence"].as_u64().unwrap())];
                compare_keys(row, event);
                match shape {
                    "narrow" => compare_narrow(row, event),
                    _ => compare_typed(row, event),
                }
            }
            compare_counts(&all, &stat[0]);
            if shape == "narrow" {
                in_order(&all, order);
            }
            let mut traces = Vec::new();
            rows(&dataset.join("traces"), &mut traces);
            assert_eq!(traces.len(), files.len());
            traces.iter().for_each(|trace| compare_trace(trace, &all));
            let manifest: Value = serde_json::from_str(&fs::read_to_string(dataset.join("manifest.json")).unwrap()).unwrap();
            let count = |name: &str| manifest[name].as_u64().unwrap() as usize;
            assert_eq!((count("rows"), count("events"), count("traces")), (all.len(), all.len(), files.len()));
            assert_eq!(manifest["parts"].as_array().unwrap().len(), 1, "small traces are written together");
        }
    }
}

/// The row of a trace states what `info` states, and the number of its rows.
fn compare_trace(trace: &Value, rows: &[Value]) {
    let path = trace["path"].as_str().unwrap();
    assert!(Path::new(path).is_absolute());
    let info = &json(&run(&["info", "--format", "json", path]).1)[0];
    for (name, theirs) in [
        ("session", "session"),
        ("build", "build"),
        ("pointer_size", "pointer_size"),
        ("processors", "processors"),
        ("mode", "mode"),
        ("boot", "boot_time_utc"),
        ("start", "start_time_utc"),
        ("end", "end_time_utc"),
        ("clock", "clock_name"),
        ("events_lost", "events_lost"),
        ("buffers_lost", "buffers_lost"),
        ("events", "events"),
    ] {
        assert_eq!(trace[name], info[theirs], "{name}: {trace}\n{info}");
    }
    let own = rows.iter().filter(|row| row["trace"] == trace["trace"]).count();
    assert_eq!((trace["rows"].as_u64(), trace["size"].as_u64()), (Some(own as u64), Some(fs::metadata(path).unwrap().len())));
}

/// Checks that the rows of each trace are in time order or in file order.
fn in_order(rows: &[Value], order: &str) {
    let mut last: BTreeMap<&str, i64> = BTreeMap::new();
    for row in rows {
        let Some(value) = (if order == "time" { row["tick"].as_i64() } else { row["sequence"].as_i64() }) else { continue };
        let last = last.entry(row["trace"].as_str().unwrap()).or_insert(i64::MIN);
        assert!(*last <= value, "{order}: {row}");
        *last = value;
    }
}

/// The numbers of rows by provider and identifier equal those of `stat`.
fn compare_counts(rows: &[Value], stat: &Value) {
    let (mut ours, mut theirs): (BTreeMap<_, u64>, BTreeMap<_, u64>) = Default::default();
    let key = |row: &Value, guid: &str| {
        let opcode = if row["id"].is_null() { row["opcode"].clone() } else { Value::Null };
        [row[guid].to_string(), row["id"].to_string(), opcode.to_string()]
    };
    rows.iter().for_each(|row| *ours.entry(key(row, "provider_guid")).or_default() += 1);
    for group in stat["groups"].as_array().unwrap() {
        *theirs.entry(key(group, "provider")).or_default() += group["events"].as_u64().unwrap();
    }
    assert_eq!(ours, theirs);
}

fn compare_keys(row: &Value, event: &Value) {
    for (name, theirs) in [
        ("provider_guid", "provider"),
        ("id", "id"),
        ("version", "version"),
        ("opcode", "opcode"),
        ("level", "level"),
        ("processor", "processor"),
        ("process", "process"),
        ("thread", "thread"),
        ("header_process", "header_process"),
        ("header_thread", "header_thread"),
        ("kernel_time", "kernel_time"),
        ("user_time", "user_time"),
        ("activity", "activity"),
        ("related", "related"),
    ] {
        assert_eq!(row[name], event[theirs], "{name}: {row}\n{event}");
    }
    let keyword = row["keyword"].as_u64().map(|keyword| format!("{keyword:#018x}").into());
    assert_eq!(keyword.unwrap_or(Value::Null), event["keyword"]);
    // A time outside the range of 64-bit nanoseconds is null.
    if !row["time"].is_null() || event["time_utc"].as_str().is_none_or(|time| ("1678".."2262").contains(&&time[..4])) {
        assert_eq!(row["time"], event["time_utc"], "{row}\n{event}");
    }
    if let Some(name) = event["event"].as_str() {
        let own = format!("{}/{}", row["provider"].as_str().unwrap(), row["event"].as_str().unwrap());
        // In the typed shape, an event whose name is that of other events has its ID in the name.
        assert!(own == name || own == format!("{name}_{}", event["id"]), "{own} is not {name}");
    }
}

/// Whether an event is the log file header. `events` prints it with the members of a layout, tables with the fields of the specs.
fn is_header(event: &Value) -> bool {
    event["schema"]["source"] == "layout"
}

fn compare_narrow(row: &Value, event: &Value) {
    for name in ["task", "channel", "flags", "header", "size", "payload_size"] {
        // The name of an unknown header type contains its number.
        if event[name].as_str().is_none_or(|name| !name.starts_with("UNKNOWN")) {
            assert_eq!(row[name], event[name], "{name}: {row}\n{event}");
        }
    }
    if is_header(event) {
        return;
    }
    assert_eq!(row["source"], event["schema"]["source"], "{row}\n{event}");
    let fields = &row["fields"];
    assert_eq!(*fields, event["fields"], "{row}");
    compare_bytes(row, event);
}

/// Payloads that are not decoded completely are in the table as bytes.
fn compare_bytes(row: &Value, event: &Value) {
    let bytes = row["payload"].as_str();
    match (&event["undecoded"]["data"], &event["payload"]) {
        (Value::String(rest), _) => assert!(bytes.unwrap().ends_with(rest), "{row}\n{event}"),
        (_, Value::String(all)) => assert_eq!(bytes, Some(all.as_str()), "{row}\n{event}"),
        _ => assert_eq!(bytes, None, "{row}\n{event}"),
    }
}

fn compare_typed(row: &Value, event: &Value) {
    if is_header(event) {
        return;
    }
    compare_bytes(row, event);
    if let Some(fields) = event["fields"].as_object() {
        compare_fields(row.as_object().unwrap(), fields);
    }
}

fn compare_fields(row: &Map<String, Value>, fields: &Map<String, Value>) {
    for (name, value) in fields.iter().filter(|(_, value)| !is_empty(value)) {
        let name = name.replace('#', "_");
        let is_same = (1..4).any(|number| {
            let name = if number == 1 { name.clone() } else { format!("{name}_{number}") };
            row.get(&name).is_some_and(|own| is_same(own, row.get(&format!("{name}_name")), value))
        });
        assert!(is_same, "{name} = {value} in {row:?}");
    }
}

/// Whether a value contains only structures without members, which have no columns.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.is_empty(),
        Value::Array(items) => items.first().is_some_and(is_empty),
        _ => false,
    }
}

/// Whether the value of a column equals that of a field. `named` is the additional column with names.
fn is_same(own: &Value, named: Option<&Value>, field: &Value) -> bool {
    match (own, field) {
        (Value::Object(own), Value::Object(fields)) => {
            compare_fields(own, fields);
            true
        }
        (Value::Array(own), Value::Array(fields)) => {
            let name = |index| named.and_then(|named| named.get(index));
            own.len() == fields.len()
                && own.iter().zip(fields).enumerate().all(|(index, (own, field))| is_same(own, name(index), field))
        }
        _ if own == field || named == Some(field) => true,
        // An empty text and a time outside the range are null.
        (Value::Null, Value::String(text)) => text.is_empty() || text.starts_with("1601-01-01") || &text[..4] > "2261",
        (Value::Bool(own), Value::Number(number)) => *own == (number.as_u64() != Some(0)),
        (Value::Number(number), Value::String(text)) => {
            let digits = text.split(' ').next().unwrap();
            let hexadecimal = || u64::from_str_radix(digits.strip_prefix("0x")?, 16).ok();
            number.to_string() == digits || hexadecimal().is_some_and(|value| number.as_u64() == Some(value))
        }
        // A column has a SID without its name.
        (Value::String(own), Value::String(text)) if own.starts_with("S-1-") => text.split(' ').next() == Some(own),
        (Value::String(own), Value::String(text)) => text.strip_prefix("0x") == Some(own),
        _ => false,
    }
}

/// Other programs read the same data: 1,000 random rows of each trace, with pyarrow, DuckDB, polars and pandas.
#[test]
fn read_by_python() {
    let Some(python) = installed::python("pyarrow, duckdb, polars, pandas") else { return };
    let folder = Folder::new("exported-python");
    let files = traces(&folder);
    let inputs: Vec<_> = files.iter().map(String::as_str).collect();
    let events = folder.file("events.jsonl", printed(&files, "time"));
    for (name, format, shape) in
        [("narrow", "parquet", "narrow"), ("typed", "parquet", "typed"), ("arrow", "arrow", "typed"), ("csv", "csv", "narrow")]
    {
        let output = text(&folder.0.join(name));
        // In the typed shape, each trace has files of its own.
        let group = if name == "typed" { "0" } else { "64" };
        let options = ["export", "--format", format, "--shape", shape, "--group", group, "-o", &output];
        let (status, out, err) = run(&[&options[..], &inputs].concat());
        assert_eq!(status, 1, "{out}{err}");
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/etl/read_tables.py");
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/TABLES.md");
    let output = python.command().arg(script).arg(&folder.0).arg(&events).arg(docs).output().expect("Python runs");
    let said = String::from_utf8_lossy(&output.stdout);
    print!("{said}");
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
}
