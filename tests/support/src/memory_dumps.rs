//! Dumps of physical memory: page tables, the list of modules and the debugger data block, and any virtual memory.

use crate::dumps::{change, header32, header64};
use bytemuck::{Pod, bytes_of};
use etw_layouts::constants::DUMP_TYPE;
use etw_layouts::members::{LIST_ENTRY, LOADED_MODULE, UNICODE_STRING};
use etw_layouts::runtime::ViewMut;
use etw_layouts::win7::{x64::SUMMARY_DUMP64, x86::SUMMARY_DUMP32};
use etw_layouts::win10_2004::x64::{
    DUMP_HEADER64, KDDEBUGGER_DATA64, PHYSICAL_MEMORY_RUN64, RDMP_HEADER64, SUMMARY_DUMP64 as BITMAP_DUMP64,
};
use etw_layouts::win10_2004::x86::{DUMP_HEADER32, PHYSICAL_MEMORY_RUN32};
use etw_layouts::{Arch, Build, structures};
use etw_layouts_etl::wire::zero;
use std::collections::{BTreeMap, BTreeSet};

const PAGE: u64 = 0x1000;

const SDMP: u32 = u32::from_le_bytes(*b"SDMP");
const DUMP: u32 = u32::from_le_bytes(*b"DUMP");

/// The address translation of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paging {
    Two,
    Pae,
    Four,
    Five,
    Arm,
}

/// The contents of a dump.
pub struct System {
    pub build: Build,
    pub arch: Arch,
    pub paging: Paging,
    /// Virtual memory.
    pub pieces: Vec<(u64, Vec<u8>)>,
    /// Name and range of each module. The first one is the kernel, which uses large pages.
    pub modules: Vec<(&'static str, u64, u64)>,
    /// The address of ETW's debugger data.
    pub debugger_data: u64,
    /// Virtual pages that are not in the dump.
    pub missing: BTreeSet<u64>,
    /// The address of the list of modules, if it is in the image of the kernel. The page tables then have an entry for themselves.
    pub head: Option<u64>,
}

/// The address of the list of modules. The debugger data follows it.
fn lists(arch: Arch) -> u64 {
    if arch == Arch::X86 { 0x8A00_0000 } else { 0xFFFF_F800_1234_0000 }
}

/// Offset of the debugger data from that address.
const DEBUGGER: u64 = 0x1000;

impl System {
    /// The physical memory itself: address and bytes of each page.
    pub fn pages(&self) -> Vec<(u64, Vec<u8>)> {
        self.memory().pages.into_iter().map(|(page, bytes)| (page * PAGE, bytes)).collect()
    }

    /// Moves the head of the list of modules into the image of the kernel, as the variable PsLoadedModuleList is.
    pub fn with_modules_in_image(mut self, offset: u64) -> Self {
        let size = if self.arch == Arch::X86 { 4 } else { 8 };
        let (start, first, last) = (self.modules[0].1, lists(self.arch) + 0x40, self.modules.len() as u64 * 0x100 - 0xC0);
        self.head = Some(start + offset);
        let piece = self.pieces.iter_mut().find(|(at, _)| *at == start).expect("the image");
        let links = [first, lists(self.arch) + last].map(|link| link.to_le_bytes());
        for (index, link) in links.iter().enumerate() {
            let at = offset as usize + index * size;
            piece.1[at..at + size].copy_from_slice(&link[..size]);
        }
        self
    }

    /// A dump of a kind with pages of physical memory.
    pub fn dump(&self, kind: DUMP_TYPE) -> Vec<u8> {
        let memory = self.memory();
        match (kind.0, self.arch) {
            (2, Arch::X86) => self.summary32(&memory),
            (2, _) => self.summary64(&memory),
            (_, Arch::X86) => self.full32(&memory),
            (1, _) => self.full64(&memory),
            (8..=10, _) => self.ranges64(&memory, kind),
            _ => self.bitmap64(&memory, kind),
        }
    }

