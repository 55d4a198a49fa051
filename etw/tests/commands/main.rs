//! The output of `show` and `diff`, compared with golden files and with symbol tables.

mod atlas;
mod atlas_browser;
mod atlas_bytes;
mod atlas_look;
mod atlas_questions;
mod confidence;
mod contract;
mod globals;
mod label;
mod printing;
mod provenance;
mod questions;
mod refused;
mod schema;

use etw_layouts_cli::{diff, map, pretty, show};
use etw_layouts_codegen::axis::Build;
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::registry::Registry;
use etw_layouts_project::Choice;
use etw_layouts_project::diff::{Changes, Verdict, changes, sides};
use etw_layouts_project::map::Map;
use etw_layouts_project::members::members;
use etw_layouts_project::project::Files;
use etw_layouts_project::subject::{self, Subject};
use etw_layouts_project::tables::{self, Stated, SymbolFile};
use etw_layouts_project::{Project, history, verify};
use etw_layouts_symbols::{Type, TypeFacts};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::{env, fs};

/// Specs with a small axis that imports do not change: two releases with separate updates, and a third release; and facts of some
/// kernels.
fn branches() -> (Layouts, Registry) {
    const SPECS: &[(&str, &str)] = &[
        (
            "windows.toml",
            r#"
architectures = ["x86", "x64"]
ranges = { arm64 = "x64" }
documented_range = "one x64"

[[release]]
labels = ["one"]
revisions = [{ build = "1.0.100.1", module = "one" }, { build = "1.0.100.20", module = "one_20", architectures = ["x64"] }]

[[release]]
labels = ["two"]
revisions = [{ build = "1.0.200.1", module = "two" }, { build = "1.0.200.30", module = "two_30" }]

[[release]]
labels = ["three"]
architectures = ["x64", "arm64"]
revisions = [{ build = "1.0.300.1", module = "three" }]
"#,
        ),
        (
            "DEVICE.toml",
            r#"
[struct]
name = "DEVICE"

[[member]]
name = "Id"
type = { "one" = "USHORT", "two.." = "ULONG" }

[[member]]
name = "Busy"
type = "ULONG"
bits = { "..two" = 1, "three" = 2 }

[[member]]
name = "Owner"
type = "PVOID"
in = "1.0.100.20..one, 1.0.200.30.."

[[member]]
name = "Next"
type = "PVOID"
in = "two.."
"#,
        ),
        (
            "STATE.toml",
            r#"
[enum]
name = "STATE"
type = "LONG"
constants = [
  { name = "Idle", value = 0 },
  { name = "Gone", value = { "one" = 1, "two.." = 2 } },
  { name = "Lost", in = "one", value = 3 },
  { name = "Lost", in = "three", value = 4 },
]
"#,
        ),
    ];
    const FACTS: &[(&str, &str)] = &[
        ("a.facts", "etw-layouts-symbols 1\nproducer a test\nkernel 1.0.100.20 x64 -\nstruct DEVICE 0x10\n 0x0 Id u2\n"),
        (
            "b.facts",
            "etw-layouts-symbols 1\nproducer converted from a test\nkernel 1.0.200.1 x64 -\nkernel 1.0.300.1 x64 -\nstruct DEVICE 0x18\n 0x0 Id u4\n",
        ),
    ];
    let project = Project { standard: etw_layouts_specs::FILES, ..Project::of(Files::Embedded(SPECS), Files::Embedded(FACTS)) };
    let layouts = project.layouts().unwrap_or_else(|error| panic!("{error}"));
    let registry = project.registry(&layouts.spec.axis).expect("valid facts");
    (layouts, registry)
}

