//! Events of dumps are selected and printed like events of traces. The expected output is that of `etw etl events` for the
//! sessions, saved as traces.

use crate::{Folder, dump, etw, json, text};
use etw_layouts::win10_2004::x64::ETW_DUMP_SESSION;
use etw_layouts_dump::Dump;
use serde_json::Value;
use std::mem::offset_of;
use std::path::Path;

/// The events without their positions. They are sorted, because the events of all sessions of a dump are printed together.
fn events_of(command: &str, path: &Path, options: &[&str]) -> Vec<String> {
    let (status, events) = json(&[&[command, "events"], options, &[path.to_str().unwrap()]].concat());
    // The payloads are not those of a kernel, so decoding them is a diagnostic.
    assert_eq!(status, Some(i32::from(options.contains(&"fields"))), "{command} {options:?}");
    // The first buffer of a saved trace contains the event of its log file header.
    let own = events.into_iter().filter(|event| command == "dump" || event["buffer"] != 0);
    let mut events: Vec<String> = own
        .map(|mut event| {
            let parts = event.as_object_mut().unwrap();
            for place in ["file", "session", "logger_id", "buffer", "buffer_offset", "offset"] {
                parts.remove(place);
            }
            event.to_string()
        })
        .collect();
    events.sort_unstable();
    events
}

/// With the same options, a dump and the traces saved from it give the same events as JSON.
#[test]
fn events_are_selected_like_those_of_traces() {
    let folder = Folder::new("asked");
    let path = folder.file("mini.dmp", dump());
    let traces = folder.0.join("traces");
    assert_eq!(json(&["dump", "save", "-o", traces.to_str().unwrap(), &path]).0, Some(0));
    let (_, all) = json(&["dump", "events", &path]);
    // A value of the event in the middle, among the events that have one.
    let some = |key: &str| {
        let values: Vec<&Value> = all.iter().map(|event| &event[key]).filter(|value| !value.is_null()).collect();
        values[values.len() / 2].to_string().replace('"', "")
    };
    let (mut counts, time) = (Vec::new(), some("time_utc"));
    let (_, infos) = json(&["dump", "info", &path]);
    let since = some("time").parse::<i64>().unwrap() - infos[0]["sessions"][0]["start_time"].as_i64().unwrap();
    let since = format!("{}.{:07}", since / 10_000_000, since % 10_000_000);
    let asked: [(&str, &str); 10] = [
        ("--provider", &some("provider")),
        ("--id", &some("id")),
        ("--opcode", &some("opcode")),
        ("--level", &some("level")),
        ("--process", &some("process")),
        ("--thread", &some("thread")),
        ("--processor", &some("processor")),
        ("--from", &time),
        ("--to", &time),
        ("--from", &since),
    ];
    for options in asked.iter().map(|(option, value)| vec![*option, *value]).chain([
        vec![],
        vec!["--payload", "hex"],
        vec!["--payload", "fields"],
    ]) {
        let (read, expected) = (events_of("dump", Path::new(&path), &options), events_of("etl", &traces, &options));
        assert_eq!(read, expected, "{options:?}");
        counts.push(read.len());
    }
    println!("{counts:?} of {}", all.len());
    assert!(counts[..asked.len()].iter().all(|count| (1..all.len()).contains(count)), "{counts:?}");
}

