//! `export` when it is interrupted, repeated, or given invalid options.

use crate::kernel::kernel_trace;
use crate::{Folder, known, mixed, program, run, text};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};
use test_support::logging::logging;

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
        // The same bytes would be one trace.
        folder.file(&format!("traces/{number}.etl"), known(true, 30 + number));
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
    let kills = kills();
    let mut between = 0;
    for kill in 0..kills {
        let output = folder.0.join(format!("killed-{kill}"));
        let options = options(&output);
        let options: Vec<_> = options.iter().map(String::as_str).collect();
        start_and_kill(&options, took * (kill + 1) / (kills + 1));
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

/// The number of moments at which the tests kill an export.
fn kills() -> u32 {
    env::var("ETW_LAYOUTS_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(6)
}

fn start_and_kill(args: &[&str], after: Duration) {
    let mut child = program(args).stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    sleep(after);
    child.kill().unwrap();
    child.wait().unwrap();
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
    assert!(status == 1 && out.contains("8 rows of 8 events of 1 trace in 2 files"), "{out}");
    let before = files(Path::new(&output));
    let (status, out, err) = export(&[]);
    assert!(status == 1 && out.contains("0 traces") && out.contains("1 trace exported before"), "{out}");
    // Earlier diagnostics are reported again.
    assert!(err.contains("a.etl: exported before, with diagnostics: 1 payload not decoded to the end\n"), "{err}");
    // Another modification time with the same contents.
    let touched = File::options().write(true).open(&first).unwrap();
    touched.set_modified(SystemTime::now() + Duration::from_secs(60)).unwrap();
    assert!(export(&[]).1.contains("1 trace exported before"));
    // The manifest has the new time, so that the next run need not read the trace.
    let after = files(Path::new(&output));
    assert!(before.iter().all(|(path, bytes)| path.ends_with("manifest.json") || after.get(path) == Some(bytes)));
    // Another trace is added. The existing files do not change.
    folder.file("traces/b.etl", mixed());
    let (_, out, _) = export(&[]);
    assert!(out.contains("of 1 trace in 2 files") && out.contains("1 trace exported before"), "{out}");
    let after = files(Path::new(&output));
    assert!(before.iter().all(|(path, bytes)| path.ends_with("manifest.json") || after.get(path) == Some(bytes)));
    // A missing file is written again.
    let rows_before = rows(Path::new(&output));
    let gone = after.keys().find(|path| path.starts_with("events")).unwrap();
    fs::remove_file(Path::new(&output).join(gone)).unwrap();
    assert!(rows(Path::new(&output)) != rows_before);
    export(&[]);
    assert_eq!(rows(Path::new(&output)), rows_before);
}

/// The number of rows of each trace, by the manifest, without the folder of the trace.
fn rows(folder: &Path) -> BTreeMap<String, u64> {
    let manifest: Value = serde_json::from_slice(&fs::read(folder.join("manifest.json")).unwrap()).unwrap();
    let parts = manifest["parts"].as_array().unwrap();
    let is_whole =
        |part: &&Value| part["files"].as_array().unwrap().iter().all(|file| folder.join(file["path"].as_str().unwrap()).exists());
    let traces = parts.iter().filter(is_whole).flat_map(|part| part["traces"].as_array().unwrap());
    let name = |trace: &Value| trace["trace"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    traces.map(|trace| (name(trace), trace["rows"].as_u64().unwrap())).collect()
}

/// The file of a session after another buffer was written to it.
fn grown(mut trace: Vec<u8>) -> Vec<u8> {
    let size = u32::from_le_bytes(*trace.first_chunk().unwrap()) as usize;
    trace.extend_from_within(trace.len() - size..);
    trace
}

/// Rows of a trace are replaced only by those of its own grown file. A trace is known by its bytes, under any name.
#[test]
fn sources_change() {
    let folder = Folder::new("sources-change");
    let (first, second) = (folder.file("a.etl", kernel_trace()), folder.file("b.etl", mixed()));
    let output = folder.0.join("out");
    let export = |more: &[&str]| {
        let (status, out, err) = run(&[&["export", "-o", &text(&output)][..], more].concat());
        assert!(status < 2, "{out}{err}");
        (out + &err, rows(&output))
    };
    let of = |rows: &[(&str, u64)]| rows.iter().map(|(name, rows)| ((*name).to_owned(), *rows)).collect::<BTreeMap<_, _>>();
    let (_, before) = export(&[&first, &second]);
    let [a, b] = ["a.etl", "b.etl"].map(|name| before[name]);
    // The file has grown: its rows are replaced, and those of a trace in the same files stay, although it is not named.
    folder.file("a.etl", grown(kernel_trace()));
    let (_, after) = export(&[&first]);
    let grown = after["a.etl"];
    assert!(grown > a && after == of(&[("a.etl", grown), ("b.etl", b)]), "{after:?}");
    // Another trace takes the place of the file: both stay.
    folder.file("a.etl", logging().trace());
    let (said, after) = export(&[&first]);
    let other = after["a.etl (2)"];
    assert!(said.contains("a.etl: note: no longer on disk; its rows stay"), "{said}");
    assert_eq!(after, of(&[("a.etl", grown), ("a.etl (2)", other), ("b.etl", b)]));
    // The same bytes under another name are the same trace.
    let copy = folder.file("c.etl", mixed());
    let (said, after) = export(&[&copy, &second]);
    assert!(said.contains("the same bytes as ") && after.len() == 3, "{said}{after:?}");
    let (_, after) = export(&["--prune", &first]);
    assert_eq!(after, of(&[("a.etl (2)", other), ("b.etl", b)]));
}

/// The rows of each trace in the files of a dataset of JSON, by their sequence.
fn sequences(folder: &Path) -> BTreeMap<String, Vec<u64>> {
    let mut all: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for bytes in files(folder).into_iter().filter(|(path, _)| path.starts_with("events")).map(|(_, bytes)| bytes) {
        for row in crate::json(std::str::from_utf8(&bytes).unwrap()) {
            let name = row["trace"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
            all.entry(name).or_default().push(row["sequence"].as_u64().unwrap());
        }
    }
    all.values_mut().for_each(|sequences| sequences.sort_unstable());
    all
}

/// If an export over a changed set of sources is killed, no row of an unchanged or removed source is missing, and the next run gives each row
/// once.
#[test]
fn killed_over_changed_sources() {
    let folder = Folder::new("killed-changed");
    let (traces, base) = (text(&folder.0.join("traces")), folder.0.join("base"));
    let args = |output: &Path| ["export", "--format", "jsonl", "-o", &text(output), &traces].map(str::to_owned);
    let run_at = |output: &Path| {
        let (status, out, err) = run(&args(output).iter().map(String::as_str).collect::<Vec<_>>());
        assert!(status < 2, "{out}{err}");
        sequences(output)
    };
    for (name, bytes) in [("a", kernel_trace()), ("b", known(false, 30)), ("c", logging().trace())] {
        folder.file(&format!("traces/{name}.etl"), bytes);
    }
    let before = run_at(&base);
    fs::remove_file(folder.0.join("traces/c.etl")).unwrap();
    folder.file("traces/b.etl", grown(known(false, 30)));
    folder.file("traces/d.etl", grown(kernel_trace()));
    let whole = folder.0.join("whole");
    copy(&base, &whole);
    let start = Instant::now();
    let expected = run_at(&whole);
    let took = start.elapsed();
    assert_eq!(expected.keys().collect::<Vec<_>>(), ["a.etl", "b.etl", "c.etl", "d.etl"]);
    assert!(expected["b.etl"].len() > before["b.etl"].len());
    let kills = kills();
    for kill in 0..kills {
        let output = folder.0.join(format!("killed-{kill}"));
        copy(&base, &output);
        let args = args(&output);
        let args: Vec<_> = args.iter().map(String::as_str).collect();
        start_and_kill(&args, took * (kill + 1) / (kills + 1));
        let between = sequences(&output);
        for (name, rows) in &before {
            let own = between.get(name).unwrap_or_else(|| panic!("killed after {kill}/{kills}: no rows of {name}"));
            assert!(rows.iter().all(|row| own.contains(row)), "killed after {kill}/{kills}: rows of {name} are missing");
        }
        assert!(run_at(&output) == expected, "killed after {kill}/{kills}");
        fs::remove_dir_all(&output).unwrap();
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        match entry.path().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => _ = fs::copy(entry.path(), to.join(entry.file_name())).unwrap(),
        }
    }
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
