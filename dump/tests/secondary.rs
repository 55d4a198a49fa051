//! Damage between a dump and the sessions in ETW's secondary data block: it is reported, and the sessions are found.

use etw_layouts::{Arch, Build};
use etw_layouts_dump::{DiagnosticKind, Dump, ETW_TAG};
use test_support::dumps::whole;

const BUILD: Build = Build::new(10, 0, 19041, 264);

/// The kinds of diagnostics, and the number of events of each session.
fn read(bytes: &[u8]) -> (Vec<&'static str>, Vec<usize>) {
    let dump = Dump::from_bytes(bytes).expect("a dump");
    let events = dump.sessions().iter().map(|session| session.events().0.len()).collect();
    (dump.diagnostics().iter().map(|diagnostic| diagnostic.kind.name()).collect(), events)
}

/// If any word that leads to the ETW block is damaged, all events of both sessions are still read.
#[test]
fn each_word_may_be_damaged() {
    for arch in [Arch::X64, Arch::Arm64, Arch::X86] {
        let whole = whole(BUILD, arch);
        let dump = Dump::from_bytes(&whole).expect("a dump");
        let (kinds, events) = read(&whole);
        assert!(kinds.is_empty() && events.len() == 2 && events.iter().all(|count| *count > 20), "{kinds:?} {events:?}");
        let triage = if arch == Arch::X86 { 0x1000 } else { 0x2000 };
        let size = whole.windows(12).position(|window| window == b"TRGDDumpBlob").expect("the end") + 4;
        let place = |index: usize| dump.blobs()[index].offset as usize - 0x20;
        assert_eq!(dump.blobs()[1].tag, ETW_TAG);
        // Offset of the damage, the value written there, and the diagnostics.
        let cases: [(usize, u32, &[&str]); 20] = [
            (triage + 4, u32::MAX, &["dump-size"]),
            (triage + 4, 0x1000, &["dump-size"]),
            (triage + 4, size as u32 + 0x10, &["dump-size"]),
            (triage + 8, 0x1000, &["unfinished"]),
            (size, 0, &["secondary-data"]),
            (size + 8, 0x20, &["header-size"]),
            (size + 8, u32::MAX, &["header-size"]),
            (place(0), 0x40, &["header-size"]),
            (place(0), 0, &["header-size"]),
            (place(0), u32::MAX, &["header-size"]),
            (place(0) + 0x14, 0, &["secondary-data-size"]),
            (place(0) + 0x14, 0x100, &["secondary-data-size"]),
            (place(0) + 0x14, u32::MAX, &["secondary-data-size"]),
            (place(0) + 0x18, u32::MAX, &["secondary-data-size"]),
            (place(0) + 0x1C, 0x7FFF_FFFF, &["secondary-data-size"]),
            (place(1), 0x40, &["header-size"]),
            (place(1), 0, &["header-size"]),
            (place(1) + 0x04, 7, &["tag"]),
            (place(1) + 0x14, 0x100, &["secondary-data-size"]),
            (place(1) + 0x18, u32::MAX, &["secondary-data-size"]),
        ];
        // Both members that state the end of the dump.
        let mut bytes = whole.clone();
        bytes[triage + 4..triage + 12].copy_from_slice(&[0x1000_u32, 0x1000].map(u32::to_le_bytes).concat());
        assert_eq!((&read(&bytes).0[..], read(&bytes).1), (&["unfinished", "dump-size"][..], events.clone()), "{arch}");
        for (at, value, expected) in cases {
            let mut bytes = whole.clone();
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
            let (found, survived) = read(&bytes);
            // These diagnostics can also occur, because the sizes of data and padding are ambiguous.
            let found: Vec<_> = found.into_iter().filter(|kind| !["truncated", "skipped"].contains(kind)).collect();
            assert_eq!((&found[..], survived), (expected, events.clone()), "{arch} {at:#x} {value:#x}");
            // All three blocks are found, except if the header of the secondary data is damaged.
            assert!(Dump::from_bytes(&bytes).expect("a dump").blobs().len() == 3 || at == size, "{arch} {at:#x} {value:#x}");
        }
    }
}

/// The size of a dump that has no secondary data.
#[test]
fn a_wrong_size_is_reported() {
    let mut bytes = whole(BUILD, Arch::X64);
    let size = bytes.windows(12).position(|window| window == b"TRGDDumpBlob").expect("the end") + 4;
    bytes.truncate(size);
    assert_eq!(read(&bytes), (vec![], vec![]));
    for stated in [0x1000, u32::MAX] {
        bytes[0x2004..0x2008].copy_from_slice(&stated.to_le_bytes());
        assert_eq!(read(&bytes), (vec!["dump-size"], vec![]));
    }
}

/// If a file contains two dumps, the first is read, and the start of the second is reported.
#[test]
fn two_dumps_in_a_file() {
    let [first, second] = [Arch::Arm64, Arch::X64].map(|arch| whole(BUILD, arch));
    let both = [&first[..], &second].concat();
    let dump = Dump::from_bytes(&both).expect("a dump");
    let reported: Vec<_> = dump.diagnostics().iter().map(|diagnostic| (diagnostic.offset, diagnostic.kind.name())).collect();
    assert_eq!(reported, [(first.len() as u64, "another-dump")]);
    assert_eq!(read(&both).1, read(&first).1);
}

