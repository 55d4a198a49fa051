//! `export` when it is interrupted, repeated, or given invalid options.

use crate::kernel::kernel_trace;
use crate::{Folder, mixed, program, run, text};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

/// The files of a dataset with their contents, without the program's own files.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    add(folder, folder, &mut all);
    all
}

fn add(root: &Path, folder: &Path, all: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).into_iter().flatten().map(Result::unwrap) {
        let path = entry.path();
        match path.is_dir() {
            true if path.file_name().unwrap() == "_etw" => {}
            true => add(root, &path, all),
            false => _ = all.insert(path.strip_prefix(root).unwrap().to_owned(), fs::read(&path).unwrap()),
        }
    }
}

/// If `export` is killed, the dataset has only complete files, and the next run gives the same data. `ETW_LAYOUTS_KILLS=50` tries
/// more moments.
#[test]
fn killed() {
    let folder = Folder::new("killed");
    let traces = folder.0.join("traces");
    for number in 0..6 {
        folder.file(&format!("traces/{number}.etl"), mixed());
    }
    let traces = text(&traces);
    let options = |output: &Path| -> Vec<String> {
        ["export", "--shape", "typed", "--group", "0", "--jobs", "2", "-o", &text(output), &traces].map(str::to_owned).to_vec()
    };
    let (whole, start) = (folder.0.join("whole"), Instant::now());
    let status = program(&options(&whole).iter().map(String::as_str).collect::<Vec<_>>())
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .status();
    let (took, whole) = (start.elapsed(), files(&whole));
    assert!(status.unwrap().code().is_some_and(|code| code < 2) && whole.len() > 20, "{:?}", whole.keys());
    let kills = env::var("ETW_LAYOUTS_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(6);
    let mut between = 0;
    for kill in 0..kills {
        let output = folder.0.join(format!("killed-{kill}"));
        let options = options(&output);
        let options: Vec<_> = options.iter().map(String::as_str).collect();
        let mut child = program(&options).stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        sleep(took * (kill + 1) / (kills + 1));
        child.kill().unwrap();
        child.wait().unwrap();
        let there = files(&output);
        between += u32::from(!there.is_empty() && there.len() < whole.len());
        for (path, bytes) in there.iter().filter(|(path, _)| path.extension().is_some_and(|end| end == "parquet")) {
            assert_eq!(Some(bytes), whole.get(path), "{} is incomplete", path.display());
        }
        let (status, out, err) = run(&options);
        assert!(status < 2, "killed after {kill}/{kills}: {out}{err}");
        let again = files(&output);
        assert!(
            again == whole,
            "killed after {kill}/{kills}: {:?}",
            again.keys().filter(|path| again.get(*path) != whole.get(*path)).collect::<Vec<_>>()
        );
        fs::remove_dir_all(&output).unwrap();
    }
    println!("{between} of {kills} kills were between two files");
}

/// The manifest of a dataset has the options by their names. Payloads that are not decoded to the end are diagnostics, but no damage
/// of the trace.
#[test]
fn described() {
    let folder = Folder::new("described");
    let mut damaged = kernel_trace();
    damaged.truncate(damaged.len() - 100);
    let options = ["--provider", "Process", "--level", "0", "--from", "-1.5", "--keyword", "0x10", "--event", "Process/Start"];
    for (bytes, is_damaged) in [(kernel_trace(), false), (damaged, true)] {
        let (file, output) = (folder.file("a.etl", bytes), folder.0.join(format!("out-{is_damaged}")));
        let (status, ..) = run(&[&["export", "-o", &text(&output), &file][..], if is_damaged { &options } else { &[] }].concat());
        let manifest: Value = serde_json::from_slice(&fs::read(output.join("manifest.json")).unwrap()).unwrap();
        assert_eq!((status, &manifest["parts"][0]["traces"][0]["is_damaged"]), (1, &is_damaged.into()));
        let expected = json!({
            "provider": [{"class": "3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c"}],
            "event": ["Process/Start"],
            "level": [0],
            "keyword": [{"mask": 16}],
            "from": {"since": -15_000_000},
        });
        assert_eq!(manifest["options"]["selection"], if is_damaged { expected } else { json!({}) });
    }
}

/// Unchanged traces are not exported again; changed traces are, and new traces are added.
#[test]
fn repeated() {
    let folder = Folder::new("repeated");
    let (first, output) = (folder.file("traces/a.etl", kernel_trace()), folder.0.join("out"));
    let (traces, output) = (text(&folder.0.join("traces")), text(&output));
    let export = |more: &[&str]| run(&[&["export", "-o", &output, &traces][..], more].concat());
    let (status, out, _) = export(&[]);
    assert!(status == 1 && out.contains("8 rows of 8 events of 1 trace in 1 file"), "{out}");
    let before = files(Path::new(&output));
    let (status, out, err) = export(&[]);
    assert!(status == 1 && out.contains("0 traces") && out.contains("1 trace exported before"), "{out}");
    // Earlier diagnostics are reported again.
    assert!(err.contains("a.etl: exported before, with diagnostics: 1 payload not decoded to the end\n"), "{err}");
    // Another modification time with the same contents.
    let touched = File::options().write(true).open(&first).unwrap();
    touched.set_modified(SystemTime::now() + Duration::from_secs(60)).unwrap();
    assert!(export(&[]).1.contains("1 trace exported before"));
    assert!(before == files(Path::new(&output)));
    // Another trace is added. The existing files do not change.
    folder.file("traces/b.etl", mixed());
    let (_, out, _) = export(&[]);
    assert!(out.contains("of 1 trace in 1 file") && out.contains("1 trace exported before"), "{out}");
    let after = files(Path::new(&output));
    assert!(before.iter().all(|(path, bytes)| path.ends_with("manifest.json") || after.get(path) == Some(bytes)));
    // If the contents change, the old rows are removed.
    fs::write(&first, mixed()).unwrap();
    export(&[]);
    let last = files(Path::new(&output));
    assert_eq!(last.keys().filter(|path| path.starts_with("events")).count(), 2);
    assert!(before.keys().filter(|path| path.starts_with("events")).all(|path| !last.contains_key(path)));
    // A missing file is written again.
    let gone = last.keys().find(|path| path.starts_with("events")).unwrap();
    fs::remove_file(Path::new(&output).join(gone)).unwrap();
    export(&[]);
    assert!(last == files(Path::new(&output)));
}

/// If a trace changed that shares files with a trace that is not among the inputs, nothing is removed, and the other trace is not
/// read because its record names it.
#[test]
fn neighbours() {
    let folder = Folder::new("neighbours");
    let (first, second) = (folder.file("a.etl", kernel_trace()), folder.file("b.etl", mixed()));
    let output = text(&folder.0.join("out"));
    run(&["export", "-o", &output, &first, &second]);
    let before = files(Path::new(&output));
    folder.file("a.etl", mixed());
    let (status, out, err) = run(&["export", "-o", &output, &first]);
    assert!(status == 2 && out.is_empty() && err.contains("a.etl: changed since it was exported; "), "{out}{err}");
    assert!(
        err.contains("in the same files as those of ") && err.contains("b.etl: name both, or export to another folder"),
        "{err}"
    );
    assert!(before == files(Path::new(&output)));
    assert!(run(&["export", "-o", &output, &first, &second]).1.contains("of 2 traces"));
}

#[test]
fn refused() {
    let folder = Folder::new("export-refused");
    let (trace, output) = (folder.file("a.etl", kernel_trace()), text(&folder.0.join("out")));
    assert_eq!(run(&["export", "-o", &output, &trace]).0, 1);
    for (options, why) in [
        (&["--format", "csv"][..], "the dataset has other options: --format parquet; export to another folder"),
        (&["--process", "8"], "the dataset has other options: another selection of events"),
    ] {
        let (status, _, err) = run(&[&["export", "-o", &output, &trace][..], options].concat());
        assert!(status == 2 && err.contains(why), "{err}");
    }
    // Nothing was exported, so no line states what was.
    let (status, out, err) = run(&["export", "-o", &text(&folder.0.join("stdin")), "-"]);
    let expected = "standard input: cannot export standard input, because it is read twice; save it to a file";
    assert!(status == 2 && out.is_empty() && err.contains(expected), "{out}{err}");
    let other = text(&folder.0.join("other"));
    let none = folder.file("none.etl", "no trace");
    let (status, out, err) = run(&["export", "-o", &other, &trace, &none, "-"]);
    assert!(status == 2 && out.contains("8 rows of 8 events of 1 trace"), "{out}{err}");
    assert!(err.contains("none.etl: not a trace file") && err.contains("2 of 3 files failed"), "{err}");
    let (status, _, err) = run(&["export", "-o", &trace, &trace]);
    assert!(status == 2 && err.contains("a.etl"), "{err}");
}
