//! Builds are removed from the specs, and imported again from their tables.

mod arm64;
mod back;
mod hostile;
mod images;
mod taken_out;

use super::rows::find;
use super::*;
use back::back;
use etw_layouts_codegen::axis::{Arch, Axis, TargetId};
use etw_layouts_codegen::layouts::Form;
use etw_layouts_codegen::spec::{Body, Definition};
use etw_layouts_symbols::{Rules, TypeFacts, Types, compare};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::OnceLock;
use taken_out::taken_out;

/// The shipped tables, and the specs without structures that no table contains: an import cannot restore these.
fn shipped() -> (Texts, Vec<BuildTable>) {
    let project = project();
    let layouts = project.layouts().expect("the specs are good");
    let names = verify::names(&layouts, None).expect("all names");
    let wanted: Wanted = names.into_iter().map(str::to_owned).collect();
    let tables = project.tables(&layouts.spec.axis, &wanted).expect("good facts");
    let known = held(&layouts, &tables);
    let of = |(_, definition): (&String, &Definition)| layouts.spec.sources.index(definition.name.span);
    let unknown =
        |(name, definition): &(&String, &Definition)| matches!(definition.body, Body::Aggregate(_)) && !known.contains(*name);
    let without: BTreeSet<usize> = layouts.spec.definitions.iter().filter(unknown).map(of).collect();
    let files = layouts.spec.sources.files().iter().enumerate().filter(|(index, _)| !without.contains(index));
    // A removed structure can be the type of a global variable, so `globals.toml` is left out.
    let files = files.filter(|(_, file)| !file.path.ends_with("globals.toml"));
    (files.map(|(_, file)| (file.path.clone(), file.text.clone())).collect(), tables)
}

