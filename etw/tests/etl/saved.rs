//! `save`.

use crate::{Folder, damaged, json, run, shared, text};
use etw_layouts_etl::ClockType;
use serde_json::Value;
use std::fs;
use std::path::Path;
use test_support::traces::{PRODUCERS, fixture_of};

/// A saved file has the events that were wanted, and `check` finds nothing in it.
#[test]
fn saved_events() {
    let folder = Folder::new("save");
    // Records of unknown layout are a finding of their own.
    let known = fixture_of(PRODUCERS[7], ClockType::PerfCounter, false, 30, &|header_type| header_type.is_known()).unwrap().bytes;
    let mut files = vec![folder.file("a.etl", &known)];
    files.extend(shared());
    let fields = |line: &Value| {
        ["time", "processor", "process", "thread", "header", "provider", "id", "items", "payload"].map(|key| line[key].clone())
    };
    for (index, file) in files.iter().enumerate() {
        for (options, compress) in [(&[][..], true), (&["--opcode", "1"], false), (&["--to", "0.5"], true)] {
            let out = text(&folder.0.join(format!("{index}-{}.etl", options.len() + usize::from(compress))));
            let events = |file: &str, options: &[&str]| {
                let args = [&["events", "--format", "json", "--order", "time", "--payload", "hex", file], options].concat();
                let all = json(&run(&args).1);
                all.iter().filter(|e| e["buffer"] != 0 || e["offset"] != 0x48).map(fields).collect::<Vec<_>>()
            };
            let compress = if compress { &["--compress"][..] } else { &[] };
            let args = [&["save", "--format", "json", "-o", &out, file], options, compress].concat();
            let (status, told, err) = run(&args);
            // Windows before 8 does not compress.
            if status == 2 && !compress.is_empty() {
                assert!(err.contains("compressed buffers"), "{file}: {err}");
                assert!(!Path::new(&out).exists(), "{out} is left");
                continue;
            }
            assert_eq!(status, 0, "{file}: {told} {err}");
            let (told, saved) = (&json(&told)[0], events(&out, &[]));
            assert!(saved == events(file, options), "{file} {options:?}");
            assert_eq!(told["saved"].as_u64(), Some(saved.len() as u64));
            assert_eq!(told["bytes"].as_u64(), Some(fs::metadata(&out).unwrap().len()));
            assert_eq!(run(&["check", &out]).1, format!("{out}: 0 findings\n"), "{file} {options:?}");
            // What is there stays.
            let (status, _, err) = run(&args);
            assert!(status == 2 && err.contains("is there already; nothing is written over"), "{out}: {err}");
        }
    }
    let (bad, out) = (folder.file("bad.etl", damaged()), text(&folder.0.join("of-bad.etl")));
    let (status, told, err) = run(&["save", "-o", &out, &bad]);
    assert_eq!((status, err.contains("extended items")), (1, true), "{err}");
    assert!(told.contains("the log file header and 1 of 1 other event of "), "{told}");
    // Of the same file, the same events: the header is one of them.
    assert!(run(&["stat", &out]).1.starts_with("1 file, 2 events, "));
    let headed = text(&folder.0.join("headed.etl"));
    assert_eq!(run(&["save", "--opcode", "255", "-o", &headed, &bad]).0, 1);
    assert!(run(&["stat", &headed]).1.starts_with("1 file, 1 event, "));
    for unusable in [&["save", "-o", &out, &bad, &bad][..], &["save", &bad], &["save", "-o", "/no/such/folder/a.etl", &bad]] {
        assert_eq!(run(unusable).0, 2, "{unusable:?}");
    }
}
