//! Values of unusual payloads, and the search in values.

use crate::{Folder, PRODUCER, START, json, run};
use etw_layouts_etl::header::{EventHeader, Message};
use etw_layouts_etl::wire::{EVENT_HEADER, EVENT_HEADER_FLAG, EVENT_TRACE_HEADER, TRACE_MESSAGE_FLAG, wire_guid, zero};
use etw_layouts_etl::write::{FileWriter, Record};
use etw_layouts_etl::{LogFile, Uuid};
use serde_json::json as object;
use std::io::Cursor;
use test_support::event_infos::{Head, MADE, META_DATA, Property, event_info};

const MESSAGES: Uuid = Uuid::from_u128(0x1b2c3d4e_0e7b_422b_a0c7_2fad1fd0e716);
const TMF: &str = "//PDB:  example.pdb\n1b2c3d4e-0e7b-422b-a0c7-2fad1fd0e716 example // SRC=Device.c MJ= MN=\n\
     #typev Device_c87 10 \"%0login of %10!s! at 0x%11!p!\" //   LEVEL=ERROR\n\
     {\nuser, ItemString -- 10\nobject, ItemPtr -- 11\npassword, ItemString -- 12\npassword, ItemLong -- 13\n}\n";

fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// An event with a schema, whose name two other fields have; texts with zeros, half of a surrogate pair and a path; a Boolean of 2; an integer above 2⁵³; an event
/// that is only a text; a message of a 32-bit program; and an event without a schema.
fn made() -> Vec<u8> {
    let log = LogFile { start_time: START, ..LogFile::new(&PRODUCER) };
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), PRODUCER, log).unwrap();
    let mut push = |header, payload: &[u8]| writer.push(0, &Record::new(header, true, payload)).unwrap();
    let event = |id, flags| {
        let mut header: EVENT_HEADER = zero();
        header.ProviderId = wire_guid(MADE);
        (header.EventDescriptor.Id, header.Flags) = (id, flags);
        EventHeader::Event(header)
    };
    let property =
        |name, in_type, flags, length| Property { flags, name, types: [in_type, 0], count: 1, length, ..Property::default() };
    let (by_item, fixed) = (2, 0x10);
    let properties = [
        property("Len", 6, 0, 0),
        property("Len", 6, 0, 0),
        property("Data", 14, by_item, 0),
        property("Len#2", 8, 0, 0),
        property("Multi", 1, fixed, 6),
        property("Half", 1, 0, 0),
        property("Path", 1, 0, 0),
        property("Is", 13, 0, 0),
        property("Large", 10, 0, 0),
        property("Last", 1, 0, 0),
    ];
    let head = Head { provider: MADE, id: 7, texts: ["Maker", "", "", "", "Task", "", "", ""], ..Head::default() };
    let mut class: EVENT_TRACE_HEADER = zero();
    class.set_Guid(wire_guid(META_DATA));
    let mut of_class = class.Class();
    of_class.Type = 32;
    class.set_Class(of_class);
    push(EventHeader::Full(class), &event_info(&head, properties.len() as u32, &properties));
    let payload = [
        &[1, 0, 4, 0, 0xAB, 9, 0, 0, 0][..],
        &wide("a\0b\0\0\0"),
        &[0, 0xD8, b'x', 0, 0, 0],
        &wide("C:\\Windows\\new\\\"\\\0"),
        &[2, 0, 0, 0],
        &u64::MAX.to_le_bytes(),
    ];
    push(event(7, EVENT_HEADER_FLAG(0)), &payload.concat());
    push(event(0, EVENT_HEADER_FLAG::EVENT_HEADER_FLAG_STRING_ONLY), &wide("only a text"));
    let flags = TRACE_MESSAGE_FLAG::TRACE_MESSAGE_POINTER32.0;
    let message = Message { number: 10, guid: Some(MESSAGES), time_stamp: Some(0), other_flags: flags, ..Message::default() };
    push(EventHeader::Message(message), b"alice\0\x78\x56\x34\x12hunter2\0\x05\0\0\0");
    push(event(9, EVENT_HEADER_FLAG(0)), &[&[1][..], &wide("c:\\WINDOWS\\x.dll"), b"\0\x02plain \xFF"].concat());
    writer.finish(START + 10_000_000).unwrap().into_inner()
}

