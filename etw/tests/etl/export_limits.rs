//! `export` of traces that need much memory, change while they are read, or have diagnostics.

use crate::kernel::{kernel_trace, process, trace_of_hooks};
use crate::{Folder, known, mixed, program, run, text, trace};
use serde_json::Value;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;
use test_support::installed::{self, Program};
use test_support::records::{Written, written};

/// Events with TraceLogging schemas: a kind for each name, with fields of four bytes.
fn kinds(names: impl Iterator<Item = String>, fields: usize) -> Vec<u8> {
    const UINT32: u8 = 8;
    let fields_of = |number| [format!("{number:x}\0").as_bytes(), &[UINT32]].concat();
    let fields_of = (0..fields).flat_map(fields_of).collect::<Vec<_>>();
    let event = |(tick, name): (i64, String)| {
        let schema = [&[0], name.as_bytes(), &[0], &fields_of].concat();
        let schema = [&(schema.len() as u16 + 2).to_le_bytes()[..], &schema].concat();
        Written::item(tick, 0, 12, 11, schema, [7, 0, 0, 0].repeat(fields))
    };
    written(&(1..).zip(names).map(event).collect::<Vec<_>>())
}

/// The peak memory of a program until it ends, in MB, and its exit status.
fn peak(mut child: Child) -> (u64, i32) {
    let (path, mut most) = (format!("/proc/{}/status", child.id()), 0);
    loop {
        let status = fs::read_to_string(&path).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
        most = kilobytes.unwrap_or(0).max(most);
        if let Some(status) = child.try_wait().unwrap() {
            return (most / 1024, status.code().expect("no signal"));
        }
        sleep(Duration::from_millis(2));
    }
}

/// Many kinds with many fields need no more memory than other traces: their tables and columns count.
#[test]
#[cfg(target_os = "linux")]
fn many_wide_kinds() {
    let folder = Folder::new("wide");
    let file = folder.file("a.etl", kinds((0..150).map(|number| format!("Event{number}")), 1000));
    for format in ["parquet", "csv"] {
        let output = folder.0.join(format);
        let args = ["export", "--jobs", "1", "--shape", "typed", "--format", format, "-o", &text(&output), &file];
        let child = program(&args).stdout(Stdio::null()).spawn().unwrap();
        let (megabytes, status) = peak(child);
        println!("{format}: {megabytes} MB");
        assert!(status == 0 && (1..200).contains(&megabytes), "{format}: status {status}, {megabytes} MB");
    }
}

/// The lines of all tables.
fn lines(folder: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        match entry.path() {
            path if path.is_dir() => lines.extend(self::lines(&path)),
            path => lines.extend(fs::read_to_string(path).unwrap().lines().map(str::to_owned)),
        }
    }
    lines.sort();
    lines
}

/// A trace with more names than a record can have is refused; the other trace of its group is exported.
#[test]
fn more_kinds_than_a_record_has_names_for() {
    let folder = Folder::new("too-many");
    let (good, output) = (folder.file("traces/a.etl", mixed()), text(&folder.0.join("out")));
    // Each byte of these names needs six in JSON.
    let name = |number: u32| format!("{number}{}", "\u{1}".repeat(60_000));
    let bad = folder.file("traces/b.etl", kinds((0..95).map(name), 1));
    let export = |output: &str, files: &[&str]| {
        run(&[&["export", "--shape", "typed", "--format", "jsonl", "-o", output][..], files].concat())
    };
    let (status, out, err) = export(&output, &[&good, &bad]);
    let refused = "b.etl: too many kinds of events for the typed shape; select events with --provider or --event, separate the \
        traces with --group 0, or export with --shape narrow\n";
    assert!(status == 2 && err.matches(refused).count() == 1 && out.contains("of 1 trace in"), "{status} {out}{err}");
    let alone = text(&folder.0.join("alone"));
    export(&alone, &[&good]);
    let typed = |output: &str| lines(&Path::new(output).join("typed"));
    assert!(typed(&output) == typed(&alone) && typed(&output).len() > 50);
    assert_eq!(fs::read_dir(Path::new(&output).join("_etw/staging")).unwrap().count(), 0);
}

#[cfg(target_os = "linux")]
fn signal(kill: &Program, child: &Child, name: &str) {
    assert!(kill.command().args([name, &child.id().to_string()]).status().unwrap().success());
}

