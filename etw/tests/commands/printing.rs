//! The form of text output: its length, its width, and escaped characters.

use crate::contract::{Folder, etw, shipped};
use crate::project;
use etw_layouts_cli::show;
use etw_layouts_project::subject::Subject;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn said(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn verify_prints_what_is_not_equal_and_the_totals() {
    let (status, out, _) = said(&etw(&["verify"]));
    let document: Value = serde_json::from_slice(&etw(&["verify", "--format", "json"]).stdout).expect("JSON");
    let [tables, images] = ["tables", "images"].map(|key| document[key].as_array().expect("a list"));
    assert!(status == Some(0) && out.lines().count() == 1 && out.ends_with("; 0 differences\n"), "{out}");
    assert!(out.chars().count() < 140, "{out}");
    let (_, verbose, _) = said(&etw(&["verify", "--verbose"]));
    // All images of a file share one line.
    let of_images: BTreeSet<_> = images.iter().map(|image| image["source"].as_str()).collect();
    let lines = |word: &str| verbose.lines().filter(|line| line.starts_with(word)).count();
    assert_eq!([lines("equal  "), lines("partial  ")], [tables.len(), of_images.len()]);
    assert_eq!(verbose.lines().last().map(str::trim), Some("0 differences"));
    for what in
        ["not in the table: ", "Rules for converted tables", "Errata of published references, ", " verified against perfview"]
    {
        assert!(verbose.contains(what) && !out.contains(what), "{what}");
    }
    // Differences are printed in text and JSON.
    let folder = Folder::new();
    let edited = shipped().replacen("struct WMI_BUFFER_HEADER 0x", "struct WMI_BUFFER_HEADER 0x1", 1);
    let kernels = edited.matches("\nkernel ").count();
    let (status, out, _) =
        said(&etw(&["verify", "--symbols", &folder.file("edited.facts", &edited), "--only", "_WMI_BUFFER_HEADER"]));
    let last = out.lines().last().unwrap_or_default();
    assert!(status == Some(1) && out.contains(&format!("; {kernels} differences\n\nDifferences\n")), "{out}");
    assert!(last.contains("WMI_BUFFER_HEADER size: the spec has 0x48, the symbols have 0x148"), "{out}");
    assert!(last.contains(&format!("({kernels} tables, first ")), "{out}");
    // A misspelt name is one line for all tables.
    let edited = shipped().replacen(" SavedOffset ", " SavedOfset ", 1);
    let (status, out, _) =
        said(&etw(&["verify", "--symbols", &folder.file("edited.facts", &edited), "--only", "_WMI_BUFFER_HEADER"]));
    let section: Vec<_> = out.lines().skip_while(|line| *line != "Differences").collect();
    let renamed = "WMI_BUFFER_HEADER.SavedOffset: not in the symbols, which have SavedOfset, unsigned long at offset 0x4";
    assert!(status == Some(1) && section.len() == 2 && section[1].contains(renamed), "{out}");
}

/// All structures and targets of one build fit a terminal, down to 80 columns, except longer names.
#[test]
fn shown_layouts_fit_the_terminal() {
    let layouts = project().layouts().expect("the specs resolve");
    let registry = project().registry(&layouts.spec.axis).expect("the facts can be read");
    for width in [80, 100, 132] {
        for name in layouts.spec.definitions.keys() {
            let subject = Subject::find(&layouts, &registry, name, None, None).expect("a target").expanded(1);
            let text = anstream::adapter::strip_str(&show::text(&layouts, &registry, &subject, Some(width))).to_string();
            let long: Vec<_> = text.lines().filter(|line| line.chars().count() > width).collect();
            let is_declaration = |line: &&str| line.starts_with("0x") && line.len() < 140;
            assert!(
                long.iter().all(is_declaration) && long.len() <= if width < 100 { 12 } else { 2 },
                "{width} {name}: {long:#?}"
            );
        }
    }
}

#[test]
fn a_single_member_is_shown_and_names_may_have_an_underscore() {
    let (status, out, err) = said(&etw(&["show", "_WMI_LOGGER_CONTEXT.BufferSize", "--build", "6.1"]));
    assert!(status == Some(0) && out.contains("\n0x0004  0x4   BufferSize  ULONG"), "{out}{err}");
    let document = etw(&["show", "nt!_WMI_BUFFER_HEADER.ReferenceTime.StartTime", "--build", "6.1", "--format", "json"]);
    let document: Value = serde_json::from_slice(&document.stdout).expect("JSON");
    assert_eq!((&document["member"], &document["members"][0]["offset"]), (&"ReferenceTime.StartTime".into(), &0x38.into()));
    assert_eq!(said(&etw(&["show", "wmi_logger_context"])), said(&etw(&["show", "WMI_LOGGER_CONTEXT"])));
    assert_eq!(said(&etw(&["show", "luid.lowpart"])), said(&etw(&["show", "LUID.LowPart"])));
    for (wrong, message) in [
        ("1709-x63", "unknown architecture `x63` in target `1709-x63`; known: x86, x64, arm64"),
        ("no.pdb", "error: no.pdb: no such file\n"),
    ] {
        let (status, _, err) = said(&etw(&["diff", wrong, "1709-x64"]));
        assert!(status == Some(2) && err.contains(message), "{err}");
    }
    for option in ["--globals", "--updates", "--targets"] {
        let (status, _, err) = said(&etw(&["list", option, "QQQQQQQQQQ"]));
        assert!(status == Some(2) && err.ends_with(&format!("run `etw list {option}` to see all\n")), "{err}");
    }
    let (status, out, _) = said(&etw(&["show", "EVENT_TRACE_CLOCK.EVENT_TRACE_CLOCK_RAW"]));
    assert!(status == Some(0) && out.contains("\n0x00000000  EVENT_TRACE_CLOCK_RAW"), "{out}");
    for (asked, meant) in [
        (
            "WMI_LOGGER_CONTEXTS",
            "unknown structure `WMI_LOGGER_CONTEXTS`; did you mean `WMI_LOGGER_CONTEXT`? `etw list` prints all names",
        ),
        ("LUID.LowPrt", "LUID has no member `LowPrt`; did you mean `LowPart`? `etw show LUID` prints all members"),
        (
            "EtwpDebuggerData",
            "`EtwpDebuggerData` is a global variable; `etw list --globals` lists variables, `etw export offsets EtwpDebuggerData` prints",
        ),
        ("early-6.0", "unknown structure `early-6.0`; to show a build, use --build early-6.0"),
        ("LUID --build 1607 --arch arm64", "no layouts of build `1607` for arm64; it has x86 and x64"),
        (
            "WMI_BUFFER_HEADER.Wnode --build 1709",
            "WMI_BUFFER_HEADER.Wnode does not exist in 10.0.16299.15-x64; versions with it: 5.0 to 6.0",
        ),
    ] {
        let (status, _, err) = said(&etw(&[&["show"], &asked.split(' ').collect::<Vec<_>>()[..]].concat()));
        assert!(status == Some(2) && err.contains(meant) && err.lines().count() == 1, "{err}");
    }
    let (status, out, _) = said(&etw(&["show", "LARGE_INTEGER", "--build", "kb5031356"]));
    assert!(status == Some(0) && out.contains("3570, KB5031356)"), "{out}");
    for (asked, message) in [
        ("show", "nothing to show; name a structure, a member or an event, or a build with --build"),
        ("show Process/", "unknown event `Process/`; did you mean `Process`?"),
        ("show Process/Start --build 6.1 --arch x64", "remove --build and --arch"),
        ("show WMI_LOGGER_CONTEXT.BufferSize.Foo", "`BufferSize` has no members in this structure"),
        ("show --build 11-24H2", "unknown build `11-24H2`; did you mean `24H2`? write a label such as 1709,"),
        ("show --build abc", "unknown build `abc`; write a label such as 1709, 11-22H2, server-2022, or a build such as"),
        (
            "export offsets FOO",
            "unknown structure or global variable `FOO`; `etw list` prints all structures, `etw list --globals` all variables",
        ),
        ("import absent.pdb", "absent.pdb: no such file or folder; check the path"),
        ("verify --symbols absent.pdb --build 6.1 --arch x64", "absent.pdb: no such file or folder; check the path"),
    ] {
        let (status, _, err) = said(&etw(&asked.split(' ').collect::<Vec<_>>()));
        assert!(status == Some(2) && err.contains(message), "{asked}: {err}");
    }
    let (status, out, err) = said(&etw(&["export", "offsets", "Wmi_buffer_header.buffersize"]));
    assert!(status == Some(0) && out.lines().next().is_some_and(|head| head.contains("WMI_BUFFER_HEADER.BufferSize")), "{err}");
    let (_, out, _) = said(&etw(&["show", "WMI_BUFFER_HEADER", "--history", "--arch", "x64"]));
    assert!(out.lines().next().is_some_and(|columns| columns.contains("x64") && !columns.contains("x86")), "{out}");
}

/// Offsets of expanded structures are those of a compiler: each is within the embedding member.
#[test]
fn embedded_structures_are_expanded_in_place() {
    fn inside(member: &Value, depth: usize) -> usize {
        let range = |member: &Value| member["offset"].as_u64().zip(member["size"].as_u64()).map(|(at, size)| (at, at + size));
        let (from, to) = range(member).expect("a place");
        let inner = member["members"].as_array().map_or(&[][..], Vec::as_slice);
        for inner in inner {
            let (first, end) = range(inner).expect("a place");
            assert!(from <= first && end <= to, "{inner}");
        }
        inner.iter().map(|member| inside(member, depth + 1)).max().unwrap_or(depth)
    }
    let deepest = |arguments: &[&str]| -> usize {
        let output = etw(&[&["show", "WMI_LOGGER_CONTEXT", "--build", "1709", "--format", "json"], arguments].concat());
        let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        document["members"].as_array().expect("members").iter().map(|member| inside(member, 0)).max().expect("a member")
    };
    assert_eq!([&[][..], &["-r", "--depth", "1"], &["-r"]].map(deepest), [0, 2, 4]);
    let (_, out, _) = said(&etw(&["show", "WMI_LOGGER_CONTEXT", "--build", "1709", "-r"]));
    assert!(out.contains("    Flink "), "{out}");
}

#[test]
fn list_finds_structures_and_targets() {
    let names = |arguments: &[&str], list: &str, key: &str| -> Vec<String> {
        let output = etw(&[&["list", "--format", "json"], arguments].concat());
        let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let list = document[list].as_array().expect("a list").iter();
        list.map(|entry| entry[key].as_str().unwrap_or_default().to_owned()).collect()
    };
    let layouts = project().layouts().expect("the specs resolve");
    assert_eq!(names(&[], "structures", "name"), layouts.spec.definitions.keys().cloned().collect::<Vec<_>>());
    assert_eq!(names(&["wmi_logger_con"], "structures", "name"), ["WMI_LOGGER_CONTEXT"]);
    assert_eq!(names(&["wmi*r"], "structures", "name"), ["WMI_BUFFER_HEADER"]);
    assert!(names(&["--build", "5.0"], "structures", "name").iter().all(|name| !name.starts_with("ETW_BUFFER_S")));
    let all: Vec<_> = layouts.by_target.ids().map(|target| layouts.spec.axis.target_name(target)).collect();
    assert_eq!(names(&["--targets"], "targets", "target"), all);
    assert_eq!(names(&["--targets", "1709", "--arch", "x86"], "targets", "target"), ["10.0.16299.15-x86"]);
    let (status, _, err) = said(&etw(&["list", "WMI_LOGER"]));
    assert!(status == Some(2) && err.starts_with("error: no structure matches `WMI_LOGER`"), "{err}");
}

/// Runs the commands in the table of README that need no file of the user.
#[test]
fn the_commands_of_the_readme_run() {
    let readme = std::fs::read_to_string(crate::contract::root().join("README.md")).expect("README");
    let table = readme.split_once("| To | run |").expect("the table").1;
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let commands: Vec<_> = rows.filter_map(|line| line.split('`').nth(1)).collect();
    let run = |command: &&&str| ["etw show", "etw diff", "etw list"].iter().any(|start| command.starts_with(start));
    let commands: Vec<_> = commands.iter().filter(run).collect();
    assert!(commands.len() >= 4, "{commands:?}");
    for command in commands {
        let words: Vec<_> = command.split(' ').skip(1).collect();
        let (status, out, err) = said(&etw(&words));
        assert!(status.is_some_and(|status| status < 2) && !out.is_empty() && err.is_empty(), "{command}: {err}");
    }
}

#[test]
fn exports_contain_the_selected_types() {
    let (status, out, _) = said(&etw(&["export", "c", "1709-x64", "--only", "_WMI_BUFFER_HEADER"]));
    assert!(
        status == Some(0) && out.contains("union _LARGE_INTEGER {") && !out.contains("struct _WMI_LOGGER_CONTEXT {"),
        "{out}"
    );
    let (status, _, err) = said(&etw(&["export", "c", "1709-x64", "-o", "layouts.txt"]));
    assert!(status == Some(2) && err == "error: layouts.txt: wrong extension .txt; name a file with .h, or a folder\n", "{err}");
    let (status, _, err) = said(&etw(&["export", "c", "all"]));
    assert!(status == Some(2) && err.ends_with(" files to standard output; name a folder with -o\n"), "{err}");
    let (status, _, err) = said(&etw(&["export", "isf", "5.0-x86", "--only", "ETW_GUID_ENTRY"]));
    assert!(status == Some(2) && err.starts_with("error: ETW_GUID_ENTRY does not exist in 5.0.2195-x86"), "{err}");
    let (status, _, err) = said(&etw(&["export", "c", "1709-x64", "--prefix", "1;"]));
    assert!(
        status == Some(2) && err == "error: invalid --prefix `1;`: not a C identifier; use letters, digits and `_`\n",
        "{err}"
    );
    let folder = Folder::new();
    let path = folder.file("a file", "") + "s";
    let (status, out, err) = said(&etw(&["export", "isf", "all", "--only", "ETW_GUID_ENTRY", "-o", &path]));
    let layouts = project().layouts().expect("the specs resolve");
    let known = layouts.by_target.values().filter(|types| types.contains_key("ETW_GUID_ENTRY")).count();
    assert!(status == Some(0) && out.starts_with(&format!("wrote {known} files to ")), "{out}{err}");
}

/// Control characters in the names of a symbol file do not reach the terminal.
#[test]
fn control_characters_are_escaped() {
    let folder = Folder::new();
    let table = r#"{"metadata": {"format": "6.2.0", "producer": {"name": "a test", "version": "1"}},
        "base_types": {"unsigned long": {"kind": "int", "size": 4, "signed": false, "endian": "little"},
            "pointer": {"kind": "int", "size": 8, "signed": false, "endian": "little"}},
        "user_types": {"_LUID": {"kind": "struct", "size": 8, "fields": {
            "LowPart": {"offset": 0, "type": {"kind": "base", "name": "unsigned long"}},
            "Hi\u001b[8mgh\u009b2J\u007f\u202e\udb40\udc01": {"offset": 4, "type": {"kind": "base", "name": "unsigned long"}}}}},
        "enums": {}, "symbols": {}}"#;
    let table = folder.file("10.0.19041.264-x64.json", table);
    let answers = [
        etw(&["verify", "--symbols", &table]),
        etw(&["verify", "--symbols", &table, "--format", "json"]),
        etw(&["diff", "10.0.19041.264-x64", &table]),
        etw(&["diff", "10.0.19041.264-x64", &table, "--format", "json"]),
        etw(&["show", "no\u{1b}[8mname"]),
    ];
    let raw = |c: char| c.is_control() && c != '\n' || "\u{202e}\u{e0001}".contains(c);
    for output in answers {
        let (status, out, err) = said(&output);
        assert!(status != Some(0) && !(out.clone() + &err).contains(raw), "{out}{err}");
        assert!(out.contains("\\u001b[8m") || err.contains("\\u001b[8m"), "{out}{err}");
        assert!(!out.starts_with('{') || serde_json::from_str::<Value>(&out).is_ok(), "{out}");
    }
}

/// A closed pipe is not an error. A full disk is an error, not a panic.
#[test]
#[cfg(target_os = "linux")]
fn output_that_cannot_be_written() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let commands: [&[&str]; 7] = [
        &["verify"],
        &["show", "WMI_LOGGER_CONTEXT"],
        &["show", "LUID", "--history"],
        &["list", "--format", "json"],
        &["diff", "6.1-x64", "6.1-x64"],
        &["export", "c", "1709-x64"],
        &["export", "isf", "1709-x64"],
    ];
    for arguments in commands {
        let mut command = Command::new(env!("CARGO_BIN_EXE_etw"));
        command.args(arguments).args(["--specs", "specs", "--facts", "facts"]).current_dir(&root).stderr(Stdio::piped());
        let full = OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
        let (status, _, err) = said(&command.stdout(full).output().expect("etw runs"));
        assert!(status == Some(2) && err.starts_with("error: standard output: ") && err.lines().count() == 1, "{err}");
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let (status, _, err) = said(&command.stdout(writer).output().expect("etw runs"));
        assert_eq!((status, err.as_str()), (Some(0), ""), "{arguments:?}");
    }
}
