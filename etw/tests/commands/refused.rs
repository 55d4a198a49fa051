//! Imports that are refused, with and without `--dry-run`: tables of one build that contradict each other, and tables with a wrong build. The
//! specs and facts are reduced to a few structures.

use crate::contract::{Folder, root, table_of};
use crate::project;
use etw_layouts_codegen::layouts::{Form, Layouts};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The builds of the facts.
const KNOWN: [&str; 8] = [
    "10.0.17134.1 x86",
    "10.0.17134.1 x64",
    "10.0.17763.379 x64",
    "10.0.18362.720 x64",
    "10.0.19041.329 x64",
    "10.0.19041.1826 x64",
    "10.0.19041.3324 x64",
    "10.0.22000.348 x64",
];

/// An edit of each kind of fact.
const EDITS: [(&str, [&str; 2]); 5] = [
    ("size", ["\nstruct WMI_LOGGER_CONTEXT 0x", "\nstruct WMI_LOGGER_CONTEXT 0x1"]),
    ("offset", [" 0x4 BufferSize ", " 0x5 BufferSize "]),
    ("type", [" 0x4 BufferSize u4", " 0x4 BufferSize i4"]),
    ("bits", [" Persistent 1@0:", " Persistent 2@0:"]),
    ("constant", [" 2 EtwBufferStateCSwitch", " 9 EtwBufferStateCSwitch"]),
];

