//! What `show` and `diff` print: as the golden files have it, and as symbol tables do.

use etw_layouts_codegen::axis::Build;
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_symbols::{Definition, Type};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::{env, fs};
use xtask::diff::{Changes, changes, sides};
use xtask::tables::{self, Stated};
use xtask::{diff, project, show, verify};

/// The files are in tests/golden; `BLESS=1` writes them anew.
#[test]
fn golden_files_are_as_printed() {
    let layouts = project::layouts().expect("the specs resolve");
    let target = |name: &str| layouts.spec.axis.find(name).expect("a target").target;
    let mut printed = Vec::new();
    for (structure, at, json) in [
        ("WMI_BUFFER_HEADER", "10.0.19041-x64", true),
        ("WMI_BUFFER_HEADER", "5.2-x86", false),
        ("WMI_LOGGER_CONTEXT", "6.1-x64", false),
        ("WMI_TRACE_PACKET", "6.1-x64", true),
        ("LARGE_INTEGER", "6.1-x86", true),
        ("ETW_BUFFER_STATE", "1607-x64", true),
        ("EVENT_TRACE_CLOCK", "6.1-x64", false),
    ] {
        let text = show::text(&layouts, structure, target(at), None).expect(structure);
        printed.push((format!("show-{structure}-{at}.txt"), text));
        if json {
            let document = show::json(&layouts, structure, target(at)).expect(structure);
            printed.push((format!("show-{structure}-{at}.json"), document + "\n"));
        }
    }
    for (asked, json) in
        [("WMI_BUFFER_HEADER", false), ("WMI_LOGGER_CONTEXT.TokenAccessInformation", false), ("ETW_BUFFER_STATE", true)]
    {
        let history = show::history::of(&layouts, asked, None).expect(asked);
        printed.push((format!("history-{asked}.txt"), history.text(&layouts)));
        if json {
            printed.push((format!("history-{asked}.json"), history.json(&layouts).expect("JSON") + "\n"));
        }
    }
    for (a, b, only, json) in [
        ("6.1.7601.0-x64", "6.1.7601.24000-x64", None, true),
        ("late-6.0-x64", "6.1-x64", Some("WMI_BUFFER_HEADER"), true),
        ("6.3.9600.0-x64", "6.3.9600.19913-x64", None, false),
        ("1511-x64", "1607-x64", None, false),
    ] {
        let [old, new] = sides(&layouts, [a, b], only).expect("targets");
        let found = changes(&old, &new);
        printed.push((format!("diff-{a}-{b}.txt"), diff::text(&old, &new, &found)));
        if json {
            printed.push((format!("diff-{a}-{b}.json"), serde_json::to_string_pretty(&found).expect("JSON") + "\n"));
        }
    }
    // With an import histories go on, and ranges that `show` tells end; what is between two older kernels stays.
    if layouts.spec.axis.kernels.iter().any(|kernel| !kernel.imported.is_empty()) {
        printed.retain(|(name, _)| name.starts_with("diff-"));
    }
    let folder = project::root().join("tests/golden");
    for (name, text) in printed {
        let (path, text) = (folder.join(&name), anstream::adapter::strip_str(&text).to_string());
        if env::var_os("BLESS").is_some() {
            fs::write(&path, text).expect("golden files can be written");
        } else {
            let golden = fs::read_to_string(&path).unwrap_or_default();
            assert!(golden == text, "{name} is not as printed; look at the difference that BLESS=1 makes\n{text}");
        }
    }
}

/// Names, offsets and bits that `show` lists are those of every shipped table of the same kernel.
#[test]
fn shown_members_are_those_of_symbol_tables() {
    let layouts = project::layouts().expect("the specs resolve");
    let axis = &layouts.spec.axis;
    let names = verify::names(&layouts, None).expect("all names");
    let wanted = names.iter().copied().collect();
    let mut compared = 0;
    for path in snapshots() {
        for table in tables::read(&path, axis, &wanted, &Stated::default()).expect("a shipped table") {
            let Build { number: [major, minor, build], revision } = table.build;
            let choice = axis.find(&format!("{major}.{minor}.{build}.{revision}-{}", table.arch)).expect("a known kernel");
            for (name, definition) in &table.types {
                let Definition::Aggregate(aggregate) = definition else { continue };
                let shown: Value = serde_json::from_str(&show::json(&layouts, name, choice.target).expect(name)).expect("JSON");
                let members = shown["members"].as_array().expect("members");
                let ours: BTreeSet<_> = members
                    .iter()
                    .map(|m| (text(&m["name"]), [&m["offset"], &m["bit"], &m["bits"]].map(Value::as_u64)))
                    .collect();
                let theirs: BTreeSet<_> = aggregate
                    .members
                    .iter()
                    .map(|m| {
                        let bits = |f: fn(&Type) -> Option<u32>| f(&m.ty).map(u64::from);
                        let position = bits(|ty| if let Type::Bits { position, .. } = ty { Some(*position) } else { None });
                        let width = bits(|ty| if let Type::Bits { width, .. } = ty { Some(*width) } else { None });
                        (m.name.clone(), [Some(m.offset), position, width])
                    })
                    .collect();
                assert_eq!(ours, theirs, "{name} in {}", path.display());
                assert_eq!(shown["size"], aggregate.size, "{name} in {}", path.display());
                compared += members.len();
            }
        }
    }
    assert!(compared > 13_000, "{compared} members compared");
}

/// A kernel differs from the next as that from it, with the sides exchanged, and from its own symbol table not at all.
#[test]
fn differences_are_symmetric() {
    let layouts = project::layouts().expect("the specs resolve");
    for target in 1..layouts.by_target.len() {
        let [old, new] = [target - 1, target].map(|target| layouts.spec.axis.target_name(target));
        mirrored(&layouts, [&old, &new]);
    }
    for path in snapshots() {
        let path = path.display().to_string();
        let file = path.rsplit(['/', '\\']).next().unwrap_or_default();
        let own = file.trim_end_matches(tables::SNAPSHOT).trim_end_matches("-converted");
        let [a, b] = sides(&layouts, [own, &path], None).expect("a target and a table");
        assert!(changes(&a, &b).is_empty(), "{}", diff::text(&a, &b, &changes(&a, &b)));
        mirrored(&layouts, ["6.1-x64", &path]);
    }
}

fn mirrored(layouts: &Layouts, [a, b]: [&str; 2]) {
    let [there, back] = [[a, b], [b, a]].map(|asked| {
        let [a, b] = sides(layouts, asked, None).expect("both are there");
        changes(&a, &b)
    });
    let lines = |found: &Changes, exchange: bool| -> BTreeSet<String> {
        let name = |list: &'static str| match (exchange, list) {
            (true, "added") => "removed",
            (true, "removed") => "added",
            (_, list) => list,
        };
        let line = |list, entry: &diff::Entry| {
            let (old, new) = if exchange { (&entry.b, &entry.a) } else { (&entry.a, &entry.b) };
            format!("{} {} {:?} {old:?} {new:?}", name(list), entry.structure, entry.member)
        };
        found.lists().iter().flat_map(|(list, entries)| entries.iter().map(|entry| line(*list, entry))).collect()
    };
    assert_eq!(lines(&there, false), lines(&back, true), "{a} and {b}");
}

fn snapshots() -> Vec<PathBuf> {
    tables::files(&[project::root().join(project::SNAPSHOTS)]).expect("snapshots are shipped")
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
