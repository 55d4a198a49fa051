//! The fields of events that carry their schema.

use crate::{Folder, START, json, run};
use etw_layouts_etl::LogFile;
use etw_layouts_etl::wire::Arch;
use etw_layouts_etl::write::{FileWriter, Producer};
use serde_json::{Value, json as object};
use std::io::Cursor;
use test_support::logging::{TEXT, logging};

#[test]
fn fields_are_printed() {
    let folder = Folder::new("fields");
    let file = folder.file("a.etl", logging().trace());
    let (status, out, err) = run(&["events", "--payload", "fields", "--columns", "payload", &file]);
    assert_eq!((status, err.as_str()), (0, ""));
    assert_eq!(out.lines().last(), Some(TEXT));
    let (_, out, _) = run(&["events", "--payload", "fields", "--format", "json", &file]);
    let event = &json(&out)[1]["trace_logging"];
    assert_eq!(
        [&event["provider_name"], &event["provider_group"], &event["event"]],
        ["Maker.Provider", "07070707-0707-0707-0707-070707070707", "Happened"]
    );
    let fields = event["fields"].as_array().unwrap();
    let field = |name: &str| fields.iter().find(|field| field["name"] == name).unwrap();
    assert_eq!(field("narrow")["value"], "a€\"\n");
    assert_eq!(field("u64"), &object!({"name": "u64", "in": "UINT64", "value": u64::MAX}));
    assert_eq!(field("i64")["tags"], 0x80);
    assert_eq!(field("d")["value"], "NaN");
    assert_eq!(field("bin")["value"], object!({"hex": "0102"}));
    let byte = |name: &str, value: u8| object!({"name": name, "in": "UINT8", "value": value});
    let inner = object!({"name": "inner", "in": "STRUCT", "count": null, "value": [[byte("b", 2)], [byte("b", 3)]]});
    assert_eq!(field("outer")["value"], object!([byte("a", 1), inner, byte("c", 4)]));
    assert_eq!(field("two"), &object!({"name": "two", "in": "UINT16", "count": 2, "value": [5, 6]}));
    // The text says as much.
    assert_eq!(fields.len(), 29);
}

