//! The number of generated lines that a new build changes: a build with known layouts at any place on the axis, and a build that
//! changes structures.

use etw_layouts_codegen::axis::Arch;
use etw_layouts_codegen::emit::{Files, rust};
use etw_layouts_codegen::layouts::{Form, Layouts};
use etw_layouts_codegen::{Sources, compile};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Maximum number of lines that a build with known layouts changes, including its own module.
const KNOWN: usize = 25;
/// Maximum number of lines that a build with seven changed structures changes. Half of them are in `targets.rs`, because the new
/// types are in other sets.
const SEVEN: usize = 1_800;

#[test]
fn a_build_with_known_layouts() {
    let specs = specs();
    let old = layouts(&specs).unwrap();
    let files = rust::emit(&old, &rust::Options::default());
    let mut entered = 0;
    for row in rows(&specs) {
        let Ok(new) = layouts(&with_kernel(&specs, &row)) else { continue };
        // If a spec ends a range exactly at this build, its row alone does not give the new build known layouts.
        if new.layouts.len() != old.layouts.len() || sources(&new) != sources(&old) || !is_as_before(&new, &row) {
            continue;
        }
        let changed = changed(&files, &rust::emit(&new, &rust::Options::default()));
        println!("after {}: {} lines", row.build, changed.len());
        assert!(changed.len() < KNOWN, "{} lines after {}:\n{}", changed.len(), row.build, changed.join("\n"));
        entered += 1;
    }
    assert!(entered >= 15, "only {entered} places tried");
}

#[test]
fn a_build_that_changes_seven_structures() {
    let mut specs = specs();
    let old = layouts(&specs).unwrap();
    let row = rows(&specs).into_iter().find(|row| row.build == "10.0.10240.16384").expect("a kernel in the middle");
    specs = with_kernel(&specs, &row);
    // Structures that embed one of these change with it.
    for (path, member, ty, other) in [
        ("specs/etw/SYSTEM_TRACE_HEADER.toml", "KernelTime", "ULONG", "LONG"),
        ("specs/nt/DISPATCHER_HEADER.toml", "SignalState", "LONG", "ULONG"),
    ] {
        let text = specs.get_mut(path).expect("the spec");
        let at = text.find(&format!("name = \"{member}\",")).expect("the member");
        let at = at + text[at..].find("type = ").expect("a type");
        let old = format!("type = \"{ty}\"");
        assert!(text[at..].starts_with(&old), "{path}");
        text.replace_range(at..at + old.len(), &other_type(&row, ty, other));
    }
    let new = layouts(&specs).unwrap();

    let names: BTreeSet<_> = new.layouts.iter().map(|layout| layout.name.as_str()).collect();
    let count = |layouts: &Layouts, name: &str| layouts.layouts.iter().filter(|layout| layout.name == name).count();
    let other: Vec<_> = names.into_iter().filter(|name| count(&old, name) != count(&new, name)).collect();
    let emit = |layouts| rust::emit(layouts, &rust::Options::default());
    let changed = changed(&emit(&old), &emit(&new));
    println!("{} lines for {other:?}", changed.len());
    assert!(other.len() >= 7 && changed.len() < SEVEN, "{} lines for {other:?}", changed.len());
}

/// A member type that differs only at the build after a row.
fn other_type(row: &Row, ty: &str, other: &str) -> String {
    format!("type = {{ \"..{}\" = \"{ty}\", \"{}\" = \"{other}\", \"10.0.10240.17770..\" = \"{ty}\" }}", row.build, row.next())
}

/// The specs, by path.
fn specs() -> BTreeMap<String, String> {
    let sources = Sources::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs")).unwrap();
    let path = |path: &str| format!("specs/{}", path.rsplit_once("specs/").map_or(path, |(_, path)| path));
    sources.files().iter().map(|file| (path(&file.path), file.text.clone())).collect()
}

fn layouts(specs: &BTreeMap<String, String>) -> Result<Layouts, String> {
    let mut sources = Sources::default();
    specs.iter().for_each(|(path, text)| sources.add(path, text));
    compile(sources).map_err(|errors| errors.to_string())
}

/// Whether the build after a row has as many types as the build of the row.
fn is_as_before(layouts: &Layouts, row: &Row) -> bool {
    let axis = &layouts.spec.axis;
    let of = |build: &str, arch| axis.find_build(build, arch).ok().map(|asked| &layouts.by_target[asked.target]);
    Arch::ALL.into_iter().all(|arch| of(&row.next(), arch).map(BTreeMap::len) == of(&row.build, arch).map(BTreeMap::len))
}

/// The source of each member of each layout.
fn sources(layouts: &Layouts) -> Vec<&'static str> {
    let members = layouts.layouts.iter().filter_map(|layout| match &layout.form {
        Form::Aggregate(aggregate) => Some(aggregate.flat()),
        Form::Enumeration(_) => None,
    });
    members.flatten().map(|member| member.field.info.known()).collect()
}

/// A row of the axis as text.
struct Row {
    text: String,
    build: String,
}

impl Row {
    /// A build between this one and the next.
    fn next(&self) -> String {
        let mut numbers: Vec<u32> = self.build.split('.').map(|number| number.parse().unwrap()).collect();
        numbers.resize(4, 0);
        numbers[3] += 1;
        numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(".")
    }
}

fn rows(specs: &BTreeMap<String, String>) -> Vec<Row> {
    let build = |row: &str| Some(row.trim().strip_prefix("{ build = \"")?.split_once('"')?.0.to_owned());
    // A row ends with its brace, in the same line or in a later one.
    let rows =
        specs["specs/windows.toml"].split_inclusive("},\n").filter_map(|text| text.rfind("  { build = ").map(|at| &text[at..]));
    rows.filter_map(|row| Some(Row { text: row.trim_end().to_owned(), build: build(row)? })).collect()
}

/// The specs with a build added after a row, for the same architectures.
fn with_kernel(specs: &BTreeMap<String, String>, row: &Row) -> BTreeMap<String, String> {
    let architectures = row.text.find("architectures").map(|at| &row.text[at..=at + row.text[at..].find(']').unwrap()]);
    let architectures = architectures.map(|list| format!(", {list}")).unwrap_or_default();
    let new = format!("{}\n  {{ build = \"{}\", module = \"entered\"{architectures} }},", row.text, row.next());
    let mut specs = specs.clone();
    let axis = specs.get_mut("specs/windows.toml").unwrap();
    *axis = axis.replace(&row.text, &new);
    specs
}

/// Lines that only one side has, with their files.
fn changed(old: &Files, new: &Files) -> Vec<String> {
    let mut lines: BTreeMap<(&String, &str), i64> = BTreeMap::new();
    let of = |files| Files::iter(files).flat_map(|(path, text)| text.lines().map(move |line| (path, line))).collect::<Vec<_>>();
    of(old).into_iter().for_each(|line| *lines.entry(line).or_default() -= 1);
    of(new).into_iter().for_each(|line| *lines.entry(line).or_default() += 1);
    let sign = |count: i64| if count < 0 { '-' } else { '+' };
    let each = |((path, line), count): ((&String, &str), i64)| {
        std::iter::repeat_n(format!("{} {path}: {line}", sign(count)), count.unsigned_abs() as usize)
    };
    lines.into_iter().flat_map(each).collect()
}
