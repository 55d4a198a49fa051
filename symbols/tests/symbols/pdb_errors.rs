//! Errors for inputs that are not a PDB, and for damaged PDBs.

use crate::pdb::msfz;
use etw_layouts_symbols::pdb::{self, Error};
use etw_layouts_symbols::{SymbolTable, Wanted};
use std::path::Path;
use test_support::installed;
use test_support::pdb::{container, file, information, modules, record, streams, type_stream, words};

fn logger(input: &[u8]) -> Result<SymbolTable, Error> {
    pdb::read(input, &Wanted::from_iter(["LOGGER"]))
}

fn message(input: &[u8]) -> String {
    logger(input).unwrap_err().to_string()
}

/// A file with these type records, the last of which is `LOGGER`.
fn records(records: &[Vec<u8>]) -> Vec<u8> {
    let mut streams = streams();
    streams[2] = type_stream(20_040_203, records);
    container(&streams)
}

/// A structure with the members of a list.
fn structure(name: &str, list: u32) -> Vec<u8> {
    record(0x1505, &[&[0; 4], &words(&[list, 0, 0])[..], &[8, 0], name.as_bytes(), &[0]].concat())
}

/// A list of one member with a type.
fn list(ty: u32) -> Vec<u8> {
    record(0x1203, &[&[0x0D, 0x15, 3, 0], &words(&[ty])[..], &[0, 0], b"Member\0"].concat())
}

#[test]
fn inputs_that_are_not_supported() {
    let with = |features: &[[u8; 4]], machine, types: &[u8]| {
        let streams = [vec![], information(features), types.to_vec(), modules(machine)];
        container(&streams)
    };
    let mut unknown = msfz();
    unknown[60] = 2;
    let mut version = msfz();
    version[32] = 1;
    let whole = file();
    let cases: [(&[u8], &str); 17] = [
        (b"", "empty file"),
        (b"{}", "not a program database"),
        (b"MZ\x90\0", "program or library"),
        (b"MSCF\0\0\0\0", "CAB-compressed symbol file"),
        (b"BSJB\x01\0", "Portable PDB"),
        (b"Microsoft C/C++ program", "PDB truncated after 23 bytes"),
        (b"Microsoft C/C++ compiled header, precompiled by version 14\r\n", "not a program database"),
        (&whole[..40], "PDB truncated after 40 bytes"),
        (&whole[..whole.len() - 1], "truncated PDB, 10239 of 10240 bytes"),
        (&msfz()[..70], "PDB truncated after 70 bytes"),
        (&with(&[*b"MINI"], 0x8664, &[]), "PDB linked with /DEBUG:FASTLINK"),
        (&with(&[], 0xC0EE, &[]), "Windows PDB of a .NET assembly"),
        (&with(&[], 0x8664, &type_stream(20_040_203, &[])), "PDB without types"),
        (b"Microsoft C/C++ program database 2.00\r\n\x1aJG\0\0", "unsupported PDB in MSF 2.00"),
        (&with(&[], 0x8664, &type_stream(19_950_410, &[])), "unsupported PDB with types of version 19950410"),
        (&unknown, "unsupported PDB with MSFZ compression 2"),
        (&version, "unsupported PDB with MSFZ version 1"),
    ];
    for (input, expected) in cases {
        let message = message(input);
        assert!(message.starts_with(expected), "{message}, not {expected}");
        assert!(message.contains("; "), "no remedy in {message}");
    }
}