fn project() -> Project {
    Project::at(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
}

/// The types in the tables, and the types that they embed at any target.
fn held(layouts: &Layouts, tables: &[BuildTable]) -> BTreeSet<String> {
    let mut pending: Vec<&str> = tables.iter().flat_map(BuildTable::holds).map(String::as_str).collect();
    let mut held = BTreeSet::new();
    while let Some(name) = pending.pop() {
        if held.insert(name.to_owned()) {
            let own = layouts.layouts.iter().filter(|layout| layout.name == name);
            pending.extend(own.flat_map(|layout| match &layout.form {
                Form::Aggregate(aggregate) => layouts.used(aggregate),
                Form::Enumeration(_) => Vec::new(),
            }));
        }
    }
    held
}

fn layouts(texts: &Texts) -> Layouts {
    texts::layouts(texts).unwrap_or_else(|error| panic!("{error}"))
}

fn imported(texts: &Texts, known: &[BuildTable], new: &[BuildTable]) -> Plan {
    let input = Input { texts, known, new, added: &[], folder: "specs" };
    plan(&input).unwrap_or_else(|error| panic!("{error}"))
}

/// The layouts of a target, without types that symbols cannot contain.
fn facts(layouts: &Layouts, target: TargetId) -> Types {
    let names = verify::names(layouts, None).expect("all names");
    let here: Vec<_> = names.into_iter().filter(|name| layouts.unverifiable(name, target).is_none()).collect();
    verify::ours::types(layouts, target, &here)
}

/// A value of `ETW_GUID_TYPE` changes at this build, but no symbols contain the enumeration: only a published reference states
/// it.
const NOT_SHOWN: [u32; 3] = [10, 0, 10240];

/// All elements with `ETW_LAYOUTS_ALL`; otherwise every third, from the first on.
fn sample<T>(list: Vec<T>) -> Vec<T> {
    let step = if std::env::var_os("ETW_LAYOUTS_ALL").is_some() { 1 } else { 3 };
    list.into_iter().step_by(step).collect()
}

/// The newest build of a shortened axis is removed and imported again, for each build from Vista SP1 on. Symbols alone cannot
/// restore earlier ones: they do not show which members of an unnamed union belong together in types that only Vista has. A
/// service pack without changes has a row only because of its name. There are no symbols of releases before Vista.
#[test]
fn round_trip() {
    let (texts, tables) = shipped();
    let kernels: Vec<Build> = layouts(&texts).spec.axis.revisions.iter().map(|k| k.build).collect();
    let first = kernels.iter().position(|build| build.number == [6, 0, 6001]).expect("Vista SP1");
    sample((first..kernels.len()).rev().collect()).into_par_iter().for_each(|i| {
        let build = kernels[i];
        if build.number == NOT_SHOWN {
            return;
        }
        let new = best(&tables, &[build]);
        let truth = layouts(&taken_out(&texts, &kernels[i + 1..].iter().copied().collect()));
        let before = taken_out(&texts, &kernels[i..].iter().copied().collect());
        back(&before, &best(&tables, &kernels[..i]), &new, &truth);
    });
}

/// A build in the middle of the axis is removed and imported again. The builds before and after it do not change.
#[test]
fn round_trip_in_the_middle() {
    let (texts, tables) = shipped();
    let truth = layouts(&texts);
    let kernels: Vec<Build> = truth.spec.axis.revisions.iter().map(|k| k.build).collect();
    let names = [
        "6.1.7601.24000",
        "6.3.9600.19913",
        "10.0.10240.16384",
        "10.0.14393",
        "10.0.16299.15",
        "10.0.17134.1",
        "10.0.18362.693",
        "10.0.20348.469",
    ];
    sample(names.to_vec()).into_par_iter().for_each(|name| {
        let build = name.parse::<Build>().expect("a build");
        let others: Vec<Build> = kernels.iter().copied().filter(|other| *other != build).collect();
        let before = taken_out(&texts, &[build].into());
        back(&before, &best(&tables, &others), &best(&tables, &[build]), &truth);
    });
}

/// The order of imports does not matter, nor whether builds are imported together or one by one. A repeated import changes
/// nothing.
#[test]
fn any_order() {
    let (texts, tables) = shipped();
    let build = |text: &str| text.parse::<Build>().expect("a build");
    let kernels: Vec<Build> = layouts(&texts).spec.axis.revisions.iter().map(|k| k.build).collect();
    let builds: Vec<Build> = ["6.1.7601.24000", "6.3.9600.19913", "10.0.17134.1", "10.0.20348.469"].map(build).to_vec();
    let others: Vec<Build> = kernels.iter().copied().filter(|other| !builds.contains(other)).collect();
    let before = taken_out(&texts, &builds.iter().copied().collect());
    permuted(&before, &best(&tables, &others), &best(&tables, &builds));
    // Layouts that change back and forth: tables of old builds, labelled as builds that do not exist.
    let as_of = [
        ("6.3.9600.19913", Arch::X64, "10.0.26100.65000"),
        ("10.0.17763.107", Arch::X64, "10.0.26100.64000"),
        ("10.0.19041.1526", Arch::X64, "10.0.22621.65000"),
        ("10.0.16299.15", Arch::X86, "10.0.19041.65000"),
        ("10.0.17134.1", Arch::X64, "10.0.19041.65000"),
        ("10.0.18362.1", Arch::X64, "10.0.59999"),
    ];
    let new = as_of.map(|(from, arch, to)| {
        let table = best(&tables, &[build(from)]).into_iter().find(|table| table.arch == arch).expect("a table");
        BuildTable { build: build(to), ..table }
    });
    permuted(&texts, &best(&tables, &kernels), &new);
}

/// Imports six tables in several orders.
fn permuted(before: &Texts, others: &[BuildTable], new: &[BuildTable]) {
    assert_eq!(new.len(), 6);
    let at_once = imported(before, others, new);
    let all: Vec<BuildTable> = others.iter().chain(new).cloned().collect();
    verified(&at_once.layouts, &all, &[]).unwrap_or_else(|error| panic!("{error}"));
    assert_ne!(*before, at_once.texts);
    let orders = [[0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [2, 5, 0, 4, 1, 3]];
    orders.par_iter().for_each(|order| {
        let mut texts = before.clone();
        for table in order.iter().map(|&i| &new[i]) {
            texts = imported(&texts, &[], std::slice::from_ref(table)).texts;
        }
        verified(&layouts(&texts), &all, &[]).unwrap_or_else(|error| panic!("{order:?}: {error}"));
        let again = imported(&texts, &[], &new[..2]).texts;
        assert!(texts == again, "again\n{}", diff(&texts, &again));
    });
}

/// A revision with the known layouts of its build changes nothing. A revision before the row with its layouts moves the start of
/// that row, wherever the specs name it, unless a known revision between them has other layouts.
#[test]
fn known_layouts() {
    let (texts, tables) = shipped();
    let build = |text: &str| text.parse::<Build>().expect("a build");
    let as_of = |from: &str, to: &str| {
        let table = best(&tables, &[build(from)]).into_iter().find(|table| table.arch == Arch::X64).expect("a table");
        BuildTable { build: build(to), ..table }
    };
    let plan = imported(&texts, &tables, &[as_of("10.0.19041.985", "10.0.19041.1000")]);
    assert!(
        plan.texts == texts && plan.new.is_empty() && plan.moved.is_empty() && plan.same.len() == 1,
        "{}",
        diff(&texts, &plan.texts)
    );

    let earlier = as_of("6.1.7601.24000", "6.1.7601.23900");
    let plan = imported(&texts, &tables, std::slice::from_ref(&earlier));
    let moved = |text: &String| text.replace("6.1.7601.24000", "6.1.7601.23900").replace("win7_sp1_24000", "win7_sp1_23900");
    let renamed: Texts = texts.iter().map(|(path, text)| (path.clone(), moved(text))).collect();
    assert!(plan.texts == renamed && renamed != texts, "{}", diff(&renamed, &plan.texts));
    verified(&plan.layouts, &tables, std::slice::from_ref(&earlier)).unwrap_or_else(|error| panic!("{error}"));

    let known = [tables.clone(), vec![as_of("6.1.7601.17514", "6.1.7601.23950")]].concat();
    let plan = imported(&texts, &known, std::slice::from_ref(&earlier));
    verified(&plan.layouts, &known, &[earlier]).unwrap_or_else(|error| panic!("{error}"));
    let rows = plan.layouts.spec.axis.revisions.iter().filter(|kernel| kernel.build.number == [6, 1, 7601]);
    assert_eq!(rows.map(|kernel| kernel.build.revision).collect::<Vec<_>>(), [17514, 23418, 23900, 23950, 24000, 24540]);
}

/// Manual edits of an imported entry survive the next import.
#[test]
fn edited_by_hand() {
    let (texts, tables) = shipped();
    let [first, second, later] =
        ["10.0.19041.264", "10.0.19041.1415", "10.0.20348.1"].map(|text| text.parse::<Build>().expect("a build"));
    let kernels: Vec<Build> = layouts(&texts).spec.axis.revisions.iter().map(|k| k.build).collect();
    let before = taken_out(&texts, &kernels.iter().copied().filter(|build| *build >= first).collect());
    let known = best(&tables, &kernels.iter().copied().filter(|build| *build < first).collect::<Vec<_>>());
    let mut texts = imported(&before, &known, &best(&tables, &[first])).texts;
    let path = "specs/etw/WMI_LOGGER_CONTEXT.toml";
    let text = texts[path].replacen("{ name = \"BufferMdl\"", "# By hand.\n  { name = \"BufferMdl\"", 1);
    assert_ne!(texts[path], text);
    texts.insert(path.into(), text.clone());
    let known = [known, best(&tables, &[first])].concat();
    let new: Vec<_> = best(&tables, &[second]).into_iter().map(|table| BuildTable { build: later, ..table }).collect();
    let after = imported(&texts, &known, &new);
    verified(&after.layouts, &known, &new).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(after.texts[path], text);
}

/// A manually documented type is reused for the other architecture of the same build.
#[test]
fn edited_by_hand_between_architectures() {
    let (texts, tables) = shipped();
    let first = "10.0.19041.264".parse::<Build>().expect("a build");
    let kernels: Vec<Build> = layouts(&texts).spec.axis.revisions.iter().map(|k| k.build).collect();
    let mut texts = taken_out(&texts, &kernels.iter().copied().filter(|build| *build >= first).collect());
    let mut known = best(&tables, &kernels.iter().copied().filter(|build| *build < first).collect::<Vec<_>>());
    let path = "specs/etw/ETW_PARTITION_CONTEXT.toml";
    for arch in [Arch::X64, Arch::X86] {
        let new: Vec<_> = best(&tables, &[first]).into_iter().filter(|table| table.arch == arch).collect();
        let after = imported(&texts, &known, &new);
        verified(&after.layouts, &known, &new).unwrap_or_else(|error| panic!("{error}"));
        texts = after.texts;
        known.extend(new);
        if arch == Arch::X64 {
            texts.insert(path.into(), texts[path].replace(" },\n", ", doc = \"By hand.\" },\n"));
        }
    }
    let text = &texts[path];
    let once = ["name = \"Partition\""].iter().all(|part| text.matches(part).count() == 1);
    assert!(once, "{text}");
}

/// Builds are imported into empty specs.
#[test]
fn from_nothing() {
    let (texts, tables) = shipped();
    let scalars = texts.iter().filter(|(path, _)| path.ends_with("scalars.toml"));
    let mut before: Texts = scalars.map(|(path, text)| (path.clone(), text.clone())).collect();
    before.insert("specs/windows.toml".into(), "architectures = [\"x86\", \"x64\"]\n".into());
    let sets = [
        &["5.1.2600.5512"][..],
        &["6.1.7600.16385"],
        &["6.1.7601.24540", "6.2.9200.16384"],
        &["6.3.9600.19913"],
        &["10.0.17763.379", "10.0.19041.264"],
        &["10.0.19041.1415"],
    ];
    for builds in sets {
        let builds: Vec<Build> = builds.iter().map(|text| text.parse::<Build>().expect("a build")).collect();
        let new = best(&tables, &builds);
        let after = imported(&before, &[], &new);
        verified(&after.layouts, &[], &new).unwrap_or_else(|error| panic!("{error}"));
        assert!(after.layouts.get(TargetId::FIRST, "WMI_LOGGER_CONTEXT").is_some());
    }
}

/// A new structure can be added from a known build. A structure that no table contains is an error.
#[test]
fn added() {
    let project = Project::at(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    let layouts = project.layouts().expect("the specs are good");
    let known = std::fs::read_to_string(project.root.join("facts/10.0.19041.329-x64.facts")).expect("the newest facts");
    let folder = std::env::temp_dir().join(format!("etw-layouts-added-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let path = folder.join("known.facts");
    let kernels = known.matches("\nkernel ").count();
    std::fs::write(&path, known + "struct ZZ_NEWCOMER 0x8\n 0x0 Id u4\n 0x4 Flags u4\n").expect("a temporary file");
    let prepared = |added: &[String]| {
        let request = Request { symbols: std::slice::from_ref(&path), stated: &Stated::default(), added, is_confirmed: false };
        let import = prepare(&project, &layouts, &request)?;
        Ok::<_, Error>((import.known.len(), import.plan()?.map(|plan| plan.texts)))
    };
    let (known, plan) = prepared(&[]).expect("good symbols");
    assert!(known == kernels && plan.is_none());
    let error = prepared(&["ZZ_NEWCOMR".to_owned()]).expect_err("there is none").to_string();
    assert!(error.contains("known.facts; did you mean `ZZ_NEWCOMER`?"), "{error}");
    let (known, plan) = prepared(&["ZZ_NEWCOMER".to_owned()]).expect("good symbols");
    std::fs::remove_dir_all(&folder).expect("the temporary folder can be removed");
    let texts = plan.expect("it is new");
    let layouts = self::project().layouts().expect("the specs are good");
    let old: Texts = layouts.spec.sources.files().iter().map(|file| (file.path.clone(), file.text.clone())).collect();
    let changed: Vec<_> = texts.iter().filter(|(path, text)| old.get(*path) != Some(text)).collect();
    assert!(known == 0 && changed.len() == 1 && changed[0].0.ends_with("/ZZ_NEWCOMER.toml"), "{changed:?}");
    // The tables of other rows lack it.
    assert!(changed[0].1.contains("in     = \"2004 ..2021-05 x64\"\n"), "{}", changed[0].1);
}

/// For each target of some builds, its tables merged into one: faithful tables, or else converted ones. Tables of a row count as
/// tables of its first build.
fn best(tables: &[BuildTable], builds: &[Build]) -> Vec<BuildTable> {
    static AXIS: OnceLock<Axis> = OnceLock::new();
    // The initialization must not run parallel work: threads that wait for it could be needed for that work.
    let axis = AXIS.get_or_init(|| project().layouts().expect("the specs are good").spec.axis);
    let converted = |table: &BuildTable| Rules::for_producer(&table.producer) == Rules::Converted;
    let named = |table: &BuildTable| table.types.values().filter(|facts| matches!(facts, TypeFacts::Enumeration(_))).count();
    let row = |table: &BuildTable| {
        let target = axis.at(table.build, table.arch)?;
        [table.build, axis.revision_of(target).build].into_iter().find(|build| builds.contains(build))
    };
    let mut of: Vec<(Build, &BuildTable)> = tables.iter().filter_map(|table| Some((row(table)?, table))).collect();
    of.sort_by_key(|(_, table)| (converted(table), table.build, Reverse(named(table))));
    let mut found: BTreeMap<(Build, Arch), BuildTable> = BTreeMap::new();
    for (build, table) in of {
        let slot = found.entry((build, table.arch)).or_insert_with(|| BuildTable { build, ..table.clone() });
        if converted(slot) == converted(table) {
            slot.complete(table);
        }
    }
    found.into_values().collect()
}

/// The lines that differ.
fn diff(before: &Texts, after: &Texts) -> String {
    let paths: std::collections::BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let texts = |path: &String| [before, after].map(|texts| texts.get(path).map(String::as_str).unwrap_or_default());
    let one = |path: &String| {
        let [old, new] = texts(path);
        similar::TextDiff::from_lines(old, new).unified_diff().header(path, path).to_string()
    };
    paths.into_iter().map(one).collect()
}
