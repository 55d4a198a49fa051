//! Iteration over the buffers of a file, from memory or from a stream.

use crate::buffer::{Buffer, Frame};
use crate::buffer_header::{BufferHeader, fits};
use crate::common::{Common, FILE};
use crate::compression;
use crate::diagnostic::{BufferPosition, Diagnostic, DiagnosticKind};
use crate::logfile::LogFile;
use crate::source::Source;
use crate::wire::{BUFFER_HEADER, BufferHeader61};
use memchr::memmem::Finder;
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::iter;

/// Iterator over the buffers of a file, in file order, and its diagnostics. A truncated buffer follows the diagnostic that
/// reports it.
///
/// After a damaged header, the bytes up to the next plausible buffer header of this file are skipped: damage loses only one buffer.
/// Iteration ends where another trace begins.
#[derive(Clone, Debug)]
pub struct Buffers<'a> {
    bytes: &'a [u8],
    frames: Frames,
}

impl<'a> Buffers<'a> {
    /// Iterates over all buffers.
    pub(crate) fn new(bytes: &'a [u8], common: Common, diagnostics: &[Diagnostic]) -> Self {
        Self { bytes, frames: Frames::new(common, diagnostics) }
    }
}

impl<'a> Iterator for Buffers<'a> {
    type Item = Result<Buffer<'a>, Diagnostic>;

    fn next(&mut self) -> Option<Self::Item> {
        let Ok(next) = self.frames.next(&mut self.bytes);
        let frame = match next? {
            Ok(frame) => frame,
            Err(diagnostic) => return Some(Err(diagnostic)),
        };
        let bytes = &self.bytes[frame.place.offset as usize..][..frame.length];
        Some(Ok(Buffer::new(frame, bytes, self.frames.common)))
    }
}

/// Finds the buffers one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Frames {
    common: Common,
    /// Start of the search for the next buffer.
    place: BufferPosition,
    /// Results not returned yet. The search continues only when the queue is empty, so that the source still has the bytes of the
    /// current buffer.
    found: VecDeque<Result<Frame, Diagnostic>>,
    done: bool,
    /// Fingerprints of the headers of the most recent buffers, by sequence number.
    seen: Vec<u64>,
    /// Whether a buffer was larger than the size in the log file header.
    is_small: bool,
}

/// Number of most recent buffers that are remembered.
const SEEN: usize = 1 << 12;

/// Number of bytes needed to recognize the start of a buffer or of a trace.
const START: usize = LogFile::START;

/// Number of bytes searched at once.
const STEP: usize = 1 << 16;

impl Frames {
    pub(crate) fn new(common: Common, diagnostics: &[Diagnostic]) -> Self {
        let found = diagnostics.iter().cloned().map(Err).collect();
        Self { common, place: BufferPosition::default(), found, done: false, seen: Vec::new(), is_small: false }
    }

    /// The properties shared by all buffers.
    pub(crate) fn common(&self) -> Common {
        self.common
    }

    /// The next buffer, or a diagnostic in its place; `None` at the end.
    #[inline]
    pub(crate) fn next<S: Source>(&mut self, source: &mut S) -> Result<Option<Result<Frame, Diagnostic>>, S::Error> {
        while self.found.is_empty() && !self.done {
            self.find(source)?;
        }
        Ok(self.found.pop_front())
    }