/// Columns, their names, CSV, and a limit over several dumps.
#[test]
fn columns_and_limits() {
    let folder = Folder::new("columns");
    for name in ["a.dmp", "b.dmp"] {
        folder.file(name, dump());
    }
    let path = text(&folder.0);
    let (_, all) = json(&["dump", "events", &path]);
    let lines = |options: &[&str]| {
        let output = etw(&[&["dump", "events", &path], options].concat());
        assert_eq!(output.status.code(), Some(0), "{options:?}");
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let table = lines(&["--format", "csv", "--columns", "session,processor,payload_size"]);
    let expected = all
        .iter()
        .map(|event| format!("{},{},{}", event["session"].as_str().unwrap(), event["processor"], event["payload_size"]));
    assert_eq!((table[0].as_str(), &table[1..]), ("session,processor,payload_size", &expected.collect::<Vec<_>>()[..]));
    // All events of one dump, and a few of the next.
    let some = (all.len() / 2 + 3).to_string();
    let limited = lines(&["--limit", &some, "--columns", "default,file"]);
    assert_eq!(limited.len(), all.len() / 2 + 4);
    assert!(limited[0].starts_with("time") && limited[0].contains("session"), "{}", limited[0]);
    assert_eq!(limited.iter().filter(|line| line.ends_with("b.dmp")).count(), 3);
    for command in ["info", "sessions"] {
        assert_eq!(etw(&["dump", command, "--format", "csv", &path]).status.code(), Some(2));
    }
}

/// --build sets the revision of a minidump. Options for full dumps have no effect, which a note reports.
#[test]
fn options_of_minidumps() {
    let folder = Folder::new("options");
    let path = folder.file("mini.dmp", dump());
    let of = |options: &[&str]| json(&[&["dump", "info", &path], options].concat());
    for (options, build, by, kb) in [
        (&[][..], "10.0.19041", "header", None),
        (&["--build", "10.0.19041.264"][..], "10.0.19041.264", "option", None),
        (&["--build", "10.0.19044.264"][..], "10.0.19041.264", "option", None),
        (&["--build", "10.0.19041.3570"][..], "10.0.19041.3570", "option", Some("KB5031356")),
        (&["--build", "10.0.19045"][..], "10.0.19041.2130", "option", Some("KB5018410")),
    ] {
        let (status, infos) = of(options);
        let kernel = &infos[0]["kernel"];
        assert_eq!((status, kernel["build"].as_str(), kernel["build_source"].as_str()), (Some(0), Some(build), Some(by)));
        assert_eq!(kernel["kb"], kb.into_iter().collect::<Value>(), "{build}");
        assert_eq!(infos[0]["notes"], Value::Array(vec![]));
        assert_eq!(kernel["build_said"].as_str(), options.get(1).copied().filter(|said| *said != build));
    }
    // The same kernel under another build number: a note states both.
    let same = "10.0.19044.264 has the same kernel as 10.0.19041.264";
    for command in ["info", "events"] {
        let output = etw(&["dump", command, "--build", "10.0.19044.264", &path]);
        assert!(String::from_utf8([output.stdout, output.stderr].concat()).unwrap().contains(same), "{command}");
    }
    let other = etw(&["dump", "events", "--build", "10.0.18362.1", &path]);
    assert!(other.status.code() == Some(2) && String::from_utf8_lossy(&other.stderr).contains("wrong --build 10.0.18362.1"));

    let absent = etw(&["dump", "info", "--symbols", "absent.pdb", &path]);
    let said = String::from_utf8_lossy(&absent.stderr);
    assert!(absent.status.code() == Some(2) && said.contains("absent.pdb: no such file or folder"), "{said}");
    // As other commands accept it: without a revision, as a release, or as an update.
    for (build, expected) in [
        ("19041", "10.0.19041.264"),
        ("2004", "10.0.19041.264"),
        ("19041.3570", "10.0.19041.3570"),
        ("kb5031356", "10.0.19041.3570"),
    ] {
        assert_eq!(of(&["--build", build]).1[0]["kernel"]["build"], expected, "{build}");
    }
    let unknown = etw(&["dump", "info", "--build", "23H9", &path]);
    let said = String::from_utf8_lossy(&unknown.stderr);
    assert!(unknown.status.code() == Some(2) && said.contains("unknown build `23H9`; "), "{said}");
    let (_, infos) = of(&["--build", "19041.264"]);
    assert_eq!(infos[0]["kernel"]["build"], "10.0.19041.264");
    let symbols = folder.file("some.pdb", Vec::new());
    let (_, infos) = of(&["--free", "--symbols", &symbols]);
    let notes: Vec<_> = infos[0]["notes"].as_array().unwrap().iter().map(|note| note.as_str().unwrap()).collect();
    assert!(
        matches!(notes[..], [free, symbols] if free.starts_with("--free has no effect") && symbols.starts_with("--symbols has"))
    );
    let output = etw(&["dump", "sessions", "--format", "json", "--symbol-path", "symbols", &path]);
    let note: Value = serde_json::from_slice(&output.stderr).unwrap();
    assert!(output.status.code() == Some(0) && note["note"].as_str().unwrap().starts_with("--symbol-path has no effect"));
    // Events can have messages of WPP, whose formats are in PDBs.
    let output = etw(&["dump", "events", "--symbol-path", "/no/symbols", &path]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && said.contains("the folder /no/symbols does not exist"), "{said}");
}

/// If the start of a session is unknown, relative times cannot apply to its events. They are left out, which a note reports. A
/// filter without matches is also reported.
#[test]
fn left_out_is_reported() {
    let folder = Folder::new("left-out");
    let whole = dump();
    let mut bytes = whole.clone();
    for session in Dump::from_bytes(&whole).unwrap().sessions() {
        let at = session.offset as usize + offset_of!(ETW_DUMP_SESSION, StartTime);
        assert_eq!(whole[at..at + 8], session.start_time.to_le_bytes());
        bytes[at..at + 8].fill(0);
    }
    let path = folder.file("no-start.dmp", bytes);
    let events = json(&["dump", "events", &path]).1;
    let asked = |options: &[&str]| {
        let output = etw(&[&["dump", "events", "--format", "json", &path], options].concat());
        let lines = String::from_utf8(output.stderr).unwrap();
        let notes: Vec<Value> = lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), notes)
    };
    let (status, out, notes) = asked(&["--from", "0"]);
    assert_eq!((status, out.as_str()), (Some(0), ""));
    let texts: Vec<_> = notes.iter().filter_map(|note| note["note"].as_str()).collect();
    assert!(
        texts.iter().all(|note| note.contains("session A logger left out: session start unknown")
            || note.contains("without time: --from and --to leave them out")),
        "{texts:?}"
    );
    let count = |note: &&str| note.split([' ', ':']).find_map(|word| word.parse::<usize>().ok()).unwrap();
    assert_eq!(texts.iter().map(count).sum::<usize>(), events.len(), "{texts:?}");
    assert_eq!(
        (notes.last().unwrap()["matching"].as_u64(), notes.last().unwrap()["events"].as_u64()),
        (Some(0), Some(events.len() as u64))
    );
    // Absolute times do not need the start.
    assert_eq!(
        asked(&["--from", "1601-01-01T00:00:00"]).1.lines().count(),
        events.iter().filter(|event| event["time"].is_i64()).count()
    );
    let output = etw(&["dump", "events", "--opcode", "255", &path]);
    let none = format!("0 of {} events match\n", events.len());
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap()), (Some(0), none));
    let refused = etw(&["dump", "events", "--from", "2", "--to", "1", &path]);
    let aside = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(2) && aside.contains("--from is later than --to"), "{aside}");
}
