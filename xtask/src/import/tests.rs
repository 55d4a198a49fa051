//! Kernels are taken out of the specs, and come back from their tables.

mod taken_out;

use super::*;
use etw_layouts_codegen::{read, resolve};
use etw_layouts_symbols::Types;
use std::collections::BTreeSet;
use taken_out::taken_out;

/// The specs and the tables that the project ships.
fn shipped() -> (Texts, Vec<Table>) {
    let layouts = project::layouts().expect("the specs are good");
    let names = verify::names(&layouts, None).expect("all names");
    let wanted: Wanted = names.into_iter().map(str::to_owned).collect();
    let files = tables::files(&[project::root().join(project::SNAPSHOTS)]).expect("snapshots are there");
    let read = |path: &PathBuf| tables::read(path, &layouts.spec.axis, &wanted, &Stated::default()).expect("a good snapshot");
    let tables = files.iter().flat_map(read).collect();
    (layouts.spec.sources.files().iter().map(|file| (file.path.clone(), file.text.clone())).collect(), tables)
}

fn layouts(texts: &Texts) -> Layouts {
    read(plan::sources(texts)).and_then(resolve).unwrap_or_else(|errors| panic!("{}", errors.render(false)))
}

fn imported(texts: &Texts, known: &[Table], new: &[Table]) -> Plan {
    let input = Input { texts, known, new, added: &[], folder: "specs" };
    plan(&input).unwrap_or_else(|error| panic!("{error}"))
}

/// What symbols can tell of a target, by the layouts.
fn facts(layouts: &Layouts, target: usize) -> Types {
    let names = verify::names(layouts, None).expect("all names");
    let here: Vec<_> = names.into_iter().filter(|name| layouts.why_not(name, target).is_none()).collect();
    verify::ours::types(layouts, target, &here)
}

/// The newest kernel of an axis that ends with it is taken out and imported back.
#[test]
fn round_trip() {
    let (texts, tables) = shipped();
    let axis = layouts(&texts).spec.axis;
    let only = std::env::var("ONLY").ok();
    let kernels: Vec<Build> = axis.kernels.iter().map(|k| k.build).collect();
    for (i, &build) in kernels.iter().enumerate() {
        if only.as_ref().is_some_and(|o| *o != build.to_string()) { continue; }
        let new: Vec<Table> = best(&tables, &[build]);
        if new.is_empty() || i < 9 {
            continue;
        }
        let newer: BTreeSet<Build> = kernels[i + 1..].iter().copied().collect();
        let from: BTreeSet<Build> = kernels[i..].iter().copied().collect();
        let truth = layouts(&taken_out(&texts, &newer));
        let before = taken_out(&texts, &from);
        layouts(&before);
        let known: Vec<Table> = best(&tables, &kernels[..i]);
        let input = Input { texts: &before, known: &known, new: &new, added: &[], folder: "specs" };
        let result = match plan(&input) { Ok(p) => p, Err(e) => { if let Ok(f) = std::env::var("DUMP") { let _ = f; } eprintln!("{build}: FAIL {}", e.to_string().chars().take(3000).collect::<String>()); continue; } };
        if std::env::var("SUM").is_ok() { eprint!("{}", report::summary(&before, &result)); }
        if std::env::var("DIFF").is_ok() { eprint!("{}", report::diff(&before, &result.texts)); }
        if let Err(error) = verified(&result.layouts, &known, &new) { eprintln!("{build}: {error}"); continue; }
        for table in &new {
            let ours = plan::find(&result.layouts.spec.axis, build, table.arch).expect("on the axis");
            let theirs = plan::find(&truth.spec.axis, build, table.arch).expect("on the axis");
            let (a, b) = (facts(&result.layouts, ours), facts(&truth, theirs));
            let diff: Vec<String> = etw_layouts_symbols::compare(&a, &b, etw_layouts_symbols::Rules::for_producer(&table.producer)).iter().chain(etw_layouts_symbols::compare(&b, &a, etw_layouts_symbols::Rules::for_producer(&table.producer)).iter()).flat_map(|r| r.differences.iter().map(move |d| format!("{} {d}", r.name))).collect();
            for d in &diff { eprintln!("   {d}"); }
            if a.keys().ne(b.keys()) { eprintln!("   keys differ {:?} {:?}", a.keys().filter(|k| !b.contains_key(*k)).collect::<Vec<_>>(), b.keys().filter(|k| !a.contains_key(*k)).collect::<Vec<_>>()); }
            if diff.is_empty() { eprintln!("{build} {} equal", table.arch) } else { eprintln!("{build} {} FACTS DIFFER", table.arch) }
        }
    }
}

/// The most faithful table of each target of some kernels.
fn best(tables: &[Table], builds: &[Build]) -> Vec<Table> {
    let mut found: BTreeMap<(Build, Arch), &Table> = BTreeMap::new();
    for table in tables.iter().filter(|table| builds.contains(&table.build)) {
        let slot = found.entry((table.build, table.arch)).or_insert(table);
        if !table.producer.starts_with("converted") {
            *slot = table;
        }
    }
    found.into_values().cloned().collect()
}
