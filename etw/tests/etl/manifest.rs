//! Events with manifests, decoded with libraries of schemas.

use crate::{Folder, PRODUCER, START, json, program, run};
use etw_layouts_etl::LogFile;
use etw_layouts_etl::header::{EventHeader, Message};
use etw_layouts_etl::payload::{InType, Source, Uuid};
use etw_layouts_etl::wire::{EVENT_HEADER, EVENT_HEADER_FLAG, GUID, large, zero};
use etw_layouts_etl::write::{FileWriter, Record};
use etw_layouts_schemas::{Event, Field, LibraryBuilder, Name, Provider};
use serde_json::json;
use std::fs::File;
use std::io::Cursor;

const GUID_TEXT: &str = "1b2c3d4e-0e7b-422b-a0c7-2fad1fd0e716";

/// In this test, this value is added to the opcodes of classic events.
const CLASSIC: u16 = 0x100;

/// Events of a provider: ID and payload.
fn trace(events: &[(u16, &[u8])]) -> Vec<u8> {
    let log = LogFile { start_time: START, buffer_size: 4096, ..LogFile::new(&PRODUCER) };
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), PRODUCER, log).unwrap();
    for (id, payload) in events {
        let mut header: EVENT_HEADER = zero();
        header.ProviderId =
            GUID { Data1: 0x1B2C_3D4E, Data2: 0x0E7B, Data3: 0x422B, Data4: [0xA0, 0xC7, 0x2F, 0xAD, 0x1F, 0xD0, 0xE7, 0x16] };
        // An ID of this test that stands for an opcode.
        match id.checked_sub(CLASSIC).filter(|opcode| *opcode < 0x100) {
            Some(opcode) => {
                header.EventDescriptor.Opcode = opcode as u8;
                header.Flags = EVENT_HEADER_FLAG::EVENT_HEADER_FLAG_CLASSIC_HEADER;
            }
            None => header.EventDescriptor.Id = *id,
        }
        header.TimeStamp = large(10);
        writer.push(0, &Record::new(EventHeader::Event(header), true, payload)).unwrap();
    }
    writer.finish(START + 10_000_000).unwrap().into_inner()
}

/// Two builds have different schemas of event 1. Only one has the fields of event 2. Event 3 is unknown. Event 4 has a structure without
/// members. Opcode 1 is a classic event.
fn library() -> Vec<u8> {
    let name = |name: &str| Name { value: None, name: name.to_owned() };
    let event = |id, fields: Option<&[(&str, InType)]>| Event {
        id,
        task: name("ProcessStart"),
        opcode: name("Start"),
        keywords: vec!["WINEVENT_KEYWORD_PROCESS".to_owned()],
        message: "Process %1 started%n100%% by %2!s!.%r%n".to_owned(),
        fields: fields.map(|fields| fields.iter().map(|(name, ty)| Field::new(*name, *ty)).collect()),
        ..Event::default()
    };
    let (id, text) = (("ProcessID", InType::UINT32), ("Image", InType::UNICODESTRING));
    let mut events = vec![event(1, Some(&[id])), event(1, Some(&[id, text])), event(2, None), event(2, Some(&[id]))];
    events.push(event(4, Some(&[id, ("Memory", InType::STRUCT)])));
    events.push(Event {
        is_classic: true,
        opcode: Name { value: Some(1), name: "Begin".to_owned() },
        ..event(0, Some(&[("Handle", InType::POINTER)]))
    });
    let provider = Provider {
        guid: Uuid::parse_str(GUID_TEXT).unwrap(),
        name: "Maker-Kernel-Process".to_owned(),
        events,
        ..Provider::default()
    };
    let mut builder = LibraryBuilder::default();
    builder.origin(Source::Catalogue, "Windows 7", Some(7600));
    builder.origin(Source::Catalogue, "Windows 11", Some(26100));
    builder.add_masked(&provider, &[1, 2, 1, 2, 2, 1]);
    builder.build().bytes().to_vec()
}

