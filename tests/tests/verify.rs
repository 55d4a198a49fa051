//! Verification: of the shipped tables, of edited ones, of symbol files where they are at hand.

use etw_layouts_codegen::axis::{Arch, Build};
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_symbols::{Definition, Type};
use std::fs;
use std::path::PathBuf;
use xtask::tables::{self, Stated, Table};
use xtask::{project, verify};

fn layouts() -> Layouts {
    project::layouts().expect("the specs resolve")
}

fn shipped(layouts: &Layouts) -> Vec<Table> {
    let names = verify::names(layouts, None).expect("all names");
    let wanted = names.iter().copied().collect();
    let files = tables::files(&[project::root().join(project::SNAPSHOTS)]).expect("snapshots are shipped");
    let read = |path: &PathBuf| tables::read(path, &layouts.spec.axis, &wanted, &Stated::default()).expect("a shipped table");
    files.iter().flat_map(read).collect()
}

#[test]
fn every_seen_kernel_has_a_table_that_agrees() {
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
    let contexts = checked.iter().filter(|t| t.structures["WMI_LOGGER_CONTEXT"].status == "equal").count();
    assert!(contexts >= 43, "tables in which WMI_LOGGER_CONTEXT is equal: {contexts}, and an import only adds some");
}

/// Each sort of fact in a table, edited, is a difference in the structure that it belongs to.
#[test]
fn edited_tables_differ() {
    let layouts = layouts();
    let names = verify::names(&layouts, None).expect("all names");
    type Edit = fn(&mut Definition);
    let edits: [(&str, &str, Edit); 6] = [
        ("WMI_BUFFER_HEADER", "size", |d| aggregate(d).size += 8),
        ("WMI_BUFFER_HEADER", "offset", |d| aggregate(d).members[3].offset += 4),
        ("WMI_BUFFER_HEADER", "type", |d| aggregate(d).members[0].ty = Type::Void),
        ("WMI_LOGGER_CONTEXT", "missing", |d| drop(aggregate(d).members.remove(7))),
        ("WMI_LOGGER_CONTEXT", "bits", |d| bits(d)),
        ("ETW_BUFFER_STATE", "constant", |d| match d {
            Definition::Enumeration(e) => e.constants[1].1 += 1,
            Definition::Aggregate(_) => panic!("an enumeration"),
        }),
    ];
    for (name, what, edit) in edits {
        let mut tables = shipped(&layouts);
        let table = tables.iter_mut().find(|t| t.build.revision == 1415).expect("the table of 10.0.19041.1415");
        edit(table.types.get_mut(name).expect("the table has the type"));
        let checked = verify::compared(&layouts, &names, table).expect("a known kernel");
        let found: Vec<_> = checked.structures[name].differences.iter().map(|d| d.what.as_str()).collect();
        assert!(found.contains(&what), "{name} {what}: {found:?}");
        let place = checked.structures[name].differences[0].place.as_deref().unwrap_or_default();
        assert!(place.starts_with(&format!("specs/etw/{name}.toml:")), "{place}");
    }
}

/// A table of a build that is no kernel of the axis agrees with the nearest one, and confirms nothing of it; one that holds
/// what the specs do not have there is a finding too.
#[test]
fn claims_need_tables_of_their_own_kernel() {
    let layouts = layouts();
    let names = verify::names(&layouts, None).expect("all names");
    let claims = |tables: &[Table]| -> Vec<String> {
        let checked: Vec<_> = tables.iter().map(|t| verify::compared(&layouts, &names, t).expect("a known kernel")).collect();
        verify::claims(&layouts, &names, &checked).iter().map(|finding| finding.line()).collect()
    };
    let mut tables = shipped(&layouts);
    let at = tables.iter().position(|t| t.build.revision == 1415).expect("the table of 10.0.19041.1415");
    tables[at].build.revision = 1416;
    let found = claims(&tables);
    let has = |text: &str| found.iter().any(|line| line.contains(text));
    assert!(has("no kernel 10.0.19041.1416-x64") && has("WMI_LOGGER_CONTEXT 10.0.19041.1415-x64: verified"), "{found:#?}");
    tables[at].build.revision = 1415;
    let (name, newest) = ("ETW_PARTITION_CONTEXT", &tables[at].types);
    let definition = newest.get(name).expect("the newest kernel has it").clone();
    let old = tables.iter_mut().find(|t| t.types.len() > 1 && !t.types.contains_key(name)).expect("an older kernel");
    old.types.insert(name.to_owned(), definition);
    let found = claims(&tables);
    assert!(found.len() == 1 && found[0].contains(&format!("{name} not at ")), "{found:#?}");
}

