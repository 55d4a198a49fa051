//! Finds the kernel in physical memory without headers: its page tables, its image, and the list of modules.

use crate::diagnostic::{DiagnosticKind, report};
use crate::error::Error;
use crate::header::{DumpHeader, Roots};
use crate::image::KernelImage;
use crate::pages::PAGE;
use crate::paging::Paging;
use crate::physical::Physical;
use crate::source::Source;
use crate::system::{IdentitySource, MemoryDump};
use crate::wire::pointers;
use etw_layouts::constants::DUMP_TYPE;
use etw_layouts::members::LOADED_MODULE;
use etw_layouts::{Arch, Build, structures};
use etw_layouts_memory::{Address, Memory, ReadError};

/// Names of the symbol files of kernels, in lowercase.
const KERNELS: [&str; 4] = ["ntkrnlmp.pdb", "ntoskrnl.pdb", "ntkrnlpa.pdb", "ntkrpamp.pdb"];
/// Number of bytes read at once.
const PIECE: u64 = 1 << 20;
/// Maximum number of page tables to try. Each process has one, and each leads to the kernel.
const TABLES: usize = 1 << 12;
/// Maximum number of entries of page tables to look at, for all page tables together.
const ENTRIES: usize = 1 << 20;
/// Maximum number of reads that end at a missing page: ranges that a file states can be larger than any file.
const MISSING: usize = 1 << 16;
/// Size of a gap, in bytes, up to which each of its pages is tried.
const GAP: u64 = 1 << 24;
/// Maximum number of searches for the table above the four directories of PAE. Each reads the whole memory.
const SEARCHES: usize = 16;
/// Maximum number of possible heads of the list of modules to look at.
const HEADS: usize = 1 << 20;
/// Maximum size of the image of a kernel, in bytes.
const IMAGE: u32 = 1 << 27;

/// Reads ranges of memory in pieces, and skips missing pages.
struct Pieces {
    /// Address and end of each range that is still to be read, the next one last.
    ranges: Vec<(u64, u64)>,
    /// Size in bytes of the gap before the next address.
    gap: u64,
    /// Below this address, each page of a gap is tried.
    slow: u64,
    /// Number of reads that ended at a missing page.
    missing: usize,
}

impl Pieces {
    /// The ranges have an address and a size in bytes.
    fn new(ranges: impl Iterator<Item = (u64, u64)>) -> Self {
        let mut ranges: Vec<_> = ranges.map(|(start, size)| (start, start + size)).collect();
        ranges.reverse();
        Self { ranges, gap: 0, slow: 0, missing: 0 }
    }

    /// Reads the next piece: its address, and the number of bytes before its first missing page. `None` at the end, and at the limit of missing pages.
    ///
    /// In a large gap only one page per piece is tried, so less than a piece of memory between two large gaps can be lost.
    fn next(&mut self, source: &impl Source, bytes: &mut [u8]) -> Result<Option<(u64, usize)>, Error> {
        while self.ranges.pop_if(|(at, end)| at >= end).is_some() {
            self.gap = 0;
        }
        let Some((at, end)) = self.ranges.last_mut().filter(|_| self.missing < MISSING) else { return Ok(None) };
        let start = *at;
        let length = PIECE.min(*end - start) as usize;
        let present = source.read_at(start, &mut bytes[..length])?;
        if present < PAGE as usize {
            let skipped = if self.gap < GAP || start < self.slow { PAGE } else { PIECE };
            *at += skipped;
            self.gap += skipped;
            self.missing += 1;
        } else if self.gap > GAP && start > self.slow {
            // The gap can end before this page: the pages since the last missing one are tried.
            (*at, self.slow) = (start - PIECE + PAGE, start);
            return Ok(Some((start, 0)));
        } else {
            *at += present as u64 / PAGE * PAGE;
            self.gap = 0;
        }
        Ok(Some((start, present)))
    }

    /// What was limited, if the limit ended the search.
    fn limit(&self) -> Option<&'static str> {
        (self.missing == MISSING && !self.ranges.is_empty()).then_some("missing pages")
    }
}

