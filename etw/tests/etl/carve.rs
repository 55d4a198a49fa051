//! Traces are found in other bytes.

use super::{json, known, program, run};
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::process::Stdio;
use test_support::folder::Folder;

/// An image with a whole trace, and another without its log file header, with a copy of one buffer, and with a buffer cut by other bytes.
fn image() -> (Vec<u8>, Vec<u8>) {
    let trace = known(false, 20);
    let mut other = trace.clone();
    // Another session number, which is at the end of the context in the header.
    (0..other.len()).step_by(4096).for_each(|start| other[start + 0x2A] = 9);
    let mut random = fastrand::Rng::with_seed(5);
    let mut noise = |length: usize| std::iter::repeat_with(|| random.u8(..)).take(length).collect::<Vec<_>>();
    let parts = [
        &noise(1024)[..],
        &trace,
        &noise(512),
        &other[4096..3 * 4096],
        &other[4096..2 * 4096],
        &noise(1536),
        &other[3 * 4096..3 * 4096 + 2048],
        &noise(4096),
    ];
    (parts.concat(), trace)
}

fn events(file: &str) -> Vec<Value> {
    let (_, out, err) = run(&["events", "--format", "json", "--payload", "hex", file]);
    assert!(!out.is_empty(), "{err}");
    json(&out)
}

/// The trace is found as it was. Of the other, the whole events are found; without its log file header, they have no times, and no time
/// selects them.
#[test]
fn carved() {
    let folder = Folder::new("carve");
    let (image, trace) = image();
    let path = folder.file("disk.img", &image);
    let (original, output) = (folder.file("original.etl", &trace), folder.file("new", []));
    fs::remove_file(&output).unwrap();
    let (status, out, err) = run(&["carve", "--format", "json", "-o", &output, &path]);
    assert_eq!((status, &*err), (1, ""), "a log file header is missing, and a buffer is cut");
    let lines = json(&out);
    assert_eq!((&lines[0]["file"], &lines[0]["bytes"]), (&path.clone().into(), &image.len().into()));
    assert_eq!(lines.len(), 3, "{out}");
    let [whole, rest] = [&lines[1], &lines[2]];
    let place = |line: &Value| (line["output"].as_str().unwrap().to_owned(), line["has_log_file_header"] == true);
    let ((first, true), (second, false)) = (place(whole), place(rest)) else { panic!("{out}") };
    assert!(fs::read(&first).unwrap() == trace);
    let buffers = rest["found"].as_array().unwrap();
    let offsets: Vec<_> = buffers.iter().map(|buffer| (buffer["offset"].as_u64().unwrap(), &buffer["completeness"])).collect();
    let start = 1024 + trace.len() as u64 + 512;
    let expected = [(start, "whole"), (start + 4096, "whole"), (start + 2 * 4096, "whole"), (start + 3 * 4096 + 1536, "damaged")];
    let mut sorted = offsets.clone();
    sorted.sort_by_key(|(offset, _)| *offset);
    assert_eq!(
        sorted,
        expected
            .map(|(offset, completeness)| (offset, Value::from(completeness)))
            .iter()
            .map(|(offset, value)| (*offset, value))
            .collect::<Vec<_>>()
    );
    let copies: Vec<_> = buffers.iter().filter_map(|buffer| buffer["copy_of_offset"].as_u64()).collect();
    assert_eq!((copies, &rest["buffers"], &rest["copies"]), (vec![start], &3.into(), &1.into()));

    let (all, found) = (events(&original), events(&second));
    assert_eq!(events(&first).len(), all.len());
    assert_eq!(found.len() as u64, rest["events"].as_u64().unwrap() + 1, "and the new log file header");
    assert!(
        found.iter().all(|event| event["time"].is_null() && event.get("time_utc").is_none_or(Value::is_null)),
        "{:?}",
        found[1]
    );
    assert!(all.iter().any(|event| !event["time"].is_null()) && all.iter().all(|event| !event["payload"].is_null()));
    let payload = |event: &Value| (event["event"].clone(), event["offset"].clone(), event["payload"].clone());
    let known: Vec<_> = all.iter().map(payload).collect();
    assert!(found[1..].iter().all(|event| known.contains(&payload(event))));
    for time in ["--from", "--to"] {
        let (_, out, err) = run(&["events", time, "2020-01-01", &second]);
        assert!(
            err.contains("events have no times") && (out + &err).contains(&format!("0 of {} events match", found.len())),
            "{time}: {err}"
        );
    }
    let (_, out, _) = run(&["info", &second]);
    assert!(out.contains("unknown: events have no times"), "{out}");
}

/// Text says the same; folders and standard input are searched; what is found nowhere has exit status 1.
#[test]
fn sources() {
    let folder = Folder::new("carve-sources");
    let (image, _) = image();
    let input = Folder::new("carve-input");
    input.file("a.bin", &image);
    input.file("b.txt", b"no buffer");
    let output = folder.file("new", []);
    fs::remove_file(&output).unwrap();
    let (status, out, err) = run(&["carve", "-o", &output, &super::text(&input.0)]);
    assert_eq!(status, 1, "{err}");
    assert!(err.contains("2 files"), "{err}");
    for part in [
        "b.txt: 0 buffers in 9 bytes",
        "no log file header: clock, times and Windows version are unknown",
        "left out: same events as",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
    let mut child =
        program(&["carve", "-o", &format!("{output}-piped"), "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&image).unwrap();
    let piped = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(piped.lines().count(), out.lines().count() - 1, "{piped}");
    let (status, out, _) = run(&["carve", "-o", &format!("{output}-none"), &input.file("c", b"nothing")]);
    assert_eq!((status, out.lines().count()), (1, 1), "{out}");
}
