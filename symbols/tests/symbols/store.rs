//! Real tables, if a folder of them is available.

use etw_layouts_symbols::compare::Status;
use etw_layouts_symbols::snapshot::Kernel;
use etw_layouts_symbols::{Arch, Offsets, Rules, Snapshot, compare, isf};
use std::path::{Path, PathBuf};
use test_support::installed;

#[test]
fn a_snapshot_keeps_every_fact_of_a_table() {
    let Some(folder) = installed::folder("ETW_LAYOUTS_SYMBOLS") else { return };
    let tables = tables(folder.as_ref());
    assert!(!tables.is_empty(), "no .json.xz below {}", folder.display());
    for path in tables {
        let input = std::fs::read(&path).unwrap();
        let table = isf::read(&input, &isf::Wanted::All).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let kernels = vec![Kernel {
            build: [10, 0, 0, 0],
            arch: table.arch.unwrap_or(Arch::X64),
            pdb: table.pdb,
            image: None,
            globals: table.globals,
        }];
        let snapshot = Snapshot { producer: table.producer, kernels, types: table.types, offsets: Offsets::new() };
        assert!(!snapshot.types.is_empty(), "{}", path.display());
        assert_eq!(Snapshot::parse(&snapshot.to_string()).as_ref(), Ok(&snapshot), "{}", path.display());
        let reports = compare(&snapshot.types, &snapshot.types, Rules::Faithful);
        assert!(reports.iter().all(|report| report.status == Status::Equal), "{}", path.display());
    }
}

fn tables(folder: &Path) -> Vec<PathBuf> {
    let mut tables = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            tables.extend(self::tables(&path));
        } else if path.to_str().is_some_and(|path| path.ends_with(".json.xz")) {
            tables.push(path);
        }
    }
    tables
}