    fn memory(&self) -> Physical {
        let (head, lists) = (lists(self.arch), self.lists());
        let mut memory = Physical::new(self.paging);
        for (at, bytes) in self.pieces.iter().map(|(at, bytes)| (*at, bytes)).chain([(head, &lists)]) {
            let is_kernel = self.modules.first().is_some_and(|(_, start, _)| *start == at);
            // Map pages from the last to the first, so that the order in the file differs from the order of addresses.
            let pages: Vec<_> = (at / PAGE..).zip(bytes.chunks(PAGE as usize)).collect();
            for (page, bytes) in pages.into_iter().rev() {
                let pfn = if is_kernel { memory.map_large(page, at / PAGE) } else { memory.map(page) };
                if !self.missing.contains(&page) {
                    memory.pages.insert(pfn, [bytes, &vec![0; PAGE as usize - bytes.len()]].concat());
                }
            }
        }
        if self.head.is_some() {
            memory.refer_to_itself();
        }
        memory
    }

    /// The list of modules, and the debugger data after it.
    fn lists(&self) -> Vec<u8> {
        let (base, mut bytes) = (lists(self.arch), vec![0; DEBUGGER as usize]);
        let layout = structures::LOADED_MODULE.select(self.build, self.arch).expect("a layout").layout;
        let list = structures::LIST_ENTRY.select(self.build, self.arch).expect("a layout").layout;
        let text = structures::UNICODE_STRING.select(self.build, self.arch).expect("a layout").layout;
        let places: Vec<usize> = [0].into_iter().chain((0..self.modules.len()).map(|index| 0x40 + index * 0x100)).collect();
        for (index, &at) in places.iter().enumerate() {
            let of = |index: usize| match (index % places.len(), self.head) {
                (0, Some(head)) => head,
                (index, _) => base + places[index] as u64,
            };
            let mut links = ViewMut::at(list, &mut bytes, at).expect("room");
            links.set(LIST_ENTRY::FLINK, of(index + 1)).expect("a pointer");
            links.set(LIST_ENTRY::BLINK, of(index + places.len() - 1)).expect("a pointer");
            let Some((name, start, end)) = index.checked_sub(1).map(|index| self.modules[index]) else { continue };
            let mut entry = ViewMut::at(layout, &mut bytes, at).expect("room");
            entry.set(LOADED_MODULE::DLL_BASE, start).expect("a pointer");
            entry.set(LOADED_MODULE::SIZE_OF_IMAGE, end - start).expect("a size");
            let units: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
            let place = at + layout.find(LOADED_MODULE::BASE_DLL_NAME).expect("a name").offset;
            let mut string = ViewMut::at(text, &mut bytes, place).expect("room");
            string.set(UNICODE_STRING::LENGTH, units.len() as u64).expect("a length");
            string.set(UNICODE_STRING::MAXIMUM_LENGTH, units.len() as u64).expect("a length");
            string.set(UNICODE_STRING::BUFFER, base + at as u64 + 0x80).expect("a pointer");
            bytes[at + 0x80..at + 0x80 + units.len()].copy_from_slice(&units);
        }
        let mut data: KDDEBUGGER_DATA64 = zero();
        (data.Header.OwnerTag, data.Header.Size) = (u32::from_le_bytes(*b"KDBG"), size_of_val(&data) as u32);
        data.KernBase = self.modules.first().map_or(0, |(_, start, _)| *start);
        (data.PsLoadedModuleList, data.EtwpDebuggerData) = (base, self.debugger_data);
        bytes.extend_from_slice(bytes_of(&data));
        bytes
    }

    fn full64(&self, memory: &Physical) -> Vec<u8> {
        let runs = memory.runs64();
        let mut out = self.head64(memory, DUMP_TYPE::DUMP_TYPE_FULL);
        let block = offset(&structures::DUMP_HEADER64, self, "PhysicalMemoryBlockBuffer");
        let count = runs.iter().map(|run| run.PageCount).sum::<u64>();
        out[block..block + 4].copy_from_slice(&(runs.len() as u32).to_le_bytes());
        out[block + 8..block + 16].copy_from_slice(&count.to_le_bytes());
        put_all(&mut out, block + 16, &runs);
        memory.pages.values().for_each(|page| out.extend_from_slice(page));
        out
    }

    fn bitmap64(&self, memory: &Physical, kind: DUMP_TYPE) -> Vec<u8> {
        let (out, (bits, bitmap)) = (self.head64(memory, kind), memory.bitmap());
        let mut list: BITMAP_DUMP64 = zero();
        (list.Signature, list.ValidDump) = (SDMP, DUMP);
        let first = (out.len() + size_of_val(&list) + bitmap.len()).next_multiple_of(PAGE as usize);
        (list.HeaderSize, list.Pages, list.BitmapSize) = (first as u64, memory.pages.len() as u64, bits);
        memory.assembled(out, bytes_of(&list), &bitmap, first)
    }

