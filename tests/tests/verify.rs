//! Verification of the shipped tables, of edited tables, and of symbol files if they are available.

use etw_layouts_codegen::SelectedBy;
use etw_layouts_codegen::axis::{Arch, Build};
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_project::tables::{self, BuildTable, Stated, SymbolFile};
use etw_layouts_project::verify::{self, Outcome};
use etw_layouts_symbols::compare::Status;
use etw_layouts_symbols::{Aggregate, AggregateKind, Type, TypeFacts};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use test_support::installed;
use tests::{project, root};

fn layouts() -> Layouts {
    project().layouts().expect("the specs resolve")
}

/// The tables of symbols, without the facts from images.
fn shipped(layouts: &Layouts) -> Vec<BuildTable> {
    let names = verify::names(layouts, None).expect("all names");
    let wanted = names.iter().copied().collect();
    let files = project().fact_files().expect("snapshots are shipped");
    let read = |path: &SymbolFile| tables::read(path, &layouts.spec.axis, &wanted, &Stated::default()).expect("a shipped table");
    files.iter().flat_map(read).filter(|table| !table.is_partial()).collect()
}

#[test]
fn the_tables_of_all_examined_builds_agree() {
    let layouts = layouts();
    let names = verify::names(&layouts, None).expect("all names");
    let tables = shipped(&layouts);
    let checked: Vec<_> = tables.iter().map(|t| verify::compared(&layouts, &names, t).expect("a known kernel")).collect();
    for table in &checked {
        for (name, standing) in &table.structures {
            assert!(standing.differences.is_empty(), "{} {}: {name} differs", table.build, table.arch);
        }
    }
    assert!(verify::claims(&layouts, &names, &checked).is_empty());
    let contexts =
        checked.iter().filter(|t| t.structures["WMI_LOGGER_CONTEXT"].outcome == Outcome::Compared(Status::Equal)).count();
    assert!(contexts >= 43, "tables in which WMI_LOGGER_CONTEXT is equal: {contexts}, and an import only adds some");
}

/// Edits each kind of fact in a table. Each edit must be a difference in the structure that contains the fact.
#[test]
fn edited_tables_differ() {
    let layouts = layouts();
    let names = verify::names(&layouts, None).expect("all names");
    type Edit = fn(&mut TypeFacts);
    let edits: [(&str, &str, Edit); 6] = [
        ("WMI_BUFFER_HEADER", "size", |d| aggregate(d).size += 8),
        ("WMI_BUFFER_HEADER", "offset", |d| aggregate(d).members[3].offset += 4),
        ("WMI_BUFFER_HEADER", "type", |d| aggregate(d).members[0].ty = Type::Void),
        ("WMI_LOGGER_CONTEXT", "missing", |d| drop(aggregate(d).members.remove(7))),
        ("WMI_LOGGER_CONTEXT", "bits", |d| bits(d)),
        ("ETW_BUFFER_STATE", "constant", |d| match d {
            TypeFacts::Enumeration(e) => e.constants[1].1 += 1,
            TypeFacts::Aggregate(_) => panic!("an enumeration"),
        }),
    ];
    for (name, what, edit) in edits {
        let mut tables = shipped(&layouts);
        let table = tables.iter_mut().find(|t| t.build.revision == 1415).expect("the table of 10.0.19041.1415");
        edit(Arc::make_mut(&mut table.types).get_mut(name).expect("the table has the type"));
        let checked = verify::compared(&layouts, &names, table).expect("a known kernel");
        let found: Vec<_> = checked.structures[name].differences.iter().map(|d| d.kind.as_str()).collect();
        assert!(found.contains(&what), "{name} {what}: {found:?}");
        let place = checked.structures[name].differences[0].place.as_deref().unwrap_or_default();
        assert!(place.starts_with(&format!("specs/etw/{name}.toml:")), "{place}");
    }
}