/// Names, fields and messages. Of different schemas, the one that decodes the payload to its last byte is used.
#[test]
fn libraries() {
    let folder = Folder::new("libraries");
    let events: [(u16, &[u8]); 5] = [
        (1, &[7, 0, 0, 0]),
        (1, &[7, 0, 0, 0, b'a', 0, 0, 0]),
        (2, &[9, 0, 0, 0, 0xEE]),
        (3, &[1]),
        (CLASSIC + 1, &[8, 0, 0, 0, 0, 0, 0, 0]),
    ];
    let file = folder.file("a.etl", trace(&events));
    let library = folder.file("a.etwschemas", library());
    let with = |args: &[&str]| run(&[args, &["--manifests", &library, &file]].concat());
    let (status, out, err) = with(&["events", "--payload", "message", "--format", "json", "--provider", "maker-kernel-process"]);
    let expected =
        "payload is longer than its schema: Maker-Kernel-Process/ProcessStart/Start version 0, 1 byte after the last field";
    assert_eq!((status, err.matches(expected).count()), (0, 1), "{err}");
    let (status, _, err) =
        with(&["events", "--payload", "message", "--format", "json", "--provider", "maker-kernel-process", "--strict"]);
    assert_eq!((status, err.matches(expected).count()), (1, 1), "{err}");
    let all: Vec<_> = json(&out)
        .iter()
        .map(|event| json!([event["event"], event["schema"]["origins"], event["fields"], event["message"]]))
        .collect();
    let name = "Maker-Kernel-Process/ProcessStart/Start";
    assert_eq!(
        all,
        [
            json!([name, ["Windows 7"], {"ProcessID": 7}, "Process 7 started 100% by %2."]),
            json!([name, ["Windows 11"], {"ProcessID": 7, "Image": "a"}, "Process 7 started 100% by a."]),
            json!([name, ["Windows 11"], {"ProcessID": 9}, "Process 9 started 100% by %2."]),
            json!([null, null, null, null]),
            json!([
                "Maker-Kernel-Process/ProcessStart/Begin",
                ["Windows 7"],
                {"Handle": "0x8"},
                "Process 0x8 started 100% by %2."
            ]),
        ]
    );
    assert_eq!((&json(&out)[0]["schema"]["disputed"], &json(&out)[2]["schema"]["disputed"]), (&json!(true), &json!(false)));
    assert_eq!((&json(&out)[2]["undecoded"]["data"], &json(&out)[3]["payload"]), (&json!("ee"), &json!("01")));
    for (options, count) in [
        (["--event", name], 3),
        (["--event", "maker-kernel-process/2"], 1),
        (["--event", "Maker-Kernel-Process"], 4),
        (["--keyword", "winevent_keyword_process"], 0),
        (["--provider", GUID_TEXT], 5),
    ] {
        let (_, out, err) = with(&["events", options[0], options[1]]);
        // The events have keyword 0, and the schema has no mask, so the name is compared.
        let count = if options[0] == "--keyword" { 4 } else { count };
        assert_eq!(out.lines().count(), 1 + count, "{options:?} {err}");
    }
    let (_, out, _) = with(&["events"]);
    assert!(out.contains("Maker-Kernel-Process/3  "), "{out}");
    let (_, _, err) = with(&["events", "--provider", "Maker-Kernel-Proces"]);
    assert!(err.contains("did you mean `Maker-Kernel-Process`?"), "{err}");
    let (_, out, _) = with(&["stat", "--by", "event", "--format", "json"]);
    assert!(json(&out)[0]["groups"].as_array().unwrap().iter().any(|row| row["event"] == name), "{out}");
    let (_, out, _) = with(&["schemas", "--format", "json"]);
    let document = &json(&out)[0];
    let of =
        |list: &str| document[list].as_array().unwrap().iter().map(|row| row["events"].as_u64().unwrap()).collect::<Vec<_>>();
    assert_eq!((of("without"), of("partial"), of("disputed").iter().sum::<u64>()), (vec![1], vec![1], 2), "{document}");
    let (status, _, err) = run(&["events", "--manifests", &file, &file]);
    assert!(status == 2 && err.contains("no schemas in "), "{err}");
}