fn aggregate(definition: &mut Definition) -> &mut etw_layouts_symbols::Aggregate {
    match definition {
        Definition::Aggregate(aggregate) => aggregate,
        Definition::Enumeration(_) => panic!("a structure"),
    }
}

fn bits(definition: &mut Definition) {
    let field = aggregate(definition).members.iter_mut().find_map(|m| match &mut m.ty {
        Type::Bits { width, .. } => Some(width),
        _ => None,
    });
    *field.expect("a bit field") += 1;
}

#[test]
fn builds_between_and_beyond_known_kernels_say_so() {
    let axis = layouts().spec.axis;
    let name = |text: &str| {
        let choice = axis.find(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        (axis.target_name(choice.target), choice.note.is_some())
    };
    assert_eq!(name("1709-x64"), ("10.0.16299-x64".into(), false));
    assert_eq!(name("early-6.0-x86"), ("6.0.6000-x86".into(), false));
    assert_eq!(name("10.0.19045.329-x64"), ("10.0.19041.329-x64".into(), false));
    assert_eq!(name("10.0.19041.330-x64"), ("10.0.19041.329-x64".into(), true));
    let newest = (0..axis.targets.len()).rfind(|&t| axis.targets[t].arch == Arch::X64).expect("a target");
    assert_eq!(name("10.0.65000.1-x64"), (axis.target_name(newest), true));
    assert_eq!(name("5.1.2600-sp3-x86"), ("5.1.2600-sp3-x86".into(), false));
    assert!(axis.find("4.0.1381-x86").is_err());
    assert!(axis.find("1709").is_err());
    assert!(axis.find("1710-x64").unwrap_err().contains("1709"));
    let build = Build { number: [10, 0, 19041], revision: 329 };
    assert_eq!(axis.find_build(&build.to_string(), Arch::X64).map(|c| c.note), Ok(None));
}

/// Snapshots of the symbol data are among the committed ones, which they leave as they are, byte for byte.
#[test]
fn symbol_data_gives_the_committed_snapshots() {
    let Some(folder) = std::env::var_os("ETW_LAYOUTS_SYMBOLS").map(PathBuf::from) else {
        println!("skipped: ETW_LAYOUTS_SYMBOLS is not set");
        return;
    };
    let out = std::env::temp_dir().join(format!("etw-layouts-snapshots-{}", std::process::id()));
    fs::create_dir_all(&out).expect("a temporary folder");
    // An import has added kernels that the symbol data has not.
    for file in tables::files(&[project::root().join(project::SNAPSHOTS)]).expect("snapshots are shipped") {
        fs::copy(&file, out.join(file.file_name().unwrap_or_default())).expect("a temporary file");
    }
    let paths = vec![folder.join("isf"), folder.join("converted")];
    xtask::snapshot::write(&paths, &Stated::default(), &out).expect("the symbol data can be read");
    let list = |folder: &PathBuf| -> Vec<(std::ffi::OsString, Vec<u8>)> {
        let mut files: Vec<_> = fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()).collect();
        files.sort();
        files.iter().map(|f| (f.file_name().unwrap_or_default().to_owned(), fs::read(f).expect("a file"))).collect()
    };
    let (new, committed) = (list(&out), list(&project::root().join(project::SNAPSHOTS)));
    fs::remove_dir_all(&out).expect("the temporary folder can be removed");
    let names = |files: &[(std::ffi::OsString, Vec<u8>)]| files.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&new), names(&committed));
    for ((name, new), (_, committed)) in new.iter().zip(&committed) {
        assert!(new == committed, "{} is not the same", name.display());
    }
}