/// The claims of specs about symbols must agree with the tables. A structure in a table must exist at that target and not be
/// called unverifiable; a structure in no table must be called unverifiable. A kernel needs no row of its own, but the first
/// kernel of a build does.
#[test]
fn claims_hold_in_both_directions() {
    let layouts = layouts();
    let names = verify::names(&layouts, None).expect("all names");
    let claims = |tables: &[BuildTable]| -> Vec<String> {
        let checked: Vec<_> = tables.iter().map(|t| verify::compared(&layouts, &names, t).expect("a known kernel")).collect();
        verify::claims(&layouts, &names, &checked).iter().map(|mismatch| mismatch.line()).collect()
    };
    let shipped = shipped(&layouts);
    let at = shipped.iter().position(|t| t.build.revision == 329).expect("the table of 10.0.19041.329");
    let mut tables = shipped.clone();
    tables[at].build.revision = 330;
    assert_eq!(claims(&tables), [""; 0]);

    let row = |table: &BuildTable| layouts.spec.axis.at(table.build, table.arch);
    let own = row(&shipped[at]);
    let lose = |table: &mut BuildTable| Arc::make_mut(&mut table.types).remove("WMI_LOGGER_CONTEXT");
    lose(&mut tables[at]);
    assert_eq!(claims(&tables), [""; 0], "another kernel of these layouts has it");
    tables.iter_mut().filter(|table| row(table) == own).for_each(|table| drop(lose(table)));
    assert_eq!(claims(&tables), [""; 0], "older and newer kernels have it");
    let build = shipped[at].build;
    tables.iter_mut().filter(|table| table.arch == Arch::X64 && table.build > build).for_each(|table| drop(lose(table)));
    let found = claims(&tables);
    let expected = "WMI_LOGGER_CONTEXT 10.0.19041.264-x64: no `unverifiable`, but no symbol table of its builds contains it";
    assert!(found.first().is_some_and(|line| line.contains(expected)), "{found:#?}");
    assert!(found.iter().all(|line| line.contains("no symbol table of its builds contains it")), "{found:#?}");

    let mut tables = shipped.clone();
    let (name, newest) = ("ETW_PARTITION_CONTEXT", &tables[at].types);
    let definition = newest.get(name).expect("the newest kernel has it").clone();
    let old = tables.iter_mut().find(|t| t.types.len() > 1 && !t.types.contains_key(name)).expect("an older kernel");
    Arc::make_mut(&mut old.types).insert(name.to_owned(), definition);
    let found = claims(&tables);
    assert!(found.len() == 1 && found[0].contains(&format!("{name} not at ")), "{found:#?}");

    let mut tables = shipped.clone();
    let unconfirmed = names.iter().find(|name| {
        let target = layouts.spec.axis.at(tables[at].build, Arch::X64).expect("a target");
        layouts.get(target, name).is_some() && layouts.unverifiable(name, target).is_some()
    });
    let name = (*unconfirmed.expect("some are in no symbols")).to_owned();
    let nothing = Aggregate { kind: AggregateKind::Struct, size: 0, members: Vec::new() };
    Arc::make_mut(&mut tables[at].types).insert(name.clone(), TypeFacts::Aggregate(nothing));
    let found = claims(&tables);
    assert!(found.len() == 1 && found[0].contains(&name) && found[0].contains("10.0.19041.329-x64 contains it"), "{found:#?}");

    let mut tables = shipped.clone();
    tables[at].build.number = [10, 0, 99999];
    let found = claims(&tables);
    let off_the_axis = found.iter().filter(|line| line.contains("no [[release]] for the build of 10.0.99999.329-x64"));
    // The table also contains structures that the newest kernel no longer has.
    assert!(off_the_axis.count() == 1 && found.iter().skip(1).all(|line| line.contains(" not at 10.0.99999")), "{found:#?}");

    let mut tables = shipped;
    tables[at].build.revision = 1;
    let found = claims(&tables);
    assert!(found.len() == 1 && found[0].contains("10.0.19041.264 is the first of its build"), "{found:#?}");
}

fn aggregate(definition: &mut TypeFacts) -> &mut etw_layouts_symbols::Aggregate {
    match definition {
        TypeFacts::Aggregate(aggregate) => aggregate,
        TypeFacts::Enumeration(_) => panic!("a structure"),
    }
}

