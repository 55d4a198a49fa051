//! Decision whether a buffer begins at given bytes, and which of its events are whole.

use super::content::Content;
use super::evidence::{Walked, walk};
use crate::buffer::is_fill;
use crate::buffer_header::{BufferHeader, FLAGS, KIB, LARGEST, fits};
use crate::common;
use crate::compression::Format;
use crate::logfile::LogFile;
use crate::producer::Producer;
use crate::walk::Events;
use crate::wire::{Arch, BUFFER_HEADER, Generation};

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
    /// End of the last whole event without padding, in bytes from the start of the decompressed buffer.
    pub end: u32,
    /// How complete it is.
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
    /// Whether any of the events has a time stamp.
    pub has_times: bool,
}

/// How complete a buffer is, which states how certain the find is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Completeness {
    /// Events are whole up to an offset, and other bytes follow.
    Damaged,
    /// All events are whole, but the unused space after them has other bytes, or is missing.
    Events,
    /// All events are whole, and unused space, if there is any, has its fill; or the stream decompresses to the size in the header. Other bytes
    /// within an event that is longer than the distance of the searched offsets, or in the last event of a buffer without unused space, are not
    /// noticed.
    Whole,
}

/// Bytes that an examination needs at most.
pub(super) const WINDOW: usize = LARGEST as usize;

pub(super) struct Examined {
    /// The buffer, and the number of its bytes in the source that no other buffer can occupy.
    pub found: Option<(Found, u64)>,
    /// Bytes decompressed, walked, and compared with headers.
    pub work: u64,
}

/// The producer with the largest values in buffer headers.
const NEWEST: Producer = Producer::new(10, 0, 0, Arch::X64);

/// Whether a buffer can begin at these bytes, by its header.
#[inline]
pub(super) fn is_candidate(bytes: &[u8]) -> bool {
    let size = bytes.first_chunk().map_or(0, |size| u32::from_le_bytes(*size));
    fits(size) && headers(bytes).next().is_some()
}

/// The ways to read a header, with whether the buffer is in use.
fn headers(bytes: &[u8]) -> impl Iterator<Item = (BufferHeader, Generation, bool)> {
    // A header buffer often has a stale SavedOffset.
    let is_first = LogFile::begins(bytes);
    let flushed = [Generation::V6_1, Generation::V5_2, Generation::V5_1].into_iter().filter_map(move |generation| {
        let header = BufferHeader::read(generation, bytes)?;
        let is_size = match generation {
            Generation::V6_1 if header.is_compressed() => true,
            Generation::V6_1 => header.size.is_multiple_of(8) && header.size >= 512,
            _ => header.size.is_multiple_of(KIB) && !header.is_compressed(),
        };
        let size = if generation == Generation::V6_1 { LARGEST } else { header.size };
        let has_events = header.offset > BUFFER_HEADER as u32;
        (is_size && has_events && header.is_plausible(generation, size, true, is_first)).then_some((header, generation, false))
    });
    let mut ways = flushed.peekable();
    let in_use = if ways.peek().is_some() { None } else { BufferHeader::read(Generation::V6_1, bytes) };
    let in_use = in_use.filter(|header| header.flags.0 & !FLAGS == 0 && header.end_in_memory(&NEWEST).is_some());
    ways.chain(in_use.map(|header| (header, Generation::V6_1, true)))
}

