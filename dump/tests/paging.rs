//! Hand-written page tables. All constants are from the manuals of Intel (volume 3A, chapter "Paging") and Arm (chapter D8, 4 KiB
//! granule). Entries in transition have the layout of MMPTE_TRANSITION in public symbols.

use etw_layouts::{Arch, Build, structures};
use etw_layouts_dump::MemoryDump;
use etw_layouts_memory::{Address, Memory};
use std::collections::BTreeMap;
use test_support::memory_dumps::of_pages;

/// Physical addresses and their values of 8 bytes, or of 4 on x86 without PAE. The rest of these pages is zero.
type Entries = &'static [(u64, u64)];

/// A virtual address, and the physical address that it is translated to.
struct Case {
    name: &'static str,
    arch: Arch,
    /// Size of an entry, in bytes.
    width: usize,
    entries: Entries,
    address: u64,
    physical: Option<u64>,
}

/// Physical address of the top-level table.
const ROOT: u64 = 0x10_0000;

const fn case(name: &'static str, arch: Arch, entries: Entries, address: u64, physical: Option<u64>) -> Case {
    Case { name, arch, width: 8, entries, address, physical }
}

const fn two(name: &'static str, entries: Entries, address: u64, physical: Option<u64>) -> Case {
    Case { name, arch: Arch::X86, width: 4, entries, address, physical }
}

/// 0xFFFF_9A01_2345_6000 is entry 0x134 of the first table, 0x004 of the second, 0x11A of the third, 0x056 of the last.
const HIGH: u64 = 0xFFFF_9A01_2345_6788;
/// 0x8612_3000 is entry 0x218 of the first table of 32 bits, 0x123 of the second.
const LOW: u64 = 0x8612_3788;

