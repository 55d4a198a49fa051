//! The pieces of memory in a triage dump.

use crate::diagnostic::{Diagnostic, DiagnosticKind, report};
use crate::header::TriageOffsets;
use crate::pages::PAGE;
use crate::wire::{TRIAGE_DATA_BLOCK, view};
use etw_layouts_memory::{Address, Memory, ReadError};
use std::borrow::Cow;
use std::ops::Range;

/// The memory in a triage dump, by address: the pieces that its writer selected.
#[derive(Clone, Debug, Default)]
pub struct TriageMemory<'a> {
    /// The whole file.
    file: Cow<'a, [u8]>,
    /// Addresses of non-overlapping pieces and their places in the file, in address order.
    pieces: Vec<(u64, Range<usize>)>,
    /// Number of data blocks in the dump.
    blocks: usize,
}

impl<'a> TriageMemory<'a> {
    pub(crate) fn read(file: Cow<'a, [u8]>, offsets: &TriageOffsets, is_64_bit: bool, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let bytes = &*file;
        let mut pieces = Vec::new();
        let mut left = bytes.len();
        // The diagnostic of truncated blocks.
        let mut cut = None;
        let mut add = |name, at: u64, (address, offset, size): (u64, u32, u32), diagnostics: &mut Vec<Diagnostic>| {
            let length = bytes.len().saturating_sub(offset as usize).min(size as usize);
            if length < size as usize {
                let absent = u64::from(size) - length as u64;
                let known = cut.and_then(|cut: usize| diagnostics.get_mut(cut)).map(|diagnostic| &mut diagnostic.kind);
                match (known, name) {
                    (_, Some(part)) => {
                        report(diagnostics, at, DiagnosticKind::Truncated { part, size: size.into(), present: length as u64 })
                    }
                    (Some(DiagnosticKind::Blocks { count, missing, last, .. }), None) => {
                        (*count, *missing, *last) = (*count + 1, *missing + absent, address);
                    }
                    (_, None) => {
                        cut = Some(diagnostics.len());
                        report(
                            diagnostics,
                            at,
                            DiagnosticKind::Blocks { count: 1, missing: absent, first: address, last: address },
                        );
                    }
                }
            }
            let Some(rest_of_all) = left.checked_sub(length) else {
                report(diagnostics, at, DiagnosticKind::Overlap);
                return false;
            };
            left = rest_of_all;
            let address = if is_64_bit { address } else { address & u64::from(u32::MAX) };
            // Pieces are limited to the end of the address space.
            let length = length.min(usize::try_from(u64::MAX - address).unwrap_or(usize::MAX));
            pieces.push((address, offset as usize..offset as usize + length));
            true
        };
        let mut blocks = 0;
        let mut named = Vec::new();
        let count = count(bytes, offsets);
        if count != offsets.count {
            report(diagnostics, offsets.blocks.into(), DiagnosticKind::Count { stated: offsets.count, found: count });
        }
        for number in 0..count {
            let at = place(offsets, number);
            let Some(block) = entry(bytes, offsets, number) else {
                let present = (bytes.len() as u64).saturating_sub(offsets.blocks.into());
                let size = u64::from(count) * ENTRY;
                report(diagnostics, at, DiagnosticKind::Truncated { part: "a list of data blocks", size, present });
                break;
            };
            if !add(None, at, (block.Address, block.Offset, block.Size), diagnostics) {
                break;
            }
            named.push((block.Offset, block.Size));
            blocks += 1;
        }
        for (name, part) in [("the stack", offsets.stack), ("a data page", offsets.page), ("the debugger data", offsets.debugger)]
        {
            if part.0 != 0 && part.2 != 0 {
                add(Some(name), part.1.into(), part, diagnostics);
                named.push((part.1, part.2));
            }
        }
        if offsets.blocks != 0 && offsets.is_whole(bytes) {
            unnamed(named, place(offsets, count), offsets.valid.into(), diagnostics);
        }
        Self { pieces: apart(pieces), blocks, file }
    }

    /// The bytes of the file.
    pub(crate) fn file(&self) -> &[u8] {
        &self.file
    }

    /// The bytes of a piece.
    fn piece(&self, place: &Range<usize>) -> &[u8] {
        self.file.get(place.clone()).unwrap_or_default()
    }

    /// Number of data blocks in the dump.
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// Number of bytes of memory.
    pub fn bytes(&self) -> u64 {
        self.pieces.iter().map(|(_, place)| place.len() as u64).sum()
    }

