//! Which pages of physical memory a dump has, and where they are in the file.

use crate::error::Error;
use crate::finding::{Finding, What, find};
use crate::header::Header;
use crate::source::Source;
use crate::wire::{
    DUMP_HEADER32, DUMP_HEADER64, PHYSICAL_MEMORY_DESCRIPTOR32, PHYSICAL_MEMORY_DESCRIPTOR64, PHYSICAL_MEMORY_RUN32,
    PHYSICAL_MEMORY_RUN64, SUMMARY_DUMP64, letters, view,
};
use etw_layouts::Arch;
use etw_layouts::constants::DUMP_TYPE;

/// Bytes of a page, on all architectures.
pub const PAGE: u64 = 0x1000;

/// Pages that lie one behind the other, in memory and in the file.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// The number of the first.
    page: u64,
    count: u64,
    /// Where the first is in the file.
    offset: u64,
}

/// Physical memory: runs of pages that do not overlap, in the order of their addresses. All lie in the file, so that there are no more runs
/// than it has pages.
#[derive(Clone, Debug, Default)]
pub struct Physical {
    runs: Vec<Run>,
}

impl Physical {
    /// Reads where the pages are.
    ///
    /// # Errors
    ///
    /// The dump is of a kind whose pages are not known to lie anywhere.
    pub fn read(source: &impl Source, head: &[u8], header: &Header, findings: &mut Vec<Finding>) -> Result<Self, Error> {
        let mut pages = Pages { length: source.length(), offset: 0, runs: Vec::new(), missing: 0 };
        match (header.kind, header.arch) {
            (DUMP_TYPE::DUMP_TYPE_FULL, Arch::X86) => runs32(head, &mut pages)?,
            (DUMP_TYPE::DUMP_TYPE_FULL, _) => runs64(head, &mut pages)?,
            (DUMP_TYPE::DUMP_TYPE_BITMAP_FULL | DUMP_TYPE::DUMP_TYPE_BITMAP_KERNEL | DUMP_TYPE::DUMP_TYPE_AUTOMATIC, arch)
                if arch != Arch::X86 =>
            {
                bitmap(source, &mut pages)?;
            }
            (kind, _) => return Err(Error::Kind(kind.0)),
        }
        if pages.missing > 0 {
            let there = pages.runs.iter().map(|run| run.count).sum::<u64>().saturating_mul(PAGE);
            let size = there.saturating_add(pages.missing.saturating_mul(PAGE));
            find(findings, source.length(), What::Truncated { what: "memory", size, there });
        }
        let mut runs = pages.runs;
        runs.sort_by_key(|run| (run.page, std::cmp::Reverse(run.count)));
        let (mut end, mut repeated) = (0, None);
        runs.retain_mut(|run| {
            // Of a page that is there twice, the one in the run that begins before.
            let skip = end.max(run.page) - run.page;
            if skip > 0 {
                repeated = repeated.or(Some(run.offset));
            }
            let skip = skip.min(run.count);
            *run = Run { page: run.page + skip, count: run.count - skip, offset: run.offset + skip * PAGE };
            end = end.max(run.page + run.count);
            run.count > 0
        });
        if let Some(offset) = repeated {
            find(findings, offset, What::Repeated);
        }
        Ok(Self { runs })
    }

    /// Where in the file the byte of a physical address is.
    pub fn offset(&self, address: u64) -> Option<u64> {
        let page = address / PAGE;
        let after = self.runs.partition_point(|run| run.page <= page);
        let run = self.runs.get(after.checked_sub(1)?)?;
        let within = page - run.page;
        (within < run.count).then(|| run.offset + within * PAGE + address % PAGE)
    }

    /// How many pages there are.
    pub fn pages(&self) -> u64 {
        self.runs.iter().map(|run| run.count).sum()
    }
}

/// Pages as they are listed: the file has them one behind the other.
struct Pages {
    length: u64,
    offset: u64,
    runs: Vec<Run>,
    /// How many lie beyond the end of the file.
    missing: u64,
}