/// The files are in etw/tests/golden; `BLESS=1` updates them.
#[test]
fn golden_files_equal_the_output() {
    let layouts = project().layouts().expect("the specs resolve");
    let registry = project().registry(&layouts.spec.axis).expect("the facts can be read");
    let mut printed = Vec::new();
    for (asked, at, levels, width, json) in [
        ("WMI_BUFFER_HEADER", "10.0.19041-x64", 0, None, false),
        ("WMI_BUFFER_HEADER", "10.0.19041-x64", 9, None, false),
        ("WMI_BUFFER_HEADER", "5.2-x86", 0, None, false),
        ("WMI_LOGGER_CONTEXT", "6.1-x64", 0, Some(100), false),
        ("WMI_TRACE_PACKET", "6.1-x64", 0, None, false),
        ("LARGE_INTEGER", "6.1-x86", 0, None, false),
        ("LARGE_INTEGER.u", "6.1-x86", 0, None, true),
        ("ETW_BUFFER_STATE", "1607-x64", 0, None, true),
        ("EVENT_TRACE_CLOCK", "6.1-x64", 0, Some(80), false),
    ] {
        let (build, arch) = at.rsplit_once('-').expect("BUILD-ARCH");
        let subject = Subject::find(&layouts, &registry, asked, Some(build), arch.parse().ok()).expect(asked).expanded(levels);
        let name = format!("show-{asked}-{at}{}", if levels > 0 { "-expanded" } else { "" });
        printed.push((format!("{name}.txt"), show::text(&layouts, &registry, &subject, width)));
        if json {
            printed.push((format!("{name}.json"), pretty(&show::json(&layouts, &registry, &subject)).expect("JSON")));
        }
    }
    let (own, seen) = branches();
    for (asked, json) in [("DEVICE", false), ("DEVICE.Owner", false), ("STATE", true)] {
        let history = history::of(&own, &seen, asked, None).expect(asked);
        printed.push((format!("history-{asked}.txt"), show::history::text(&history, &own)));
        if json {
            printed.push((format!("history-{asked}.json"), pretty(&show::history::json(&history, &own)).expect("JSON")));
        }
    }
    for (a, b, only, json) in [
        ("6.1.7601.17514-x64", "6.1.7601.24000-x64", None, false),
        ("late-6.0-x64", "6.1-x64", Some("WMI_BUFFER_HEADER"), true),
        ("6.3.9600.16384-x64", "6.3.9600.19913-x64", None, false),
        ("10.0.10586.0-x64", "10.0.14393.0-x64", None, false),
    ] {
        let [old, new] = sides(&layouts, &registry, [a, b], only).expect("targets");
        let found = changes(&old, &new);
        printed.push((format!("diff-{a}-{b}.txt"), diff::text(&old, &new, &found)));
        if json {
            printed.push((
                format!("diff-{a}-{b}.json"),
                pretty(&diff::json(&layouts.spec.axis, &old, &new, &found, &Verdict::of(&old, &new, &found))).expect("JSON"),
            ));
        }
    }
    for (at, only) in
        [("10.0.19041.1415-x64", None), ("6.1-x86", None), ("1709-x64", Some("ETW_HASH_BUCKET")), ("1709-x64", Some("LUID"))]
    {
        let (build, arch) = at.rsplit_once('-').expect("BUILD-ARCH");
        let axis = &layouts.spec.axis;
        let asked = subject::choose(axis, build, arch.parse().ok()).expect("a kernel");
        let choice = Choice::of(&layouts, &registry, asked, only);
        let map = Map::of(&layouts, choice.target(), only);
        let name = format!("map{}-{at}", only.map(|only| format!("-{only}")).unwrap_or_default());
        printed.push((format!("{name}.txt"), map::text(&map, axis, &choice, only.is_none(), None)));
        if only.is_some() {
            printed.push((format!("{name}.dot"), map::dot(&map, axis, &choice)));
        }
        if only == Some("LUID") {
            printed.push((format!("{name}.json"), pretty(&map::json(&map, axis, &choice)).expect("JSON")));
        }
    }
    printed.push(("schema.txt".to_owned(), schema::text(&layouts, &registry, (&own, &seen))));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for (name, text) in printed {
        let (path, text) = (folder.join(&name), anstream::adapter::strip_str(&text).to_string());
        if env::var_os("BLESS").is_some() {
            fs::write(&path, text).expect("golden files can be written");
        } else {
            let golden = fs::read_to_string(&path).unwrap_or_default();
            assert!(golden == text, "{name} differs from the output; run with BLESS=1 and review the diff\n{text}");
        }
    }
}

/// The names, offsets and bits that `show` prints equal those of every shipped table of the same kernel.
#[test]
fn shown_members_equal_those_of_symbol_tables() {
    let layouts = project().layouts().expect("the specs resolve");
    let registry = project().registry(&layouts.spec.axis).expect("the facts can be read");
    let axis = &layouts.spec.axis;
    let names = verify::names(&layouts, None).expect("all names");
    let wanted = names.iter().copied().collect();
    let (mut compared, mut seen) = (0, BTreeSet::new());
    for path in snapshots() {
        for table in tables::read(&path, axis, &wanted, &Stated::default()).expect("a shipped table") {
            // Kernels with the same row and the same facts have the same output.
            if !seen.insert((axis.at(table.build, table.arch), path.path().to_owned(), Arc::as_ptr(&table.types) as usize)) {
                continue;
            }
            let Build { number: [major, minor, build], revision } = table.build;
            let number = format!("{major}.{minor}.{build}.{revision}");
            for (name, definition) in table.types.iter() {
                let TypeFacts::Aggregate(aggregate) = definition else { continue };
                let subject =
                    Subject::find(&layouts, &registry, name, Some(&number), Some(table.arch)).expect("a known kernel has it");
                let shown = serde_json::to_value(show::json(&layouts, &registry, &subject)).expect("JSON");
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
                assert_eq!(ours, theirs, "{name} in {}", path.path().display());
                assert_eq!(shown["size"], aggregate.size, "{name} in {}", path.path().display());
                compared += members.len();
            }
        }
    }
    assert!(compared > 13_000, "{compared} members compared");
}