impl<S: Source> MemoryDump<S> {
    /// Physical memory without the headers of a dump, such as that of a virtual machine. Offsets in `source` are physical addresses; `ranges` are the
    /// addresses and sizes in bytes that it contains.
    ///
    /// The page tables are found by their entry for themselves, the kernel by its image, and the list of modules by its first entry, which is that of
    /// the kernel. The header then states only architecture and build. `build` is used for a kernel whose PDB and image are not those of an examined
    /// build.
    ///
    /// # Errors
    ///
    /// The memory cannot be read, has no kernel or none that is found within the limits of the search, or has one of an unknown build.
    pub fn from_memory(source: S, ranges: &[(u64, u64)], build: Option<Build>) -> Result<Self, Error> {
        let physical = Physical::from_ranges(ranges);
        let mut dump = Self::without_kernel(source, header(), physical);
        dump.find_kernel()?;
        let identity = dump.identity();
        let build = match (identity.by, build) {
            (IdentitySource::Header, None) => {
                let pdb = dump.image().and_then(|image| image.pdb.as_ref());
                let text = pdb.map(|pdb| format!("{} {}, age {}", pdb.name, pdb.id.guid, pdb.id.age));
                return Err(Error::UnknownKernel(text.unwrap_or_default()));
            }
            (IdentitySource::Header, Some(build)) => build,
            (_, _) => identity.build,
        };
        dump.header.build = Build { revision: 0, ..build };
        match dump.find_modules()? {
            Some(head) => dump.modules = dump.read_modules(head),
            None => {
                let why = "no list of modules in the memory of the kernel image: modules of callbacks are unknown";
                report(&mut dump.diagnostics, 0, DiagnosticKind::Modules(why.into()));
            }
        }
        Ok(dump)
    }

    /// Finds page tables that lead to a kernel.
    fn find_kernel(&mut self) -> Result<(), Error> {
        let (mut pieces, mut bytes) = (Pieces::new(self.runs()), vec![0; PIECE as usize]);
        let (mut tried, mut searches, mut entries, mut limit) = (0, 0, ENTRIES, None);
        while let Some((start, present)) = pieces.next(&self.source, &mut bytes)? {
            for (page, content) in (start..).step_by(PAGE as usize).zip(bytes[..present].chunks_exact(PAGE as usize)) {
                for paging in Paging::with_reference_to(page, content) {
                    if tried == TABLES || entries == 0 {
                        return Err(Error::SearchLimit("page tables"));
                    }
                    tried += 1;
                    if paging == Paging::Pae {
                        // Other formats need no search.
                        if searches == SEARCHES {
                            limit = Some("page tables with PAE");
                            continue;
                        }
                        searches += 1;
                    }
                    let Some(tables) = self.top(paging, page, content, &mut limit)? else { continue };
                    (self.paging, self.tables, self.header.arch) = (paging, tables, paging.arch());
                    self.known.take();
                    self.image = self.find_image(&mut entries)?;
                    if self.image.is_some() {
                        return Ok(());
                    }
                }
            }
        }
        Err(limit.or(pieces.limit()).map_or(Error::NoKernel, Error::SearchLimit))
    }

    /// Physical address of the top-level table, for a table that refers to itself. With PAE it is a table of four entries above it. `limit` is set if a
    /// limit ends the search.
    fn top(&self, paging: Paging, page: u64, content: &[u8], limit: &mut Option<&'static str>) -> Result<Option<u64>, Error> {
        if paging != Paging::Pae {
            return Ok(Some(page));
        }
        let frames = |entries: &[u8]| -> Vec<u64> { entries.chunks_exact(8).map(crate::paging::frame).collect() };
        let wanted = frames(&content[..32]);
        let (mut pieces, mut bytes) = (Pieces::new(self.runs()), vec![0; PIECE as usize]);
        while let Some((start, present)) = pieces.next(&self.source, &mut bytes)? {
            let mut tables = (start..).step_by(32).zip(bytes[..present].chunks_exact(32));
            // The entries of a directory are writable; those of the table above it must not have this flag.
            let found = tables.find(|(_, table)| table[0] & 3 == 1 && frames(table) == wanted);
            if let Some((table, _)) = found {
                return Ok(Some(table));
            }
        }
        *limit = limit.or(pieces.limit());
        Ok(None)
    }

