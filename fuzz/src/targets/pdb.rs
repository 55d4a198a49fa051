//! Program databases: MSF and MSFZ, and messages in them.

use super::snapshot;
use etw_layouts_schemas::tmf;
use etw_layouts_symbols::{MAX_PDB, Wanted, pdb};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use test_support::pdb::{container, file, record, streams, words};

/// Conversion to a snapshot keeps the facts of a file. The work is limited in proportion to the size of the file, even for
/// types that embed each other many times.
pub fn run(input: &[u8]) {
    match pdb::read(input, &Wanted::All) {
        Ok(table) => {
            // Uncompressed records are no larger than the file.
            let records = if input.starts_with(b"Microsoft C/C++") { input.len() } else { MAX_PDB as usize };
            assert!(snapshot::work(&table.types) <= pdb::work_limit(records));
            snapshot::kept(table);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    if let Err(error) = pdb::globals(input, &["EtwpDebuggerData"].into()) {
        assert!(!error.to_string().is_empty());
    }
    if let Ok((messages, schemas)) = tmf::read_pdb(input) {
        // Each message has a line with a name, a number and a format.
        let bytes = if pdb::is_pdb(input) && input.starts_with(b"Microsoft C/C++") { input.len() } else { MAX_PDB as usize };
        assert!(messages.len() <= bytes / 8 && schemas.errors.len() <= schemas.errors_total);
    }
}

/// A synthetic database in every container, and one with messages.
pub fn seeds() -> Vec<Vec<u8>> {
    vec![file(), msfz(false), msfz(true), annotated()]
}

/// A module with a function that has a message.
fn annotated() -> Vec<u8> {
    let texts = [
        "TMF:",
        "1b2c3d4e-0e7b-422b-a0c7-2fad1fd0e716 a // SRC=a.c",
        "#typev a_c1 10 \"%10!d!\" // LEVEL=INFO",
        "{",
        "x, ItemLong -- 10",
        "}",
    ];
    let texts = texts.map(|text| format!("{text}\0")).concat();
    let annotation = record(0x1019, &[&[0; 6], &6_u16.to_le_bytes()[..], texts.as_bytes()].concat());
    let end = 4 + 48 + annotation.len() as u32;
    let function = record(0x1110, &[&words(&[0, end])[..], &[0; 27], b"function\0"].concat());
    let symbols = [&words(&[4])[..], &function, &annotation, &record(6, &[])].concat();
    let mut streams = streams();
    let mut entry = vec![0; 64];
    entry[34..36].copy_from_slice(&(streams.len() as u16).to_le_bytes());
    entry[36..40].copy_from_slice(&(symbols.len() as u32).to_le_bytes());
    entry.extend(b"a.obj\0a.lib\0");
    streams[3][24..28].copy_from_slice(&(entry.len() as u32).to_le_bytes());
    streams[3].extend(entry);
    streams.push(symbols);
    container(&streams)
}

/// All streams in one chunk.
fn msfz(compressed: bool) -> Vec<u8> {
    let streams = streams();
    let chunk = streams.concat();
    let packed = if compressed { compress_to_vec(&chunk[..], CompressionLevel::Fastest) } else { chunk.clone() };
    let (mut directory, mut at) = (Vec::new(), 0);
    for stream in &streams {
        if !stream.is_empty() {
            directory.extend(words(&[stream.len() as u32, at, 1 << 31]));
        }
        directory.extend([0; 4]);
        at += stream.len() as u32;
    }
    let chunks = words(&[80, 0, compressed.into(), packed.len() as u32, chunk.len() as u32]);
    let (directory_at, size) = (80 + packed.len() as u32, directory.len() as u32);
    let header = [0, 0, directory_at, 0, directory_at + size, 0, streams.len() as u32, 0, size, size, 1, chunks.len() as u32];
    [b"Microsoft MSFZ Container\r\n\x1aALD\0\0", &words(&header)[..], &packed, &directory, &chunks].concat()
}