    fn summary64(&self, memory: &Physical) -> Vec<u8> {
        let (out, (bits, bitmap)) = (self.head64(memory, DUMP_TYPE::DUMP_TYPE_SUMMARY), memory.bitmap());
        let mut list: SUMMARY_DUMP64 = zero();
        (list.Signature, list.ValidDump, list.Pages) = (SDMP, DUMP, memory.pages.len() as u32);
        let first = (out.len() + size_of_val(&list) + bitmap.len()).next_multiple_of(PAGE as usize);
        (list.HeaderSize, list.BitmapSize, list.Bitmap.SizeOfBitMap) = (first as u32, bits as u32, bits as u32);
        memory.assembled(out, bytes_of(&list), &bitmap, first)
    }

    fn summary32(&self, memory: &Physical) -> Vec<u8> {
        let (out, (bits, bitmap)) = (self.head32(memory, DUMP_TYPE::DUMP_TYPE_SUMMARY), memory.bitmap());
        let mut list: SUMMARY_DUMP32 = zero();
        (list.Signature, list.ValidDump, list.Pages) = (SDMP, DUMP, memory.pages.len() as u32);
        let first = (out.len() + size_of_val(&list) + bitmap.len()).next_multiple_of(PAGE as usize);
        (list.HeaderSize, list.BitmapSize, list.Bitmap.SizeOfBitMap) = (first as u32, bits as u32, bits as u32);
        memory.assembled(out, bytes_of(&list), &bitmap, first)
    }

    /// Kinds without a number of pages end their ranges with a range at page 0; its count is ignored.
    fn ranges64(&self, memory: &Physical, kind: DUMP_TYPE) -> Vec<u8> {
        let (out, is_complete) = (self.head64(memory, kind), kind == DUMP_TYPE::DUMP_TYPE_COMPLETE_MEMORY);
        let mut ranges = memory.runs64();
        let (count, pages) = (ranges.len() as u32, memory.pages.len() as u64);
        ranges.extend((!is_complete).then_some(PHYSICAL_MEMORY_RUN64 { BasePage: 0, PageCount: 7 }));
        let ranges: &[u8] = bytemuck::cast_slice(&ranges);
        let mut list: RDMP_HEADER64 = zero();
        (list.Marker, list.Signature, list.ValidDump) = (0x40, u32::from_le_bytes(*b"RDMP"), DUMP);
        let first = out.len() + size_of_val(&list) + ranges.len();
        (list.MetadataSize, list.HeaderSize) = (0x10 + ranges.len() as u64, first as u64);
        if is_complete {
            (list.NumberOfRanges, list.Pages) = (count, pages);
        }
        memory.assembled(out, bytes_of(&list), ranges, first)
    }

    fn head64(&self, memory: &Physical, kind: DUMP_TYPE) -> Vec<u8> {
        let machine = if self.arch == Arch::X64 { 0x8664 } else { 0xAA64 };
        let mut out = bytes_of(&header64(self.build.number[2], machine)).to_vec();
        change(&mut out, 0, |header: &mut DUMP_HEADER64| {
            (header.DumpType, header.DirectoryTableBase) = (kind, memory.root * PAGE);
            header.PsLoadedModuleList = self.head.unwrap_or(lists(self.arch));
            header.KdDebuggerDataBlock = lists(self.arch) + DEBUGGER;
        });
        out
    }

    fn full32(&self, memory: &Physical) -> Vec<u8> {
        let run = |(page, count): (u64, u64)| PHYSICAL_MEMORY_RUN32 { BasePage: page as u32, PageCount: count as u32 };
        let runs: Vec<PHYSICAL_MEMORY_RUN32> = memory.runs().into_iter().map(run).collect();
        let mut out = self.head32(memory, DUMP_TYPE::DUMP_TYPE_FULL);
        let block = offset(&structures::DUMP_HEADER32, self, "PhysicalMemoryBlockBuffer");
        let count = runs.iter().map(|run| run.PageCount).sum::<u32>();
        put_all(&mut out, block, &[runs.len() as u32, count]);
        put_all(&mut out, block + 8, &runs);
        memory.pages.values().for_each(|page| out.extend_from_slice(page));
        out
    }

