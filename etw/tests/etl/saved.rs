//! `save`.

use crate::{Folder, PRODUCER, START, damaged, json, program, run, shared, small, text, trace};
use etw_layouts_etl::wire::{EVENT_HEADER, large, zero};
use etw_layouts_etl::write::{FileWriter, Record};
use etw_layouts_etl::{ClockType, EventHeader, LogFile};
use serde_json::Value;
use std::fs;
use std::io::Cursor;
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;
use test_support::event_infos::{Head, MADE, META_DATA, Property, event_info};
use test_support::records::{Written, written};
use test_support::traces::{PRODUCERS, fixture_of};

/// A saved file has the selected events, and `check` reports no diagnostics.
#[test]
fn saved_events() {
    let folder = Folder::new("save");
    // Records with an unknown layout are left out, because they cause diagnostics.
    let known = fixture_of(PRODUCERS[7], ClockType::PerfCounter, false, 30, &|header_type| header_type.is_known()).unwrap().bytes;
    let mut files = vec![folder.file("a.etl", &known)];
    files.extend(small());
    let fields = |line: &Value| {
        ["time", "processor", "process", "thread", "header", "provider", "id", "items", "payload"].map(|key| line[key].clone())
    };
    for (index, file) in files.iter().enumerate() {
        for (options, compress) in [(&[][..], true), (&["--opcode", "1"], false), (&["--to", "0.5"], true)] {
            let out = text(&folder.0.join(format!("{index}-{}.etl", options.len() + usize::from(compress))));
            let events = |file: &str, options: &[&str]| {
                ["file", "time"].map(|order| {
                    let args = [&["events", "--format", "json", "--order", order, "--payload", "hex", file], options].concat();
                    let all = json(&run(&args).1);
                    all.iter().filter(|e| e["buffer"] != 0 || e["offset"] != 0x48).map(fields).collect::<Vec<_>>()
                })
            };
            let compress = if compress { &["--compress"][..] } else { &[] };
            let args = [&["save", "--exact", "--format", "json", "-o", &out, file], options, compress].concat();
            let (status, printed, err) = run(&args);
            // Versions before Windows 8 do not support compression.
            if status == 2 && !compress.is_empty() {
                assert!(err.contains("compressed buffers"), "{file}: {err}");
                assert!(!Path::new(&out).exists(), "{out} is left");
                continue;
            }
            assert_eq!(status, 0, "{file}: {printed} {err}");
            let (printed, saved) = (&json(&printed)[0], events(&out, &[]));
            assert!(saved == events(file, options), "{file} {options:?}");
            assert_eq!(printed["saved"].as_u64(), Some(saved[0].len() as u64));
            assert_eq!(printed["bytes"].as_u64(), Some(fs::metadata(&out).unwrap().len()));
            assert_eq!(run(&["check", &out]).1, format!("{out}: 0 diagnostics\n"), "{file} {options:?}");
            // An existing file is not overwritten.
            let (status, _, err) = run(&args);
            assert!(status == 2 && err.contains("already exists: refusing to overwrite"), "{out}: {err}");
        }
    }
    let (bad, out) = (folder.file("bad.etl", damaged()), text(&folder.0.join("of-bad.etl")));
    let (status, printed, err) = run(&["save", "-o", &out, &bad]);
    assert_eq!((status, err.contains("invalid extended data items")), (1, true), "{err}");
    assert!(printed.contains(": 1 of 1 event of "), "{printed}");
    // Both files have the same events.
    assert!(run(&["stat", &out]).1.starts_with("1 file, 2 events, "));
    let headed = text(&folder.0.join("headed.etl"));
    assert_eq!(run(&["save", "--opcode", "255", "-o", &headed, &bad]).0, 1);
    assert!(run(&["stat", &headed]).1.starts_with("1 file, 1 event, "));
    let new = text(&folder.0.join("new.etl"));
    for unusable in
        [&["save", "-o", &new, &bad, "/no/such.etl"][..], &["save", &bad], &["save", "-o", "/no/such/folder/a.etl", &bad]]
    {
        assert_eq!(run(unusable).0, 2, "{unusable:?}");
    }
    let parts = fs::read_dir(&folder.0).unwrap().map(|entry| text(&entry.unwrap().path())).filter(|name| name.contains(".part"));
    assert_eq!(parts.count() + usize::from(Path::new(&new).exists()), 0);
}

