//! Decision whether a buffer begins at given bytes, and which of its events are whole.

use crate::buffer::is_fill;
use crate::buffer_header::{BufferHeader, FLAGS, LARGEST, fits};
use crate::compression::{Error, Format};
use crate::diagnostic::BufferPosition;
use crate::logfile::LogFile;
use crate::producer::Producer;
use crate::walk::Events;
use crate::wire::{Arch, BUFFER_HEADER, ETW_BUFFER_TYPE, Generation, align8};
use std::hash::{DefaultHasher, Hash, Hasher};

/// A buffer that was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// Offset in the source, in bytes.
    pub offset: u64,
    /// The header as found. Before version 6.0 it has no sequence number.
    pub header: BufferHeader,
    /// The form of the headers; without a log file header often [`Generation::V6_1`] for earlier buffers too, which cannot be distinguished.
    pub generation: Generation,
    /// Number of whole events.
    pub events: u32,
    /// End of the last whole event, in bytes from the start of the decompressed buffer.
    pub end: u32,
    /// What is left of the buffer.
    pub completeness: Completeness,
    /// Whether the header is that of a buffer in use: found in memory before it was written.
    pub in_use: bool,
    /// The compression format, if the buffer is compressed.
    pub format: Option<Format>,
    /// Whether the first event with a known pointer size is of a 64-bit writer.
    pub is_64_bit: Option<bool>,
    /// The log file header, if the buffer begins a trace file.
    pub log_file: Option<Box<LogFile>>,
    /// A hash of the bytes of the whole events.
    pub hash: u64,
}

/// What is left of a buffer, which states how certain the find is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Completeness {
    /// Events are whole up to an offset, and other bytes follow.
    Damaged,
    /// All events are whole, but the unused space after them has other bytes, or is missing.
    Events,
    /// All events are whole, and unused space has its fill; or the stream decompresses to the size in the header.
    Whole,
}

/// Bytes that an examination needs at most.
pub(super) const WINDOW: usize = LARGEST as usize;

pub(super) struct Examined {
    /// The buffer, and the number of its bytes in the source that no other buffer can occupy.
    pub found: Option<(Found, u64)>,
    /// Bytes decompressed and walked.
    pub work: u64,
}

/// The producer with the largest values in buffer headers.
const NEWEST: Producer = Producer::new(10, 0, 0, Arch::X64);

/// Unit of the buffer sizes of sessions.
const KIB: u32 = 1 << 10;

/// Whether a buffer can begin at these bytes, by its header.
#[inline]
pub(super) fn is_candidate(bytes: &[u8]) -> bool {
    let size = bytes.first_chunk().map_or(0, |size| u32::from_le_bytes(*size));
    fits(size) && headers(bytes).next().is_some()
}

/// The ways to read a header.
fn headers(bytes: &[u8]) -> impl Iterator<Item = (BufferHeader, Generation, bool)> {
    let flushed = [Generation::V6_1, Generation::V5_2, Generation::V5_1].into_iter().filter_map(|generation| {
        let header = BufferHeader::read(generation, bytes)?;
        let is_first = header.ty == ETW_BUFFER_TYPE::ETW_BUFFER_TYPE_HEADER || generation == Generation::V5_1;
        let is_size = match generation {
            Generation::V6_1 if header.is_compressed() => true,
            Generation::V6_1 => header.size.is_multiple_of(8) && header.size >= 512,
            _ => header.size.is_multiple_of(KIB) && !header.is_compressed(),
        };
        let size = if generation == Generation::V6_1 { LARGEST } else { header.size };
        let has_events = header.offset > BUFFER_HEADER as u32;
        (is_size && has_events && header.is_plausible(generation, size, true, is_first)).then_some((header, generation, false))
    });
    let in_use = || {
        let header = BufferHeader::read(Generation::V6_1, bytes)?;
        let is_known = header.flags.0 & !FLAGS == 0;
        header.end_in_memory(&NEWEST).filter(|_| is_known).map(|_| (header, Generation::V6_1, true))
    };
    flushed.chain(std::iter::once_with(in_use).flatten())
}

