//! Every command reports missing or corrupt data in a file, with exit status 1.

use super::{START, json, known, mixed, program, run};
use etw_layouts_etl::{HeaderType, LogFile, Scratch, Trace};
use std::fs::{self, File};
use std::io::Write;
use std::process::Stdio;
use test_support::folder::Folder;

const COMMANDS: [&[&str]; 7] =
    [&["info"], &["events"], &["events", "--order", "time"], &["events", "--strict"], &["check"], &["stat"], &["top", "events"]];

/// A description of the change, the changed file, and a word that every command must report.
fn cases() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let file = known(false, 20);
    let compressed = mixed();
    let mut cases = Vec::new();
    let mut put = |name, bytes: &[u8], at: usize, value: &[u8], report| {
        let mut bytes = bytes.to_vec();
        bytes[at..at + value.len()].copy_from_slice(value);
        cases.push((name, bytes, report));
    };
    put("another clock", &file, 0x68 + 0x110, &[2], "is implausible for clock 2 of the log file header");
    put("zeroed header", &file, 3 * 4096, &[0; 0x48], "no buffer header: skipped 0x1000 bytes");
    put("zeroed header, compressed", &compressed, 0x200, &[0; 0x48], "no buffer header: ");
    put("end marker", &file, 3 * 4096 + 0x48, &[0xFF; 4], "end marker before the end of the events");
    put("clock", &file, 0x48 + 0x20 + 0x110, &[7], "unknown clock in the log file header: 7");
    put("rate", &file, 0x48 + 0x20 + 0x100, &[0; 8], "no clock rate in the log file header");
    put(
        "fast clock",
        &file,
        0x48 + 0x20 + 0x100,
        &i64::MAX.to_le_bytes(),
        "implausible clock rate in the log file header: 9223372036854775807 Hz",
    );
    put("pointer size", &file, 0x48 + 0x20 + 0x2C, &[3], "invalid pointer size in the log file header: 3; assuming 8");
    put("buffer size", &file, 0x48 + 0x20, &[0; 4], "invalid buffer size in the log file header: 0x0; assuming 0x1000");
    put(
        "low valid end",
        &file,
        0x30,
        &0x48_u32.to_le_bytes(),
        "after the end of the events in the buffer begin with 1 complete event",
    );
    let trace = Trace::from_bytes(&file).unwrap();
    let third = trace.buffers().nth(3).unwrap().unwrap();
    let mut scratch = Scratch::default();
    let event = third.decode(&mut scratch).events().flatten().find(|event| event.header_type() == HeaderType::Event64).unwrap();
    let at = third.offset() as usize + event.offset() as usize;
    put("unknown type", &file, at + 2, &[0x7F], "unknown event header: type 0x7f, marker flags ");
    put("unknown marker", &file, at + 3, &[0xA0], "marker flags 0xa0 (UNKNOWN); event not decoded");
    put("marker of a time", &file, at + 3, &[0xB0], "marker flags 0xb0 (ULONG32_TIME)");
    put("copy", &file, 3 * 4096, &file[2 * 4096..3 * 4096], "same header as an earlier buffer");
    put(
        "time",
        &file,
        3 * 4096 + 0x10,
        &(1_i64 << 50).to_le_bytes(),
        "more than a day before the start of the file or after its end",
    );
    cases.push(("missing buffer", file[..file.len() - 4096].to_vec(), "missing buffers: the file has "));
    cases.push(("two traces", [&file[..], &compressed].concat(), "second trace in the file"));
    cases
}

#[test]
fn each_command_reports() {
    let folder = Folder::new("damaged");
    for (name, bytes, report) in cases() {
        let file = folder.file("a.etl", &bytes);
        for command in COMMANDS {
            for format in ["text", "json"] {
                let args = [command, &["--format", format]].concat();
                let (status, out, err) = run(&[&args[..], &[&file]].concat());
                assert!(status == 1 && (out + &err).contains(report), "{name}, {args:?}: {status} {err}");
                let mut child = program(&[&args[..], &["-"]].concat());
                let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
                // The command may stop reading after the first diagnostic.
                let _ = child.stdin.take().unwrap().write_all(&bytes);
                let output = child.wait_with_output().unwrap();
                let printed = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).concat();
                assert!(output.status.code() == Some(1) && printed.contains(report), "{name} from a pipe, {args:?}: {printed}");
            }
        }
        // The diagnostics of the input are reported. Those about events, clocks and buffer headers also apply to the copy, the
        // others do not.
        let saved = folder.0.join("saved.etl");
        let (status, _, err) = run(&["save", "-o", saved.to_str().unwrap(), &file]);
        assert!(status == 1 && err.contains(report), "{name}: {status} {err}");
        let is_kept = matches!(
            name,
            "clock" | "rate" | "fast clock" | "another clock" | "time" | "unknown type" | "unknown marker" | "marker of a time"
        );
        assert_eq!(run(&["info", saved.to_str().unwrap()]).0, i32::from(is_kept), "{name}");
        fs::remove_file(&saved).unwrap();
    }
}