/// The parts of a session are merged into one file in time order. Files with different clocks, boots or systems are rejected.
#[test]
fn saved_together() {
    let folder = Folder::new("together");
    let whole = fixture_of(PRODUCERS[7], ClockType::PerfCounter, false, 60, &|header_type| header_type.is_known()).unwrap().bytes;
    let (whole, half) = (folder.file("whole.etl", &whole), 4096 * (whole.len() / 4096 / 2));
    let mut bytes = fs::read(&whole).unwrap();
    // A part can lack BuffersWritten; 0 means that the file was not closed.
    bytes[0x48 + 0x20 + 0x24..][..4].fill(0);
    let header = &bytes[..4096];
    let (first, second) = (folder.file("a.etl", &bytes[..half]), folder.file("b.etl", [header, &bytes[half..]].concat()));
    let events = |files: &[&str]| {
        let all = json(&run(&[&["events", "--format", "json", "--order", "time", "--payload", "hex"], files].concat()).1);
        let all = all.into_iter().filter(|event| event["buffer"] != 0);
        all.map(|event| ["time", "processor", "header", "payload"].map(|key| event[key].clone())).collect::<Vec<_>>()
    };
    let expected = events(&[&whole]);
    assert!(expected.len() > 500 && events(&[&second, &first]) == expected);
    for (index, files) in [[&first, &second], [&second, &first]].into_iter().enumerate() {
        let out = text(&folder.0.join(format!("{index}-together.etl")));
        let (status, printed, err) = run(&["save", "-o", &out, files[0], files[1]]);
        assert_eq!((status, printed.lines().count()), (0, 2), "{printed} {err}");
        assert!(events(&[&out]) == expected);
        assert_eq!(run(&["check", &out]).1, format!("{out}: 0 diagnostics\n"));
    }
    // The size of the new file is printed once.
    let out = text(&folder.0.join("size.etl"));
    assert_eq!(run(&["save", "-o", &out, &first, &second]).1.matches(" bytes").count(), 1);
    // Buffers that two files have are reported.
    let (copy, out) = (folder.file("copy.etl", &bytes[..half]), text(&folder.0.join("twice.etl")));
    let (status, _, err) = run(&["save", "-o", &out, &first, &copy]);
    let buffers = half / 4096 - 1;
    let expected =
        format!("copy.etl: {buffers} buffers with the same header as in {first}: their events are in the new file twice");
    assert!(status == 1 && err.contains(&expected), "{status} {err}");
    // Offsets in the log file header: version, BootTime, StartTime and ReservedFlags.
    let at = |member: usize| 0x48 + 0x20 + member;
    let clocks = [
        (at(8), "version of Windows"),
        (at(0xF8), "boot time"),
        (at(0x108), "relation of time stamps to system time"),
        (at(0x110), "clock"),
    ];
    for (place, what) in clocks {
        let mut other = bytes.clone();
        other[place] ^= 3;
        let other = folder.file("other.etl", &other);
        let out = text(&folder.0.join("none.etl"));
        let (status, _, err) = run(&["save", "-o", &out, &first, &other]);
        assert!(status == 2 && err.contains(&format!("cannot merge {first} and {other}: different {what}: ")), "{what}: {err}");
        assert!(!Path::new(&out).exists());
    }
}

/// The parts of a session each have events in their first buffer: at the start of the session, and at the start of the part. The merged file has all
/// events in the order that `check` expects. The header of each part states what the session lost so far, so the last part counts.
#[test]
fn parts() {
    let folder = Folder::new("parts-of-a-session");
    let event = |stamp: i64| {
        let mut header: EVENT_HEADER = zero();
        header.TimeStamp = large(stamp);
        Record::new(EventHeader::Event(header), true, &[7; 3])
    };
    for number in 0..20 {
        let start = 1_000_000 * i64::from(number);
        let log = LogFile { buffer_size: 4096, start_time: START, events_lost: 10 * number, ..LogFile::new(&PRODUCER) };
        let mut writer = FileWriter::new(Cursor::new(Vec::new()), PRODUCER, LogFile { buffers_lost: number, ..log }).unwrap();
        [0, start].into_iter().for_each(|stamp| writer.push_header(&event(stamp)).unwrap());
        (1..11).for_each(|stamp| writer.push(0, &event(start + stamp)).unwrap());
        folder.file(&format!("{number:02}.etl"), writer.finish(START + start + 11).unwrap().into_inner());
    }
    let (parts, out) = (text(&folder.0), text(&folder.0.join("all.etl")));
    let lost = |file: &str| {
        let stat = json(&run(&["stat", "--format", "json", file]).1).remove(0);
        ["events", "events_lost", "buffers_lost"].map(|key| stat[key].as_u64().unwrap())
    };
    assert_eq!(lost(&parts), [20 * 13, 190, 19]);
    assert_eq!(run(&["save", "-o", &out, &parts]).0, 0);
    // The new file has one log file header.
    assert_eq!(lost(&out), [20 * 13 - 19, 190, 19]);
    assert_eq!(run(&["check", &out]).1, format!("{out}: 0 diagnostics\n"));
}