    /// Searches for the next buffer from the current position.
    fn find<S: Source>(&mut self, source: &mut S) -> Result<(), S::Error> {
        let BufferPosition { offset, .. } = self.place;
        let Common { generation, size, compressed, header_end, .. } = self.common;
        let bytes = source.bytes(offset, START)?;
        let present = bytes.len();
        let Some(header) = BufferHeader::read(generation, bytes) else {
            match bytes.iter().all(|byte| *byte == 0) {
                true if present > 0 => self.unwritten(present as u64),
                true => {}
                false => self.report(DiagnosticKind::Truncated { size: BUFFER_HEADER as u32, present: present as u32 }),
            }
            self.end();
            return Ok(());
        };
        if offset > 0 && LogFile::begins(bytes) {
            self.report(DiagnosticKind::AnotherTrace(offset));
            self.end();
            return Ok(());
        }
        // The first buffer is always accepted: its log file header has been read.
        let is_first = offset == 0;
        if !fits(header.size) && !is_first {
            return self.resume(source);
        }
        let length = if fits(header.size) { header.size } else { size } as usize;
        let bytes = source.bytes(offset, length + START)?;
        let after = bytes.get(length..);
        // Without compression, two consecutive headers with the expected size are not a coincidence.
        let is_size = |after| !compressed && header.size == size && stated_size(after) == size;
        let is_followed = after.is_some_and(|after| after.is_empty() || begins(&self.common, after) || is_size(after));
        let is_plausible = self.common.has_as(&header, is_first);
        if !is_plausible && !is_followed && !is_first {
            return self.resume(source);
        }
        // A size that is too large must not hide other buffers. In compressed files the size of the header buffer is arbitrary.
        let is_whole = is_plausible && is_followed && !(is_first && compressed);
        let next = match is_whole {
            true if header.is_compressed() => search_stream(&self.common, &header, bytes, length),
            true => None,
            false => search(&self.common, bytes, if is_first { header_end as usize } else { BUFFER_HEADER }, length),
        };
        let present = next.unwrap_or(length.min(bytes.len()));
        if next.is_some() || length != header.size as usize {
            self.report(DiagnosticKind::Size { stated: header.size, assumed: present as u32 });
        } else if !is_plausible {
            self.report(DiagnosticKind::Header);
        }
        if next.is_none() && present < length {
            self.report(DiagnosticKind::Truncated { size: length as u32, present: present as u32 });
        }
        let own = source.bytes(offset, BUFFER_HEADER)?.first_chunk().copied().unwrap_or([0; BUFFER_HEADER]);
        if !is_first {
            self.compare(&header, &own);
        }
        self.give(header, present);
        Ok(())
    }

    /// Reports a buffer that is a copy of another one, or has a time outside that of the file. Its events are still read.
    fn compare(&mut self, header: &BufferHeader, own: &[u8; BUFFER_HEADER]) {
        let Common { span, size, .. } = self.common;
        if header.is_compressed() && header.offset > size && !self.is_small {
            self.is_small = true;
            self.report(DiagnosticKind::LogFileBufferSize { stated: size, assumed: self.common.largest() });
        }
        if !span.has(header.time_stamp) {
            self.report(DiagnosticKind::BufferTime(span.clock.system_time(header.time_stamp)));
        }
        // Versions that do not number their buffers have zeros here.
        if header.sequence <= 0 {
            return;
        }
        let mut hasher = DefaultHasher::new();
        own.hash(&mut hasher);
        let (slot, mark) = (header.sequence as usize % SEEN, hasher.finish());
        if self.seen.len() <= slot {
            self.seen.resize(slot + 1, 0);
        }
        if std::mem::replace(&mut self.seen[slot], mark) == mark {
            self.report(DiagnosticKind::Copy(header.sequence));
        }
    }

    /// Recovers after a damaged header: finds the start of the next buffer or of another trace.
    fn resume<S: Source>(&mut self, source: &mut S) -> Result<(), S::Error> {
        let from = self.place.offset;
        let (mut at, mut zero) = (from, true);
        let found = loop {
            let bytes = source.bytes(at, STEP + START)?;
            // A buffer at the end of the file can be shorter than that.
            let is_end = bytes.len() < STEP + START;
            let to = if is_end { bytes.len() } else { STEP };
            let found = search(&self.common, bytes, usize::from(at == from), to);
            let passed = found.unwrap_or(to);
            zero &= bytes[..passed].iter().all(|byte| *byte == 0);
            at += passed as u64;
            if found.is_some() || is_end {
                break found;
            }
        };
        let bytes = at - from;
        let next = found.map(|_| at);
        match zero {
            true if found.is_none() => self.unwritten(bytes),
            true => self.report(DiagnosticKind::Zeroes { bytes, next }),
            false => self.report(DiagnosticKind::Skipped { bytes, next }),
        }
        self.place.offset = at;
        if found.is_none() {
            self.end();
        }
        Ok(())
    }

