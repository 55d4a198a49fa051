//! Names on the command line: of fields, events, providers and files.

use super::{Folder, json, run, trace};
use crate::kernel::kernel_trace;
use test_support::logging::logging;

/// A payload field is a column by its name, ignoring case. A note reports a field that no event has.
#[test]
fn fields_as_columns() {
    let folder = Folder::new("names-fields");
    let [kernel, logged] = [folder.file("kernel.etl", kernel_trace()), folder.file("logging.etl", logging().trace())];
    let (status, out, err) =
        run(&["events", "--format", "csv", "--columns", "processid,PROCESSID", "--event", "Process/DCStart", &kernel]);
    assert_eq!((status, out.as_str(), err.as_str()), (0, "processid,PROCESSID\n8,8\n", ""));
    let (status, out, err) = run(&["events", "--format", "csv", "--columns", "U64", &logged]);
    assert!(status == 0 && out.contains(&u64::MAX.to_string()) && err.is_empty(), "{status} {out} {err}");
    let (status, _, err) = run(&["events", "--columns", "Foo,tme", "--event", "Process/DCStart", &kernel]);
    let expected = "note: the printed event does not have the field `Foo`\n\
                    note: the printed event does not have the field `tme`; did you mean the column `time`?\n";
    assert_eq!((status, err.as_str()), (0, expected));
    // Events after the limit can have the field.
    let (_, _, err) = run(&["events", "--columns", "Foo,TIME", "--limit", "2", &kernel]);
    let expected = "note: none of the 2 printed events has the field `Foo`\n\
                    note: none of the 2 printed events has the field `TIME`; did you mean the column `time`?\n";
    assert_eq!(err, expected);
}

/// A note reports a name that no event or provider has, with a similar name. `stat` prints names that `--event` accepts.
#[test]
fn unknown_names() {
    let folder = Folder::new("names-unknown");
    let [kernel, other] = [folder.file("kernel.etl", kernel_trace()), folder.file("other.etl", trace())];
    for (option, name, what, remedy) in [
        ("--event", "Process/Sart", "an event", "did you mean `Process/Start`?"),
        ("--event", "Proces/Start", "an event", "did you mean `Process/Start`?"),
        ("--event", "Proces", "an event", "did you mean `Process`?"),
        // The suggestion would not exist.
        ("--event", "Proces/Foo", "an event", "`etw list --events` prints the events of the kernel"),
        ("--event", "Foo/Bar", "an event", "`etw list --events` prints the events of the kernel"),
        ("--provider", "Proces", "a provider", "did you mean `Process`?"),
        ("--opcode", "BEGINN", "an opcode", "give a number or a name, such as 1 or START"),
        ("--keyword", "SESION", "a keyword", "give a mask such as 0x10, or a known name"),
    ] {
        let expected = format!("`{name}` is not the name of {what} in the known schemas; {remedy}");
        let (status, _, err) = run(&["events", option, name, &kernel]);
        assert!(status == 0 && err.ends_with(&format!(" match; {expected}\n")), "{status} {err}");
        let (_, _, err) = run(&["events", option, name, "--format", "json", &kernel]);
        assert_eq!(json(&err)[0]["note"], expected);
    }
    let (_, out, _) = run(&["stat", "--by", "event", &other]);
    let name = out.lines().find(|line| line.trim_start().starts_with("2 ")).and_then(|line| line.split_whitespace().last());
    let name = name.unwrap().to_owned();
    assert!(name.contains('/'), "{out}");
    let (_, out, _) = run(&["events", "--format", "json", "--event", &name, &other]);
    assert_eq!(json(&out).len(), 2, "{name}: {out}");
}

/// With a limit of 0, only the column names are printed. All commands count the same number of events. With JSON output, errors
/// are JSON.
#[test]
fn counts_and_errors() {
    let folder = Folder::new("names-counts");
    let (file, new) = (folder.file("a.etl", trace()), folder.0.join("new.etl"));
    let (status, out, err) = run(&["events", "--limit", "0", &file]);
    assert!(status == 0 && out.lines().count() == 1 && out.starts_with("time "), "{status} {out} {err}");
    let (status, out, err) = run(&["save", "--provider", "FOO", "-o", new.to_str().unwrap(), &file]);
    assert!(status == 0 && out.contains("0 of 2 events of ") && err.contains("0 of 3 events match"), "{status} {out} {err}");
    let absent = folder.0.join("absent.etl");
    let (status, out, err) = run(&["check", "--format", "json", absent.to_str().unwrap(), &file]);
    let lines = json(&err);
    assert_eq!((status, json(&out).len(), lines.len()), (2, 1, 2), "{err}");
    assert_eq!(lines[0]["error"], "no such file or folder; check the path");
    assert_eq!(lines[1]["error"], "1 of 2 files failed; see the message above");
}

/// Invalid values in the log file header are diagnostics of `check`.
#[test]
fn header_values() {
    let folder = Folder::new("names-header");
    let whole = trace();
    // The payload of the log file header: buffer size 4096, then Version, ProviderVersion and NumberOfProcessors.
    let payload = 0x48 + whole[0x48..].windows(4).position(|bytes| bytes == 4096_u32.to_le_bytes()).unwrap();
    for (at, expected) in [
        (payload + 4, "unknown Windows version in the log file header: 255.255"),
        (payload + 12, "invalid number of processors in the log file header: 4294967295"),
    ] {
        let mut bytes = whole.clone();
        bytes[at..at + 4].fill(0xFF);
        let (status, out, _) = run(&["check", &folder.file("a.etl", bytes)]);
        assert!(status == 1 && out.contains(expected), "{status} {out}");
    }
}