/// The log file header is printed by the members of its layout, of both pointer sizes, with the two names behind it.
#[test]
fn header_is_printed() {
    let folder = Folder::new("header");
    for (arch, size) in [(Arch::X86, 4), (Arch::X64, 8)] {
        let producer = Producer::new(10, 0, 19041, arch);
        let log = LogFile {
            start_time: START,
            events_lost: 3,
            mode: 1,
            logger_name: "a \"b\"\u{9b}".into(),
            file_name: "c:\\d.etl".into(),
            ..LogFile::new(&producer)
        };
        let writer = FileWriter::new(Cursor::new(Vec::new()), producer, log).unwrap();
        let mut bytes = writer.finish(START).unwrap().into_inner();
        // The first Sunday of November, 02:00, as a SYSTEMTIME in TimeZone.StandardDate.
        let payload = 0x48 + bytes[0x48..].windows(4).position(|bytes| bytes == 0x1_0000_u32.to_le_bytes()).unwrap();
        let date = payload + if size == 4 { 0x40 } else { 0x48 } + 0x44;
        bytes[date..date + 16].copy_from_slice(&[0_u16, 11, 0, 1, 2, 0, 0, 0].map(u16::to_le_bytes).concat());
        let file = folder.file("a.etl", bytes);
        let (status, out, err) = run(&["events", "--payload", "fields", "--format", "json", &file]);
        assert_eq!((status, err.as_str()), (0, ""));
        let structure = &json(&out)[0]["structure"];
        assert_eq!(structure["name"], "TRACE_LOGFILE_HEADER");
        let fields = structure["fields"].as_array().unwrap();
        let field = |name: &str| fields.iter().find(|field| field["name"] == name).unwrap();
        assert_eq!(field("PointerSize"), &object!({"name": "PointerSize", "type": "ULONG", "value": size}));
        assert_eq!([&field("EventsLost")["value"], &field("StartTime")["value"]], [&object!(3), &object!(START)]);
        assert_eq!(
            [&field("LogFileMode")["value"], &field("LogFileMode")["names"]],
            [&object!(1), &object!("EVENT_TRACE_FILE_MODE_SEQUENTIAL")]
        );
        assert_eq!([&field("LoggerName")["text"], &field("LogFileName")["text"]], ["a \"b\"\u{9b}", "c:\\d.etl"]);
        let date = &field("TimeZone")["value"][2];
        assert_eq!((&date["name"], &date["type"]), (&object!("StandardStart"), &object!("ETW_SYSTEMTIME")));
        let parts: Vec<_> = date["value"]
            .as_array()
            .unwrap()
            .iter()
            .map(|part| (part["name"].as_str().unwrap(), part["value"].as_u64().unwrap()))
            .take(5)
            .collect();
        assert_eq!(parts, [("Year", 0), ("Month", 11), ("DayOfWeek", 0), ("Day", 1), ("Hour", 2)]);
        assert_eq!(field("TimeZone")["value"][1], object!({"name": "StandardName", "type": "WCHAR [32]", "value": ""}));
        let (_, out, _) = run(&["events", "--payload", "fields", "--columns", "payload", &file]);
        let text = out.lines().nth(1).unwrap();
        assert!(
            text.starts_with("TRACE_LOGFILE_HEADER {BufferSize: ULONG = 65536, ") && text.ends_with(", BuffersLost: ULONG = 0}"),
            "{text}"
        );
        for part in [
            &format!("PointerSize: ULONG = {size}, EventsLost: ULONG = 3"),
            r#"LoggerName: WCHAR * = 0x0 "a \"b\"\u{9b}", LogFileName: WCHAR * = 0x0 "c:\\d.etl""#,
            r#"StartTime: LARGE_INTEGER = 132404799797984230 "2020-07-29T07:06:19.7984230Z""#,
            "ReservedFlags: ULONG = EVENT_TRACE_CLOCK_PERFCOUNTER",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let (_, csv, _) = run(&["events", "--payload", "fields", "--columns", "payload", "--format", "csv", &file]);
        assert_eq!(csv.lines().nth(1).unwrap(), format!("\"{}\"", text.replace('"', "\"\"")));
        let (_, out, _) = run(&["events", "--payload", "hex", "--format", "json", &file]);
        assert!(json(&out)[0]["payload"].as_str().unwrap().starts_with("00000100"));
    }
}

/// Wherever a payload ends, what is there is printed, the rest as bytes, and it is a diagnostic.
#[test]
fn what_cannot_be_decoded_is_told() {
    let folder = Folder::new("undecoded");
    let whole = logging();
    for length in (0..whole.payload.len()).step_by(9) {
        let mut cut = whole.clone();
        cut.payload.truncate(length);
        let file = folder.file("a.etl", cut.trace());
        let (status, out, err) = run(&["events", "--payload", "fields", "--format", "json", &file]);
        assert_eq!((status, json(&err)[0]["kind"].as_str()), (1, Some("fields")), "{err}");
        let undecoded = &json(&out)[1]["trace_logging"]["undecoded"];
        let (offset, data) = (undecoded["offset"].as_u64().unwrap() as usize, undecoded["data"].as_str().unwrap());
        assert_eq!(offset + data.len() / 2, length);
        let (_, out, _) = run(&["events", "--payload", "fields", "--columns", "payload", &file]);
        let (shown, _) = out.lines().last().unwrap().split_once("} undecoded ").unwrap();
        let opened = shown.chars().filter(|character| *character == '{').count();
        assert_eq!(opened, 1 + shown.chars().filter(|character| *character == '}').count(), "{shown}");
    }
    let file = folder.file("b.etl", whole.trace());
    let (_, out, _) = run(&["events", "--payload", "fields", "--format", "json", &file]);
    assert_eq!(json(&out)[1]["trace_logging"].get("undecoded"), None::<&Value>);
}