/// A block with a larger header, or with more padding before its data, than in all known dumps.
#[test]
fn larger_headers() {
    let whole = whole(BUILD, Arch::X64);
    let (dump, events) = (Dump::from_bytes(&whole).expect("a dump"), read(&whole).1);
    let at = dump.blobs()[1].offset as usize - 0x20;
    for (member, value) in [(0x00, 0x28_u32), (0x18, 8)] {
        let mut bytes = [&whole[..at + 0x20], &[0; 8], &whole[at + 0x20..]].concat();
        bytes[at + member..][..4].copy_from_slice(&value.to_le_bytes());
        assert_eq!(read(&bytes), (vec![], events.clone()), "{member:#x}");
        assert_eq!(Dump::from_bytes(&bytes).expect("a dump").blobs()[1].offset as usize, at + 0x28);
    }
}

/// Secondary data that ends within a header, or with zeros after the last block.
#[test]
fn ends_of_blobs() {
    let whole = whole(BUILD, Arch::X64);
    let cut = &whole[..whole.len() - 9];
    let kind: Vec<_> =
        Dump::from_bytes(cut).expect("a dump").diagnostics().iter().map(|diagnostic| diagnostic.kind.clone()).collect();
    assert_eq!(kind, [DiagnosticKind::Truncated { part: "the header of a secondary data block", size: 0x20, present: 0x17 }]);
    // The last block states padding beyond the end of the file.
    let mut more = whole.clone();
    let at = whole.len() - 0x20;
    more[at + 0x1C..].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(read(&more).0, ["secondary-data-size"]);
    // Zeros are not a block, so a block cannot end before them.
    let zeroes = [&whole[..], &[0; 0x40]].concat();
    let dump = Dump::from_bytes(&zeroes).expect("a dump");
    assert_eq!((dump.blobs().len(), read(&zeroes).0), (3, vec!["secondary-data-size"]));
}

/// Bytes within a damaged block that resemble the header of the next one are not treated as a header.
#[test]
fn decoys() {
    let whole = whole(BUILD, Arch::X64);
    let (dump, events) = (Dump::from_bytes(&whole).expect("a dump"), read(&whole).1);
    let [first, second] = [0, 1].map(|index| dump.blobs()[index].offset as usize - 0x20);
    let [size, data, front, behind] = [0x00, 0x14, 0x18, 0x1C];
    // Offset of the decoy within 0x100 bytes, size of its data relative to the next block, and padding before and after the data.
    for (name, start, to_next, before, after) in [
        ("padding before the data", 0x20, 0, 8, 0),
        ("padding of one unit", 0x20, -8, 0, 8),
        ("padding of two units", 0x20, -16, 0, 16),
        ("unaligned data", 0x24, 0, 0, 0),
        ("an end before the next block", 0x20, -0x40, 0, 0),
    ] {
        let mut space = vec![0x55; 0x100];
        let mut put = |at: usize, value: u32| space[start + at..][..4].copy_from_slice(&value.to_le_bytes());
        put(size, 0x20);
        put(data, (0x100 - start as i32 - 0x20 + to_next) as u32);
        put(front, before);
        put(behind, after);
        check(name, &whole, (first, second), &space, &events);
    }
    // A decoy within the first block that leads to the third one, while the second one has a wrong size.
    let mut bytes = whole.clone();
    let third = dump.blobs()[2].offset as usize - 0x20;
    let mut decoy = [0x55; 0x40];
    for (at, value) in [(0x20, 0x20), (0x34, third - second), (0x38, 0), (0x3C, 0)] {
        decoy[at..at + 4].copy_from_slice(&(value as u32).to_le_bytes());
    }
    bytes[second + 0x14..second + 0x18].copy_from_slice(&0x7FFF_FFF0_u32.to_le_bytes());
    bytes.splice(first + 0x20..second, decoy);
    bytes[first + 0x14..first + 0x20].copy_from_slice(&[0x40_u32, 0, 0].map(u32::to_le_bytes).concat());
    assert_eq!(read(&bytes), (vec!["secondary-data-size"], events.clone()));
    // A decoy that leads to another one with a wrong size.
    let mut space = vec![0x55; 0x100];
    for (at, value) in [(0x20, 0x20_u32), (0x34, 0x40), (0x38, 0), (0x3C, 0), (0x80, 0x20), (0x94, 0x40), (0x98, 7), (0x9C, 0)] {
        space[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
    check("a decoy that leads to a decoy", &whole, (first, second), &space, &events);
}

/// Inserts the bytes into the first of two blocks, and damages its size. The second one must be found after the bytes.
fn check(name: &str, whole: &[u8], (first, second): (usize, usize), space: &[u8], events: &[usize]) {
    let mut bytes = [&whole[..first + 0x20], space, &whole[first + 0x20..]].concat();
    // The second block directly follows the bytes.
    bytes.drain(first + 0x20 + space.len()..second + space.len());
    bytes[first + 0x14..][..4].copy_from_slice(&0x7FFF_FFF0_u32.to_le_bytes());
    let dump = Dump::from_bytes(&bytes).expect("a dump");
    let offsets: Vec<_> = dump.blobs().iter().map(|blob| blob.offset as usize).collect();
    assert_eq!(offsets[..2], [first + 0x20, first + 0x20 + space.len() + 0x20], "{name}");
    assert_eq!((&read(&bytes).0[..], &read(&bytes).1[..]), (&["secondary-data-size"][..], events), "{name}");
}