/// Each of these would make `pdb2` panic, recurse endlessly, or allocate without limit.
#[test]
fn invalid_records_are_not_passed_to_pdb2() {
    let nested = record(0x1203, &[0x03, 0x12].repeat(30_000));
    let number = record(0x1203, &[&[0x0D, 0x15, 3, 0], &words(&[0x22])[..], &[0x05, 0x80], b"Member\0"].concat());
    let pointer = |attributes| record(0x1002, &words(&[0x22, attributes]));
    let named_array = record(0x1503, &[&words(&[0x22, 0x23])[..], &[8, 0], b"Name\0"].concat());
    let shape = record(0x000A, &[1, 0, 0xFF, 0]);
    let endless = record(0x1203, &[&[0x04, 0x14, 0, 0][..], &words(&[0x1000])].concat());
    let itself = record(0x1001, &[&words(&[0x1000])[..], &[0, 0]].concat());
    let array = record(0x1503, &[&words(&[0x22, 0x23])[..], &[7, 0, 0]].concat());
    let cases = [
        (nested, 0, "type 0x1000 is malformed"),
        (number, 0, "type 0x1000 is malformed"),
        (pointer(0x1F), 1, "type 0x1000 is malformed"),
        (pointer(0xEC), 1, "type 0x1000 is malformed"),
        (named_array, 1, "type 0x1000 is malformed"),
        (endless, 0, "unnamed types repeat endlessly"),
        (itself, 1, "nests types more than 64 levels deep"),
        (array, 1, "is not a whole number of elements"),
    ];
    for (bad, through_member, expected) in cases {
        let member = if through_member == 1 { list(0x1000) } else { record(0x1203, &[]) };
        let input = records(&[bad, member, structure("_LOGGER", 0x1000 + through_member)]);
        let message = message(&input);
        assert!(message.contains(expected), "{message}, not {expected}");
    }
    // A malformed record that no member uses does no harm, and a record that the model does not represent is an unknown type.
    assert!(logger(&records(&[shape, list(0x1000), structure("_LOGGER", 0x1001)])).is_ok());

    let announced = |at: usize, value: u32| {
        let mut streams = streams();
        streams[2][at..at + 4].copy_from_slice(&words(&[value]));
        message(&container(&streams))
    };
    assert!(announced(4, 0x4000).contains("the header of its types is invalid"));
    assert!(announced(8, u32::MAX - 1).contains("the header of its types is invalid"));
    assert!(announced(12, u32::MAX).contains("states the end 0xffffffff"));
    assert!(announced(16, u32::MAX).contains("its types are truncated"));
}

#[test]
fn definitions_that_disagree() {
    let two = [list(0x22), structure("_LOGGER", 0x1000), record(0x1203, &[]), structure("LOGGER", 0x1002)];
    assert_eq!(logger(&records(&two)), Err(Error::Ambiguous { name: "LOGGER".into() }));
    // A selection of all types still returns the other types.
    let all = pdb::read(&records(&[&two[..], &[structure("_OTHER", 0x1000)]].concat()), &Wanted::All).unwrap();
    assert_eq!(all.types.into_keys().collect::<Vec<_>>(), ["OTHER"]);
}

/// Each level contains the one below twice, so that the number of members doubles.
#[test]
fn repetition_is_bounded() {
    let mut doubling = vec![record(0x1203, &[])];
    for level in 0..25 {
        let below = 0x1000 + 2 * level;
        doubling.push(structure("__unnamed", below));
        let twice = [&list(below + 1)[4..], &list(below + 1)[4..]].concat();
        doubling.push(record(0x1203, &twice));
    }
    doubling.push(structure("_LOGGER", 0x1000 + 50));
    assert_eq!(logger(&records(&doubling)), Err(Error::TooLarge));
}

/// Each use of a record costs its bytes, including padding and names.
#[test]
fn work_is_bounded() {
    let wide = |references: usize, ty: u32| {
        let member = &list(ty)[4..];
        record(0x1203, &member.repeat(references))
    };
    let padded = record(0x1203, &[&list(0x22)[4..], &[0xF1; 60_000]].concat());
    let name = "N".repeat(60_000);
    // Unnamed structures with the padded list, or members of a type with a long name.
    let unnamed = [padded, structure("__unnamed", 0x1000), wide(2000, 0x1001), structure("_LOGGER", 0x1002)];
    let named = [structure(&name, 0), wide(2000, 0x1000), structure("_LOGGER", 0x1001)];
    for records in [self::records(&unnamed), self::records(&named)] {
        assert_eq!(logger(&records), Err(Error::TooLarge));
    }
}

