//! The kernel image in a memory dump: the identity of its symbol file, and the addresses from that file.

use crate::memory::made;
use etw_layouts::LAYOUTS;
use etw_layouts::constants::DUMP_TYPE;
use etw_layouts::runtime::Uuid;
use etw_layouts::runtime::meta::{Image, Pdb};
use etw_layouts::runtime::packed::ExaminedBuild;
use etw_layouts::{Arch, Build};
use etw_layouts_dump::{IdentitySource, MemoryDump, Source};
use etw_layouts_memory::{Address, Memory};
use std::fs::File;
use test_support::folder::Folder;
use test_support::memory_dumps::Paging;

/// The 32-bit form of the image from [`image`].
fn image32(file: Image, pdb: Pdb, name: &str) -> Vec<u8> {
    let mut bytes = image(file, pdb, name);
    let directory = bytes[0xF8..0x100].to_vec();
    bytes[0x44..0x46].copy_from_slice(&0x14C_u16.to_le_bytes());
    bytes[0x54..0x56].copy_from_slice(&224_u16.to_le_bytes());
    bytes[0x58..0x5A].copy_from_slice(&0x10B_u16.to_le_bytes());
    bytes[0xC4..0x100].fill(0);
    bytes[0xB4] = 16;
    bytes[0xE8..0xF0].copy_from_slice(&directory);
    bytes
}

/// If the list of modules lacks the kernel, the debugger data state its address, which is sign-extended on 32-bit systems.
#[test]
fn by_debugger_data() {
    let (file, pdb) = (Image { time_stamp: 1, size: 0x3000 }, Pdb { guid: Uuid::from_u128(7), age: 1 });
    for (arch, paging) in [(Arch::X64, Paging::Four), (Arch::X86, Paging::Pae)] {
        let (_, mut system) = made(Build::new(10, 0, 19041, 264), arch, paging);
        system.pieces[1].1 = if arch == Arch::X86 { image32 } else { image }(file, pdb, "ntkrnlmp.pdb");
        system.modules.remove(0);
        let mut bytes = system.dump(DUMP_TYPE::DUMP_TYPE_FULL);
        let data = bytes.windows(4).position(|window| window == b"KDBG").expect("debugger data") - 0x10;
        let base = system.pieces[1].0;
        let stated = if arch == Arch::X86 { base as u32 as i32 as u64 } else { base };
        bytes[data + 0x18..data + 0x20].copy_from_slice(&stated.to_le_bytes());
        let dump = MemoryDump::new(&bytes[..]).expect("a dump");
        let found = dump.image().map(|image| (image.base.0, image.file, image.pdb.as_ref().map(|pdb| pdb.id)));
        assert_eq!(found, Some((base, file, Some(pdb))), "{arch}");
    }
}

/// An image in memory: headers, and a debug directory of four entries. The last entry names the symbol file.
fn image(file: Image, Pdb { guid, age }: Pdb, name: &str) -> Vec<u8> {
    let mut bytes = vec![0; 0x3000];
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    put(0, b"MZ");
    put(0x3C, &[0x40]);
    put(0x40, b"PE\0\0\x64\x86");
    put(0x48, &file.time_stamp.to_le_bytes());
    // SizeOfOptionalHeader, its magic number, SizeOfImage, and the number of directories.
    put(0x54, &240_u16.to_le_bytes());
    put(0x58, &0x20B_u16.to_le_bytes());
    put(0x90, &file.size.to_le_bytes());
    put(0xC4, &16_u32.to_le_bytes());
    put(0xF8, &[0x1000_u32, 4 * 28 + 5].map(u32::to_le_bytes).concat());
    let mut guid = guid.into_bytes();
    guid[..4].reverse();
    guid[4..6].reverse();
    guid[6..8].reverse();
    let record = [b"RSDS", &guid[..], &age.to_le_bytes(), name.as_bytes(), &[0]].concat();
    for (index, ty) in [13, 12, 14, 2].into_iter().enumerate() {
        let words = [0, 0, 0, ty, record.len() as u32, 0x1100 + 0x200 * index as u32, 0];
        put(0x1000 + index * 28, &words.map(u32::to_le_bytes).concat());
    }
    put(0x1700, &record);
    bytes
}

