//! The page lists of dumps: runs in the header, a bitmap after it, or ranges after it.

use crate::error::Error;
use crate::header::DumpHeader;
use crate::pages::Pages;
use crate::source::Source;
use crate::wire::{
    DUMP_HEADER32, DUMP_HEADER64, PHYSICAL_MEMORY_DESCRIPTOR32, PHYSICAL_MEMORY_DESCRIPTOR64, PHYSICAL_MEMORY_RUN32,
    PHYSICAL_MEMORY_RUN64, RDMP_HEADER64, SUMMARY_DUMP32, SUMMARY_DUMP64, SUMMARY_DUMP64_6_2, letters, view,
};
use bytemuck::Pod;
use etw_layouts::Arch;
use etw_layouts::constants::DUMP_TYPE;

/// Reads the list of pages of a dump.
///
/// # Errors
///
/// The location of the pages is unknown for this kind of dump, or the list is missing.
pub fn read(source: &impl Source, header: &DumpHeader) -> Result<Pages, Error> {
    let is_32_bit = header.arch == Arch::X86;
    match header.kind {
        DUMP_TYPE::DUMP_TYPE_FULL if is_32_bit => runs32(source),
        DUMP_TYPE::DUMP_TYPE_FULL => runs64(source),
        DUMP_TYPE::DUMP_TYPE_SUMMARY if is_32_bit => {
            let (list, at) = read_after::<SUMMARY_DUMP32>(source, size_of::<DUMP_HEADER32>())?;
            let bitmap = Bitmap { at, bits: list.BitmapSize.into(), first: list.HeaderSize.into() };
            bitmap.read(source, header, [list.Signature, list.ValidDump])
        }
        DUMP_TYPE::DUMP_TYPE_SUMMARY => {
            let (list, at) = read_after::<SUMMARY_DUMP64>(source, size_of::<DUMP_HEADER64>())?;
            let bitmap = Bitmap { at, bits: list.BitmapSize.into(), first: list.HeaderSize.into() };
            bitmap.read(source, header, [list.Signature, list.ValidDump])
        }
        DUMP_TYPE::DUMP_TYPE_BITMAP_FULL | DUMP_TYPE::DUMP_TYPE_BITMAP_KERNEL | DUMP_TYPE::DUMP_TYPE_AUTOMATIC if !is_32_bit => {
            let (list, at) = read_after::<SUMMARY_DUMP64_6_2>(source, size_of::<DUMP_HEADER64>())?;
            let bitmap = Bitmap { at, bits: list.BitmapSize, first: list.HeaderSize };
            bitmap.read(source, header, [list.Signature, list.ValidDump])
        }
        DUMP_TYPE::DUMP_TYPE_KERNEL_MEMORY
        | DUMP_TYPE::DUMP_TYPE_KERNEL_AND_USER_MEMORY
        | DUMP_TYPE::DUMP_TYPE_COMPLETE_MEMORY
            if !is_32_bit =>
        {
            ranges(source, header)
        }
        kind => Err(Error::Kind(kind.0)),
    }
}

fn runs64(source: &impl Source) -> Result<Pages, Error> {
    let (header, end) = read_after::<DUMP_HEADER64>(source, 0)?;
    let block = header.PhysicalMemoryBlockBuffer();
    let block = bytemuck::bytes_of(&block);
    let list: PHYSICAL_MEMORY_DESCRIPTOR64 = view(block, 0).ok_or(Error::Short(block.len()))?;
    let mut pages = Pages::new(source.length()?, end);
    let first = size_of_val(&list) - size_of::<PHYSICAL_MEMORY_RUN64>();
    let places = (first..block.len()).step_by(size_of::<PHYSICAL_MEMORY_RUN64>());
    let runs = places.map_while(|at| view::<PHYSICAL_MEMORY_RUN64>(block, at)).take(list.NumberOfRuns as usize);
    runs.for_each(|run| pages.add(run.BasePage, run.PageCount));
    Ok(pages)
}

fn runs32(source: &impl Source) -> Result<Pages, Error> {
    let (header, end) = read_after::<DUMP_HEADER32>(source, 0)?;
    let block = bytemuck::bytes_of(&header.PhysicalMemoryBlockBuffer);
    let list: PHYSICAL_MEMORY_DESCRIPTOR32 = view(block, 0).ok_or(Error::Short(block.len()))?;
    let mut pages = Pages::new(source.length()?, end);
    let first = size_of_val(&list) - size_of::<PHYSICAL_MEMORY_RUN32>();
    let places = (first..block.len()).step_by(size_of::<PHYSICAL_MEMORY_RUN32>());
    let runs = places.map_while(|at| view::<PHYSICAL_MEMORY_RUN32>(block, at)).take(list.NumberOfRuns as usize);
    runs.for_each(|run| pages.add(run.BasePage.into(), run.PageCount.into()));
    Ok(pages)
}

