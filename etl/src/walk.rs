//! Iteration over the events of a buffer.

use crate::diagnostic::{BufferPosition, Diagnostic, DiagnosticKind};
use crate::event::{Event, Extent};
use crate::header;
use crate::header_type::{HeaderType, RAW, SHAPES};
use crate::item;
use crate::wire::{BUFFER_HEADER, EVENT_INSTANCE_HEADER, Generation, WNODE_HEADER, align8};
use std::ops::Range;

/// Iterator over the events of a buffer, in buffer order. Iteration ends after a diagnostic that makes the rest of the buffer
/// unreadable.
#[derive(Clone, Debug)]
pub struct Events<'a> {
    rest: &'a [u8],
    at: u32,
    generation: Generation,
    buffer: BufferPosition,
    fault: Option<Box<Diagnostic>>,
}

impl<'a> Events<'a> {
    /// Iterates over the events of a buffer that is not part of a file. `buffer` is the buffer as in the memory of a session: its
    /// bytes from the header up to the valid end.
    pub fn in_memory(buffer: &'a [u8], generation: Generation) -> Self {
        Self::new(buffer, BUFFER_HEADER, generation, BufferPosition::default(), None)
    }

    /// As [`in_memory`](Self::in_memory), for a buffer with missing bytes: `holes` are their ranges, in order. After each, iteration continues at the
    /// first offset from which complete events follow each other up to the end of the buffer, or two or more up to the next missing bytes.
    pub fn around<'h>(
        buffer: &'a [u8],
        holes: &'h [Range<usize>],
        generation: Generation,
    ) -> impl Iterator<Item = Result<Event<'a>, Diagnostic>> + use<'a, 'h> {
        let piece = move |number: usize| {
            let hole = holes.get(number);
            let end = hole.map_or(buffer.len(), |hole| hole.start.min(buffer.len()));
            let before = number.checked_sub(1).and_then(|number| holes.get(number));
            let start = match before {
                Some(before) => resume_after(buffer, before.end, end, generation),
                None => Some(BUFFER_HEADER),
            };
            let missing = before.map(|before| {
                let (bytes, next) = (before.len() as u32, start.map(|start| start as u32));
                Err(BufferPosition::default().diagnostic(before.start as u32, DiagnosticKind::Missing { bytes, next }))
            });
            let bytes = &buffer[..if start.is_some() { end } else { 0 }];
            let events = Self::new(bytes, start.unwrap_or(0), generation, BufferPosition::default(), None);
            // The last event before a hole can reach into it.
            let is_cut = move |event: &Result<Event<'_>, Diagnostic>| {
                hole.is_some() && matches!(event, Err(Diagnostic { kind: DiagnosticKind::Long { .. }, .. }))
            };
            missing.into_iter().chain(events.filter(move |event| !is_cut(event)))
        };
        (0..=holes.len()).flat_map(piece)
    }

    /// Iterates over the events from `at` to the end of `bytes`, then returns the fault of the whole buffer.
    pub(crate) fn new(
        bytes: &'a [u8],
        at: usize,
        generation: Generation,
        buffer: BufferPosition,
        fault: Option<Box<Diagnostic>>,
    ) -> Self {
        Self { rest: bytes.get(at..).unwrap_or(&[]), at: at as u32, generation, buffer, fault }
    }
}

impl<'a> Iterator for Events<'a> {
    type Item = Result<Event<'a>, Diagnostic>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if let Some(extent) = usual(self.rest) {
            let event = extent.event(self.rest, self.at);
            self.skip(extent.space());
            return Some(Ok(event));
        }
        let (next, space) = rare(self.rest, self.at, self.generation, self.buffer);
        self.skip(space);
        next.or_else(|| self.fault.take().map(|fault| Err(*fault)))
    }
}

impl Events<'_> {
    #[inline]
    fn skip(&mut self, space: usize) {
        self.at = self.at.wrapping_add(space as u32);
        self.rest = match self.rest.get(space..) {
            Some(rest) => rest,
            None => end(),
        };
    }
}

/// The next item when it is not [`usual`], and the distance to the following one. Takes no iterator, so that the iterator can
/// stay in registers.
#[cold]
#[inline(never)]
fn rare(rest: &[u8], at: u32, generation: Generation, buffer: BufferPosition) -> (Option<Result<Event<'_>, Diagnostic>>, usize) {
    match step(rest, generation) {
        Ok(Some(extent)) => (Some(Ok(extent.event(rest, at))), extent.space()),
        Ok(None) => (None, 0),
        Err(fault) => (Some(Err(buffer.diagnostic(at, fault.kind))), fault.space),
    }
}

/// No bytes. A separate function, so that the comparison becomes a branch and does not delay the offset of the next event.
#[cold]
#[inline(always)]
fn end<'a>() -> &'a [u8] {
    &[]
}

/// A diagnostic of a record, and the distance to the next record.
#[derive(Debug)]
pub(crate) struct Fault {
    pub kind: DiagnosticKind,
    pub space: usize,
}

/// The event at the start of the remaining bytes of a buffer; `None` at the end.
#[inline]
pub(crate) fn step(rest: &[u8], generation: Generation) -> Result<Option<Extent>, Box<Fault>> {
    match (usual(rest), rest.first_chunk()) {
        (Some(extent), _) => Ok(Some(extent)),
        (None, Some(word)) => unusual(rest, u64::from_le_bytes(*word), generation),
        (None, None) => Ok(None),
    }
}