/// The differences from A to B are those from B to A with the sides exchanged. A kernel does not differ from its own symbol
/// table.
#[test]
fn differences_are_symmetric() {
    let layouts = project().layouts().expect("the specs resolve");
    let registry = project().registry(&layouts.spec.axis).expect("the facts can be read");
    let names: Vec<_> = layouts.by_target.ids().map(|target| layouts.spec.axis.target_name(target)).collect();
    for pair in names.windows(2) {
        mirrored(&layouts, [&pair[0], &pair[1]]);
    }
    for path in snapshots() {
        let path = path.path().display().to_string();
        let file = path.rsplit(['/', '\\']).next().unwrap_or_default();
        let own = file.trim_end_matches(tables::SNAPSHOT);
        // Images contain no complete structure.
        if own.ends_with("-images") || own.ends_with("-addresses") {
            continue;
        }
        mirrored(&layouts, ["6.1-x64", &path]);
        let [a, b] = sides(&layouts, &registry, [own.trim_end_matches("-2").trim_end_matches("-converted"), &path], None)
            .expect("a target and a table");
        let found = changes(&a, &b);
        let Changes { added, removed, moved, retyped, bits, constants, sizes } = &found;
        let all = [added, removed, moved, retyped, bits, constants, sizes].into_iter().flatten();
        // A table may lack a type that another table of the kernel has.
        assert!(all.into_iter().all(|entry| !b.types.contains_key(&entry.structure)), "{}", diff::text(&a, &b, &found));
        assert!(added.is_empty() && removed.len() < 500, "{}", diff::text(&a, &b, &found));
    }
}

/// Structures reported as equal in two kernels, also of different architectures, have members of equal sizes.
#[test]
fn structures_with_other_sizes_are_not_equal() {
    let layouts = project().layouts().expect("the specs resolve");
    let axis = &layouts.spec.axis;
    let pairs = layouts.by_target.ids().zip(layouts.by_target.ids().skip(1)).map(<[_; 2]>::from);
    for pair in pairs.chain([["6.1.7601.17514-x64", "6.0.6002.18005-x86"].map(|name| axis.find(name).expect(name).target)]) {
        let [a, b] = pair.map(|target| axis.target_name(target));
        let [old, new] = sides(&layouts, &Registry::default(), [&a, &b], None).expect("both exist");
        let found = changes(&old, &new);
        let differ: BTreeSet<_> = found.lists().iter().flat_map(|(_, list)| list.iter()).map(|entry| &entry.structure).collect();
        for name in layouts.spec.definitions.keys().filter(|name| !differ.contains(name)) {
            let [was, is] = pair.map(|target| {
                let sizes = members(&layouts, name, target).into_iter().filter_map(|member| Some((member.path?, member.size)));
                sizes.collect::<BTreeSet<_>>()
            });
            assert_eq!(was, is, "{name} in {a} and {b}");
        }
    }
}

fn mirrored(layouts: &Layouts, [a, b]: [&str; 2]) {
    let [there, back] = [[a, b], [b, a]].map(|asked| {
        let [a, b] = sides(layouts, &Registry::default(), asked, None).expect("both exist");
        changes(&a, &b)
    });
    let lines = |found: &Changes, exchange: bool| -> BTreeSet<String> {
        let name = |list: &'static str| match (exchange, list) {
            (true, "added") => "removed",
            (true, "removed") => "added",
            (_, list) => list,
        };
        let line = |list, entry: &etw_layouts_project::diff::Entry| {
            let (old, new) = if exchange { (&entry.b, &entry.a) } else { (&entry.a, &entry.b) };
            format!("{} {} {:?} {old:?} {new:?}", name(list), entry.structure, entry.member)
        };
        found.lists().iter().flat_map(|(list, entries)| entries.iter().map(|entry| line(*list, entry))).collect()
    };
    assert_eq!(lines(&there, false), lines(&back, true), "{a} and {b}");
}

fn snapshots() -> Vec<SymbolFile> {
    project().fact_files().expect("snapshots are shipped")
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The specs and facts of the workspace.
fn project() -> Project {
    Project::at(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
}