/// Examines the buffer that can begin at these bytes, which extend to the end of its largest size or of the source. `step` is the
/// distance of the offsets at which other bytes can begin.
pub(super) fn examine(bytes: &[u8], offset: u64, step: usize) -> Examined {
    let mut work = u64::from(KIB);
    let ways = headers(bytes).filter_map(|(_, generation, in_use)| {
        let log_file = LogFile::begins(bytes).then(|| common::log_file(bytes)).flatten().map(|(log, ..)| log);
        // A header that was made for buffers without one says nothing of them.
        if log_file.as_ref().is_some_and(|log| !log.states_times()) {
            return None;
        }
        let generation = log_file.as_ref().map_or(generation, |log| log.generation());
        let header = BufferHeader::read(generation, bytes)?;
        let end = if in_use { header.end_in_memory(&NEWEST)? } else { header.offset };
        let mut stored = &bytes[..bytes.len().min(header.size as usize)];
        let extent = if stored.len() == header.size as usize { Extent::Full } else { Extent::SourceEnds };
        let is_compressed = header.is_compressed() && log_file.is_none();
        if !is_compressed && !has_event(bytes) {
            return None;
        }
        // A walk reads the buffer at most four times.
        work += 4 * u64::from(end.min(stored.len() as u32));
        let shift = (offset % step as u64) as usize;
        let mut content = Content::new(stored, end, is_compressed, shift, step)?;
        let mut left = whole_events(&content, generation, in_use, extent);
        work += content.work();
        if let Some((walked, _)) = &left {
            // Another buffer can begin within an event. Its events, and the fill of its unused space, can be at the right places.
            let present = if is_compressed { stored.len() } else { walked.end };
            work += (present / step * BUFFER_HEADER) as u64;
            let mut boundaries = (step - shift..present).step_by(step);
            let is_buffer = |start: &usize| is_candidate(&bytes[*start..]) && has_event(&bytes[*start..]);
            if let Some(start) = boundaries.find(is_buffer) {
                stored = &stored[..start];
                content = Content::new(stored, end, is_compressed, shift, step)?;
                left = whole_events(&content, generation, in_use, Extent::Cut);
                work += content.work();
            }
        }
        let (walked, completeness) = left?;
        let length = match completeness {
            Completeness::Whole => stored.len(),
            _ if is_compressed => BUFFER_HEADER,
            _ => walked.end.min(stored.len()),
        };
        let found = Found {
            offset,
            header,
            generation,
            events: walked.events,
            end: walked.end as u32,
            completeness,
            in_use,
            format: content.format(),
            is_64_bit: walked.is_64_bit,
            log_file: log_file.map(Box::new),
            hash: content.hash(walked.end),
            has_times: walked.has_times,
        };
        Some((found, length as u64))
    });
    // Buffers before 6.0 can be read as later ones, which have longer headers of some events.
    let found = ways.max_by_key(|(found, _)| (found.completeness, found.events, found.generation, !found.in_use));
    Examined { found, work }
}

/// How far the bytes of a buffer extend.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// To the size in the header.
    Full,
    /// To the end of the source.
    SourceEnds,
    /// To another buffer.
    Cut,
}

/// The events that no other bytes can have overwritten, and how complete the buffer is.
fn whole_events(content: &Content<'_>, generation: Generation, in_use: bool, extent: Extent) -> Option<(Walked, Completeness)> {
    let (end, rest) = (content.plain().len(), content.rest());
    let walk = |is_strict: bool, limit: usize| walk(content, generation, is_strict, limit);
    // A source that ends with the last event does not show whether other bytes precede its end.
    let is_filled = content.is_complete() && is_fill(rest) && (extent == Extent::Full || !rest.is_empty());
    // The fill confirms that no other bytes precede it, so that events need no evidence of their own.
    let is_confirmed = is_filled && (!rest.is_empty() || content.format().is_some());
    let mut walked = walk(!is_confirmed, end)?;
    if walked.reaches(end) && content.is_complete() {
        if is_filled || in_use {
            let completeness =
                if extent == Extent::Full && is_filled && !in_use { Completeness::Whole } else { Completeness::Events };
            return Some((walked, completeness));
        }
        // Other bytes after the last event can begin within it.
        if content.boundary(walked.end - 1) <= walked.last {
            return Some((walked, Completeness::Events));
        }
        return Some((walk(true, walked.last)?, Completeness::Damaged));
    }
    if is_confirmed {
        walked = walk(true, end)?;
    }
    // A source that ends within an event has no other bytes.
    if extent == Extent::SourceEnds && content.is_exhausted() && walked.is_followed {
        return Some((walked, Completeness::Damaged));
    }
    // Other bytes begin at the last boundary before the end of what is no event, or at one within the last event.
    let limit = content.boundary(walked.examined.min(end));
    if limit < walked.end {
        walked = walk(true, limit)?;
    } else if content.boundary(walked.end - 1) > walked.last {
        walked = walk(true, walked.last)?;
    }
    Some((walked, Completeness::Damaged))
}

/// Whether an event with a known type of header follows a buffer header.
fn has_event(bytes: &[u8]) -> bool {
    // An end marker would be followed by a search for the next event.
    if bytes.get(BUFFER_HEADER..).is_some_and(|event| event.starts_with(&[0xFF; 4])) {
        return false;
    }
    let event = Events::in_memory(bytes, Generation::V6_1).next();
    event.is_some_and(|event| event.is_ok_and(|event| event.header_type().is_known()))
}
