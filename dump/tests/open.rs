//! Dump files opened by path.

use crate::memory::made;
use etw_layouts::constants::DUMP_TYPE;
use etw_layouts::{Arch, Build};
use etw_layouts_dump::{Dump, DumpFile, Error, MemoryDump, OpenError};
use std::error::Error as _;
use std::io;
use test_support::dumps::whole;
use test_support::folder::Folder;
use test_support::memory_dumps::Paging;

const BUILD: Build = Build::new(10, 0, 19041, 264);

/// Each kind of file is opened by its own type, and by `DumpFile`.
#[test]
fn files() {
    let folder = Folder::new("open");
    let bytes = whole(BUILD, Arch::X64);
    let mini = folder.file("mini.dmp", &bytes);
    let full = folder.file("MEMORY.DMP", made(BUILD, Arch::X64, Paging::Four).1.dump(DUMP_TYPE(1)));

    let borrowed = Dump::from_bytes(&bytes).expect("a dump");
    let DumpFile::Triage(either) = DumpFile::open(&mini).expect("a dump") else { panic!("a minidump") };
    for dump in [Dump::open(&mini).expect("a dump"), either] {
        assert_eq!(format!("{dump:?}"), format!("{borrowed:?}"));
        assert_eq!(dump.blobs().len(), 3);
        let revised = dump.with_revision(264);
        assert!(revised.header().build == BUILD && !revised.sessions().is_empty());
        assert!(revised.sessions().iter().all(|session| session.producer.build == BUILD));
    }
    let DumpFile::Memory(either) = DumpFile::open(&full).expect("a dump") else { panic!("a full dump") };
    let dump = MemoryDump::open(&full).expect("a dump");
    assert!(dump.pages() > 0 && dump.runs().eq(either.runs()) && dump.header() == either.header());
}

/// Errors have the path, the cause and a remedy.
#[test]
fn errors() {
    let folder = Folder::new("open-errors");
    let mini = folder.file("mini.dmp", whole(BUILD, Arch::X64));
    let full = folder.file("MEMORY.DMP", made(BUILD, Arch::X64, Paging::Four).1.dump(DUMP_TYPE(1)));
    let (other, absent) = (folder.file("mini.txt", "PAGE"), folder.0.join("absent.dmp").display().to_string());
    let folder = folder.0.display().to_string();
    let triage = |path: &str| Dump::open(path).expect_err("an error");
    let memory = |path: &str| MemoryDump::open(path).err().expect("an error");
    let cases = [
        (triage(&full), &full, Some(Error::Kind(1))),
        (memory(&mini), &mini, Some(Error::Kind(4))),
        (triage(&other), &other, Some(Error::NoDump)),
        (memory(&other), &other, Some(Error::NoDump)),
        (DumpFile::open(&absent).err().expect("an error"), &absent, None),
        (triage(&folder), &folder, None),
    ];
    for (error, path, cause) in cases {
        let text = error.to_string();
        assert!(text.starts_with(&format!("{path}: ")) && text.contains("; "), "{text}");
        let source = error.source().expect("a cause");
        assert_eq!(source.downcast_ref::<Error>().cloned(), cause, "{text}");
        assert_eq!(source.is::<io::Error>(), cause.is_none(), "{text}");
        assert_eq!(matches!(error, OpenError::Read { .. }), cause.is_none(), "{text}");
    }
}