    fn head32(&self, memory: &Physical, kind: DUMP_TYPE) -> Vec<u8> {
        let mut out = bytes_of(&header32(self.build.number[2])).to_vec();
        change(&mut out, 0, |header: &mut DUMP_HEADER32| {
            (header.DumpType, header.DirectoryTableBase) = (kind, (memory.root * PAGE) as u32);
            header.PsLoadedModuleList = self.head.unwrap_or(lists(self.arch)) as u32;
            header.KdDebuggerDataBlock = (lists(self.arch) + DEBUGGER) as u32;
            header.PaeEnabled = (self.paging == Paging::Pae).into();
        });
        out
    }
}

/// A full dump of these physical pages, by page number, with page tables at this address. In the header, the list of modules is
/// at 0xFFFF_F800_1234_0000, or 0x8A00_0000 on x86, and x86 has no PAE.
pub fn of_pages(arch: Arch, tables: u64, pages: BTreeMap<u64, Vec<u8>>) -> Vec<u8> {
    let (build, missing) = (Build::new(10, 0, 19041, 264), BTreeSet::new());
    let (pieces, modules) = (Vec::new(), Vec::new());
    let system = System { build, arch, paging: Paging::Two, pieces, modules, debugger_data: 0, missing, head: None };
    let memory = Physical { paging: Paging::Two, pages, root: 0, next: 0, mapped: 0 };
    let is_32_bit = arch == Arch::X86;
    let mut out = if is_32_bit { system.full32(&memory) } else { system.full64(&memory) };
    match is_32_bit {
        true => change(&mut out, 0, |header: &mut DUMP_HEADER32| header.DirectoryTableBase = tables as u32),
        false => change(&mut out, 0, |header: &mut DUMP_HEADER64| header.DirectoryTableBase = tables),
    }
    out
}

fn offset<S>(structure: &etw_layouts::runtime::packed::Structure<'_, S>, system: &System, member: &str) -> usize {
    let layout = structure.select(Build::new(10, 0, 19041, 264), system.arch).expect("a layout").layout;
    layout.member(member).expect("a member").offset
}

fn put_all<T: Pod>(out: &mut [u8], at: usize, values: &[T]) {
    let bytes: &[u8] = bytemuck::cast_slice(values);
    out[at..at + bytes.len()].copy_from_slice(bytes);
}

/// A builder of physical memory.
struct Physical {
    paging: Paging,
    pages: BTreeMap<u64, Vec<u8>>,
    root: u64,
    next: u64,
    mapped: u64,
}

/// The first physical page of the kernel's image.
const LARGE: u64 = 0x4000;

impl Physical {
    fn new(paging: Paging) -> Self {
        let mut memory = Self { paging, pages: BTreeMap::new(), root: 0, next: 0x101, mapped: 0 };
        memory.root = memory.table();
        memory
    }

    /// Adds the entries with which Windows finds its page tables: one for the top-level table itself; with PAE, one for each of the four directories in
    /// the last one.
    fn refer_to_itself(&mut self) {
        let (root, paging) = (self.root, self.paging);
        let (index, flags) = match paging {
            Paging::Two => (0x300, 0x63),
            Paging::Pae => (0, 0x63),
            Paging::Four | Paging::Five => (0x1ED, 0x63),
            Paging::Arm => (0x1ED, 0x703),
        };
        if paging != Paging::Pae {
            let size = if paging == Paging::Two { 4 } else { 8 };
            let entry = ((root * PAGE) | flags).to_le_bytes();
            let page = self.pages.get_mut(&root).expect("a table");
            return page[index * size..(index + 1) * size].copy_from_slice(&entry[..size]);
        }
        for index in 0..4 {
            if self.pages[&root][index * 8] == 0 {
                let entry = ((self.table() * PAGE) | 1).to_le_bytes();
                self.pages.get_mut(&root).expect("a table")[index * 8..index * 8 + 8].copy_from_slice(&entry);
            }
        }
        let top = self.pages[&root][..32].to_vec();
        let last = u64::from_le_bytes(top[24..].try_into().expect("8 bytes")) / PAGE;
        for (index, entry) in top.chunks_exact(8).enumerate() {
            let entry = (u64::from_le_bytes(entry.try_into().expect("8 bytes")) | flags).to_le_bytes();
            self.pages.get_mut(&last).expect("a table")[index * 8..index * 8 + 8].copy_from_slice(&entry);
        }
    }

    fn table(&mut self) -> u64 {
        let pfn = self.next;
        self.next += 1;
        self.pages.insert(pfn, vec![0; PAGE as usize]);
        pfn
    }

