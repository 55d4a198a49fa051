//! Runs `etw dump` as users do.

#![allow(missing_docs, reason = "tests")]

mod counts;
mod events;
mod full;
mod raw;

use etw_layouts_dump::Dump;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};
use test_support::dumps::whole;
use test_support::folder::Folder;

const COMMANDS: [&str; 3] = ["info", "sessions", "events"];

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

fn dump() -> Vec<u8> {
    whole("10.0.19041.264".parse().unwrap(), etw_layouts_etl::wire::Arch::X64)
}

fn etw(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_etw")).args(arguments).output().unwrap()
}

/// The exit status, and the lines of standard output as JSON.
fn json(arguments: &[&str]) -> (Option<i32>, Vec<Value>) {
    let output = etw(&[arguments, &["--format", "json"]].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    (output.status.code(), text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// The commands print everything that the library finds, for each dump in a folder.
#[test]
fn all_results_are_printed() {
    let folder = Folder::new("printed");
    let bytes = dump();
    for name in ["a.dmp", "below/b.DMP"] {
        folder.file(name, &bytes);
    }
    folder.file("c.txt", b"not looked at");
    let dump = Dump::from_bytes(&bytes).unwrap();
    let path = text(&folder.0);

    let (status, infos) = json(&["dump", "info", &path]);
    assert_eq!((status, infos.len()), (Some(0), 2));
    for info in &infos {
        assert_eq!((info["build_number"].as_u64(), info["architecture"].as_str()), (Some(19041), Some("x64")));
        assert_eq!((info["trace_buffers"].as_array().unwrap().len(), info["registrations"].as_array().unwrap().len()), (1, 1));
        let sessions = info["sessions"].as_array().unwrap();
        assert_eq!(sessions.len(), dump.sessions().len());
        for (said, session) in sessions.iter().zip(dump.sessions()) {
            let number = |key: &str| said[key].as_u64().unwrap() as usize;
            assert_eq!((said["session"].as_str(), number("logger_id")), (Some(session.name()), session.logger_id as usize));
            let counts = [number("buffers"), number("empty_buffers"), number("events")];
            assert_eq!(counts, [session.buffers.len(), session.empty_buffers(), session.events().0.len()]);
        }
    }

    let (status, events) = json(&["dump", "events", "--session", "A logger", &path]);
    let count: usize = dump.sessions().iter().map(|session| session.events().0.len()).sum();
    assert_eq!((status, events.len()), (Some(0), 2 * count));
    assert!(events[..count].iter().filter_map(|event| event["time"].as_i64()).is_sorted());
    let of = |logger: u32| events[..count].iter().filter(|event| event["logger_id"] == logger).count();
    assert!(dump.sessions().iter().all(|session| of(session.logger_id) == session.events().0.len()));
    // Names ignore case; a name that no dump has is an error that lists the available names.
    assert_eq!(json(&["dump", "events", "--session", "a LOGGER", &path]).1, events);
    assert_eq!(json(&["dump", "events", "--session", "None", &path]), (Some(2), vec![]));
    let absent = etw(&["dump", "events", "--session", "None", "--session", "A logger", &path]);
    let aside = String::from_utf8(absent.stderr).unwrap();
    assert_eq!(aside.matches("session not found: None;").count(), 2, "{aside}");
    assert!(aside.contains("session not found in any dump: None"), "{aside}");
    let text = etw(&["dump", "events", &path]);
    // The first line names the columns.
    assert_eq!(text.stdout.iter().filter(|byte| **byte == b'\n').count(), 2 * count + 1);
}

/// Each session is saved as a trace that `etw etl` can read completely. No file is overwritten.
#[test]
fn saved_sessions_are_traces() {
    let folder = Folder::new("saved");
    let path = folder.file("mini.dmp", dump());
    let traces = text(&folder.0.join("traces"));
    let (status, saved) = json(&["dump", "save", "-o", &traces, &path]);
    assert_eq!((status, saved.len()), (Some(0), 2));
    for line in &saved {
        let (status, info) = json(&["etl", "info", line["output"].as_str().unwrap()]);
        assert_eq!((status, info[0]["session"].as_str()), (Some(0), line["session"].as_str()));
        // The log file header adds an event and a buffer.
        assert_eq!(info[0]["events"].as_u64().unwrap(), line["events"].as_u64().unwrap() + 1);
        assert_eq!(info[0]["buffers"].as_u64().unwrap(), line["buffers"].as_u64().unwrap() + 1);
    }
    let (status, again) = json(&["dump", "save", "-o", &traces, &path]);
    assert_eq!((status, again.len()), (Some(2), 0));
    let aside = String::from_utf8(etw(&["dump", "save", "-o", &traces, &path]).stderr).unwrap();
    assert_eq!(aside.matches(".etl: already exists: refusing to overwrite").count(), 2, "{aside}");
}

/// Diagnostics give exit status 1. For a file that is not a dump, the exit status is 2, and the next file is still read.
#[test]
fn errors_are_reported() {
    let folder = Folder::new("wrong");
    let bytes = dump();
    let truncated = folder.file("truncated.dmp", &bytes[..bytes.len() - 0x200]);
    let none = folder.file("none.dmp", b"MDMP");
    for command in COMMANDS {
        let output = etw(&["dump", command, &truncated]);
        assert_eq!(output.status.code(), Some(1), "{command}");
        let printed = [output.stdout, output.stderr].concat();
        assert!(String::from_utf8(printed).unwrap().contains("truncated"), "{command}");
        let both = etw(&["dump", command, &none, &truncated]);
        assert_eq!(both.status.code(), Some(2), "{command}");
        assert!(!both.stdout.is_empty() && String::from_utf8(both.stderr).unwrap().contains("a process minidump"), "{command}");
    }
    // A dump that is truncated within its headers is still recognized.
    for length in [8, 5000, 0x2040] {
        let short = folder.file("short.dmp", &bytes[..length]);
        for command in COMMANDS {
            let output = etw(&["dump", command, &short]);
            let printed = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{command}");
            let expected = format!("truncated crash dump: ends within the headers, after {length} bytes");
            assert!(printed.contains(&expected) && !printed.contains("not a kernel crash dump"), "{printed}");
        }
    }
    assert_eq!(etw(&["dump", "info", &text(&folder.0.join("absent"))]).status.code(), Some(2));
}