/// Its name, the files to import, and a part of the message.
type Case = (String, Vec<(&'static str, String)>, String);

#[test]
fn imports_are_refused_by_name() {
    let layouts = project().layouts().expect("the specs resolve");
    let names = needed(&layouts, &["WMI_LOGGER_CONTEXT", "ETW_BUFFER_STATE"]);
    let [specs, facts, new] = ["specs", "facts", "new"].map(Folder::named);
    for path in paths(&layouts, &names) {
        let name = path.rsplit('/').next().expect("a name");
        specs.file(name, &fs::read_to_string(root().join(&path)).expect("a spec"));
    }
    let table = |kernel: &str| reduced(&table_of(kernel), &names);
    for entry in fs::read_dir(root().join("facts")).expect("the facts").flatten().filter(|entry| entry.path().is_file()) {
        let (name, text) = (entry.file_name().into_string().expect("a name"), fs::read_to_string(entry.path()).expect("a text"));
        if text.contains("\nstruct ") && KNOWN.iter().any(|kernel| text.contains(&format!("\nkernel {kernel} "))) {
            facts.file(&name, &reduced(&text, &names));
        }
    }
    let labelled = |kernel: &str, label: &str| {
        let text = table(kernel);
        let head = text.find("\nkernel ").expect("a kernel");
        let types = ["\nstruct ", "\nunion ", "\nenum "].iter().filter_map(|word| text.find(word)).min().expect("a type");
        let pdb = if label.contains(".pdb") { "" } else { " -" };
        format!("{}\nkernel {label}{pdb}{}", &text[..head], &text[types..])
    };
    let pdb = table_of("10.0.22000.348 x64");
    let pdb = pdb.lines().find_map(|line| line.strip_prefix("kernel 10.0.22000.348 x64 ")).expect("a PDB");
    let isf = r#"{"metadata": {"format": "6.1.0", "producer": {"name": "volatility3"}, "windows": {"pdb":
        {"GUID": "00000000000000000000000000000001", "age": 1, "database": "nt.pdb", "machine_type": 43620}}}, "base_types":
        {"unsigned long": {"kind": "int", "size": 4, "signed": false, "endian": "little"},
        "pointer": {"kind": "int", "size": 8, "signed": false, "endian": "little"}}, "symbols": {}, "enums": {}, "user_types":
        {"_LUID": {"kind": "struct", "size": 8, "fields": {}}}}"#;
    let mut cases: Vec<Case> = Vec::new();
    for (kind, [old, edit]) in EDITS {
        let edited = |label: &str| {
            let text = labelled("10.0.19041.329 x64", label);
            assert_eq!(text.matches(old).count(), 1, "{kind}");
            text.replace(old, edit)
        };
        let both =
            vec![("a.facts", labelled("10.0.19041.329 x64", "10.0.19041.400 x64")), ("b.facts", edited("10.0.19041.400 x64"))];
        let sentence = "/b.facts contain different symbols of 10.0.19041.400-x64: ";
        cases.push((format!("two, {kind}"), both, sentence.to_owned()));
        let known = vec![("a.facts", edited("10.0.19041.329 x64"))];
        cases.push((format!("known, {kind}"), known, "/a.facts: contradicts earlier symbols of 10.0.19041.329-x64: ".to_owned()));
    }
    let of_one = |of: &str, label: &str, sentence: &str| {
        (format!("{of} as {label}"), vec![("a.facts", labelled(of, label))], format!("/a.facts: {sentence}"))
    };
    let right = labelled("10.0.19041.329 x64", "10.0.19041.400 x64");
    let producer = right.lines().nth(1).expect("a producer");
    let converted = right.replace(producer, "producer converted from a test").replace(EDITS[0].1[0], EDITS[0].1[1]);
    let sentence = "/b.facts contain different symbols of 10.0.19041.400-x64: WMI_LOGGER_CONTEXT size: ".to_owned();
    cases.push(("two producers".to_owned(), vec![("a.facts", right), ("b.facts", converted)], sentence));
    let unknown = "unknown build 10.0.18326.1-x64, and the facts equal those of 10.0.18362.720-x64; nothing was written; ";
    let arm64 = "but the facts equal those of 10.0.19569-arm64; nothing was written; ";
    cases.extend([
        of_one("10.0.19569.0 arm64", "10.0.19569.0 x64", &format!("stated build 10.0.19569.0-x64, {arm64}")),
        of_one(
            "10.0.17134.1 x86",
            "10.0.22621.2965 x86",
            "stated build 10.0.22621.2965-x86, but the newest known build of x86 is 10.0.19041.",
        ),
        of_one("10.0.19569.0 arm64", "10.0.19041.400 x64", &format!("stated build 10.0.19041.400-x64, {arm64}")),
        of_one("10.0.17134.1 x86", "10.0.17134.1 x64", "stated build 10.0.17134.1-x64, but has the layouts of 10.0.17134.1-x86"),
        of_one(
            "10.0.19041.329 x64",
            "10.0.19041.2000 x64",
            "stated build 10.0.19041.2000-x64, but has the layouts of 10.0.19041.264-x64",
        ),
        of_one("10.0.18362.720 x64", "10.0.18326.1 x64", unknown),
        of_one(
            "10.0.22000.348 x64",
            &format!("10.0.22000.900 x64 {pdb}"),
            "stated build 10.0.22000.900-x64, but its PDB belongs to 10.0.22000.348-x64 in the facts; ",
        ),
        (
            "arm64 as x64".to_owned(),
            vec![("10.0.22000.900-x64.json", isf.to_owned())],
            "/10.0.22000.900-x64.json: wrong architecture: the table is of arm64, but ".to_owned(),
        ),
    ]);
    let before = contents(&[&specs.0, &facts.0]);
    let import = |tables: &[(&str, String)], options: &[&str]| {
        let paths: Vec<_> = tables.iter().map(|(name, text)| new.file(name, text)).collect();
        let mut command = Command::new(env!("CARGO_BIN_EXE_etw"));
        command.arg("import").args(paths).args(options).arg("--specs").arg(&specs.0).arg("--facts").arg(&facts.0);
        let output = command.output().expect("etw runs");
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        (output.status.code(), text)
    };
    for (name, tables, sentence) in &cases {
        for options in [&["--dry-run"][..], &[]] {
            let (status, [_, error]) = import(tables, options);
            assert!(status == Some(2) && error.contains(sentence.as_str()), "{name}: {sentence}\n{error}");
            assert!(contents(&[&specs.0, &facts.0]) == before, "{name}: something was written");
        }
    }
    // The change is printed also if the result does not verify.
    let grown = labelled("10.0.19041.329 x64", "10.0.30000.1 x64").replace(EDITS[0].1[0], EDITS[0].1[1]);
    for options in [&["--dry-run"][..], &[]] {
        let (status, [out, error]) = import(&[("a.facts", grown.clone())], options);
        assert!(status == Some(2) && error.contains("cannot import: the result does not verify"), "{error}");
        assert!(out.contains("\n+  { build = \"10.0.30000.1\""), "{out}");
        assert!(contents(&[&specs.0, &facts.0]) == before, "something was written");
    }
    // The same tables are accepted with their own build, and a new build if it is confirmed.
    let right = labelled("10.0.19041.1826 x64", "10.0.19045.2000 x64");
    let (status, [out, error]) = import(&[("a.facts", right.clone())], &["--dry-run"]);
    assert!(status == Some(0) && out.starts_with("unchanged layouts of 10.0.19041.1826-x64: "), "{out}{error}");
    let unknown = labelled("10.0.18362.720 x64", "10.0.18326.1 x64");
    let (status, [out, error]) = import(&[("a.facts", unknown)], &["--dry-run", "--new-build"]);
    assert!(
        status == Some(0) && out.starts_with("note: unknown build 10.0.18326.1-x64, and the facts equal those of "),
        "{out}{error}"
    );
    let (status, [out, error]) = import(&[("a.facts", right)], &[]);
    let command = format!("etw verify --specs {} --facts {}", specs.0.display(), facts.0.display());
    assert!(status == Some(0) && out.contains(&format!("check the result with `{command}`\n")), "{out}{error}");
    assert!(contents(&[&specs.0, &facts.0]) != before);
}