/// Space that was never written is reported, but it is not damage if all buffers are present.
#[test]
fn unwritten_space() {
    let folder = Folder::new("unwritten");
    let bytes = [super::trace_of(LogFile { start_time: START, ..LogFile::new(&super::PRODUCER) }), vec![0; 4096]].concat();
    let file = folder.file("a.etl", bytes);
    for command in COMMANDS {
        let (status, out, err) = run(&[command, &["--format", "json", &file]].concat());
        assert!(status == 0 && (out + &err).contains("0x1000 zero bytes"), "{command:?}: {status} {err}");
        json(&err);
    }
    // It is a note, and not counted.
    assert_eq!(json(&run(&["info", "--format", "json", &file]).1)[0]["diagnostics_total"], 0);
    let (_, out, _) = run(&["check", &file]);
    assert!(out.contains("a.etl: note: buffer 2 at 0x2000") && out.ends_with(": 0 diagnostics\n"), "{out}");
}

/// A file of a session that was still running is not damaged, whatever number of buffers its header states: a note reports it.
#[test]
fn running_sessions() {
    let folder = Folder::new("running");
    for written in [0_u32, 1, 2, 3, 1000] {
        let mut bytes = super::trace();
        // EndTime and BuffersWritten.
        bytes[0x68 + 0x10..][..8].fill(0);
        bytes[0x68 + 0x24..][..4].copy_from_slice(&written.to_le_bytes());
        let file = folder.file("a.etl", bytes);
        for command in COMMANDS {
            let (status, out, err) = run(&[command, &["--format", "json", &file]].concat());
            let note = format!("ended abruptly; the file has 2 buffers, the log file header states {written}");
            // 0 is unknown.
            let is_noted = !matches!(written, 0 | 2);
            assert!(status == 0 && (out + &err).contains(&note) == is_noted, "{command:?} {written}: {status} {err}");
        }
    }
}

/// A file without a start time is not damaged, but its times are wrong: a note reports it.
#[test]
fn no_start_time() {
    let folder = Folder::new("no-start");
    let mut bytes = super::trace();
    // BootTime and StartTime.
    [0xF8, 0x108].into_iter().for_each(|at| bytes[0x68 + at..][..8].fill(0));
    let file = folder.file("a.etl", bytes);
    assert!(run(&["info", &file]).1.contains("started        unknown"));
    for command in COMMANDS.into_iter().chain([&["events", "--one-pass"][..]]).filter(|command| *command != ["info"]) {
        let (status, out, err) = run(&[command, &["--format", "json", &file]].concat());
        assert!(status == 0 && (out + &err).contains("no start time in the log file header"), "{command:?}: {status} {err}");
    }
}

/// Flags of buffers that report losses are counted, although the log file header reports none.
#[test]
fn flags_of_losses() {
    let folder = Folder::new("losses");
    let mut bytes = known(false, 20);
    // EVENTS_LOST in two buffers, and BUFFER_LOST in one of them.
    for (buffer, flags) in [(2, 2), (3, 6)] {
        bytes[buffer * 4096 + 0x34] |= flags;
    }
    let file = folder.file("a.etl", &bytes);
    for command in ["info", "stat"] {
        let (status, out, _) = run(&[command, "--format", "json", &file]);
        let [lost, flags] = [["events_lost", "buffers_lost"], ["buffers_with_events_lost", "buffers_with_buffer_lost"]]
            .map(|keys| keys.map(|key| json(&out)[0][key].as_u64().unwrap()));
        assert_eq!((status, lost, flags), (0, [0, 0], [2, 1]), "{command}");
        let expected = "0 events, 0 buffers; 2 buffers with the flag EVENTS_LOST; 1 buffer with the flag BUFFER_LOST";
        assert!(run(&[command, &file]).1.contains(expected), "{command}");
    }
}

/// A file that is given twice, by any names, is reported and read once, so that no event is duplicated.
#[test]
fn named_twice() {
    let folder = Folder::new("named-twice");
    let file = folder.file("a.etl", known(false, 20));
    let (inside, new) = (fs::canonicalize(&file).unwrap(), format!("{file}.new"));
    let inside = inside.parent().unwrap().display().to_string();
    let commands = [
        &["info"][..],
        &["check"],
        &["stat"],
        &["top", "events"],
        &["events"],
        &["events", "--order", "time"],
        &["events", "--format", "json"],
        &["save", "-o", &new],
    ];
    for (again, command) in [&file, &inside].into_iter().flat_map(|again| commands.map(|command| (again, command))) {
        let mut once = None;
        for files in [&[&*file][..], &[&file, again]] {
            let (status, out, err) = run(&[command, files].concat());
            let saved = fs::read(&new).unwrap_or_default();
            let _ = fs::remove_file(&new);
            if let Some(once) = &once {
                assert!(*once == (out, saved) && status == 0 && err.contains("same file as"), "{command:?}: {status} {err}");
            } else {
                assert!(status == 0 && !err.contains("same file"), "{command:?}: {status} {err}");
                once = Some((out, saved));
            }
        }
    }
    let output = program(&["stat", "-", "-"]).stdin(File::open(&file).unwrap()).output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(
        output.status.code() == Some(0) && out.starts_with("1 file, ") && err.contains("-: note: duplicate: same file as -"),
        "{out}{err}"
    );
}