/// A list of the events that are partly decoded states their number, and the number of events with each fault.
#[test]
fn partly_decoded() {
    let folder = Folder::new("partly");
    let events: [(u16, &[u8]); 5] =
        [(2, &[9, 0, 0, 0]), (2, &[9, 0, 0, 0, 1]), (2, &[9, 0]), (2, &[9, 0, 0, 0, 1]), (4, &[9, 0, 0, 0, 1, 2])];
    let (file, library) = (folder.file("a.etl", trace(&events)), folder.file("a.etwschemas", library()));
    let (_, out, _) = run(&["schemas", "--manifests", &library, &file]);
    let (_, list) = out.split_once("events  partly decoded\n").unwrap_or_else(|| panic!("{out}"));
    let lines: Vec<_> = list.lines().map(str::trim_start).collect();
    assert!(lines[0].starts_with("3 of 4  Maker-Kernel-Process/ProcessStart/Start"), "{out}");
    let unknown = "field of unknown size: no source of the schema states its members or length";
    let faults =
        ["2    bytes after the last field, 1 byte left", "1    truncated payload", &format!("1    {unknown}, 2 bytes left")];
    assert!(faults.iter().all(|fault| lines[1..].iter().any(|line| line.starts_with(fault))) && lines.len() == 5, "{out}");
    let args = ["events", "--payload", "fields", "--format", "json", "--diagnostics", "--manifests", &library, &file];
    let (_, out, err) = run(&args);
    let lines = json(&out);
    let last = lines.iter().find(|event| event["id"] == 4).expect("the event");
    assert_eq!(last["undecoded"], json!({"message": unknown, "offset": 4, "data": "0102"}), "{out}");
    assert!(err.contains("no source states the members or length of that field: name one with --manifests"), "{err}");
}

/// Manifests of the catalogue: an unknown provider, a build before the known ones, and a note on placeholders.
#[test]
fn manifests_of_the_catalogue() {
    let name = "Microsoft-Windows-Kernel-Process";
    for (args, status, expected) in [
        (&[name][..], 0, "note: numbers with the comment `placeholder: "),
        (&[name, "--build", "7600"], 0, "note: "),
        (
            &[name, "--build", "7599"],
            2,
            "no manifest of Microsoft-Windows-Kernel-Process for build 7599 or earlier; give one of the known builds: 7600, ",
        ),
        (&["{22fb2cd6-0e7b-422b-a0c7-2fad1fd0e716}", "--build", "3"], 2, "; give one of the known builds: 7600, "),
        (&[name, "--build", "11-22H2"], 2, "invalid build number; expected a number such as 22621"),
        (&["Microsoft-Windows-Krnel-Process"], 2, "did you mean `Microsoft-Windows-Kernel-Process`?"),
        (&["Kernel-Proc"], 2, "known names with this text: Microsoft-Windows-Kernel-Proc"),
    ] {
        let (code, out, err) = run(&[&["manifest"], args].concat());
        assert!(code == status && err.contains(expected) && out.is_empty() == (status == 2), "{args:?}: {code} {err}");
    }
}

