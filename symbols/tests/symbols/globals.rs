//! Addresses of global variables, from PDBs and from ISF tables.

use etw_layouts_symbols::{Symbols, Wanted, globals, read};
use std::collections::BTreeMap;
use test_support::installed;
use test_support::isf as fixture;
use test_support::pdb::{container, modules, record, streams, words};

const NAMES: [&str; 3] = ["EtwpDebuggerData", "WmipLoggerContext", "NtBuildNumber"];

/// A PDB with public symbols in two sections. If `moved`, a tool has moved code and data since linking.
fn pdb(moved: bool) -> Vec<u8> {
    let symbol = |text: &str, section: u16, offset: u32| {
        let content = [&words(&[2, offset])[..], &section.to_le_bytes(), text.as_bytes(), &[0]].concat();
        record(0x110E, &content)
    };
    let symbols = [
        record(0x1108, b"no public symbol"),
        symbol("_EtwpDebuggerData", 2, 0x10),
        symbol("Another", 1, 0),
        symbol("WmipLoggerContext", 1, 0x24),
        // This section does not exist.
        symbol("NtBuildNumber", 9, 0),
    ];
    let section = |address: u32| [&[0; 12][..], &words(&[address]), &[0; 24]].concat();
    let mut header = modules(0x8664);
    header[20..22].copy_from_slice(&5_u16.to_le_bytes());
    // Eight arbitrary bytes before the numbers of streams.
    header[24..28].copy_from_slice(&8_u32.to_le_bytes());
    header[48..52].copy_from_slice(&22_u32.to_le_bytes());
    header.extend([0; 8]);
    let mut others = [u16::MAX; 11];
    others[5] = 6;
    if moved {
        (others[4], others[10]) = (7, 8);
    }
    header.extend(others.iter().flat_map(|stream| stream.to_le_bytes()));
    let mut streams = streams();
    streams[3] = header;
    let map = words(&[0x1000, 0x9000, 0x1020, 0xA000, 0x2000, 0x7000, 0x2018, 0]);
    streams.extend([Vec::new(), symbols.concat(), [section(0x1000), section(0x2000)].concat(), map]);
    streams.push([section(0x1000), section(0x2000)].concat());
    container(&streams)
}

fn expected(pairs: &[(&str, u64)]) -> BTreeMap<String, u64> {
    pairs.iter().map(|(name, address)| ((*name).to_owned(), *address)).collect()
}

#[test]
fn of_program_databases() {
    let there = expected(&[("EtwpDebuggerData", 0x2010), ("WmipLoggerContext", 0x1024)]);
    assert_eq!(globals(&pdb(false), NAMES), Ok(there));
    let moved = expected(&[("EtwpDebuggerData", 0x7010), ("WmipLoggerContext", 0xA004)]);
    assert_eq!(globals(&pdb(true), NAMES), Ok(moved));
    // Reading the types also returns the addresses.
    let Ok(Symbols::Table(table)) = read(&pdb(true), &Wanted::from_iter(NAMES)) else { panic!("a table") };
    assert_eq!(table.globals, expected(&[("EtwpDebuggerData", 0x7010), ("WmipLoggerContext", 0xA004)]));
    // A PDB without an image has no addresses, and a damaged one does not cause a panic.
    assert_eq!(globals(&test_support::pdb::file(), NAMES), Ok(BTreeMap::new()));
    let whole = pdb(true);
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0xFF;
        let _ = globals(&damaged, NAMES);
    }
}

#[test]
fn of_tables() {
    let table = fixture::table().to_string();
    assert_eq!(globals(table.as_bytes(), NAMES), Ok(expected(&[("NtBuildNumber", 4096)])));
    let wanted = |names: &[&str]| match read(table.as_bytes(), &names.iter().copied().collect::<Wanted>()) {
        Ok(Symbols::Table(table)) => table.globals,
        other => panic!("{other:?}"),
    };
    assert_eq!([wanted(&NAMES), wanted(&["LOGGER"])], [expected(&[("NtBuildNumber", 4096)]), BTreeMap::new()]);
    let wrong = table.replace("\"address\":4096", "\"address\":\"here\"");
    assert!(globals(wrong.as_bytes(), NAMES).is_err_and(|error| error.to_string().contains("line")));
    // With two addresses, the intended one is unknown.
    let symbol = "\"NtBuildNumber\":{\"address\":4096}";
    assert!(table.contains(symbol), "{table}");
    let twice = table.replace(symbol, &format!("\"NtBuildNumber\":{{\"address\":1}},{symbol}"));
    assert!(globals(twice.as_bytes(), NAMES).is_err_and(|error| error.to_string().contains("duplicate key `NtBuildNumber`")));
    let sections = table.replacen('{', "{\"symbols\":{\"NtBuildNumber\":{\"address\":1}},", 1);
    assert!(globals(sections.as_bytes(), NAMES).is_err_and(|error| error.to_string().contains("duplicate field `symbols`")));
    assert!(globals(b"", NAMES).is_err() && globals(b"PK", NAMES).is_err());
}

/// Real files, if they are available.
#[test]
fn of_real_files() {
    let Some(folder) = installed::folder("ETW_LAYOUTS_SYMBOLS") else { return };
    let mut tables = 0;
    for entry in std::fs::read_dir(folder.join("isf")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "xz") {
            let found = globals(&std::fs::read(path).unwrap(), ["EtwpDebuggerData", "EtwPerfFreq"]).unwrap();
            assert_eq!(found.len(), 2);
            tables += 1;
        }
    }
    let mut kernels = 0;
    for entry in std::fs::read_dir(folder.join("pdb")).unwrap() {
        let path = entry.unwrap().path();
        let found = globals(&std::fs::read(&path).unwrap(), NAMES).unwrap_or_default();
        println!("{}: {found:#x?}", path.display());
        kernels += usize::from(found.contains_key("WmipLoggerContext"));
    }
    assert!(tables > 0 && kernels > 0);
}