#[test]
fn unusual_payloads() {
    let folder = Folder::new("values");
    let (file, tmf) = (folder.file("a.etl", made()), folder.file("a.tmf", TMF));
    let (status, out, err) = run(&["events", "--payload", "fields", "--tmf", &tmf, "--format", "json", &file]);
    assert_eq!((status, err.as_str()), (0, ""));
    // Repeated keys would be lost by the parser.
    assert!(out.contains(r#""fields":{"Len":1,"Len#2":4,"Data":"0xab","Len#2#2":9,"#), "{out}");
    let events = json(&out);
    let fields = &events[2]["fields"];
    assert_eq!(
        [&fields["Multi"], &fields["Half"], &fields["Path"], &fields["Is"], &fields["Large"], &fields["Last"]],
        [
            &object!("a\0b"),
            &object!("\\u{d800}x"),
            &object!("C:\\Windows\\new\\\"\\"),
            &object!(2),
            &object!(u64::MAX),
            &object!("")
        ]
    );
    let text = |event: &serde_json::Value| object!([event["schema"]["source"], event["fields"], event["event"]]);
    assert_eq!(text(&events[3]), object!(["header", {"Message": "only a text"}, null]));
    assert_eq!(events[4]["message"], "login of alice at 0x12345678");
    assert_eq!(events[4]["arguments"], object!({"password": "hunter2", "password#2": "5"}));
    let (_, out, _) = run(&["events", "--payload", "fields", "--tmf", &tmf, "--columns", "payload", &file]);
    for part in [
        r#"Multi = "a\u{0}b", Half = "\u{d800}x", Path = "C:\Windows\new\\\"\\", Is = 2, Large = 18446744073709551615, Last = ""}"#,
        r#"{Message = "only a text"}"#,
        r#"login of alice at 0x12345678 {password = "hunter2", password = "5"}"#,
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
}

/// A typed table has the number of a Boolean that is neither false nor true, and the texts of JSON.
#[cfg(feature = "table")]
#[test]
fn table() {
    let folder = Folder::new("values-table");
    let file = folder.file("a.etl", made());
    let output = folder.0.join("tables");
    let (status, _, err) = run(&["export", "--format", "jsonl", "--shape", "typed", "-o", output.to_str().unwrap(), &file]);
    assert_eq!(status, 0, "{err}");
    let rows = |folder: &str| {
        let files = std::fs::read_dir(output.join("typed").join(folder)).unwrap();
        json(&files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect::<String>())
    };
    let row = &rows("provider=Maker/event=Task")[0];
    let values = ["Multi", "Half", "Is", "Is_number", "Large"].map(|column| &row[column]);
    assert_eq!(object!(values), object!(["a\0b", "\\u{d800}x", null, 2, u64::MAX]));
    assert_eq!(rows("provider=Maker/event=0")[0]["Message"], "only a text");
}

/// Each search selects the events with these numbers.
#[test]
fn search() {
    let folder = Folder::new("search");
    let (file, tmf) = (folder.file("a.etl", made()), folder.file("a.tmf", TMF));
    for (options, expected) in [
        (&["--contains", r"C:\Windows"][..], &[7, 9][..]),
        (&["--contains", "PLAIN"], &[9]),
        (&["--matches", "PLAIN"], &[]),
        (&["--matches", "(?i)PLAIN", "--contains", "x.dll"], &[9]),
        (&["--matches", "^only.*text$"], &[0]),
        (&["--contains", "18446744073709551615"], &[7]),
        (&["--contains", "0xab", "--contains", "only"], &[7, 0]),
        (&["--contains", "0xab", "--matches", "only"], &[]),
        (&["--contains", "HUNTER2", "--tmf", &tmf], &[10]),
        (&["--contains", "hunter2"], &[10]),
        (&["--contains", "12345678", "--tmf", &tmf], &[10]),
        (&["--contains", "12345678"], &[]),
        (&["--contains", "Multi"], &[]),
        (&["--contains", "windows", "--id", "9"], &[9]),
    ] {
        // The schema of event 7 is in an event that contains its texts too.
        let options = [
            &["events", "--format", "json", "--provider", "11111111-2222-3333-4444-555555555555", "--provider"],
            &["1b2c3d4e-0e7b-422b-a0c7-2fad1fd0e716"][..],
            options,
            &[&file],
        ]
        .concat();
        let (status, out, err) = run(&options);
        let ids: Vec<_> = json(&out).iter().map(|event| event["id"].as_i64().unwrap()).collect();
        assert_eq!((status, &ids[..]), (0, expected), "{options:?}: {err}");
    }
    let target = folder.0.join("found.etl");
    let (status, out, _) = run(&["save", "-o", target.to_str().unwrap(), "--format", "json", "--contains", "only", &file]);
    assert_eq!((status, &json(&out)[0]["saved"]), (0, &object!(1)));
    for (option, value, error) in [("--matches", "(", "invalid regular expression"), ("--contains", "", "empty text")] {
        let (status, _, err) = run(&["events", option, value, &file]);
        assert!(status == 2 && err.contains(error), "{err}");
    }
}
