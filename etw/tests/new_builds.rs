//! New Windows builds: a changed copy of a shipped table is imported as the table of a new kernel.
//!
//! Each file of etw/tests/import has two parts, separated by a line of `=`. The first part has the changes of the table. The
//! second part is the output: the summary and the diff of the specs, or the error. `BLESS=1` updates the second part. The files
//! do not change when kernels of other builds than 10.0.19041 are imported.

use etw_layouts_cli::import::{diff, summary};
use etw_layouts_codegen::axis::Axis;
use etw_layouts_project::import::{Input, Texts, checked};
use etw_layouts_project::tables::{self, Stated, SymbolFile};
use etw_layouts_project::{Project, verify};
use etw_layouts_symbols::Wanted;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs};

const RULER: &str = "================\n";
/// The last kernel of a build with complete symbols, and a build number between it and the next build.
const LAST: &str = "10.0.19041.3324-x64.facts";
const KERNEL: &str = "kernel 10.0.19100.1 x64 -";
/// The base table of cases about another kernel of that build.
const FIRST: &str = "10.0.19041.329-x64.facts";

#[test]
fn new_builds_change_the_specs_as_expected() {
    let project = Project::at(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    let before = project.layouts().expect("the specs resolve");
    let texts: Texts = before.spec.sources.files().iter().map(|file| (file.path.clone(), file.text.clone())).collect();

    let wanted: Wanted = verify::names(&before, None).expect("all names").into_iter().collect();
    let known = project.tables(&before.spec.axis, &wanted).expect("the facts can be read");
    let [last, first] = [LAST, FIRST].map(|name| fs::read_to_string(project.root.join("facts").join(name)).expect("a table"));
    let scratch = env::temp_dir().join(format!("etw-layouts-new-builds-{}", std::process::id()));
    fs::create_dir_all(&scratch).expect("a temporary folder");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/import");
    let mut cases: Vec<_> = fs::read_dir(&folder).expect("cases").map(|entry| entry.expect("a case").path()).collect();
    cases.sort();
    let wrong = cases.par_iter().filter_map(|path| {
        let case = fs::read_to_string(path).expect("a case");
        let (edits, golden) = case.split_once(RULER).unwrap_or((&case, ""));
        let table = scratch.join(path.with_extension("facts").file_name().expect("a name"));
        let beside_first = edits.lines().any(|line| line.starts_with("kernel 10.0.19041."));
        fs::write(&table, edited(if beside_first { &first } else { &last }, edits)).expect("a temporary file");
        let new = tables::read(&SymbolFile::on_disk(table), &before.spec.axis, &wanted, &Stated::default())
            .unwrap_or_else(|e| panic!("{e}"));
        let input = Input { texts: &texts, known: &known, new: &new, added: &[], folder: "specs" };
        let seen = match checked(&input) {
            Ok(plan) => summary(&texts, &plan).expect("a plan") + &diff(&texts, &plan.texts),
            Err(error) => format!("error: {error}\n"),
        };
        let seen = anstream::adapter::strip_str(&seen).to_string().replace(&format!("{}/", scratch.display()), "");
        let seen: String = seen.lines().map(|line| stable(&before.spec.axis, line) + "\n").collect();
        if env::var_os("BLESS").is_some() {
            fs::write(path, format!("{edits}{RULER}{seen}")).expect("golden files can be written");
            return None;
        }
        let differs = seen != golden;
        differs.then(|| format!("{}\n{seen}", path.display()))
    });
    let wrong: Vec<_> = wrong.collect();
    fs::remove_dir_all(&scratch).expect("the temporary folder can be removed");
    assert!(wrong.is_empty(), "run with BLESS=1 and review the diff\n{}", wrong.join("\n"));
}

/// Removes the parts of a line that change with the import of other builds or with longer descriptions: line numbers, and the
/// parts of ranges that end before the builds of the cases.
fn stable(axis: &Axis, line: &str) -> String {
    let line = line.split_once(".toml:").map_or(line.to_owned(), |(place, _)| format!("{place}.toml"));
    let line = line.as_str();
    let reaches = |part: &str| part.ends_with("..") || ["10.0.19", "2004", "191"].iter().any(|own| part.contains(own));
    let is_part = |part: &str| reaches(part) || part.starts_with("no ") || axis.scope(part).is_ok();
    // Labels and rows of kernels stay.
    let is_scope = |text: &str| !line.contains("build = ") && text.contains('.') && text.split(", ").all(is_part);
    let scope = |text: &str| {
        let mut parts: Vec<&str> =
            text.split(", ").map(|part| if reaches(part) || part.starts_with("no ") { part } else { "…" }).collect();
        parts.dedup();
        parts.join(", ")
    };
    if line.starts_with("@@ ") {
        return "@@".into();
    }
    let pieces = line.split('"').enumerate();
    let pieces = pieces.map(|(at, piece)| if at % 2 == 1 && is_scope(piece) { scope(piece) } else { piece.to_owned() });
    let mut line = pieces.collect::<Vec<_>>().join("\"");
    // Remove table entries that only apply to such builds.
    while let Some(start) = line.find(", \"…\" = \"") {
        let rest = start + ", \"…\" = \"".len();
        let Some(end) = line[rest..].find('"') else { break };
        line.replace_range(start..rest + end + 1, "");
    }
    line
}

/// The table of another kernel, with some lines changed. `kernel` lines replace the usual kernel.
///
/// `[NAME]` begins the changes of a type: `- line` removes a line and `+ line` inserts one; `> 0x10 0x8` moves members from 0x10
/// on, and the end, by 8 bytes. `- *` removes the whole type.
fn edited(table: &str, edits: &str) -> String {
    let mut head = Vec::new();
    let mut types: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut current = None;
    for line in table.lines() {
        match (line.starts_with(' '), current) {
            (true, Some(name)) => types.get_mut(name).expect("a type").push(line.to_owned()),
            // Addresses of variables belong to one kernel only.
            (true, None) => {}
            _ if line.starts_with("kernel ") => {}
            _ => match line.split(' ').collect::<Vec<_>>()[..] {
                ["struct" | "union" | "enum", name, _] => {
                    current = Some(name);
                    types.insert(name, vec![line.to_owned()]);
                }
                _ => head.push(line),
            },
        }
    }
    let mut name = "";
    let mut kernels = Vec::new();
    for line in edits.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if line.starts_with("kernel ") {
            kernels.push(line);
            continue;
        }
        let lines = types.entry(name).or_default();
        match line.split_at(2) {
            ("- ", "*") => lines.clear(),
            ("- ", old) => {
                let at = lines.iter().position(|line| line.trim_start() == old);
                lines.remove(at.unwrap_or_else(|| panic!("{name} has no line {old}")));
            }
            ("+ ", new) if lines.is_empty() => lines.push(new.to_owned()),
            ("+ ", new) if ["struct ", "union ", "enum "].iter().any(|word| new.starts_with(word)) => lines[0] = new.to_owned(),
            ("+ ", new) => lines.push(format!(" {new}")),
            ("> ", moved) => {
                let (from, by) = moved.split_once(' ').expect("from and by");
                shift(lines, number(from), number(by));
            }
            _ => name = line.trim_matches(['[', ']']),
        }
    }
    if kernels.is_empty() {
        kernels.push(KERNEL);
    }
    let types = types.into_values().flatten();
    head.into_iter().chain(kernels).map(str::to_owned).chain(types).map(|line| line + "\n").collect()
}

fn shift(lines: &mut [String], from: i64, by: i64) {
    for (i, line) in lines.iter_mut().enumerate().filter(|(_, line)| !line.starts_with("  ")) {
        let mut words: Vec<_> = line.split(' ').map(str::to_owned).collect();
        let place = if i == 0 { words.len() - 1 } else { 1 };
        let offset = number(&words[place]);
        if offset >= from {
            words[place] = format!("{:#x}", offset + by);
            *line = words.join(" ");
        }
    }
}

fn number(text: &str) -> i64 {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    sign * i64::from_str_radix(digits.trim_start_matches("0x"), 16).unwrap_or_else(|_| panic!("{text} is not a number"))
}