fn bits(definition: &mut TypeFacts) {
    let field = aggregate(definition).members.iter_mut().find_map(|m| match &mut m.ty {
        Type::Bits { width, .. } => Some(width),
        _ => None,
    });
    *field.expect("a bit field") += 1;
}

/// Names of kernels, and the target that has the layouts of each.
#[test]
fn kernels_have_the_layouts_of_a_target() {
    let axis = layouts().spec.axis;
    let name = |text: &str| {
        let asked = axis.find(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        (axis.target_name(asked.target), asked.selected_by)
    };
    let first = |label: &str| axis.target_name(axis.find(label).expect("a label").target);
    assert_eq!(name("1709-x64"), (first("10.0.16299-x64"), SelectedBy::First(1)));
    assert_eq!(name("early-6.0-x86"), ("6.0.6000.16386-x86".into(), SelectedBy::First(1)));
    assert!(matches!(name("6.1-x86"), (target, SelectedBy::First(3..)) if target == "6.1.7600.16385-x86"));
    assert!(matches!(name("6.3.9600-x64"), (target, SelectedBy::First(2..)) if target == "6.3.9600.16384-x64"));
    assert_eq!(name("10.0.18363.1-x64"), ("10.0.18362.1-x64".into(), SelectedBy::Revision));
    assert_eq!(name("10.0.18362.0-x64"), ("10.0.18362.1-x64".into(), SelectedBy::Revision));
    assert_eq!(name("10.0.19045.1415-x64"), ("10.0.19041.985-x64".into(), SelectedBy::Revision));
    // A build that shares another build's kernel starts at its own first revision. A release name of two systems is ambiguous.
    for (text, build, row) in [
        ("10.0.19045-x64", "10.0.19045.2130", "10.0.19041.1826-x64"),
        ("10-22h2-x64", "10.0.19045.2130", "10.0.19041.1826-x64"),
        ("10.0.19044-x64", "10.0.19044.1288", "10.0.19041.985-x64"),
        ("10.0.19043-x86", "10.0.19043.985", "10.0.19041.985-x86"),
        ("1909-arm64", "10.0.18363.476", "10.0.18362.1-arm64"),
        ("23h2-x64", "10.0.22631.2428", "10.0.22621.382-x64"),
        ("11-22H2-x64", "10.0.22621.382", "10.0.22621.382-x64"),
    ] {
        let asked = axis.find(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!((asked.own.to_string(), axis.target_name(asked.target)), (build.to_owned(), row.to_owned()), "{text}");
        assert_ne!(asked.selected_by, SelectedBy::Revision, "{text}");
        assert_eq!(axis.build(build.rsplit_once('.').expect("a revision").0), Some(asked.own));
    }
    for (text, system) in [("22h2-x64", "`10-22H2` or `11-22H2`"), ("21H2-arm64", "`10-21H2` or `11-21H2`")] {
        assert!(axis.find(text).is_err_and(|error| error.contains(system)), "{text}");
    }
    assert_eq!(name("6.1.7601.20000-x64"), ("6.1.7601.17514-x64".into(), SelectedBy::Revision));
    assert_eq!(name("6.3.9600.65000-x64").0, "6.3.9600.19913-x64");
    // Between two builds, the layouts of the earlier release apply, not those of its updates: updates form a branch.
    assert_eq!(name("6.1.7602.1-x64"), ("6.1.7601.17514-x64".into(), SelectedBy::Revision));
    assert_eq!(name("10.0.18277.1000-x64"), (first("1809-x64"), SelectedBy::Revision));
    assert_eq!(name("5.1.2600-sp3-x86"), ("5.1.2600-sp3-x86".into(), SelectedBy::Revision));
    // If only a later revision of a build is known, the build number selects that revision.
    let mut later = axis.clone();
    later.revisions.last_mut().expect("a kernel").build = Build { number: [10, 0, 65000], revision: 1 };
    let name = |text: &str| later.find(text).map(|asked| (later.target_name(asked.target), asked.is_of_build(&later)));
    assert_eq!(name("10.0.65000-x64"), Ok(("10.0.65000.1-x64".into(), true)));
    assert_eq!(name("10.0.65000.0-x64"), Ok(("10.0.65000.1-x64".into(), false)));
    for range in ["6.1..6.3-x64", "6.1..-x64", "6.1, 6.2-x64"] {
        assert!(axis.find(range).is_err_and(|error| error.contains("is a range")), "{range}");
    }
    assert!(axis.find("-x64").is_err());
    assert!(axis.find("4.0.1381-x86").is_err_and(|error| error.contains("no such build: the oldest")));
    assert!(axis.find("1709").is_err());
    assert!(axis.find("1710-x64").unwrap_err().contains("1709"));
}

/// Snapshots of the symbol data are among the committed ones. Writing them changes no committed file.
#[test]
fn symbol_data_yields_the_committed_snapshots() {
    let Some(folder) = installed::folder("ETW_LAYOUTS_SYMBOLS") else { return };
    let out = std::env::temp_dir().join(format!("etw-layouts-snapshots-{}", std::process::id()));
    fs::create_dir_all(&out).expect("a temporary folder");
    // Start with all committed facts, because imports have added kernels that the symbol data lacks.
    for file in project().fact_files().expect("snapshots are shipped") {
        fs::copy(file.path(), out.join(file.path().file_name().unwrap_or_default())).expect("a temporary file");
    }
    let paths = vec![folder.join("isf"), folder.join("converted")];
    etw_layouts_project::facts::write(&project(), &paths, &Stated::default(), &out).expect("the symbol data can be read");
    let list = |folder: &PathBuf| -> Vec<(std::ffi::OsString, Vec<u8>)> {
        let mut files: Vec<_> = fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()).collect();
        files.retain(|file| file.extension().is_some_and(|end| end == "facts"));
        files.sort();
        files.iter().map(|f| (f.file_name().unwrap_or_default().to_owned(), fs::read(f).expect("a file"))).collect()
    };
    let (new, committed) = (list(&out), list(&root().join("facts")));
    fs::remove_dir_all(&out).expect("the temporary folder can be removed");
    let names = |files: &[(std::ffi::OsString, Vec<u8>)]| files.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&new), names(&committed));
    for ((name, new), (_, committed)) in new.iter().zip(&committed) {
        assert!(new == committed, "{} is not the same", name.display());
    }
}