/// A trace that becomes shorter between the passes leaves no rows. The other traces of its group are read once, and reported once.
#[test]
#[cfg(target_os = "linux")]
fn shorter_between_the_passes() {
    let Some(kill) = installed::program("kill") else { return };
    let folder = Folder::new("shorter");
    let output = folder.0.join("out");
    // The rows of the first trace take much longer than to stop the program.
    let mut first = known(false, 4000);
    first.truncate(first.len() - 100);
    folder.file("traces/a.etl", first);
    let changed = folder.file("traces/b.etl", known(true, 60));
    folder.file("traces/c.etl", mixed());
    let args = ["export", "--jobs", "1", "--format", "jsonl", "-o", &text(&output), &text(&folder.0.join("traces"))];
    let child = program(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The folder of a part appears after the first pass.
    let staging = output.join("_etw/staging");
    while fs::read_dir(&staging).map_or(0, Iterator::count) == 0 {}
    signal(&kill, &child, "-STOP");
    File::options().write(true).open(&changed).unwrap().set_len(1000).unwrap();
    signal(&kill, &child, "-CONT");
    let ended = child.wait_with_output().unwrap();
    let err = String::from_utf8(ended.stderr).unwrap();
    assert_eq!((ended.status.code(), err.matches("b.etl: the file became shorter").count()), (Some(2), 1), "{err}");
    assert_eq!(
        err.lines().filter(|line| line.contains("a.etl: buffer") && line.contains("truncated buffer")).count(),
        1,
        "{err}"
    );
    let manifest: Value = serde_json::from_slice(&fs::read(output.join("manifest.json")).unwrap()).unwrap();
    let traces = manifest["parts"].as_array().unwrap().iter().flat_map(|part| part["traces"].as_array().unwrap());
    let rows =
        traces.map(|trace| (trace["trace"].as_str().unwrap().rsplit('/').next().unwrap(), trace["rows"].as_u64().unwrap()));
    let (names, rows): (Vec<_>, Vec<_>) = rows.unzip();
    let lines = lines(&output.join("events"));
    let of = |name: &str| lines.iter().filter(|line| line.contains(&format!("{name}\",\"host\""))).count() as u64;
    assert_eq!((names, of("b.etl")), (vec!["a.etl", "c.etl"], 0));
    assert_eq!(rows, [of("a.etl"), of("c.etl")]);
    assert_eq!(rows.iter().sum::<u64>(), lines.len() as u64);
}

/// `--strict` stops at the first diagnostic, of either pass, and writes no part of its group. `--diagnostics` prints each with its place.
#[test]
fn strict() {
    let folder = Folder::new("strict");
    let mut damaged = kernel_trace();
    damaged.truncate(damaged.len() - 100);
    let files = [("good.etl", trace()), ("fields.etl", kernel_trace()), ("damaged.etl", damaged)];
    let [good, fields, damaged] = files.map(|(name, bytes)| folder.file(name, bytes));
    let export = |name: &str, more: &[&str]| {
        let output = folder.0.join(name);
        let (status, out, err) = run(&[&["export", "--format", "jsonl", "-o", &text(&output)][..], more].concat());
        (status, out, err, lines(&output.join("_etw/parts")).len())
    };
    let (status, out, err, _) = export("good", &["--strict", &good]);
    assert!(status == 0 && err.is_empty() && !out.contains(": 0 rows"), "{out}{err}");
    for (name, file) in [("fields", &fields), ("damaged", &damaged)] {
        let (status, _, err, records) = export(name, &["--strict", "--group", "0", "--jobs", "1", file]);
        let (first, note) = (format!("{file}: buffer "), "note: stopped at the first diagnostic; groups of traces");
        assert!(status == 1 && err.contains(&first) && err.contains(note) && records == 0, "{status} {err}");
        // The same export goes on without the option.
        assert!(export(name, &[file]).3 > 0);
    }
    let truncated = |stamp| (stamp, 0x0301, 4, process(200, 0x103, "x")[..30].to_vec());
    let three = folder.file("three.etl", trace_of_hooks(&[1, 2, 3].map(truncated)));
    let places = |name, more: &[&str]| export(name, more).2.matches("three.etl: buffer 1 at ").count();
    assert_eq!((places("short", &[&three]), places("detailed", &["--diagnostics", &three])), (1, 3));
}