#[test]
fn identity_of_the_kernel() {
    let of = |seen: &ExaminedBuild| seen.arch == Arch::X64 && seen.pdb.is_some() && seen.globals().next().is_some();
    let by_pdb = LAYOUTS.examined().find(of).expect("a kernel whose PDB was read");
    let by_image = LAYOUTS.examined().find(|seen| seen.arch == Arch::X64 && seen.image.is_some()).expect("a kernel");
    let (pdb, file) = (by_pdb.pdb.expect("a PDB"), by_image.image.expect("an image"));
    let (no_pdb, no_file) = (Pdb { guid: Uuid::from_u128(7), age: 1 }, Image { time_stamp: 1, size: 0x3000 });
    let build = Build::new(10, 0, 19041, 0);
    for (file, pdb, path, name, expected) in [
        (file, pdb, "d:\\os\\ntkrnlmp.pdb", Some("ntkrnlmp.pdb"), (by_pdb.build, IdentitySource::Pdb)),
        (no_file, pdb, "/os/ntkrnlmp.pdb", Some("ntkrnlmp.pdb"), (by_pdb.build, IdentitySource::Pdb)),
        (file, no_pdb, "a..b", Some("a..b"), (by_image.build, IdentitySource::Image)),
        (no_file, no_pdb, "ntkrnlmp.pdb", Some("ntkrnlmp.pdb"), (build, IdentitySource::Header)),
        (no_file, pdb, "os\\..", None, (build, IdentitySource::Header)),
        (no_file, pdb, "a:b", None, (build, IdentitySource::Header)),
        (no_file, pdb, "a\nb", None, (build, IdentitySource::Header)),
    ] {
        let (_, mut system) = made(Build::new(10, 0, 19041, 264), Arch::X64, Paging::Four);
        system.pieces[1].1 = image(file, pdb, path);
        let bytes = system.dump(DUMP_TYPE::DUMP_TYPE_FULL);
        let dump = MemoryDump::new(&bytes[..]).expect("a dump");
        let found = dump.image().expect("an image");
        assert_eq!((found.base.0, found.file, dump.diagnostics().len()), (system.pieces[1].0, file, 0), "{path}");
        assert_eq!(found.pdb.as_ref().map(|pdb| &*pdb.name), name, "{path:?}");
        assert_eq!(found.pdb.as_ref().map(|pdb| pdb.id), name.map(|_| pdb), "{path:?}");
        assert_eq!((dump.identity().build, dump.identity().by), expected, "{path:?}");
        let globals: Vec<_> = by_pdb.globals().filter(|_| expected.1 == IdentitySource::Pdb).collect();
        assert_eq!(dump.known_globals(), globals, "{path:?}");
        let kernel = dump.kernel(expected.0);
        assert!(globals.iter().all(|(name, at)| kernel.global(name) == Some(Address(found.base.0 + at))), "{path:?}");
        assert_eq!(kernel.time().processors, Some(3));
    }
}

