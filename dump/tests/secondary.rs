//! Damage between a dump and the sessions of ETW's blob: it is told, and the sessions are found.

use etw_layouts::{Arch, Build};
use etw_layouts_dump::{Dump, ETW_TAG};
use test_support::dumps::whole;

const BUILD: Build = Build::new(10, 0, 19041, 264);

/// The kinds of what is wrong, and the events of each session.
fn read(bytes: &[u8]) -> (Vec<&'static str>, Vec<usize>) {
    let dump = Dump::new(bytes).expect("a dump");
    let events = dump.sessions().iter().map(|session| session.events().0.len()).collect();
    (dump.findings().iter().map(|finding| finding.what.kind()).collect(), events)
}

/// Each word that leads to ETW's blob, damaged: all events of both sessions are read.
#[test]
fn each_word_may_be_damaged() {
    for arch in [Arch::X64, Arch::Arm64, Arch::X86] {
        let whole = whole(BUILD, arch);
        let dump = Dump::new(&whole).expect("a dump");
        let (kinds, events) = read(&whole);
        assert!(kinds.is_empty() && events.len() == 2 && events.iter().all(|count| *count > 20), "{kinds:?} {events:?}");
        let triage = if arch == Arch::X86 { 0x1000 } else { 0x2000 };
        let size = whole.windows(12).position(|window| window == b"TRGDDumpBlob").expect("the end") + 4;
        let place = |index: usize| dump.blobs()[index].offset as usize - 0x20;
        assert_eq!(dump.blobs()[1].tag, ETW_TAG);
        // Where the damage is, what stands there, and what is told.
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
            (place(0) + 0x14, 0, &["blob-size"]),
            (place(0) + 0x14, 0x100, &["blob-size"]),
            (place(0) + 0x14, u32::MAX, &["blob-size"]),
            (place(0) + 0x18, u32::MAX, &["blob-size"]),
            (place(0) + 0x1C, 0x7FFF_FFFF, &["blob-size"]),
            (place(1), 0x40, &["header-size"]),
            (place(1), 0, &["header-size"]),
            (place(1) + 0x04, 7, &["tag"]),
            (place(1) + 0x14, 0x100, &["blob-size"]),
            (place(1) + 0x18, u32::MAX, &["blob-size"]),
        ];
        for (at, value, told) in cases {
            let mut bytes = whole.clone();
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
            let (found, survived) = read(&bytes);
            // What a blob has up to the next one may be padding.
            let found: Vec<_> = found.into_iter().filter(|kind| !["truncated", "skipped"].contains(kind)).collect();
            assert_eq!((&found[..], survived), (told, events.clone()), "{arch} {at:#x} {value:#x}");
        }
    }
}

/// The size of a dump that has no secondary data.
#[test]
fn a_wrong_size_is_told() {
    let mut bytes = whole(BUILD, Arch::X64);
    let size = bytes.windows(12).position(|window| window == b"TRGDDumpBlob").expect("the end") + 4;
    bytes.truncate(size);
    assert_eq!(read(&bytes), (vec![], vec![]));
    for stated in [0x1000, u32::MAX] {
        bytes[0x2004..0x2008].copy_from_slice(&stated.to_le_bytes());
        assert_eq!(read(&bytes), (vec!["dump-size"], vec![]));
    }
}

/// Of two dumps in one file the first is read, and where the second begins is told.
#[test]
fn two_dumps_in_a_file() {
    let [first, second] = [Arch::Arm64, Arch::X64].map(|arch| whole(BUILD, arch));
    let both = [&first[..], &second].concat();
    let dump = Dump::new(&both).expect("a dump");
    let told: Vec<_> = dump.findings().iter().map(|finding| (finding.offset, finding.what.kind())).collect();
    assert_eq!(told, [(first.len() as u64, "another-dump")]);
    assert_eq!(read(&both).1, read(&first).1);
}