    /// File offset of the byte at an address; `None` if it is not in the dump.
    pub fn offset(&self, address: Address) -> Option<u64> {
        let after = self.pieces.partition_point(|(start, _)| *start <= address.0);
        let (start, place) = self.pieces.get(after.checked_sub(1)?)?;
        let within = usize::try_from(address.0 - start).ok().filter(|within| *within < place.len())?;
        Some((place.start + within) as u64)
    }

    /// The pieces in address order, without overlaps.
    pub fn iter(&self) -> impl Iterator<Item = (Address, &[u8])> {
        self.pieces.iter().map(|(address, place)| (Address(*address), self.piece(place)))
    }
}

impl Memory for TriageMemory<'_> {
    fn read(&self, address: Address, out: &mut [u8]) -> Result<usize, ReadError> {
        let mut done = 0;
        while done < out.len() {
            let Some(at) = address.0.checked_add(done as u64) else { break };
            let after = self.pieces.partition_point(|(start, _)| *start <= at);
            let Some((start, place)) = after.checked_sub(1).and_then(|index| self.pieces.get(index)) else { break };
            let present = usize::try_from(at - start).ok().and_then(|skip| self.piece(place).get(skip..)).unwrap_or_default();
            let length = present.len().min(out.len() - done);
            if length == 0 {
                break;
            }
            out[done..done + length].copy_from_slice(&present[..length]);
            done += length;
        }
        Ok(done)
    }
}

/// Size of an entry in the list of data blocks.
const ENTRY: u64 = size_of::<TRIAGE_DATA_BLOCK>() as u64;

/// File offset of a data block's entry.
fn place(offsets: &TriageOffsets, number: u32) -> u64 {
    u64::from(offsets.blocks) + u64::from(number) * ENTRY
}

fn entry(bytes: &[u8], offsets: &TriageOffsets, number: u32) -> Option<TRIAGE_DATA_BLOCK> {
    view(bytes, usize::try_from(place(offsets, number)).ok()?)
}

/// Number of data blocks in the list: that in the header, or more if the list continues up to the first block and each additional
/// block begins at the end of the previous one, as in all known dumps.
fn count(bytes: &[u8], offsets: &TriageOffsets) -> u32 {
    let mut count = offsets.count;
    let Some(first) = entry(bytes, offsets, 0).filter(|_| offsets.blocks != 0) else { return count };
    let list_size = u64::from(first.Offset).saturating_sub(offsets.blocks.into());
    let mut end = match count.checked_sub(1) {
        Some(last) => entry(bytes, offsets, last).map(|last| u64::from(last.Offset) + u64::from(last.Size)),
        None => Some(first.Offset.into()),
    };
    while list_size.is_multiple_of(ENTRY) && u64::from(count) < list_size / ENTRY {
        let next = entry(bytes, offsets, count).filter(|next| Some(u64::from(next.Offset)) == end);
        end = next.map(|next| u64::from(next.Offset) + u64::from(next.Size)).filter(|end| *end <= offsets.valid.into());
        if end.is_none() {
            break;
        }
        count += 1;
    }
    count
}

/// Reports bytes of a complete dump, after the list of data blocks, that no block refers to. Less than a page is considered
/// padding.
fn unnamed(mut named: Vec<(u32, u32)>, from: u64, valid: u64, diagnostics: &mut Vec<Diagnostic>) {
    named.sort_unstable();
    let (mut end, mut first, mut all) = (from, None, 0);
    let ranges = named.into_iter().map(|(offset, size)| (u64::from(offset), u64::from(offset) + u64::from(size)));
    for (start, after) in ranges.chain([(valid, valid)]) {
        let bytes = start.min(valid).saturating_sub(end);
        if bytes >= PAGE {
            (first, all) = (first.or(Some(end)), all + bytes);
        }
        end = end.max(after);
    }
    if let Some(first) = first {
        report(diagnostics, first, DiagnosticKind::Unnamed(all));
    }
}

/// The same memory in non-overlapping pieces; where two overlap, the one that begins first is used.
fn apart(mut pieces: Vec<(u64, Range<usize>)>) -> Vec<(u64, Range<usize>)> {
    pieces.sort_by_key(|(address, place)| (*address, std::cmp::Reverse(place.len())));
    let mut end = 0;
    pieces.retain_mut(|(address, place)| {
        let skip = usize::try_from(end.max(*address) - *address).unwrap_or(usize::MAX).min(place.len());
        (*address, place.start) = (*address + skip as u64, place.start + skip);
        end = end.max(*address + place.len() as u64);
        place.start < place.end
    });
    pieces
}