/// A table that is labelled as another kernel is not stored.
#[test]
fn a_snapshot_refuses_a_wrongly_labelled_table() {
    let folder = std::env::temp_dir().join(format!("etw-layouts-labelled-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a temporary folder");
    let shipped = fs::read_to_string(root().join("facts/10.0.17763.379-x64.facts")).expect("a shipped table");
    let types = shipped.find("\nstruct ").expect("a type");
    let head: Vec<_> = shipped[..types].lines().filter(|line| !line.starts_with("kernel ") && !line.starts_with(' ')).collect();
    let snapshot = |label: &str| {
        let table = folder.join("table.facts");
        fs::write(&table, format!("{}\nkernel {label} -{}", head.join("\n"), &shipped[types..])).expect("a temporary file");
        let out = folder.join("out");
        let written = etw_layouts_project::facts::write(&project(), &[table], &Stated::default(), &out);
        (written.map_err(|error| error.to_string()), fs::read_dir(out).expect("a folder").count())
    };
    let wrong = snapshot("10.0.19041.329 x64");
    let right = snapshot("10.0.17763.379 x64");
    fs::remove_dir_all(&folder).expect("the temporary folder can be removed");
    let error = wrong.0.expect_err("it is of another kernel");
    assert!(
        error.contains("stated build 10.0.19041.329-x64, but has the layouts of 10.0.17763.107-x64; nothing was written"),
        "{error}"
    );
    assert_eq!(right.0.expect("it is of that kernel").files, 1);
    // The folders also contain the lock file.
    assert_eq!((wrong.1, right.1), (1, 2));
}