/// Without a PDB, the addresses of the build are used if the build has only one known image, and the dump has the same one.
#[test]
fn addresses_by_build() {
    let by_build = |seen: &ExaminedBuild| {
        seen.arch == Arch::X64 && seen.pdb.is_none() && seen.image.is_none() && seen.globals().next().is_some()
    };
    let files = |of: &ExaminedBuild| -> Vec<Image> {
        let own = LAYOUTS.examined().filter(|seen| seen.arch == of.arch && seen.build == of.build);
        own.filter_map(|seen| seen.image).collect()
    };
    let with = |count: usize| LAYOUTS.examined().filter(by_build).find(|seen| files(seen).len() == count).expect("a kernel");
    let other = Image { time_stamp: 1, size: 0x3000 };
    for (seen, file, is_known) in
        [(with(1), files(&with(1))[0], true), (with(1), other, false), (with(2), files(&with(2))[0], false)]
    {
        let (_, mut system) = made(Build::new(10, 0, 19041, 264), Arch::X64, Paging::Four);
        system.pieces[1].1 = image(file, Pdb { guid: Uuid::from_u128(7), age: 1 }, "ntkrnlmp.pdb");
        let bytes = system.dump(DUMP_TYPE::DUMP_TYPE_FULL);
        let dump = MemoryDump::new(&bytes[..]).expect("a dump");
        let by = if file == other { IdentitySource::Header } else { IdentitySource::Image };
        assert_eq!(dump.identity().by, by, "{file:?}");
        let expected: Vec<_> = seen.globals().filter(|_| is_known).collect();
        assert_eq!((dump.globals_by_build(seen.build), dump.known_globals()), (expected, Vec::new()), "{file:?}");
        let (name, at) = seen.globals().next().expect("an address");
        let address = is_known.then(|| Address(dump.image().expect("an image").base.0 + at));
        assert_eq!(dump.kernel(seen.build).global(name), address, "{file:?}");
        assert!(dump.globals_by_build(Build { revision: 0, ..seen.build }).is_empty());
    }
    // Builds with the same kernel have the same addresses.
    let shared = LAYOUTS.revisions().flat_map(|own| own.shared().map(move |other| (own.build.number, other.number)));
    let is_one = |seen: &ExaminedBuild, number| by_build(seen) && files(seen).len() == 1 && seen.build.number == number;
    let (seen, number) = shared
        .filter_map(|(number, other)| LAYOUTS.examined().find(|seen| is_one(seen, number)).zip(Some(other)))
        .next()
        .expect("a kernel");
    let (_, mut system) = made(Build::new(10, 0, 19041, 264), Arch::X64, Paging::Four);
    system.pieces[1].1 = image(files(&seen)[0], Pdb { guid: Uuid::from_u128(7), age: 1 }, "ntkrnlmp.pdb");
    let bytes = system.dump(DUMP_TYPE::DUMP_TYPE_FULL);
    let dump = MemoryDump::new(&bytes[..]).expect("a dump");
    assert_eq!(dump.globals_by_build(Build { number, ..seen.build }), seen.globals().collect::<Vec<_>>());
}

/// A dump that is read on demand from a file gives the same results as a dump in memory.
#[test]
fn from_a_file() {
    let (_, system) = made(Build::new(10, 0, 19041, 264), Arch::X64, Paging::Four);
    let bytes = system.dump(DUMP_TYPE::DUMP_TYPE_BITMAP_KERNEL);
    let folder = Folder::new("dump-from-a-file");
    let file = File::open(folder.file("memory.dmp", &bytes)).expect("a file");
    assert_eq!(file.length().unwrap(), bytes.len() as u64);
    let mut out = [0; 16];
    for at in [0, 1, bytes.len() - 16, bytes.len() - 3, bytes.len(), bytes.len() + 9] {
        let expected = bytes.get(at..).unwrap_or_default();
        assert_eq!(file.read_at(at as u64, &mut out).unwrap(), expected.len().min(16), "{at}");
        assert!(out.starts_with(&expected[..expected.len().min(16)]), "{at}");
    }
    let (file, whole) = (MemoryDump::new(file).expect("a dump"), MemoryDump::new(&bytes[..]).expect("a dump"));
    assert_eq!((file.pages(), file.diagnostics()), (whole.pages(), whole.diagnostics()));
    for (at, piece) in &system.pieces {
        let mut read = vec![1; piece.len()];
        assert!(file.read(Address(*at), &mut read) == Ok(piece.len()) && read == *piece);
    }
}