    /// The image of the kernel among the mapped pages of the system. Looks at most at `entries` pages.
    fn find_image(&self, entries: &mut usize) -> Result<Option<KernelImage>, Error> {
        let is_64_bit = self.header.arch != Arch::X86;
        let (mut at, end) = if is_64_bit { (0xFFFF_F800_0000_0000, 0xFFFF_F900_0000_0000) } else { (0x8000_0000, 1 << 32) };
        while at < end {
            let Some(left) = entries.checked_sub(1) else { break };
            *entries = left;
            let (is_mapped, size) = self.mapping(Address(at)).map_err(Error::Read)?;
            let next = (at - at % size).saturating_add(size);
            if !is_mapped {
                at = next;
                continue;
            }
            for page in (at..next).step_by(PAGE as usize) {
                *entries = entries.saturating_sub(1);
                let mut start = [0; 2];
                if self.read(Address(page), &mut start).map_err(Error::Read)? == 2 && start == *b"MZ" {
                    let image = KernelImage::read(self, Address(page), is_64_bit).map_err(Error::Read)?;
                    let is_kernel = |image: &KernelImage| {
                        image.pdb.as_ref().is_some_and(|pdb| KERNELS.contains(&pdb.name.to_ascii_lowercase().as_str()))
                    };
                    if let Some(image) = image.filter(is_kernel) {
                        return Ok(Some(image));
                    }
                }
            }
            at = next;
        }
        Ok(None)
    }

    /// The head of the list of modules, in the image of the kernel.
    fn find_modules(&self) -> Result<Option<Address>, Error> {
        let Some(image) = &self.image else { return Ok(None) };
        let layout = structures::LOADED_MODULE.select(self.header.build, self.header.arch).ok().map(|selected| selected.layout);
        let Some(member) = layout.and_then(|layout| layout.find(LOADED_MODULE::DLL_BASE)) else { return Ok(None) };
        let (size, mut heads, mut found) = (self.header.arch.pointer_size(), 0, None);
        self.pages_of_image(image, |page, bytes| {
            let pointers = pointers(bytes, size as usize);
            for ((next, back), index) in pointers.clone().zip(pointers.skip(1)).zip(0_u64..) {
                let Some(head) = page.plus(index * size).filter(|_| self.is_in_system(next) && self.is_in_system(back)) else {
                    continue;
                };
                heads += 1;
                if heads > HEADS {
                    return Ok(false);
                }
                let base = Address(next).plus(member.offset as u64).map_or(Ok(None), |at| self.pointer(at))?;
                if base == Some(image.base) && self.is_list(head)? {
                    found = Some(head);
                    return Ok(false);
                }
            }
            Ok(true)
        })?;
        Ok(found)
    }

    /// Whether a number is an aligned address of the system.
    pub(crate) fn is_in_system(&self, value: u64) -> bool {
        let size = self.header.arch.pointer_size();
        value.is_multiple_of(size) && if size == 8 { value >> 47 == 0x1_FFFF } else { value >> 31 == 1 }
    }

    /// Passes each page of an image that is in memory to `look`, with its address, until it returns false.
    pub(crate) fn pages_of_image(
        &self,
        image: &KernelImage,
        mut look: impl FnMut(Address, &[u8]) -> Result<bool, ReadError>,
    ) -> Result<(), Error> {
        let mut bytes = vec![0; PAGE as usize];
        for offset in (0..u64::from(image.file.size.min(IMAGE))).step_by(PAGE as usize) {
            let Some(page) = image.base.plus(offset) else { break };
            let present = self.read(page, &mut bytes).map_err(Error::Read)?;
            if !look(page, &bytes[..present]).map_err(Error::Read)? {
                break;
            }
        }
        Ok(())
    }
}

/// A header without the properties that only a dump states.
fn header() -> DumpHeader {
    DumpHeader {
        kind: DUMP_TYPE(0),
        build: Build::new(0, 0, 0, 0),
        arch: Arch::X64,
        processors: 0,
        bug_check: 0,
        parameters: [0; 4],
        time: None,
        up_time: None,
        roots: Roots { tables: 0, is_pae: false, modules: Address(0), debugger: Address(0) },
    }
}

/// Reads of the page tables.
impl<S: Source> MemoryDump<S> {
    /// Whether an address is mapped, and the size in bytes of the aligned range for which this holds.
    fn mapping(&self, address: Address) -> Result<(bool, u64), ReadError> {
        let failed = std::cell::Cell::new(None);
        let found = self.paging.walk(self.tables, address.0, |at, size| self.entry(at, size, &failed));
        match (failed.take(), found) {
            (Some(error), _) => Err(error),
            (None, Ok((_, bits))) => Ok((true, 1 << bits)),
            (None, Err(bits)) => Ok((false, 1 << bits)),
        }
    }
}
