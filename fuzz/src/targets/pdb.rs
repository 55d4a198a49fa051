//! Program databases: MSF and MSFZ.

use super::snapshot;
use etw_layouts_symbols::{MAX_PDB, Wanted, pdb};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use test_support::pdb::{file, streams, words};

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
}

/// A synthetic database in every container.
pub fn seeds() -> Vec<Vec<u8>> {
    vec![file(), msfz(false), msfz(true)]
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
