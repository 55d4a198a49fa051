//! From buffer to buffer through a file, whether its bytes lie in memory or come one after the other.

use crate::buffer::{Buffer, Frame};
use crate::common::Common;
use crate::finding::{Finding, Place, What};
use crate::head::{Head, fits};
use crate::wire::BUFFER_HEADER;
use std::convert::Infallible;

/// The buffers of a file, in its order. A buffer in which the file ends comes after a finding that says so.
#[derive(Clone, Debug)]
pub struct Buffers<'a> {
    bytes: &'a [u8],
    frames: Frames,
}

impl<'a> Buffers<'a> {
    /// All buffers.
    pub(crate) fn new(bytes: &'a [u8], common: Common) -> Self {
        Self { bytes, frames: Frames::new(common) }
    }

    /// The buffers of the same file from one on.
    pub(crate) fn from(&self, place: Place) -> Self {
        Self { bytes: self.bytes, frames: Frames { place, told: true, ..Frames::new(self.frames.common) } }
    }
}

impl<'a> Iterator for Buffers<'a> {
    type Item = Result<Buffer<'a>, Finding>;

    fn next(&mut self) -> Option<Self::Item> {
        let Ok(next) = self.frames.next(&mut self.bytes);
        let frame = match next? {
            Ok(frame) => frame,
            Err(finding) => return Some(Err(finding)),
        };
        let bytes = &self.bytes[frame.place.offset as usize..][..frame.length];
        Some(Ok(Buffer::new(frame, bytes, self.frames.common)))
    }
}

/// Where the bytes of a file are.
pub(crate) trait Source {
    /// Why they cannot be had.
    type Error;

    /// So many bytes from an offset on, fewer only at the end of the file. An offset is never less than the one before it.
    fn bytes(&mut self, offset: u64, length: usize) -> Result<&[u8], Self::Error>;
}

impl Source for &[u8] {
    type Error = Infallible;

    #[inline]
    fn bytes(&mut self, offset: u64, length: usize) -> Result<&[u8], Infallible> {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.get(offset..)).unwrap_or(&[]);
        Ok(&rest[..length.min(rest.len())])
    }
}

/// Finds one buffer after the other.
#[derive(Clone, Debug)]
pub(crate) struct Frames {
    common: Common,
    /// Where the next one is looked for.
    place: Place,
    /// Whether it was told that the file ends in the next one.
    told: bool,
    done: bool,
}

impl Frames {
    pub(crate) fn new(common: Common) -> Self {
        Self { common, place: Place::default(), told: false, done: false }
    }

    /// What all buffers share.
    pub(crate) fn common(&self) -> Common {
        self.common
    }

    /// The next buffer, or what is found in its place; `None` at the end.
    #[inline]
    pub(crate) fn next<S: Source>(&mut self, source: &mut S) -> Result<Option<Result<Frame, Finding>>, S::Error> {
        while !self.done {
            let place = self.place;
            let found = |what| Ok(Some(Err(place.finding(0, what))));
            let bytes = source.bytes(place.offset, BUFFER_HEADER)?;
            let is_zero = || bytes.iter().all(|byte| *byte == 0);
            let Some(head) = Head::read(self.common.generation, bytes) else {
                self.done = true;
                match is_zero() {
                    true => break,
                    false => return found(What::Truncated { size: BUFFER_HEADER as u32, there: bytes.len() as u32 }),
                }
            };
            if head.size == 0 && is_zero() {
                // Space that was never written.
                self.skip();
                continue;
            }
            if !fits(head.size) || (self.common.uniform && head.size != self.common.size) {
                self.skip();
                return found(What::BufferSize(head.size));
            }
            let length = source.bytes(place.offset, head.size as usize)?.len();
            if length < head.size as usize && !std::mem::replace(&mut self.told, true) {
                return found(What::Truncated { size: head.size, there: length as u32 });
            }
            self.place = Place { offset: place.offset + length as u64, index: place.index.saturating_add(1) };
            return Ok(Some(Ok(Frame { place, head, length })));
        }
        Ok(None)
    }

    /// Leaves out a buffer. Without a size that all share there is no next place to look at.
    fn skip(&mut self) {
        self.place.offset += u64::from(self.common.size);
        self.done = !self.common.uniform;
    }
}
