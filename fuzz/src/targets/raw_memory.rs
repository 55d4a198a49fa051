//! Physical memory without the headers of a dump, as the plugins of Volatility read it.

use etw_layouts::{Arch, Build};
use etw_layouts_dump::{MemoryDump, Source};
use etw_layouts_memory::Walk;
use std::collections::BTreeMap;
use std::io;
use test_support::kernels::{module, plan::Plan};
use test_support::memory_dumps::{Paging, System};
use test_support::pe;

const BUILD: Build = Build::new(10, 0, 19041, 264);
const PAGE: u64 = 0x1000;
/// The number of a page, with its content.
const PIECE: usize = 4 + PAGE as usize;

/// Pages by their numbers.
struct Pages<'a>(BTreeMap<u64, &'a [u8]>);

impl Source for Pages<'_> {
    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        while done < out.len() {
            let at = offset.saturating_add(done as u64);
            let Some(rest) = self.0.get(&(at / PAGE)).map(|page| &page[(at % PAGE) as usize..]) else { break };
            let length = rest.len().min(out.len() - done);
            out[done..done + length].copy_from_slice(&rest[..length]);
            done += length;
        }
        Ok(done)
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.0.keys().next_back().map_or(0, |last| (last + 1) * PAGE))
    }
}

/// Reads the input as ranges of memory: the pages, and one range around all of them whose gaps are missing. The kernel is found or an error reported, and
/// a walk ends.
pub fn run(input: &[u8]) {
    let pieces = input.chunks_exact(PIECE).filter_map(|piece| {
        let (number, page) = piece.split_first_chunk()?;
        Some((u64::from(u32::from_le_bytes(*number)), page))
    });
    let pages: BTreeMap<_, _> = pieces.collect();
    let single: Vec<_> = pages.keys().map(|number| (number * PAGE, PAGE)).collect();
    let end = pages.keys().next_back().map_or(0, |last| (last + 1) * PAGE);
    for ranges in [single, vec![(0, end)]] {
        let Ok(dump) = MemoryDump::from_memory(Pages(pages.clone()), &ranges, Some(BUILD)) else { continue };
        let build = dump.identity().build;
        assert!(dump.find_host(build).is_ok());
        let kernel = dump.kernel(build);
        let mut walk = Walk::new(&dump, &kernel).with_limits(dump.limits());
        walk.census();
        assert!(walk.findings().iter().all(|finding| !finding.to_string().is_empty()));
    }
}

/// Memory in each format of page tables, with the image of a kernel that has a PDB, and a list of modules.
pub fn seeds() -> Vec<Vec<u8>> {
    let formats = [
        (Arch::X64, Paging::Four),
        (Arch::X64, Paging::Five),
        (Arch::Arm64, Paging::Arm),
        (Arch::X86, Paging::Pae),
        (Arch::X86, Paging::Two),
    ];
    let memory = formats.map(|(arch, paging)| {
        let kit = Plan::of(BUILD, arch).kit;
        let (start, end) = module(arch);
        let (machine, name) = match arch {
            Arch::X86 => (0x014C, "ntkrpamp.pdb"),
            Arch::X64 => (0x8664, "ntkrnlmp.pdb"),
            Arch::Arm64 => (0xAA64, "ntkrnlmp.pdb"),
        };
        let pdb = etw_layouts_symbols::Pdb { name: name.into(), guid: etw_layouts_symbols::Uuid::from_u128(7), age: 2 };
        let file = pe::Image { machine, version: None, codeview: Some(pe::rsds(&pdb, "")) }.bytes();
        let mut image = vec![0; 0x4000];
        image[..0x400].copy_from_slice(&file[..0x400]);
        image[0x1000..0x1400].copy_from_slice(&file[0x400..]);
        image[0x58 + 56..][..4].copy_from_slice(&0x4000_u32.to_le_bytes());
        let system = System {
            build: BUILD,
            arch,
            paging,
            pieces: vec![(kit.image.base, kit.image.bytes), (start, image)],
            modules: vec![("ntoskrnl.exe", start, end)],
            debugger_data: 0,
            missing: Default::default(),
            head: None,
        };
        let pages = system.with_modules_in_image(0x2000).pages();
        let all: BTreeMap<_, _> = pages.iter().map(|(address, page)| (address / PAGE, &page[..])).collect();
        let ranges: Vec<_> = pages.iter().map(|(address, _)| (*address, PAGE)).collect();
        let found = MemoryDump::from_memory(Pages(all), &ranges, Some(BUILD)).map(|dump| dump.modules().len());
        assert_eq!(found, Ok(1), "{arch} {paging:?}");
        pages.into_iter().flat_map(|(address, page)| [&((address / PAGE) as u32).to_le_bytes()[..], &page].concat()).collect()
    });
    memory.into()
}