impl Pages {
    fn add(&mut self, page: u64, count: u64) {
        let there = self.length.saturating_sub(self.offset) / PAGE;
        // Physical addresses have 52 bits at the most.
        let here = count.min(there).min((1_u64 << 40).saturating_sub(page));
        self.missing = self.missing.saturating_add(count - here);
        match self.runs.last_mut() {
            _ if here == 0 => {}
            Some(last) if last.page + last.count == page && last.offset + last.count * PAGE == self.offset => last.count += here,
            _ => self.runs.push(Run { page, count: here, offset: self.offset }),
        }
        self.offset = self.offset.saturating_add(count.saturating_mul(PAGE));
    }
}

fn runs64(head: &[u8], pages: &mut Pages) -> Result<(), Error> {
    let header: DUMP_HEADER64 = view(head, 0).ok_or(Error::Short(head.len()))?;
    let block = header.PhysicalMemoryBlockBuffer();
    let block = bytemuck::bytes_of(&block);
    let list: PHYSICAL_MEMORY_DESCRIPTOR64 = view(block, 0).ok_or(Error::Short(head.len()))?;
    pages.offset = size_of_val(&header) as u64;
    let first = size_of_val(&list) - size_of::<PHYSICAL_MEMORY_RUN64>();
    let places = (first..block.len()).step_by(size_of::<PHYSICAL_MEMORY_RUN64>());
    let runs = places.map_while(|at| view::<PHYSICAL_MEMORY_RUN64>(block, at)).take(list.NumberOfRuns as usize);
    runs.for_each(|run| pages.add(run.BasePage, run.PageCount));
    Ok(())
}

fn runs32(head: &[u8], pages: &mut Pages) -> Result<(), Error> {
    let header: DUMP_HEADER32 = view(head, 0).ok_or(Error::Short(head.len()))?;
    let block = bytemuck::bytes_of(&header.PhysicalMemoryBlockBuffer);
    let list: PHYSICAL_MEMORY_DESCRIPTOR32 = view(block, 0).ok_or(Error::Short(head.len()))?;
    pages.offset = size_of_val(&header) as u64;
    let first = size_of_val(&list) - size_of::<PHYSICAL_MEMORY_RUN32>();
    let places = (first..block.len()).step_by(size_of::<PHYSICAL_MEMORY_RUN32>());
    let runs = places.map_while(|at| view::<PHYSICAL_MEMORY_RUN32>(block, at)).take(list.NumberOfRuns as usize);
    runs.for_each(|run| pages.add(run.BasePage.into(), run.PageCount.into()));
    Ok(())
}

/// Bytes of the bitmap that are read at once.
const PIECE: usize = 1 << 16;

fn bitmap(source: &impl Source, pages: &mut Pages) -> Result<(), Error> {
    let mut at = size_of::<DUMP_HEADER64>() as u64;
    let mut bytes = [0; size_of::<SUMMARY_DUMP64>()];
    let there = source.read_at(at, &mut bytes);
    let header: SUMMARY_DUMP64 = view(&bytes[..there], 0).ok_or(Error::Short(at as usize + there))?;
    let is_list = [letters(b"SDMP"), letters(b"FDMP")].contains(&header.Signature) && header.ValidDump == letters(b"DUMP");
    if !is_list {
        return Err(Error::Bitmap);
    }
    at += bytes.len() as u64;
    pages.offset = header.HeaderSize;
    let mut piece = vec![0; PIECE];
    let mut page = 0;
    while page < header.BitmapSize {
        let there = source.read_at(at, &mut piece);
        if there == 0 {
            break;
        }
        for byte in &piece[..there] {
            for bit in (0..8).filter(|bit| byte >> bit & 1 == 1) {
                if page + bit < header.BitmapSize {
                    pages.add(page + bit, 1);
                }
            }
            page += 8;
        }
        at += there as u64;
    }
    Ok(())
}
