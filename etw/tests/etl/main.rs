//! Runs `etw etl` as users do.

mod carve;
mod corpus;
mod counted;
mod damaged;
mod explorer;
#[cfg(feature = "table")]
mod export_limits;
#[cfg(feature = "table")]
mod exported;
#[cfg(feature = "table")]
mod exported_again;
mod fields;
mod filtered;
mod info;
mod kernel;
mod live;
mod manifest;
mod merged;
mod messages;
mod names;
mod packets;
mod packets_damaged;
mod profile;
mod report;
mod report_browser;
mod saved;
mod timeline;
mod top;
mod top_sums;
mod values;

use etw_layouts_etl::header::EventHeader;
use etw_layouts_etl::wire::{Arch, EVENT_HEADER, large, zero};
use etw_layouts_etl::write::{FileWriter, Producer, Record};
use etw_layouts_etl::{ClockType, HeaderType, LogFile};
use serde_json::Value;
use std::fs::{self, File};
use std::io::{Cursor, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use test_support::folder::Folder;
use test_support::installed;
use test_support::traces::{PRODUCERS, fixture_of};

const PRODUCER: Producer = Producer::new(10, 0, 19041, Arch::X64);
const COMMANDS: [&str; 4] = ["info", "events", "check", "stat"];
/// 2020-07-29 07:06:19.7984230 UTC.
const START: i64 = 132_404_799_797_984_230;

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// A trace with two events, in buffers of 4 KiB.
fn trace() -> Vec<u8> {
    trace_of(LogFile { start_time: START, boot_time: START - 1, ..LogFile::new(&PRODUCER) })
}

fn trace_of(log: LogFile) -> Vec<u8> {
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), PRODUCER, LogFile { buffer_size: 4096, ..log }).unwrap();
    for stamp in [10, 20] {
        let mut header: EVENT_HEADER = zero();
        header.TimeStamp = large(stamp);
        writer.push(0, &Record::new(EventHeader::Event(header), true, &[7; 3])).unwrap();
    }
    writer.finish(START + 10_000_000).unwrap().into_inner()
}

/// A trace of kernel events, classic events and registered events, on three processors.
fn mixed() -> Vec<u8> {
    known(true, 30)
}

/// A file with every kind of event of known layout.
fn known(compressed: bool, rounds: usize) -> Vec<u8> {
    let file = fixture_of(PRODUCERS[7], ClockType::PerfCounter, compressed, rounds, &HeaderType::is_known);
    file.expect("a supported kind of file").bytes
}

/// A trace with two events. The second has malformed extended items.
fn damaged() -> Vec<u8> {
    let mut bytes = trace();
    let second = 4096 + 0x48 + 88;
    bytes[second + 4] |= 1;
    bytes
}

/// The trace files of the folder in the environment variable, if it is set.
fn shared() -> Vec<String> {
    let Some(folder) = installed::folder("ETW_LAYOUTS_ETL") else { return Vec::new() };
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "etl")).map(|path| text(&path)).collect()
}

/// The smaller of these files, or all: larger ones have no other kinds of events, but take most of the time.
fn small() -> Vec<String> {
    let is_small = |file: &String| installed::all() || fs::metadata(file).unwrap().len() < 2_000_000;
    shared().into_iter().filter(is_small).collect()
}

/// A folder with these smaller files.
fn small_folder() -> Option<Folder> {
    let files = small();
    let folder = Folder::new("small");
    for file in &files {
        folder.file(Path::new(file).file_name()?.to_str()?, fs::read(file).unwrap());
    }
    (!files.is_empty()).then_some(folder)
}

fn program(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_etw"));
    command.arg("etl").args(args).stdin(Stdio::null());
    command
}

fn run(args: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } = program(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code().expect("no signal"), text(stdout), text(stderr))
}

fn json(lines: &str) -> Vec<Value> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"))).collect()
}

#[test]
fn one_bad_file_does_not_end_a_batch() {
    let folder = Folder::new("batch");
    let files = ["a.etl", "b.etl", "c.etl"].map(|name| folder.file(name, trace()));
    fs::write(&files[1], b"no trace").unwrap();
    for command in COMMANDS {
        let [a, b, c] = files.each_ref().map(String::as_str);
        let (status, out, err) = run(&[command, "--format", "json", a, b, "/no/such.etl", c]);
        assert_eq!(status, 2, "{command}: {err}");
        let refused = json(&err.lines().filter(|line| line.starts_with('{')).collect::<Vec<_>>().join("\n"));
        let names: Vec<_> = refused.iter().filter_map(|line| line["file"].as_str()).collect();
        assert_eq!(names, [b, "/no/such.etl"], "{command}: {err}");
        if command == "stat" {
            assert_eq!(json(&out)[0]["files"], 2);
        } else if command != "check" {
            assert!(out.contains("a.etl") && out.contains("c.etl"), "{command}: {out}");
        }
        let (status, out, err) = run(&[command, a, b, "/no/such.etl", c]);
        assert_eq!(status, 2);
        assert!(
            err.contains("b.etl: not a trace file: only 8 bytes, less than a buffer header") && err.contains("/no/such.etl: "),
            "{command}: {err}"
        );
        assert!(err.contains("2 of 4 files"), "{command}: {err}");
        assert!(out.lines().count() > 1, "{command}: {out}");
    }
}

