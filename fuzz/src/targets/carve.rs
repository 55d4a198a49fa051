//! Trace buffers in bytes of any kind.

use etw_layouts_etl::Trace;
use etw_layouts_etl::carve::{Session, find, sessions};
use std::io;
use test_support::traces;

/// Every event that a search reports is read again from the file that is written, at both alignments.
pub fn run(input: &[u8]) {
    for alignment in [8, 512] {
        let mut found = Vec::new();
        let scan = find(input, alignment, &mut |buffer| found.push((0, buffer))).expect("bytes in memory");
        assert_eq!(scan.bytes, input.len() as u64);
        for session in sessions(found) {
            let file = written(&session, input);
            let trace = Trace::from_bytes(&file[..]).expect("the written trace");
            let (buffers, events) = session.counts();
            // A log file header that is made has a buffer of its own.
            let made = usize::from(session.log_file.is_none());
            assert_eq!(trace.buffers().flatten().count(), buffers + made);
            assert_eq!(trace.events().flatten().count() as u64, events + 1);
        }
    }
}

fn written(session: &Session, input: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut read = |_: usize, offset: u64, length: usize| {
        let rest = &input[offset as usize..];
        Ok::<_, io::Error>(rest[..length.min(rest.len())].to_vec())
    };
    session.write(&mut file, &mut read).expect("bytes in memory");
    file
}

/// Made traces, with and without their log file header, after other bytes.
pub fn seeds() -> Vec<Vec<u8>> {
    let traces = traces::all(1).into_iter().map(|trace| trace.bytes);
    let without_header = |bytes: &Vec<u8>| {
        let size = bytes.first_chunk().map_or(0, |size| u32::from_le_bytes(*size)) as usize;
        [&[0x5A; 512][..], bytes.get(size..).unwrap_or(&[])].concat()
    };
    traces.flat_map(|bytes| [without_header(&bytes), bytes]).collect()
}
