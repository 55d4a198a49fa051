//! The fields of events that contain their schema.

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
    let event = &json(&out)[1];
    assert_eq!(
        object!([event["provider_name"], event["event"], event["schema"]]),
        object!([
            "Maker.Provider",
            "Maker.Provider/Happened",
            {"source": "TraceLogging", "provider_group": "07070707-0707-0707-0707-070707070707", "tags": 0x123_4567}
        ])
    );
    let fields = event["fields"].as_object().unwrap();
    assert_eq!(fields["narrow"], "a€\"\n");
    assert_eq!(fields["u64"], u64::MAX);
    assert_eq!([&fields["i64"], &fields["f"], &fields["d"]], [&object!(-3), &object!(0.5), &object!("NaN")]);
    assert_eq!(fields["bin"], "0x0102");
    assert_eq!(fields["outer"], object!({"a": 1, "inner": [{"b": 2}, {"b": 3}], "c": 4}));
    assert_eq!(fields["two"], object!([5, 6]));
    // The text has the same number of fields.
    assert_eq!(fields.len(), 29);
}

/// Two fields with the same name get different keys in JSON.
#[test]
fn same_names() {
    let folder = Folder::new("same-names");
    let mut made = logging();
    for (from, to) in [(&b"i32\0"[..], b"i64\0"), (b"u64\0", b"i64\0")] {
        let at = made.schema.windows(4).position(|bytes| bytes == from).unwrap();
        made.schema[at..at + 4].copy_from_slice(to);
    }
    let file = folder.file("a.etl", made.trace());
    let (_, out, _) = run(&["events", "--payload", "fields", "--format", "json", &file]);
    let fields = &json(&out)[1]["fields"];
    assert_eq!(
        [&fields["i64"], &fields["i64#2"], &fields["i64#3"]],
        [&Value::from("0x80004005 E_FAIL"), &Value::from(-3), &Value::from(u64::MAX)]
    );
}

/// Codes that their schema marks as errors have names, in text and JSON. In JSON, an error without a name is a text too.
#[test]
fn names_of_errors() {
    let folder = Folder::new("names-of-errors");
    for (error, text) in [(5_u32, "5 ERROR_ACCESS_DENIED"), (0, "0 ERROR_SUCCESS"), (0xFFFF_FFF0, "4294967280")] {
        let mut made = logging();
        let at = made.schema.windows(6).position(|bytes| bytes == b"u32\0\x88\x08").unwrap();
        // An error of Windows' functions in place of an address.
        made.schema[at + 5] = 13;
        let at = made.payload.windows(4).position(|bytes| bytes == [127, 0, 0, 1]).unwrap();
        made.payload[at..at + 4].copy_from_slice(&error.to_le_bytes());
        let file = folder.file(&format!("{error}.etl"), made.trace());
        let (_, out, _) = run(&["events", "--payload", "fields", "--format", "json", &file]);
        let fields = &json(&out)[1]["fields"];
        assert_eq!((&fields["u32"], &fields["i32"]), (&object!(text), &object!("0x80004005 E_FAIL")));
        let (_, out, _) = run(&["events", "--payload", "fields", "--columns", "payload", &file]);
        assert!(out.contains(&format!("u32 = {text}, ")), "{out}");
    }
}

/// The log file header is printed with the members of its layout and the two names after it, for both pointer sizes.
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
        let event = &json(&out)[0];
        assert_eq!(event["schema"], object!({"source": "layout", "name": "TRACE_LOGFILE_HEADER"}));
        let fields = &event["fields"];
        assert_eq!([&fields["PointerSize"], &fields["EventsLost"]], [&object!(size), &object!(3)]);
        assert_eq!(
            [&fields["StartTime"], &fields["LogFileMode"]],
            ["2020-07-29T07:06:19.7984230Z", "EVENT_TRACE_FILE_MODE_SEQUENTIAL"]
        );
        assert_eq!([&fields["LoggerName"], &fields["LogFileName"]], ["a \"b\"\u{9b}", "c:\\d.etl"]);
        let date = &fields["TimeZone"]["StandardStart"];
        let parts = ["Year", "Month", "DayOfWeek", "Day", "Hour"].map(|part| date[part].as_u64().unwrap());
        assert_eq!(parts, [0, 11, 0, 1, 2]);
        assert_eq!(fields["TimeZone"]["StandardName"], "");
        let (_, out, _) = run(&["events", "--payload", "fields", "--columns", "payload", &file]);
        let text = out.lines().nth(1).unwrap();
        assert!(text.starts_with("{BufferSize = 65536, ") && text.ends_with(", BuffersLost = 0}"), "{text}");
        for part in [
            &format!("PointerSize = {size}, EventsLost = 3"),
            r#"LoggerName = "a \"b\"\u{9b}", LogFileName = "c:\d.etl""#,
            "StartTime = 2020-07-29T07:06:19.7984230Z",
            "ReservedFlags = EVENT_TRACE_CLOCK_PERFCOUNTER",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let (_, csv, _) = run(&["events", "--payload", "fields", "--columns", "payload", "--format", "csv", &file]);
        assert_eq!(csv.lines().nth(1).unwrap(), format!("\"{}\"", text.replace('"', "\"\"")));
        let (_, out, _) = run(&["events", "--payload", "hex", "--format", "json", &file]);
        assert!(json(&out)[0]["payload"].as_str().unwrap().starts_with("00000100"));
    }
}

/// If a payload is truncated anywhere, the complete fields and the remaining bytes are printed, with a diagnostic.
#[test]
fn truncated_payloads_are_reported() {
    let folder = Folder::new("undecoded");
    let whole = logging();
    for length in (0..whole.payload.len()).step_by(9) {
        let mut cut = whole.clone();
        cut.payload.truncate(length);
        let file = folder.file("a.etl", cut.trace());
        let (status, out, err) = run(&["events", "--payload", "fields", "--format", "json", &file]);
        assert_eq!((status, json(&err)[0]["kind"].as_str()), (1, Some("fields")), "{err}");
        let undecoded = &json(&out)[1]["undecoded"];
        let (offset, data) = (undecoded["offset"].as_u64().unwrap() as usize, undecoded["data"].as_str().unwrap());
        assert_eq!(offset + data.len() / 2, length);
        let (_, out, _) = run(&["events", "--payload", "fields", "--columns", "payload", &file]);
        let (shown, _) = out.lines().last().unwrap().split_once("} undecoded ").unwrap();
        let opened = shown.chars().filter(|character| *character == '{').count();
        assert_eq!(opened, 1 + shown.chars().filter(|character| *character == '}').count(), "{shown}");
    }
    let file = folder.file("b.etl", whole.trace());
    let (_, out, _) = run(&["events", "--payload", "fields", "--format", "json", &file]);
    assert_eq!(json(&out)[1].get("undecoded"), None::<&Value>);
}