const CASES: &[Case] = &[
    case(
        "x64, 4 KiB",
        Arch::X64,
        &[(0x10_09A0, 0x10_1063), (0x10_1020, 0x10_2063), (0x10_28D0, 0x10_3063), (0x10_32B0, 0x8000_0000_0543_2963)],
        HIGH,
        Some(0x0543_2788),
    ),
    case(
        "x64, 2 MiB, with the bit of PAT",
        Arch::X64,
        &[(0x10_09A0, 0x10_1063), (0x10_1020, 0x10_2063), (0x10_28D0, 0x0540_10E3)],
        HIGH,
        Some(0x0545_6788),
    ),
    case(
        "x64, 1 GiB, with the bit of PAT",
        Arch::X64,
        &[(0x10_09A0, 0x10_1063), (0x10_1020, 0x4000_10E3)],
        HIGH,
        Some(0x6345_6788),
    ),
    case(
        "x64, the lower half",
        Arch::X64,
        &[(0x10_01A0, 0x10_1063), (0x10_1020, 0x10_2063), (0x10_28D0, 0x10_3063), (0x10_32B0, 0x0543_2963)],
        0x0000_1A01_2345_6788,
        Some(0x0543_2788),
    ),
    case(
        "x64, an address in neither half",
        Arch::X64,
        &[(0x10_01A0, 0x10_1063), (0x10_1020, 0x10_2063), (0x10_28D0, 0x10_3063), (0x10_32B0, 0x0543_2963)],
        0xFFFF_1A01_2345_6788,
        None,
    ),
    case("x64, no page has 512 GiB", Arch::X64, &[(0x10_09A0, 0xE3)], HIGH, None),
    case(
        "x64, 52 bits of an address",
        Arch::X64,
        &[(0x10_09A0, 0x10_1063), (0x10_1020, 0x10_2063), (0x10_28D0, 0x10_3063), (0x10_32B0, 0xF_2000_0543_2063)],
        HIGH,
        None,
    ),
    case(
        "x64, bit 45 of a valid entry",
        Arch::X64,
        &[(0x10_09A0, 0x10_1063), (0x10_1020, 0x10_2063), (0x10_28D0, 0x10_3063), (0x10_32B0, 0x2000_0543_2063)],
        HIGH,
        Some(0x2000_0543_2788),
    ),
    case(
        "x64, in transition",
        Arch::X64,
        &[(0x10_09A0, 0x10_1063), (0x10_1020, 0x10_2063), (0x10_28D0, 0x10_3063), (0x10_32B0, 0x0543_2880)],
        HIGH,
        Some(0x0543_2788),
    ),
    case(
        "x64, in transition, with the L1TF mitigation",
        Arch::X64,
        &[(0x10_09A0, 0x10_1063), (0x10_1020, 0x10_2063), (0x10_28D0, 0x10_3063), (0x10_32B0, 0x2000_0543_2880)],
        HIGH,
        Some(0x0543_2788),
    ),
    case(
        "x64, a table in transition, with bit 7 as part of the protection",
        Arch::X64,
        &[(0x10_09A0, 0x10_1063), (0x10_1020, 0x10_2063), (0x10_28D0, 0x2000_0010_3880), (0x10_32B0, 0x0543_2063)],
        HIGH,
        Some(0x0543_2788),
    ),
    case(
        "x64, a prototype, with the bit of transition",
        Arch::X64,
        &[(0x10_09A0, 0x10_1063), (0x10_1020, 0x10_2063), (0x10_28D0, 0x10_3063), (0x10_32B0, 0x0543_2C80)],
        HIGH,
        None,
    ),
    case(
        "x64, in a page file",
        Arch::X64,
        &[(0x10_09A0, 0x10_1063), (0x10_1020, 0x10_2063), (0x10_28D0, 0x10_3063), (0x10_32B0, 0x0543_2080)],
        HIGH,
        None,
    ),
    case(
        "ARM64, 4 KiB",
        Arch::Arm64,
        &[(0x10_09A0, 0x10_1003), (0x10_1020, 0x10_2003), (0x10_28D0, 0x10_3003), (0x10_32B0, 0x0060_4000_0543_2F83)],
        HIGH,
        Some(0x4000_0543_2788),
    ),
    case(
        "ARM64, 2 MiB",
        Arch::Arm64,
        &[(0x10_09A0, 0x10_1003), (0x10_1020, 0x10_2003), (0x10_28D0, 0x0060_4000_0540_0F81)],
        HIGH,
        Some(0x4000_0545_6788),
    ),
    case("ARM64, 1 GiB", Arch::Arm64, &[(0x10_09A0, 0x10_1003), (0x10_1020, 0x0060_0000_4000_0F81)], HIGH, Some(0x6345_6788)),
    case("ARM64, no block has 512 GiB", Arch::Arm64, &[(0x10_09A0, 0x401)], HIGH, None),
    case(
        "ARM64, no block has 4 KiB",
        Arch::Arm64,
        &[(0x10_09A0, 0x10_1003), (0x10_1020, 0x10_2003), (0x10_28D0, 0x10_3003), (0x10_32B0, 0x0543_2401)],
        HIGH,
        None,
    ),
    case(
        "ARM64, in transition",
        Arch::Arm64,
        &[(0x10_09A0, 0x10_1003), (0x10_1020, 0x10_2003), (0x10_28D0, 0x10_3003), (0x10_32B0, 0x4000_0543_2808)],
        HIGH,
        Some(0x4000_0543_2788),
    ),
    case(
        "ARM64, a table in transition",
        Arch::Arm64,
        &[(0x10_09A0, 0x10_1003), (0x10_1020, 0x10_2003), (0x10_28D0, 0x10_380A), (0x10_32B0, 0x0543_2403)],
        HIGH,
        Some(0x0543_2788),
    ),
    case(
        "ARM64, a prototype",
        Arch::Arm64,
        &[(0x10_09A0, 0x10_1003), (0x10_1020, 0x10_2003), (0x10_28D0, 0x10_3003), (0x10_32B0, 0x0543_2C08)],
        HIGH,
        None,
    ),
    two("x86, 4 KiB", &[(0x10_0860, 0x10_1063), (0x10_148C, 0xF543_2063)], LOW, Some(0xF543_2788)),
    two("x86, 4 MiB", &[(0x10_0860, 0x0540_00E3)], LOW, Some(0x0552_3788)),
    two("x86, 4 MiB, PSE-36: bits 13 to 20 are address bits 32 to 39", &[(0x10_0860, 0x0543_50E3)], LOW, Some(0x1A_0552_3788)),
    two("x86, 4 MiB, all bits of PSE-36", &[(0x10_0860, 0x055F_E0E3)], LOW, Some(0xFF_0552_3788)),
    two("x86, in transition", &[(0x10_0860, 0x10_1063), (0x10_148C, 0xF543_2880)], LOW, Some(0xF543_2788)),
    two("x86, in a page file", &[(0x10_0860, 0x10_1063), (0x10_148C, 0xF543_2080), (0xF543_2788, 7)], LOW, None),
    two("x86, a table in a page file", &[(0x10_0860, 0x10_1080), (0x10_148C, 0xF543_2063)], LOW, None),
    two("x86, a prototype", &[(0x10_0860, 0x10_1063), (0x10_148C, 0xF543_2C80), (0xF543_2788, 7)], LOW, None),
];

const MARK: u64 = 0x1D_EA5E_CAFE;