/// The given types, and those that their specs need: embedded types, and those that members lead to or take their values from.
fn needed(layouts: &Layouts, names: &[&str]) -> BTreeSet<String> {
    let spec = &layouts.spec;
    let mut pending: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut all = BTreeSet::new();
    while let Some(name) = pending.pop() {
        let Some(definition) = spec.definitions.get(&name).filter(|_| !all.contains(&name)) else { continue };
        for layout in layouts.layouts.iter().filter(|layout| layout.name == name) {
            if let Form::Aggregate(aggregate) = &layout.form {
                pending.extend(layouts.used(aggregate).into_iter().map(str::to_owned));
            }
        }
        let text = &spec.sources.file(definition.name.span).text;
        let named = ["leads_to = \"", "values = \""].into_iter().flat_map(|key| text.split(key).skip(1));
        pending.extend(named.filter_map(|rest| rest.split(['.', '"']).next()).map(str::to_owned));
        all.insert(name);
    }
    all
}

/// The spec files of types, and those without types.
fn paths(layouts: &Layouts, names: &BTreeSet<String>) -> Vec<String> {
    let spec = &layouts.spec;
    let of = |name: &String| spec.sources.file(spec.definitions[name].name.span).path.clone();
    names.iter().map(of).chain(["specs/windows.toml".to_owned(), "specs/scalars.toml".to_owned()]).collect()
}

/// A table with some of its types.
fn reduced(table: &str, names: &BTreeSet<String>) -> String {
    let mut is_kept = true;
    let mut text = String::new();
    for line in table.lines() {
        if !line.starts_with(' ') {
            let words: Vec<_> = line.split(' ').collect();
            is_kept = match words[..] {
                ["struct" | "union" | "enum", name, ..] => names.contains(name),
                _ => true,
            };
        }
        // Addresses of variables follow the line of a kernel.
        let is_address =
            line.starts_with(' ') && !text.contains("\nstruct ") && !text.contains("\nunion ") && !text.contains("\nenum ");
        if is_kept && !is_address {
            text += &format!("{line}\n");
        }
    }
    text
}

/// The files of folders, except locks.
fn contents(folders: &[&Path]) -> BTreeMap<String, String> {
    let files =
        folders.iter().flat_map(|folder| fs::read_dir(folder).expect("a folder").map(|file| file.expect("a file").path()));
    let visible = files.filter(|path| !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')));
    visible.map(|path| (path.display().to_string(), fs::read_to_string(&path).expect("a text"))).collect()
}
