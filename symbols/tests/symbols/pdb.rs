//! The facts that are read from a PDB.

use etw_layouts_symbols::{Arch, Pdb, SymbolTable, Symbols, Uuid, Wanted, isf, pdb, read};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use test_support::isf as fixture;
use test_support::pdb::{container, file, information, modules, streams, words};

fn logger(input: &[u8]) -> SymbolTable {
    pdb::read(input, &Wanted::from_iter(["LOGGER"])).unwrap_or_else(|error| panic!("{error}"))
}

/// The same facts give the same types from a PDB and from an ISF table.
#[test]
fn types_are_those_of_a_table() {
    let theirs = fixture::read(&fixture::table()).unwrap();
    assert_eq!(logger(&file()).types, theirs.types);
    let all = fixture::table().to_string();
    let all = isf::read(all.as_bytes(), &Wanted::All).unwrap();
    assert_eq!(pdb::read(&file(), &Wanted::All).map(|table| table.types), Ok(all.types));
}

#[test]
fn identity() {
    let SymbolTable { producer, pdb, arch, .. } = logger(&file());
    let guid = Uuid::from_u128(0x0123_4567_89AB_CDEF_0123_4567_89AB_CDEF);
    assert_eq!(producer, "program database");
    assert_eq!((pdb, arch), (Some(Pdb { name: String::new(), guid, age: 2 }), Some(Arch::X64)));
    // The pointer size determines the architecture if no machine is named.
    for (machine, arch) in [(0, Some(Arch::X64)), (0x14C, Some(Arch::X86)), (0xAA64, Some(Arch::Arm64)), (0x1C4, None)] {
        let mut streams = streams();
        streams[3] = modules(machine);
        assert_eq!(logger(&container(&streams)).arch, arch, "machine {machine:#x}");
    }
    let mut compiler = streams();
    compiler[1] = information(&[*b"VC14"]);
    compiler.truncate(3);
    assert_eq!(logger(&container(&compiler)).pdb.map(|pdb| pdb.age), Some(3));
}

#[test]
fn compressed_files_are_the_same() {
    assert_eq!(logger(&msfz()), logger(&file()));
}

#[test]
fn content_determines_the_format() {
    let wanted = Wanted::from_iter(["LOGGER"]);
    let table = fixture::table().to_string();
    for input in [file(), msfz(), table.into_bytes()] {
        assert!(matches!(read(&input, &wanted), Ok(Symbols::Table(table)) if table.types.contains_key("LOGGER")));
    }
    let snapshot = "etw-layouts-symbols 1\nproducer none\nkernel 5.1.2600.0 x86 -\n";
    assert!(matches!(read(snapshot.as_bytes(), &wanted), Ok(Symbols::Snapshot(_))));
    let message = |input: &[u8]| read(input, &wanted).unwrap_err().to_string();
    assert!(message(b"").starts_with("empty file"));
    assert!(message(b"PK\x03\x04").starts_with("not a symbol file; name a program database"));
    assert!(message(b"{}").starts_with("valid JSON, but not ISF"));
    assert!(message(b"etw-layouts-symbols 2\n").starts_with("line 1"));
    assert!(message(b"etw-layouts-symbols 1\n\xFF").starts_with("invalid UTF-8 at byte 22"));
    assert!(message(b"MSCF").starts_with("CAB-compressed symbol file"));
}

/// An MSFZ file. One stream is not compressed, one consists of two parts of a compressed chunk, and one spans two chunks, of
/// which only one is compressed.
pub fn msfz() -> Vec<u8> {
    let streams = streams();
    let [_, information, types, modules] = &streams[..] else { unreachable!() };
    let chunk = [&types[..], &modules[..10]].concat();
    let packed = compress_to_vec(&chunk[..], CompressionLevel::Fastest);
    let rest = &modules[10..];
    let (information_at, packed_at) = (80, 80 + information.len());
    let rest_at = packed_at + packed.len();
    let (types_size, chunked) = (types.len() as u32, 1 << 31);
    let directory = words(
        &[
            &[0][..],
            &[information.len() as u32, information_at, 0, 0],
            &[100, 0, chunked, types_size - 100, 100, chunked, 0],
            &[modules.len() as u32, types_size, chunked, 0],
            &[u32::MAX],
        ]
        .concat(),
    );
    let chunks = words(
        &[
            [packed_at as u32, 0, 1, packed.len() as u32, chunk.len() as u32],
            [rest_at as u32, 0, 0, rest.len() as u32, rest.len() as u32],
        ]
        .concat(),
    );
    let directory_at = rest_at + rest.len();
    let (size, chunks_at) = (directory.len() as u32, directory_at + directory.len());
    let header = words(&[0, 0, directory_at as u32, 0, chunks_at as u32, 0, 5, 0, size, size, 2, chunks.len() as u32]);
    [b"Microsoft MSFZ Container\r\n\x1aALD\0\0", &header[..], information, &packed, rest, &directory, &chunks].concat()
}