/// A directory that assigns one page to a stream many times, and a chunk that states an impossible unpacked size.
#[test]
fn memory_is_bounded() {
    let mut repeated = file();
    let page = |file: &[u8], at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize * 1024;
    let directory = page(&repeated, page(&repeated, 52));
    // The fourth size is that of the type stream; the pages follow the sizes.
    repeated[directory + 12..directory + 16].copy_from_slice(&words(&[200 * 1024]));
    let pages = directory + 20;
    for at in (pages..directory + 1000).step_by(4) {
        repeated[at..at + 4].copy_from_slice(&words(&[3]));
    }
    repeated[44..48].copy_from_slice(&words(&[1000]));
    assert!(matches!(logger(&repeated), Err(Error::Damaged { .. })));
    let mut claims = msfz();
    let chunks = page(&claims, 48) / 1024;
    claims[chunks + 16..chunks + 20].copy_from_slice(&words(&[u32::MAX]));
    assert!(message(&claims).contains("more than 100 times as large"));
}

/// Changed bytes at pseudo-random places, and every prefix.
#[test]
fn no_damage_panics() {
    let wanted = [Wanted::All, Wanted::from_iter(["LOGGER"])];
    for whole in [file(), msfz()] {
        let mut state = 0x2545_F491_4F6C_DD1D_u64;
        let mut random = |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % below as u64) as usize
        };
        // Places in used parts of pages; most bytes are unused.
        let used: Vec<_> = (0..whole.len()).filter(|&at| whole[at] != 0 || at % 16 == 0).collect();
        for round in 0..4000 {
            let mut damaged = whole.clone();
            for _ in 0..1 + random(4) {
                let at = used[random(used.len())];
                damaged[at] = if round % 2 == 0 { random(256) as u8 } else { damaged[at] ^ (1 << random(8)) };
            }
            let _ = pdb::read(&damaged, &wanted[round % 2]);
        }
        for end in 0..whole.len() {
            if pdb::read(&whole[..end], &wanted[1]).is_ok() {
                panic!("{end} of {} bytes are enough", whole.len());
            }
        }
    }
}

/// All files of a folder of real PDBs, if it is available: the number of types, or the error.
#[test]
fn every_real_file_gives_types_or_its_own_message() {
    const EXPECTED: [(&str, Result<usize, &str>); 21] = [
        ("arm64_xcpt4.pdb", Ok(212)),
        ("cab_named_pdb.pdb", Err("CAB-compressed symbol file; expand it first")),
        ("compiler_vc141_nodbi.pdb", Ok(294)),
        ("corrupt_29bytes.pdb", Err("PDB truncated after 29 bytes")),
        ("corrupt_empty.pdb", Err("empty file")),
        ("corrupt_fuzzed.pdb", Err("corrupt PDB (MSF referred to page number")),
        ("fastlink_x64.pdb", Err("PDB linked with /DEBUG:FASTLINK")),
        ("fastlink_x86.pdb", Err("PDB linked with /DEBUG:FASTLINK")),
        ("managed_windows_pdb_512.pdb", Err("Windows PDB of a .NET assembly")),
        ("minimal_x86.pdb", Ok(4)),
        ("msf2_jg_vc60.idb", Err("unsupported PDB in MSF 2.00")),
        ("msf2_jg_vc60_types.pdb", Err("unsupported PDB in MSF 2.00")),
        ("msfz_HelloWorld.pdz", Err("Windows PDB of a .NET assembly")),
        ("msfz_ntkrnlpa_xpsp3_x86.pdz", Ok(491)),
        ("ntdll_win10or11_x64_CCC0E361.pdb", Ok(608)),
        ("ntdll_win7_x86_E3C1142B.pdb", Ok(318)),
        ("ntkrnlpa_xpsp3_x86_30B5FB31.pdb", Ok(491)),
        ("portable_ppdb_small.pdb", Err("Portable PDB")),
        ("types_x64_syzygy.pdb", Ok(40)),
        ("types_x86_syzygy.pdb", Ok(40)),
        ("wntdll_win10or11_x86_1C96EAD8.pdb", Ok(594)),
    ];
    let Some(folder) = installed::folder("ETW_LAYOUTS_SYMBOLS") else { return };
    for (file, expected) in EXPECTED {
        let input = std::fs::read(Path::new(&folder).join("pdb").join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        match (pdb::read(&input, &Wanted::All), expected) {
            (Ok(table), Ok(count)) => assert_eq!(table.types.len(), count, "{file}"),
            (Err(error), Err(message)) => assert!(error.to_string().starts_with(message), "{file}: {error}"),
            (found, _) => panic!("{file}: {:?}", found.map(|table| table.types.len())),
        }
    }
}