fn page(pages: &mut BTreeMap<u64, Vec<u8>>, at: u64, width: usize, value: u64) {
    let page = pages.entry(at / 0x1000).or_insert_with(|| vec![0; 0x1000]);
    let at = (at % 0x1000) as usize;
    page[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
}

#[test]
fn manuals() {
    for Case { name, arch, width, entries, address, physical } in CASES {
        let mut pages = BTreeMap::new();
        page(&mut pages, ROOT, *width, 0);
        entries.iter().for_each(|(at, value)| page(&mut pages, *at, *width, *value));
        // Addresses that a wrong translation would give.
        page(&mut pages, 0x0543_2788, 8, !MARK);
        page(&mut pages, 0x01_2345_6788, 8, !MARK);
        physical.iter().for_each(|at| page(&mut pages, *at, 8, MARK));
        let bytes = of_pages(*arch, ROOT, pages);
        let dump = MemoryDump::new(&bytes[..]).expect("a dump");
        let mut read = [0; 8];
        let present = dump.read(Address(*address), &mut read).unwrap();
        let expected = if physical.is_some() { (8, MARK) } else { (0, 0) };
        assert_eq!((present, u64::from_le_bytes(read)), expected, "{name}");
    }
}

/// If the header does not state PAE, but tables with 64-bit entries lead to the list of modules, PAE is used. The list of modules is at
/// 0x8A00_0000: entry 2 of the first table, 0x050 of the second, 0 of the last.
#[test]
fn pae_without_its_flag() {
    let mut pages = BTreeMap::new();
    // The top-level table has four entries, and does not have to begin at a page boundary.
    for (at, value) in [(0x10_0030, 0x10_1001), (0x10_1280, 0x10_2063), (0x10_2000, 0x2000_0543_2880)] {
        page(&mut pages, at, 8, value);
    }
    // The head's two links, and the links of an entry at 0x8A00_0040.
    for (at, link) in [(0, 0x8A00_0040), (4, 0x8A00_0040), (0x40, 0x8A00_0000), (0x44, 0x8A00_0000)] {
        page(&mut pages, 0x0543_2000 + at, 4, link);
    }
    let mut bytes = of_pages(Arch::X86, ROOT + 0x20, pages);
    let dump = MemoryDump::new(&bytes[..]).expect("a dump");
    let mut read = [0; 4];
    assert_eq!((dump.read(Address(0x8A00_0044), &mut read), u32::from_le_bytes(read)), (Ok(4), 0x8A00_0000));
    assert!(dump.diagnostics().iter().all(|diagnostic| diagnostic.kind.name() != "page-tables"), "{:?}", dump.diagnostics());
    // If the header states PAE, no list of modules is needed. A top-level entry that is not present maps nothing.
    let layout = structures::DUMP_HEADER32.select(Build::new(10, 0, 19041, 264), Arch::X86).expect("a layout").layout;
    bytes[layout.member("PaeEnabled").expect("a flag").offset] = 1;
    bytes[layout.member("PsLoadedModuleList").expect("a list").offset] = 0xFF;
    let dump = MemoryDump::new(&bytes[..]).expect("a dump");
    assert_eq!(dump.read(Address(0x8A00_0044), &mut read), Ok(4));
    assert_eq!(dump.read(Address(0x1_8A00_0044), &mut read), Ok(0), "beyond 32 bits");
    let present = bytes.windows(8).position(|entry| entry == 0x10_1001_u64.to_le_bytes()).expect("an entry");
    bytes[present] = 0;
    assert_eq!(MemoryDump::new(&bytes[..]).expect("a dump").read(Address(0x8A00_0044), &mut read), Ok(0));
}

/// If overlapping runs list pages twice, those of the run that begins first are used, and no other page is lost.
#[test]
fn repeated_pages() {
    let entries = [(0x10_09A0, 0x10_1063), (0x10_1020, 0x10_2063), (0x10_28D0, 0x10_3063), (0x10_32B0, 0x0543_2963)];
    let mut pages = BTreeMap::new();
    entries.iter().for_each(|(at, value)| page(&mut pages, *at, 8, *value));
    page(&mut pages, 0x0543_2788, 8, MARK);
    let whole = of_pages(Arch::X64, ROOT, pages);
    // The runs, and the index of the duplicate page in the file.
    let cases: [(&[u64], usize); 3] =
        [(&[0x100, 2, 0x101, 3, 0x5432, 1], 2), (&[0x100, 4, 0x101, 1, 0x5432, 1], 4), (&[0x101, 1, 0x100, 4, 0x5432, 1], 0)];
    for (runs, second) in cases {
        let mut bytes = whole.clone();
        let at = 0x2000 + second * 0x1000;
        bytes.splice(at..at, [0xEE; 0x1000]);
        bytes[0x88] = 3;
        let list: Vec<u8> = runs.iter().flat_map(|number| number.to_le_bytes()).collect();
        bytes[0x98..0x98 + list.len()].copy_from_slice(&list);
        let dump = MemoryDump::new(&bytes[..]).expect("a dump");
        let mut read = [0; 8];
        assert_eq!((dump.read(Address(HIGH), &mut read), u64::from_le_bytes(read)), (Ok(8), MARK), "{runs:x?}");
        assert!(dump.diagnostics().iter().any(|diagnostic| diagnostic.kind.name() == "repeated-pages"), "{runs:x?}");
        assert_eq!((dump.pages(), dump.runs().last()), (5, Some((0x0543_2000, 0x1000))), "{runs:x?}");
    }
}
