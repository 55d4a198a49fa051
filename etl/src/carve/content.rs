//! The bytes of a buffer that was found, decompressed as far as possible, and where other bytes can begin in them.

use crate::compression::{Error, Format};
use crate::wire::BUFFER_HEADER;
use crate::xpress;
use std::borrow::Cow;
use std::cell::Cell;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The contents of a buffer.
pub(super) struct Content<'a> {
    stored: &'a [u8],
    plain: Cow<'a, [u8]>,
    format: Option<Format>,
    valid_end: usize,
    /// Whether the contents extend to the valid end.
    is_complete: bool,
    /// Whether all bytes of the buffer in the source were used.
    is_exhausted: bool,
    /// Offset of the buffer after a multiple of `step`.
    shift: usize,
    step: usize,
    /// Bytes decompressed.
    work: Cell<u64>,
}

impl<'a> Content<'a> {
    /// `stored` are the bytes of the buffer in the source, `valid_end` is what the header states. `None` if nothing can be decompressed.
    pub fn new(stored: &'a [u8], valid_end: u32, is_compressed: bool, shift: usize, step: usize) -> Option<Self> {
        let valid_end = valid_end as usize;
        if !is_compressed {
            let plain = &stored[..stored.len().min(valid_end)];
            let is_complete = plain.len() == valid_end;
            return Some(Self {
                stored,
                plain: plain.into(),
                format: None,
                valid_end,
                is_complete,
                is_exhausted: true,
                shift,
                step,
                work: Cell::default(),
            });
        }
        let Decompressed { plain, format, is_complete, is_exhausted, work } = decompress(stored, valid_end)?;
        let work = Cell::new(work);
        Some(Self { stored, plain: plain.into(), format: Some(format), valid_end, is_complete, is_exhausted, shift, step, work })
    }

    /// The decompressed buffer, with its header, up to the valid end or the first error.
    pub fn plain(&self) -> &[u8] {
        &self.plain
    }

    pub fn into_plain(self) -> Vec<u8> {
        self.plain.into_owned()
    }

    pub fn format(&self) -> Option<Format> {
        self.format
    }

    /// The valid end that the header states.
    pub fn valid_end(&self) -> usize {
        self.valid_end
    }

    /// Whether the contents extend to the valid end.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Whether the contents extend to the last byte in the source: no byte is the reason that they end.
    pub fn is_exhausted(&self) -> bool {
        self.is_exhausted
    }

    /// Number of bytes decompressed so far.
    pub fn work(&self) -> u64 {
        self.work.get()
    }

    /// A hash of the events up to an offset.
    pub fn hash(&self, end: usize) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.plain.get(BUFFER_HEADER..end).hash(&mut hasher);
        hasher.finish()
    }

    /// The bytes after the valid end; none if the buffer is compressed.
    pub fn rest(&self) -> &[u8] {
        if self.format.is_some() { &[] } else { self.stored.get(self.plain.len().next_multiple_of(8)..).unwrap_or(&[]) }
    }

    /// The last offset in the decompressed buffer, up to `limit`, at which other bytes can begin. It is 0 at least.
    pub fn boundary(&self, limit: usize) -> usize {
        if self.format.is_none() {
            return limit.saturating_sub((self.shift + limit) % self.step);
        }
        let mut output = vec![0; self.plain.len()];
        // The decompressed length up to a multiple of `step` in the source. It never decreases.
        let mut decompressed = |steps: usize| {
            let stored = BUFFER_HEADER..(steps * self.step).saturating_sub(self.shift);
            self.work.set(self.work.get() + self.plain.len() as u64);
            self.stored.get(stored).map_or(0, |stream| BUFFER_HEADER + output_of(stream, &mut output).0)
        };
        let (mut low, mut high) = (0, (self.shift + self.stored.len()).div_ceil(self.step));
        // The first multiple beyond `limit`.
        while low < high {
            let middle = low.midpoint(high);
            if decompressed(middle) > limit { high = middle } else { low = middle + 1 }
        }
        low.checked_sub(1).map_or(0, decompressed)
    }
}

struct Decompressed {
    plain: Vec<u8>,
    /// A guess, if the contents are not complete.
    format: Format,
    is_complete: bool,
    is_exhausted: bool,
    /// Bytes decompressed by all attempts.
    work: u64,
}

fn decompress(stored: &[u8], end: usize) -> Option<Decompressed> {
    let (head, stream) = stored.split_at_checked(BUFFER_HEADER)?;
    let mut plain = vec![0; end];
    plain[..BUFFER_HEADER].copy_from_slice(head);
    let output = &mut plain[BUFFER_HEADER..];
    let mut work = 0;
    for format in [Format::Xpress, Format::Lznt1, Format::XpressHuffman] {
        let result = format.decompress(stream, output);
        work += match result {
            Ok(written) | Err(Error::Xpress(xpress::Error { output: written, .. }) | Error::Other { output: written, .. }) => {
                written as u64
            }
        };
        if result == Ok(output.len()) {
            return Some(Decompressed { plain, format, is_complete: true, is_exhausted: true, work });
        }
    }
    let (present, is_exhausted) = output_of(stream, output);
    work += present as u64;
    plain.truncate(BUFFER_HEADER + present);
    Some(Decompressed { plain, format: Format::Xpress, is_complete: false, is_exhausted, work })
}

/// The number of bytes that the start of an XPRESS stream decompresses to, and whether only more bytes could continue it.
fn output_of(stream: &[u8], output: &mut [u8]) -> (usize, bool) {
    match xpress::decompress(stream, output) {
        Ok(present) => (present, true),
        Err(error) => (error.output.min(output.len()), error.reason == xpress::ErrorKind::Truncated),
    }
}