/// The error for bytes that are too few states their number.
#[test]
fn too_few_bytes() {
    let folder = Folder::new("too-few");
    let whole = trace();
    for (length, expected) in [
        (0, "not a trace file: empty"),
        (6, "not a trace file: only 6 bytes, less than a buffer header"),
        (0x48 + 20, "truncated trace file: 92 bytes, but the first buffer has 0x1000"),
        (200, "truncated trace file: 200 bytes, but the first buffer has 0x1000"),
    ] {
        let file = folder.file("a.etl", &whole[..length]);
        let (status, _, err) = run(&["info", &file]);
        assert!(status == 2 && err.contains(&format!("{file}: {expected}\n")), "{length}: {err}");
    }
    let output = program(&["info", "-"]).output().unwrap();
    assert!(output.stderr.starts_with(b"standard input: not a trace file: empty\n"));
}

/// Options without effect, and values in a wrong form, are refused.
#[test]
fn refused_options() {
    let folder = Folder::new("refused-options");
    let file = folder.file("a.etl", trace());
    for (args, expected) in [
        (&["info", "--facts", "x"][..], "--facts has no effect on `etw etl`, which uses the built-in layouts; remove --facts"),
        (&["info", "--specs", "x"], "--specs has no effect on `etw etl`"),
        (&["events", "--manifests", "/no/such"], "cannot read schemas: /no/such: no such file or folder; check the path"),
        (&["events", "--tmf", "/no/such"], "cannot read schemas: /no/such: no such file or folder; check the path"),
        (&["pcap", "-o", "x", "--component", "x"], "invalid component; expected a number such as 12"),
        #[cfg(feature = "table")]
        (&["export", "-o", "x", "--group", "x"], "invalid size; expected a number of MiB, such as 64"),
        #[cfg(feature = "table")]
        (&["export", "-o", "x", "--jobs", "0"], "invalid number; expected 1 or more"),
    ] {
        let (status, _, err) = run(&[args, &[&file]].concat());
        assert!(status == 2 && err.contains(expected), "{args:?}: {status} {err}");
    }
}

#[test]
#[cfg(unix)]
fn pipes_are_read() {
    let folder = Folder::new("pipes");
    let file = folder.file("a.etl", trace());
    let fifo = text(&folder.0.join("fifo"));
    let made = installed::program("mkfifo").map(|mkfifo| mkfifo.command().arg(&fifo).status().unwrap().success());
    assert_ne!(made, Some(false));
    let names = if made.is_some() { &["-", "/dev/stdin", fifo.as_str()][..] } else { &["-", "/dev/stdin"] };
    for (command, options) in [
        ("info", &[][..]),
        ("events", &[]),
        ("events", &["--order", "time"]),
        ("check", &[]),
        ("stat", &[]),
        ("top", &["events"]),
    ] {
        let expected = run(&[&[command], options, &[&file]].concat()).1.replace(&file, "-");
        for &name in names {
            let mut program = program(&[&[command], options, &[name]].concat());
            let writer = (name == fifo).then(|| {
                let (fifo, bytes) = (fifo.clone(), trace());
                std::thread::spawn(move || fs::write(fifo, bytes).unwrap())
            });
            // A pipe has no known length.
            let mut child = program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let mut input = child.stdin.take().unwrap();
            let input = std::thread::spawn(move || input.write_all(&trace()));
            let output = child.wait_with_output().unwrap();
            // A program that reads the named pipe does not read its standard input.
            let _ = input.join().unwrap();
            if let Some(writer) = writer {
                writer.join().unwrap();
            }
            let out = String::from_utf8(output.stdout).unwrap().replace(name, "-");
            assert_eq!(out, expected, "{command} {name}: {}", String::from_utf8_lossy(&output.stderr));
            assert_eq!(output.status.code(), Some(0));
        }
    }
}