/// Examines the buffer that can begin at these bytes, which extend to the end of its largest size or of the source. `step` is the
/// distance of the offsets at which foreign bytes can begin.
pub(super) fn examine(bytes: &[u8], offset: u64, step: usize) -> Examined {
    let mut work = 0;
    let ways = headers(bytes).filter_map(|(_, generation, in_use)| {
        let log_file = LogFile::begins(bytes).then(|| log_file(bytes)).flatten();
        let generation = log_file.as_ref().map_or(generation, |log| log.generation());
        let header = BufferHeader::read(generation, bytes)?;
        let is_header = header.ty == ETW_BUFFER_TYPE::ETW_BUFFER_TYPE_HEADER && generation != Generation::V5_1;
        if is_header && log_file.is_none() {
            return None;
        }
        let end = if in_use { header.end_in_memory(&NEWEST)? } else { header.offset };
        let stored = &bytes[..bytes.len().min(header.size as usize)];
        let is_compressed = header.is_compressed() && log_file.is_none();
        work += u64::from(if is_compressed { end } else { end.min(stored.len() as u32) });
        let (decoded, format) = if is_compressed { decompress(stored, end)? } else { (None, None) };
        let plain = decoded.as_deref().unwrap_or(&stored[..stored.len().min(align8(end as usize))]);
        let mut walked = walk(plain, generation)?;
        let mut is_damaged = walked.is_damaged || plain.len() < end as usize;
        // The event before foreign bytes can end with some of them.
        let is_cut_short = !is_compressed && stored.len() < header.size as usize && walked.end >= stored.len().saturating_sub(8);
        let is_full = stored.len() == header.size as usize;
        let is_filled = is_compressed || is_full && is_fill(&stored[align8(end as usize).min(stored.len())..]);
        // The last event can end with foreign bytes too, if they go on after it. A buffer in use has no fill.
        let is_torn = is_damaged || !is_filled && !in_use;
        if is_torn && !is_cut_short {
            let is_suspect = match is_compressed {
                false => walked.last / step != (walked.end - 1) / step && walked.end < stored.len(),
                true => is_suspect(stored, walked.last..walked.end, end, step),
            };
            if is_suspect {
                (walked.end, walked.events) = (walked.last, walked.events - 1);
                is_damaged = true;
            }
        }
        let is_weak = generation < Generation::V6_0 && log_file.is_none() && is_damaged && walked.events < 3;
        if walked.events == 0 || is_weak {
            return None;
        }
        let completeness = match is_damaged {
            true => Completeness::Damaged,
            false if is_full && is_filled => Completeness::Whole,
            false => Completeness::Events,
        };
        let length = match completeness {
            Completeness::Whole => stored.len(),
            _ if is_compressed => BUFFER_HEADER,
            _ => walked.end.min(stored.len()),
        };
        let mut hasher = DefaultHasher::new();
        plain.get(BUFFER_HEADER..walked.end.min(plain.len())).hash(&mut hasher);
        let found = Found {
            offset,
            header,
            generation,
            events: walked.events,
            end: walked.end as u32,
            completeness,
            in_use,
            format,
            is_64_bit: walked.is_64_bit,
            log_file: log_file.map(Box::new),
            hash: hasher.finish(),
        };
        Some((found, length as u64))
    });
    // Buffers before 6.0 can be read as later ones, which have longer headers of some events.
    let found = ways.max_by_key(|(found, _)| (found.completeness, found.events, found.generation, !found.in_use));
    Examined { found, work: work.max(KIB.into()) }
}

fn log_file(bytes: &[u8]) -> Option<LogFile> {
    let event = Events::new(bytes, BUFFER_HEADER, Generation::V6_1, BufferPosition::default(), None).next()?.ok()?;
    LogFile::read(&event)
}

/// The events of a buffer up to the first that is not whole.
struct Walked {
    events: u32,
    /// Offset of the last event.
    last: usize,
    /// End of the last event.
    end: usize,
    is_damaged: bool,
    is_64_bit: Option<bool>,
}

/// `None` unless the buffer begins with a whole event of a known type.
fn walk(buffer: &[u8], generation: Generation) -> Option<Walked> {
    let mut walked = Walked { events: 0, last: 0, end: 0, is_damaged: false, is_64_bit: None };
    for event in Events::in_memory(buffer, generation) {
        let Ok(event) = event else {
            walked.is_damaged = true;
            break;
        };
        if walked.events == 0 && !event.header_type().is_known() {
            return None;
        }
        walked.events += 1;
        walked.last = event.offset() as usize;
        walked.end = align8(walked.last + event.bytes().len()).min(buffer.len());
        walked.is_64_bit = walked.is_64_bit.or(event.header_type().is_64_bit());
    }
    (walked.events > 0).then_some(walked)
}

/// The decompressed buffer, up to the first error of the stream, and the format; `None` if it does not begin with an event.
pub(super) fn decompress(stored: &[u8], end: u32) -> Option<(Option<Vec<u8>>, Option<Format>)> {
    let (head, stream) = stored.split_at_checked(BUFFER_HEADER)?;
    let mut decoded = vec![0; align8(end as usize)];
    decoded[..BUFFER_HEADER].copy_from_slice(head);
    let output = BUFFER_HEADER..end as usize;
    let whole = [Format::Xpress, Format::Lznt1, Format::XpressHuffman]
        .into_iter()
        .find(|format| format.decompress(stream, &mut decoded[output.clone()]) == Ok(output.len()));
    if whole.is_some() {
        return Some((Some(decoded), whole));
    }
    let present = output_of(stream, &mut decoded[output]);
    decoded.truncate((BUFFER_HEADER + present) & !7);
    Some((Some(decoded), Some(Format::Xpress)))
}

/// The number of bytes that the start of an XPRESS stream decompresses to.
fn output_of(stream: &[u8], output: &mut [u8]) -> usize {
    match Format::Xpress.decompress(stream, output) {
        Ok(present) => present,
        Err(Error::Xpress(error)) => error.output.min(output.len()),
        Err(Error::Other { output, .. }) => output,
    }
}

/// Whether foreign bytes of the stream, which begin at a multiple of `step`, can begin within an event of a compressed buffer.
fn is_suspect(stored: &[u8], event: std::ops::Range<usize>, end: u32, step: usize) -> bool {
    let mut decoded = vec![0; (end as usize).saturating_sub(BUFFER_HEADER)];
    let mut ends = |blocks: usize| {
        let stream = stored.get(BUFFER_HEADER..(blocks * step).min(stored.len())).unwrap_or(&[]);
        BUFFER_HEADER + output_of(stream, &mut decoded)
    };
    // The output of a longer start of the stream is never shorter.
    let (mut low, mut high) = (0, stored.len().div_ceil(step));
    while low < high {
        let middle = low.midpoint(high);
        if ends(middle) > event.start { high = middle } else { low = middle + 1 }
    }
    ends(low) < event.end
}