/// Outputs that cannot be written are refused with a remedy. Standard output is not supported.
#[test]
fn unusable_outputs() {
    let folder = Folder::new("unusable-outputs");
    let (file, output) = (folder.file("a.etl", trace()), text(&folder.0.join("no/such/a.etl")));
    for (args, expected) in [
        (["save", "-o", &output], "the folder does not exist; create it, or choose another path"),
        (["save", "-o", "-"], "`-` does not mean standard output here; give a path"),
        #[cfg(feature = "table")]
        (["export", "-o", "-"], "`-` does not mean standard output here; give a path"),
    ] {
        let (status, _, err) = run(&[&args[..], &[&file]].concat());
        assert!(status == 2 && err.contains(expected), "{args:?}: {status} {err}");
    }
}

/// A new file gets its name only when it is complete. The leftovers of a killed run do not block the next one.
#[test]
fn killed() {
    let folder = Folder::new("killed");
    let large =
        fixture_of(PRODUCERS[7], ClockType::PerfCounter, false, 12_000, &|header_type| header_type.is_known()).unwrap().bytes;
    let (file, out) = (folder.file("a.etl", &large), folder.0.join("new.etl"));
    let args = ["save", "--compress", "-o", out.to_str().unwrap(), &file];
    let start = Instant::now();
    assert_eq!(run(&args).0, 0);
    let (whole, all) = (fs::read(&out).unwrap(), start.elapsed());
    fs::remove_file(&out).unwrap();
    let (mut left, mut complete) = (0, 0);
    for part in 0..30 {
        let mut child = program(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(all * part / 25);
        let _ = child.kill();
        child.wait().unwrap();
        if out.exists() {
            complete += 1;
            assert!(fs::read(&out).unwrap() == whole);
            fs::remove_file(&out).unwrap();
        }
        left = fs::read_dir(&folder.0).unwrap().filter(|entry| text(&entry.as_ref().unwrap().path()).ends_with(".part")).count();
    }
    println!("{left} partial files left, {complete} complete ones");
    assert!(left > 0 && complete < 30);
    assert_eq!(run(&args).0, 0);
    assert!(fs::read(&out).unwrap() == whole);
}

/// The matching events of a saved part are decoded as in the whole trace, because the schemas that come later in it are copied too. `--exact` copies
/// only the matching events.
#[test]
fn saved_with_what_events_need() {
    let folder = Folder::new("save-needs");
    let texts = ["Made-Provider", "", "", "", "Task", "", "", ""];
    let head = Head { provider: MADE, id: 7, bytes: [0, 0, 4, 0], texts, event_name: "Named", ..Head::default() };
    let field = Property { name: "Field", types: [8, 8], count: 1, ..Property::default() };
    let event = |tick, id| Written::event(tick, (1, 2), (MADE.as_u128(), id, 0), vec![1, 0, 0, 0]);
    let bytes = written(&[event(10, 7), event(20, 8), Written::class(30, (META_DATA, 32), event_info(&head, 1, &[field]))]);
    let mut traces = vec![(folder.file("merged.etl", bytes), ["--id", "7", "--level", "0"])];
    traces.extend(
        shared().into_iter().filter(|name| name.contains("net.4.5.2")).map(|name| (name, ["--from", "4", "--to", "4.01"])),
    );
    for (index, (file, options)) in traces.iter().enumerate() {
        let printed = |file: &str| {
            let args = [&["events", "--payload", "fields", "--format", "json", file], &options[..]].concat();
            let lines = json(&run(&args).1);
            lines.iter().map(|line| ["time", "event", "fields"].map(|key| line[key].clone())).collect::<Vec<_>>()
        };
        let [(with, with_counts), (exact, exact_counts)] = [&[][..], &["--exact"]].map(|exact| {
            let out = text(&folder.0.join(format!("{index}-{}.etl", exact.len())));
            let (status, printed, err) = run(&[&["save", "--format", "json", "-o", &out, file], &options[..], exact].concat());
            assert_eq!(status, 0, "{file}: {err}");
            let counts = ["saved", "needed"].map(|key| json(&printed)[0][key].as_u64().expect("a number"));
            (out, counts)
        });
        println!("{file}: {with_counts:?} of saved and needed events");
        assert!(with_counts[1] > 0 && exact_counts == [with_counts[0], 0], "{file}");
        let whole = printed(file);
        let matching: Vec<_> = printed(&with).into_iter().filter(|event| whole.contains(event)).collect();
        assert!(matching == whole, "{file}");
        // Without the schema, the event has no name.
        assert_eq!(printed(&exact) == whole, index > 0, "{file}");
    }
}