    fn give(&mut self, header: BufferHeader, length: usize) {
        let place = self.place;
        self.found.push_back(Ok(Frame { place, header, length }));
        self.place = BufferPosition { offset: place.offset + length as u64, index: place.index.saturating_add(1) };
    }

    fn report(&mut self, kind: DiagnosticKind) {
        self.found.push_back(Err(self.place.diagnostic(0, kind)));
    }

    fn unwritten(&mut self, bytes: u64) {
        let is_whole = !self.common.is_closed || self.common.written > 0 && self.is_complete();
        self.report(if is_whole { DiagnosticKind::Unwritten(bytes) } else { DiagnosticKind::Zeroes { bytes, next: None } });
    }

    fn is_complete(&self) -> bool {
        let Common { written, least, .. } = self.common;
        written == 0 || (least..=written).contains(&self.place.index)
    }

    fn end(&mut self) {
        self.done = true;
        if !self.is_complete() {
            let (stated, read) = (self.common.written, self.place.index);
            let kind = match self.common.is_closed {
                true => DiagnosticKind::BuffersWritten { stated, read },
                false => DiagnosticKind::NotClosed { stated, read },
            };
            self.found.push_back(Err(FILE.diagnostic(BUFFER_HEADER as u32, kind)));
        }
    }
}

/// The first start of a buffer or of another trace in a range of offsets.
fn search(common: &Common, bytes: &[u8], from: usize, to: usize) -> Option<usize> {
    let last = bytes.len().saturating_sub(BUFFER_HEADER - 1).min(to);
    (from..last).find(|at| begins(common, &bytes[*at..]))
}

/// The first start of another buffer within the stated length of a compressed buffer. A wrong length can end exactly at the end
/// of a later buffer.
fn search_stream(common: &Common, header: &BufferHeader, bytes: &[u8], length: usize) -> Option<usize> {
    let bytes = bytes.get(..length)?;
    let mut found = headers(common, bytes).peekable();
    found.peek()?;
    // Bytes of the compressed stream can resemble a header.
    let least = stream_end(common, header, bytes)?;
    found.find(|at| *at >= least)
}

/// The offsets within a compressed buffer at which buffer headers are possible.
fn headers<'b>(common: &'b Common, bytes: &'b [u8]) -> impl Iterator<Item = usize> + 'b {
    // Versions that compress have a 32-bit State, and use only its lowest 8 bits.
    let (upper, mut next) = (Finder::new(&[0; 3]), BUFFER_HEADER);
    let places = iter::from_fn(move || {
        let at = next + upper.find(bytes.get(next + STATE + 1..)?)?;
        next = at + 1;
        Some(at)
    });
    places.filter(|at| begins(common, &bytes[*at..]))
}

/// The earliest end of the stream of a compressed buffer; `None` if the stream ends with the buffer.
#[cold]
fn stream_end(common: &Common, header: &BufferHeader, bytes: &[u8]) -> Option<usize> {
    let Some(format) = common.format() else { return Some(BUFFER_HEADER) };
    let mut decoded = vec![0; (header.offset as usize).saturating_sub(BUFFER_HEADER)];
    match format.decompress(&bytes[BUFFER_HEADER..], &mut decoded) {
        Ok(present) if present == decoded.len() => None,
        // The bytes after the stream may have been read as flags.
        Err(compression::Error::Xpress(error)) if error.output == decoded.len() => {
            Some(BUFFER_HEADER + error.input - size_of::<u32>())
        }
        _ => Some(BUFFER_HEADER),
    }
}

/// Offset of State in the buffer header since 6.0.
const STATE: usize = std::mem::offset_of!(BufferHeader61, State);

/// Whether a buffer other than the first of its file, or another trace, begins at these bytes.
#[inline]
fn begins(common: &Common, bytes: &[u8]) -> bool {
    // Most values are not a valid size.
    fits(stated_size(bytes))
        && (BufferHeader::read(common.generation, bytes).is_some_and(|header| common.has(&header)) || LogFile::begins(bytes))
}

/// The size of a buffer, which is the first member in every version.
fn stated_size(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |size| u32::from_le_bytes(*size))
}