/// With JSON output, errors in files of schemas are objects too.
#[test]
fn errors_of_schemas_in_json() {
    let folder = Folder::new("schemas-json");
    let provider = format!(r#"<provider name="A" guid="{{{GUID_TEXT}}}"><events><event value="x"/></events></provider>"#);
    let manifest = folder.file(
        "a.man",
        format!(
            "<instrumentationManifest><instrumentation><events>{provider}</events></instrumentation></instrumentationManifest>"
        ),
    );
    let file = folder.file("a.etl", trace(&[]));
    let (_, _, err) = run(&["events", "--format", "json", "--manifests", &manifest, &file]);
    assert_eq!(json(&err)[0]["file"], manifest, "{err}");
}

/// A trace contains the manifest of an earlier event. It is not used for a stream, which is read only once; a note reports this.
#[test]
fn schemas_in_the_trace() {
    let folder = Folder::new("carried");
    let manifest = format!(
        r#"<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"><instrumentation><events>
        <provider name="Maker-Source" guid="{{{GUID_TEXT}}}" symbol="S" resourceFileName="a" messageFileName="a">
        <templates><template tid="T"><data name="Handle" inType="win:UInt32"/></template></templates>
        <events><event value="1" version="0" template="T" symbol="Opened"/></events>
        </provider></events></instrumentation></instrumentationManifest>"#
    );
    // Format 1, version 0.0, one part of one.
    let chunk = [&[1, 0, 0, 0x5B, 1, 0, 0, 0][..], manifest.as_bytes()].concat();
    let bytes = trace(&[(1, &[7, 0, 0, 0]), (0xFFFE, &chunk)]);
    let file = folder.file("a.etl", &bytes);
    let args = ["events", "--payload", "fields", "--format", "json", "--id", "1"];
    let of = |out: &str| json!([json(out)[0]["event"], json(out)[0]["schema"]["source"], json(out)[0]["fields"]]);
    let (status, out, err) = run(&[&args[..], &[&file]].concat());
    assert_eq!((status, of(&out), err.as_str()), (0, json!(["Maker-Source/Opened", "EventSource", {"Handle": 7}]), ""));
    let output = program(&[&args[..], &["-"]].concat()).stdin(File::open(&file).unwrap()).output().unwrap();
    // A stream is copied to a temporary file, because schemas can follow the events.
    assert_eq!(String::from_utf8(output.stdout).unwrap(), out.replace(&file, "-"));
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(bytes.len() == 8192 && err.contains("stream copied to a temporary file of 8,192 bytes"), "{err}");
    // Names in the schemas select events to save.
    let target = folder.0.join("saved.etl").display().to_string();
    let args = ["save", "-o", &target, "--format", "json", "--event", "Maker-Source/Opened", "-"];
    let output = program(&args).stdin(File::open(&file).unwrap()).output().unwrap();
    assert_eq!(json(&String::from_utf8(output.stdout).unwrap())[0]["saved"], 1);
}

/// Messages without a text: the file that has it, and the symbol files that an event of the session names.
#[test]
fn missing_messages() {
    let folder = Folder::new("missing-messages");
    // EventTraceEvent/DbgIdRSDS
    let pdb = [&[0x11; 16][..], &3_u32.to_le_bytes(), b"disk\x1b.pdb\0"].concat();
    let mut writer = super::kernel::writer_of_hooks(&[(5, 0x0040, 2, pdb)]);
    let message = Message { number: 10, guid: Uuid::parse_str(GUID_TEXT).ok(), time_stamp: Some(10), ..Message::default() };
    writer.push(0, &Record::new(EventHeader::Message(message), true, b"\x05")).unwrap();
    let file = folder.file("a.etl", writer.finish(START + 10_000_000).unwrap().into_inner());
    let (_, text, _) = run(&["schemas", &file]);
    assert!(text.contains(&format!("{GUID_TEXT}/10, needs {GUID_TEXT}.tmf\n")), "{text}");
    assert!(text.contains("disk\\u{1b}.pdb 11111111-1111-1111-1111-111111111111 age 3"), "{text}");
    let (_, out, _) = run(&["schemas", "--format", "json", &file]);
    let document = &json(&out)[0];
    assert_eq!(document["without"][0]["needs"], format!("{GUID_TEXT}.tmf"));
    let pdb = json!({ "name": "disk\u{1b}.pdb", "guid": "11111111-1111-1111-1111-111111111111", "age": 3 });
    assert_eq!(document["pdbs"], json!([pdb]));
}

/// Texts of WPP events by a TMF file. A payload that is too short is a diagnostic; an event without a message is printed as
/// bytes.
#[test]
fn texts_of_messages() {
    let folder = Folder::new("messages");
    let tmf = folder.file(
        "a.tmf",
        "//PDB:  example.pdb\n1b2c3d4e-0e7b-422b-a0c7-2fad1fd0e716 example // SRC=Device.c MJ= MN=\n\
         #typev Device_c87 10 \"%0%!FUNC!: %10!d! of %11!s!\" //   LEVEL=ERROR FLAGS=INIT FUNC=Add\n\
         {\nCount, ItemLong -- 10\nName, ItemString -- 11\n}\n",
    );
    let log = LogFile { start_time: START, buffer_size: 4096, ..LogFile::new(&PRODUCER) };
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), PRODUCER, log).unwrap();
    let guid = Uuid::parse_str(GUID_TEXT).ok();
    for (number, payload) in [(10, &b"\x05\0\0\0disk\0"[..]), (10, b"\x05\0"), (11, b"\x01")] {
        let message = Message { number, guid, time_stamp: Some(10), ..Message::default() };
        writer.push(0, &Record::new(EventHeader::Message(message), true, payload)).unwrap();
    }
    let file = folder.file("a.etl", writer.finish(START + 10_000_000).unwrap().into_inner());
    let guid = ["--provider", GUID_TEXT];
    let (status, out, err) =
        run(&[&["events", "--tmf", &tmf, "--payload", "message", "--format", "json", &file], &guid[..]].concat());
    // A payload that is too short, and a message without a format.
    assert_eq!((status, err.lines().count()), (1, 2), "{err}");
    let texts: Vec<_> = json(&out).iter().map(|event| json!([event["event"], event["message"], event["payload"]])).collect();
    let name = "example/Device_c87";
    assert_eq!(
        texts,
        [json!([name, "Add: 5 of disk", null]), json!([name, "Add: <missing> of <missing>", null]), json!([null, null, "01"])]
    );
    assert_eq!(&json(&out)[0]["schema"], &json!({"source": "TMF", "function": "Add", "level": "ERROR", "flags": "INIT"}));
    assert_eq!(json(&out)[1]["undecoded"]["data"], "0500");
    let (_, out, _) = run(&["events", "--tmf", &tmf, "--payload", "fields", &file]);
    assert!(out.contains("  example/Device_c87  ") && out.contains("Add: 5 of disk"), "{out}");
    // Names of messages can select and count events.
    for (option, name, count) in
        [("--event", "EXAMPLE/device_c87", 2), ("--event", "example/11", 1), ("--provider", "Example", 3)]
    {
        let (_, out, err) = run(&["events", "--tmf", &tmf, "--format", "json", option, name, &file]);
        assert_eq!(json(&out).len(), count, "{name}: {err}");
    }
    let (_, out, _) = run(&["stat", "--tmf", &tmf, "--by", "event", "--format", "json", &file]);
    let groups = json(&out)[0]["groups"].clone();
    let counts = groups.as_array().unwrap().iter().map(|group| json!([group["event"], group["provider_name"], group["events"]]));
    let expected = [json!(["example/Device_c87", "example", 2]), json!([null, "example", 1])];
    assert!(expected.iter().all(|row| counts.clone().any(|own| own == *row)), "{groups}");
    let (_, out, _) = run(&["schemas", "--tmf", &tmf, "--format", "json", &file]);
    let source = json(&out)[0]["sources"].as_array().unwrap().iter().find(|source| source["source"] == "TMF").cloned().unwrap();
    assert_eq!((&source["events"], &source["whole"]), (&json!(2), &json!(1)));
    // Of two messages with the same GUID and number, the first is used, and the other is reported.
    let other = std::fs::read_to_string(&tmf).unwrap().replace("of %11", "from %11");
    let other = folder.file("other.tmf", &other);
    for (tmfs, word, reported) in [([&tmf, &other], "of", true), ([&other, &tmf], "from", true), ([&tmf, &tmf], "of", false)] {
        let (_, out, err) = run(&["events", "--tmf", tmfs[0], "--tmf", tmfs[1], "--payload", "message", &file]);
        assert!(out.contains(&format!("Add: 5 {word} disk")), "{out}");
        let text = format!("{}: ambiguous messages: 1 differ", tmfs[1]);
        assert!(err.contains(&text) == reported && err.contains(&format!("the first is 10 of {GUID_TEXT}")) == reported, "{err}");
    }
    // Tables have the arguments as fields, and the bytes of a payload that is too short.
    let output = folder.0.join("tables");
    let path = output.to_str().unwrap();
    let (status, _, err) = run(&["export", "--tmf", &tmf, "--format", "jsonl", "--shape", "typed", "-o", path, &file]);
    assert_eq!(status, 1, "{err}");
    let rows = std::fs::read_dir(output.join("typed/provider=example/event=Device_c87")).unwrap();
    let rows = json(&rows.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect::<String>());
    let values: Vec<_> = rows.iter().map(|row| json!([row["Count"], row["Name"], row["payload"].is_null()])).collect();
    assert_eq!(values, [json!([5, "disk", true]), json!([null, null, false])]);
    let (status, _, err) = run(&["events", "--tmf", &file, &file]);
    assert!(status == 2 && err.contains("give trace message format files (.tmf), or private program databases (.pdb)"), "{err}");
}