/// The event at the start of the bytes if it has the common marker and a header of fixed length, like nearly every event.
#[inline]
pub(crate) fn usual(rest: &[u8]) -> Option<Extent> {
    let word = u64::from_le_bytes(*rest.first_chunk()?);
    if word as u32 >> 24 != 0xC0 {
        return None;
    }
    let ty = (word >> 16) as u8;
    let shape = &SHAPES[usize::from(ty)];
    // The processor predicts the offset of the length, and so starts with the next event before the header type is known.
    let length = if matches!(ty, 0x01..=0x04 | 0x10 | 0x11) { (word >> 32) as u16 } else { at_start(word) };
    let fits = length >= u16::from(shape.header) && usize::from(length) <= rest.len();
    (word & shape.unusual == 0 && fits).then_some(Extent {
        length: length.into(),
        payload: shape.header.into(),
        header_type: shape.header_type,
    })
}

/// The length at the start of the header. A separate function, so that the compiler emits a branch.
#[cold]
#[inline(always)]
fn at_start(word: u64) -> u16 {
    word as u16
}

/// Everything that is not [`usual`]: other markers, headers of variable length, and faults.
#[cold]
#[inline(never)]
fn unusual(rest: &[u8], word: u64, generation: Generation) -> Result<Option<Extent>, Box<Fault>> {
    let marker = word as u32;
    let shape = SHAPES[usize::from((word >> 16) as u8)];
    let (header_type, length) = match marker >> 24 {
        _ if marker == u32::MAX => return Err(marked(rest, generation)),
        0xC0 => (shape.header_type, u32::from((word >> shape.length_at) as u16)),
        0x90 => (HeaderType::Message, marker & 0xFFFF),
        0xB0 => (HeaderType::Time32, marker & 0xFFFF),
        0x80.. => (HeaderType::Unknown, marker & 0xFFFF),
        _ => (HeaderType::Wnode, marker),
    };
    let least = match header_type {
        HeaderType::Instance32 if generation == Generation::V5_1 => size_of::<EVENT_INSTANCE_HEADER>(),
        HeaderType::PerfInfo32 | HeaderType::PerfInfo64 => header::perfinfo(word as u16),
        HeaderType::Message => header::message((word >> 48) as u16),
        HeaderType::Wnode => size_of::<WNODE_HEADER>(),
        HeaderType::Unknown | HeaderType::Time32 => RAW,
        _ => usize::from(shape.header),
    };
    let fault = |kind, space| Err(Box::new(Fault { kind, space }));
    if (length as usize) < least {
        return fault(DiagnosticKind::Short { length, header: least as u32 }, usize::MAX);
    }
    let Some(event) = rest.get(..length as usize) else {
        return fault(DiagnosticKind::Long { length, left: rest.len() as u32 }, usize::MAX);
    };
    let payload = match header_type {
        // Events without extended items are handled by `usual`.
        HeaderType::Event32 | HeaderType::Event64 => item::end(event, least),
        _ => Some(least),
    };
    match payload {
        Some(payload) => Ok(Some(Extent { length, payload: payload as u16, header_type })),
        None => fault(DiagnosticKind::Items, align8(event.len())),
    }
}

/// An end marker, which sessions write only after the valid end: an earlier one is damage.
#[cold]
fn marked(rest: &[u8], generation: Generation) -> Box<Fault> {
    let next = resume(rest, generation);
    let kind = DiagnosticKind::Marker { skipped: next.unwrap_or(rest.len()) as u32, next: next.map(|next| next as u32) };
    Box::new(Fault { kind, space: next.unwrap_or(usize::MAX) })
}

/// The first offset, not 0, from which events follow each other up to the end of the bytes, all with headers of a known type.
fn resume(rest: &[u8], generation: Generation) -> Option<usize> {
    chain(rest, 8, rest.len(), generation)
}

/// The first offset in a buffer after missing bytes, which end at `from`, from which events follow each other up to `end`: the end of the buffer, or
/// the next missing bytes.
fn resume_after(buffer: &[u8], from: usize, end: usize, generation: Generation) -> Option<usize> {
    let from = align8(from);
    let rest = buffer.get(from..).filter(|_| from < end)?;
    Some(from + chain(rest, 0, end - from, generation)?)
}

/// The first offset of at least `from` from which events follow each other up to `end`, all with headers of a known type. If `end` is not that of the
/// bytes, the last event can reach beyond it, and at least two precede it. Events begin at multiples of eight.
fn chain(bytes: &[u8], from: usize, end: usize, generation: Generation) -> Option<usize> {
    let is_cut = end < bytes.len();
    let least = if is_cut { 2 } else { 1 };
    // The number of events of such a chain from each multiple of eight, computed backward from the end so that each offset is examined once.
    let mut counts: Vec<Option<u32>> = vec![None; end / 8 + 1];
    let mut first = None;
    if let Some(last) = counts.last_mut().filter(|_| end.is_multiple_of(8)) {
        *last = Some(0);
    }
    for at in (from / 8..end / 8).rev() {
        let rest = &bytes[at * 8..];
        let extent = usual(rest).or_else(|| match u32::from_le_bytes(*rest.first_chunk()?) >> 24 {
            0x90 | 0xC0 => step(rest, generation).ok().flatten(),
            _ => None,
        });
        let Some(extent) = extent.filter(|extent| extent.header_type.is_known()) else { continue };
        let next = at * 8 + extent.space();
        counts[at] = match next > end {
            true => is_cut.then_some(0),
            false => counts.get(next / 8).copied().flatten().map(|count| count + 1),
        };
        if counts[at].is_some_and(|count| count >= least) {
            first = Some(at * 8);
        }
    }
    first
}