#[test]
fn folders_are_searched() {
    let folder = Folder::new("folders");
    let root = text(&folder.0);
    for command in COMMANDS {
        let (status, _, err) = run(&[command, &root]);
        assert_eq!(status, 2, "{command}");
        assert!(err.contains("no trace files"), "{command}: {err}");
    }
    for name in ["b.etl", "deep/er/a.ETL", "notes.txt", "etl"] {
        folder.file(name, if name.to_lowercase().ends_with(".etl") { trace() } else { vec![1] }.as_slice());
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink(&folder.0, folder.0.join("deep/circle")).unwrap();
    for command in COMMANDS {
        let (status, out, err) = run(&[command, &root]);
        assert_eq!(status, 0, "{command}: {err}");
        assert!(err.contains("2 trace files"), "{command}: {err}");
        match command {
            "events" => assert_eq!(out.lines().count(), 1 + 6, "{out}"),
            "stat" => assert!(out.starts_with("2 files, 6 events"), "{out}"),
            _ => assert!(out.find("b.etl").unwrap() < out.find("a.ETL").unwrap(), "{out}"),
        }
    }
}

/// The exit status is the documented one: 0 good, 1 diagnostics, 2 unusable input.
#[test]
fn exit_status() {
    let folder = Folder::new("status");
    let (good, bad) = (folder.file("good.etl", trace()), folder.file("bad.etl", damaged()));
    for command in COMMANDS {
        for format in ["text", "json"] {
            let status = |files: &[&str]| run(&[&[command, "--format", format], files].concat()).0;
            assert_eq!([status(&[&good]), status(&[&bad, &good]), status(&[&bad, "/no/such"])], [0, 1, 2], "{command}");
        }
    }
}

/// A closed output pipe is not an error; a full disk is. Neither is a panic.
#[test]
#[cfg(target_os = "linux")]
fn output_that_fails() {
    let folder = Folder::new("output");
    let (good, bad) = (folder.file("good.etl", trace()), folder.file("bad.etl", damaged()));
    let full = || File::options().write(true).open("/dev/full").unwrap();
    // The read ends are closed at once.
    let closed = || std::io::pipe().unwrap().1;
    for command in COMMANDS {
        for format in ["text", "json"] {
            let args: [&str; 4] = [command, "--format", format, &bad];
            assert_eq!(program(&args).stdout(full()).stderr(Stdio::null()).status().unwrap().code(), Some(2), "{command}");
            let code = program(&args).stdout(closed()).stderr(Stdio::null()).status().unwrap().code();
            assert!(matches!(code, Some(0 | 1)), "{command}: {code:?}");
            for args in [&[command, "--format", format, &bad][..], &[command, "/no/such", &good], &[command, "--no-such"]] {
                for error in [Stdio::from(full()), Stdio::from(closed())] {
                    let code = program(args).stdout(Stdio::null()).stderr(error).status().unwrap().code();
                    assert!(matches!(code, Some(1 | 2)), "{args:?}: {code:?}");
                }
            }
        }
    }
}

/// Text from a file cannot control the terminal, nor forge a line.
#[test]
fn text_of_files_is_escaped() {
    let folder = Folder::new("escapes");
    let hostile = "a\u{1b}[2J\r\nforged  \u{202e}\u{9b}31m\u{2028}b";
    let log = LogFile { logger_name: hostile.into(), file_name: hostile.into(), start_time: START, ..LogFile::new(&PRODUCER) };
    let name = if cfg!(windows) { "a.etl" } else { "a\u{1b}[2J\nforged.etl" };
    let file = folder.file(name, trace_of(log));
    let not = folder.file("not\u{1b}.etl", b"no");
    for command in COMMANDS {
        let (_, out, err) = run(&[command, &file, &not, "/no\u{1b}such"]);
        for text in [out, err] {
            let bad = |c: char| (c.is_control() && c != '\n') || "\u{202e}\u{2028}".contains(c);
            assert!(!text.contains(bad), "{command}: {text:?}");
            assert!(!text.lines().any(|line| line.starts_with("forged")), "{command}: {text:?}");
        }
    }
    assert!(run(&["info", &file]).1.contains(r"a\u{1b}[2J\u{d}\u{a}forged  \u{202e}\u{9b}31m\u{2028}b"));
}

/// The same in JSON. Its strings contain the original text.
#[test]
fn text_of_files_is_escaped_in_json() {
    let folder = Folder::new("escapes-json");
    let hostile = "a\u{1b}[2J\u{7f}\u{9b}31m\u{202e}\u{2028}\u{ad}\u{e0001}b";
    let log = LogFile { logger_name: hostile.into(), file_name: hostile.into(), start_time: START, ..LogFile::new(&PRODUCER) };
    let names = ["trace\u{9b}\u{7f}.etl", "not\u{9b}\u{202e}.etl"];
    let [file, not] = [folder.file(names[0], trace_of(log)), folder.file(names[1], b"no")];
    for options in [&["info"][..], &["events"], &["events", "--payload", "fields"], &["check"], &["stat"]] {
        let (_, out, err) = run(&[options, &["--format", "json", &file, &not]].concat());
        assert!(err.contains(r"not\u009b\u202e.etl"), "{options:?}: {err}");
        let raw = |c: &char| c.is_control() && *c != '\n' || "\u{202e}\u{2028}\u{ad}\u{e0001}".contains(*c);
        // The final error of a run over several files is text.
        assert_eq!(out.chars().chain(err.chars()).find(raw), None, "{options:?}");
        let printed = json(&out);
        match options {
            ["info"] => assert_eq!([&printed[0]["session"], &printed[0]["file"]], [hostile, &file]),
            ["events", ..] => assert_eq!(printed[0]["file"], file),
            _ => {}
        }
    }
}

/// For a file of another kind, the error states the kind and the command that reads it, also for a pipe.
#[test]
fn files_of_other_kinds_are_named() {
    let folder = Folder::new("others");
    let page = |start: &[u8]| [start, &[0; 1 << 15]].concat();
    let dump = test_support::dumps::whole("10.0.19041.264".parse().unwrap(), Arch::X64);
    let mut files = vec![
        ("a.dmp", dump, "a kernel crash dump; use `etw dump`"),
        ("b.pdb", page(b"Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0"), "a symbol file (PDB); use `etw verify --symbols`"),
        ("c.json", b"{\"base_types\": {}}".to_vec(), "a symbol table (ISF) or other JSON"),
        ("d.json.xz", page(b"\xfd7zXZ\0"), "a compressed file; decompress it first"),
        ("e.exe", page(b"MZ\x90\0"), "an executable image; use `etw verify --image`"),
        ("f.evtx", page(b"ElfFile\0"), "an event log (.evtx)"),
        ("g.dmp", page(b"MDMP\x93\xa7"), "a process minidump"),
    ];
    for (name, bytes, kind) in &files {
        let file = folder.file(name, bytes);
        for command in COMMANDS {
            let (status, _, err) = run(&[command, &file]);
            assert!(status == 2 && err.contains(&format!("{file}: not a trace file: this is {kind}")), "{command}: {err}");
            let mut piped = program(&[command, "-"]);
            let output = piped.stdin(File::open(&file).unwrap()).output().unwrap();
            assert!(String::from_utf8(output.stderr).unwrap().contains(kind), "{command}");
        }
    }
    files.remove(0);
    files.push(("h.etl", trace(), "a trace file (.etl); use `etw etl`"));
    files.push(("i.etl", mixed(), "a trace file (.etl); use `etw etl`"));
    for (name, bytes, kind) in &files {
        let file = folder.file(name, bytes);
        for command in ["info", "sessions", "events"] {
            let output = Command::new(env!("CARGO_BIN_EXE_etw")).args(["dump", command, &file]).output().unwrap();
            let err = String::from_utf8(output.stderr).unwrap();
            let is_printed = err.contains(&format!("{file}: not a kernel crash dump: this is {kind}"));
            assert!(output.status.code() == Some(2) && is_printed, "{command}: {err}");
        }
    }
}

/// One line is printed for all diagnostics of a kind. `check` and --diagnostics print the first hundred of a kind, and count the others.
#[test]
fn diagnostics_are_counted() {
    let folder = Folder::new("counted");
    // Events with inconsistent extended items.
    let log = LogFile { buffer_size: 1 << 24, start_time: START, ..LogFile::new(&PRODUCER) };
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), PRODUCER, log).unwrap();
    for _ in 0..150_000 {
        writer.push(0, &Record::new(EventHeader::Event(zero()), true, &[0; 8])).unwrap();
    }
    let mut bytes = writer.finish(0).unwrap().into_inner();
    for event in 0..150_000 {
        bytes[(1 << 24) + 0x48 + event * 88 + 4] |= 1;
    }
    let file = folder.file("a.etl", &bytes);
    for command in [&["info"][..], &["events"], &["check"], &["info", "--diagnostics"], &["events", "--diagnostics"]] {
        for format in ["text", "json"] {
            let (status, out, err) = run(&[command, &["--format", format, &file]].concat());
            assert_eq!(status, 1);
            let printed = if command[0] == "events" { err } else { out };
            let (lines, more) = if command.len() > 1 || command[0] == "check" { (101, 149_900) } else { (1, 149_999) };
            let expected = match format {
                "json" => format!(r#""more":{more}"#),
                _ => format!("{},{:03} more of the same kind", more / 1000, more % 1000),
            };
            assert!(printed.contains(&expected), "{command:?}: {}", &printed[..printed.len().min(2000)]);
            // The second line of `check` is the number of diagnostics.
            assert_eq!(printed.matches("invalid extended data items").count(), lines, "{command:?}");
            assert!(printed.len() < 40_000, "{command:?}: {} bytes", printed.len());
        }
    }
}