/// The structure after a header of the given size, and the offset of its end.
fn read_after<T: Pod>(source: &impl Source, header: usize) -> Result<(T, u64), Error> {
    let mut bytes = vec![0; size_of::<T>()];
    let read = source.read_at(header as u64, &mut bytes)?;
    let next = (header + read) as u64;
    view(&bytes[..read], 0).map(|found| (found, next)).ok_or(Error::Short(header + read))
}

/// An empty list of pages that begin at an offset. An offset beyond the end of the file is an error, because nothing would bound
/// the list.
fn pages_from(source: &impl Source, first: u64) -> Result<Pages, Error> {
    let length = source.length()?;
    if first < length { Ok(Pages::new(length, first)) } else { Err(Error::NoPages { first, length }) }
}

/// Number of bytes of a list read at once.
const PIECE: usize = 1 << 16;

/// A list with one bit for each page.
struct Bitmap {
    /// Offset of the bitmap.
    at: u64,
    bits: u64,
    /// Offset of the first page.
    first: u64,
}

impl Bitmap {
    fn read(self, source: &impl Source, header: &DumpHeader, found: [u32; 2]) -> Result<Pages, Error> {
        let is_list = [letters(b"SDMP"), letters(b"FDMP")].contains(&found[0]) && found[1] == letters(b"DUMP");
        if !is_list {
            return Err(Error::List(header.kind.0));
        }
        let mut pages = pages_from(source, self.first)?;
        // The bitmap ends at the first page, even if its stated size is larger.
        let stated = self.at.saturating_add(self.bits.div_ceil(8));
        let end = stated.min(self.first);
        let mut piece = vec![0; PIECE];
        let (mut at, mut page) = (self.at, 0);
        while at < end {
            let length = (end - at).min(PIECE as u64) as usize;
            let read = source.read_at(at, &mut piece[..length])?;
            if read == 0 {
                break;
            }
            // Missing bytes of the last word have no pages.
            piece[read..].fill(0);
            for word in piece[..read.next_multiple_of(8)].chunks_exact(8) {
                let word = word.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
                add_all(&mut pages, page, word & below(self.bits - page.min(self.bits)));
                page += 64;
            }
            at += read as u64;
        }
        pages.cut = (at < stated).then_some((self.at, stated - self.at, at - self.at));
        Ok(pages)
    }
}

/// A value with the given number of low bits set.
fn below(count: u64) -> u64 {
    if count < 64 { (1 << count) - 1 } else { u64::MAX }
}

/// Adds a page for each set bit of a word. The lowest bit is the page `page`.
fn add_all(pages: &mut Pages, page: u64, mut word: u64) {
    while word != 0 {
        let first = word.trailing_zeros();
        let count = (word >> first).trailing_ones();
        pages.add(page + u64::from(first), count.into());
        word &= !(below(count.into()) << first);
    }
}

fn ranges(source: &impl Source, header: &DumpHeader) -> Result<Pages, Error> {
    let (list, mut at) = read_after::<RDMP_HEADER64>(source, size_of::<DUMP_HEADER64>())?;
    if [list.Signature, list.ValidDump] != [letters(b"RDMP"), letters(b"DUMP")] {
        return Err(Error::List(header.kind.0));
    }
    let mut pages = pages_from(source, list.HeaderSize)?;
    // The metadata begin with the number of ranges and of pages.
    let stated = list.MetadataSize.saturating_sub(size_of::<PHYSICAL_MEMORY_RUN64>() as u64);
    let (start, end) = (at, at.saturating_add(stated).min(list.HeaderSize));
    // Only one of these kinds states the number of pages.
    let mut left = if header.kind == DUMP_TYPE::DUMP_TYPE_COMPLETE_MEMORY { list.Pages } else { u64::MAX };
    let mut piece = vec![0; PIECE];
    while at < end {
        let length = (end - at).min(PIECE as u64) as usize;
        let read = source.read_at(at, &mut piece[..length])?;
        let ranges = piece[..read].chunks_exact(size_of::<PHYSICAL_MEMORY_RUN64>());
        if ranges.len() == 0 {
            break;
        }
        at += read as u64;
        for PHYSICAL_MEMORY_RUN64 { BasePage, PageCount } in ranges.map(bytemuck::pod_read_unaligned) {
            if BasePage == 0 || left == 0 {
                return Ok(pages);
            }
            pages.add(BasePage, PageCount);
            left = left.saturating_sub(PageCount);
        }
    }
    let is_cut = stated - (at - start) >= size_of::<PHYSICAL_MEMORY_RUN64>() as u64;
    pages.cut = is_cut.then_some((start, stated, at - start));
    Ok(pages)
}