    /// The address bits that select an entry, from the highest table to the lowest: first bit and number of bits.
    fn levels(&self) -> &'static [(u32, u32)] {
        match self.paging {
            Paging::Two => &[(22, 10), (12, 10)],
            Paging::Pae => &[(30, 2), (21, 9), (12, 9)],
            Paging::Four | Paging::Arm => &[(39, 9), (30, 9), (21, 9), (12, 9)],
            Paging::Five => &[(48, 9), (39, 9), (30, 9), (21, 9), (12, 9)],
        }
    }

    /// Maps a virtual page to the next physical page. Skips some physical pages, so that the order has gaps.
    fn map(&mut self, page: u64) -> u64 {
        self.mapped += 1;
        self.next += 1 + u64::from(self.mapped.is_multiple_of(100));
        let pfn = self.next - 1;
        // Some pages are in transition: no longer valid for the processor, but still in memory. Kernels set bit 45 of some of
        // them.
        let flags = match self.paging {
            Paging::Arm if self.mapped.is_multiple_of(5) => 0x808,
            Paging::Arm => 0x403,
            Paging::Pae | Paging::Four | Paging::Five if self.mapped.is_multiple_of(10) => 1 << 45 | 0x880,
            _ if self.mapped.is_multiple_of(5) => 0x880,
            _ => 0x63,
        };
        let levels = self.levels();
        self.enter(page * PAGE, levels, (pfn * PAGE) | flags);
        pfn
    }

    /// Maps a virtual page as a part of the large page that begins with `first`.
    fn map_large(&mut self, page: u64, first: u64) -> u64 {
        let levels = self.levels();
        let levels = &levels[..levels.len() - 1];
        let flags = if self.paging == Paging::Arm { 0x401 } else { 0xE3 };
        // The number of pages in a large page.
        let pages = 1 << (levels.last().map_or(0, |(shift, _)| *shift) - 12);
        let frame = LARGE + (page - first) / pages * pages;
        self.enter(page * PAGE, levels, (frame * PAGE) | flags);
        LARGE + page - first
    }

    fn enter(&mut self, address: u64, levels: &[(u32, u32)], entry: u64) {
        let size = if self.paging == Paging::Two { 4 } else { 8 };
        let mut table = self.root;
        for (depth, (shift, bits)) in levels.iter().enumerate() {
            let at = (address >> shift & ((1 << bits) - 1)) as usize * size;
            if depth + 1 == levels.len() {
                let page = self.pages.get_mut(&table).expect("a table");
                return page[at..at + size].copy_from_slice(&entry.to_le_bytes()[..size]);
            }
            let mut bytes = [0; 8];
            bytes[..size].copy_from_slice(&self.pages[&table][at..at + size]);
            let mut next = u64::from_le_bytes(bytes) / PAGE;
            if next == 0 {
                next = self.table();
                let flags = if self.paging == Paging::Arm { 3 } else { 1 };
                let entry = ((next * PAGE) | flags).to_le_bytes();
                self.pages.get_mut(&table).expect("a table")[at..at + size].copy_from_slice(&entry[..size]);
            }
            table = next;
        }
    }

    /// The number of bits, and a bit for each page.
    fn bitmap(&self) -> (u64, Vec<u8>) {
        let bits = self.pages.keys().next_back().map_or(0, |last| last + 1);
        let mut bitmap = vec![0; (bits as usize).div_ceil(8)];
        self.pages.keys().for_each(|pfn| bitmap[(pfn / 8) as usize] |= 1 << (pfn % 8));
        (bits, bitmap)
    }

    /// The file: a header, the list of pages, and the pages from offset `first`.
    fn assembled(&self, mut out: Vec<u8>, list: &[u8], bits: &[u8], first: usize) -> Vec<u8> {
        out.extend_from_slice(list);
        out.extend_from_slice(bits);
        out.resize(first, 0);
        self.pages.values().for_each(|page| out.extend_from_slice(page));
        out
    }

    /// The first page and the number of pages of each run.
    fn runs(&self) -> Vec<(u64, u64)> {
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for &pfn in self.pages.keys() {
            match runs.last_mut() {
                Some((first, count)) if *first + *count == pfn => *count += 1,
                _ => runs.push((pfn, 1)),
            }
        }
        runs
    }

    fn runs64(&self) -> Vec<PHYSICAL_MEMORY_RUN64> {
        self.runs().into_iter().map(|(page, count)| PHYSICAL_MEMORY_RUN64 { BasePage: page, PageCount: count }).collect()
    }
}
