//! A trace buffer, and its image, which events borrow from.

use crate::common::Common;
use crate::compression;
use crate::finding::{Finding, Place, What};
use crate::head::Head;
use crate::walk::Events;
use crate::wire::{BUFFER_HEADER, Generation, align8};

/// A buffer as it lies in a file.
#[derive(Clone, Copy, Debug)]
pub struct Buffer<'a> {
    place: Place,
    head: Head,
    bytes: &'a [u8],
    common: Common,
}

/// A buffer without its bytes.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) place: Place,
    pub(crate) head: Head,
    /// Bytes that are there: fewer than the header says if the file ends before.
    pub(crate) length: usize,
}

impl<'a> Buffer<'a> {
    pub(crate) fn new(Frame { place, head, .. }: Frame, bytes: &'a [u8], common: Common) -> Self {
        Self { place, head, bytes, common }
    }

    /// Its place among the buffers of the file, from 0.
    pub fn index(&self) -> u32 {
        self.place.index
    }

    /// Where it begins in the file, in bytes.
    pub fn offset(&self) -> u64 {
        self.place.offset
    }

    pub(crate) fn place(&self) -> Place {
        self.place
    }

    pub(crate) fn common(&self) -> Common {
        self.common
    }

    /// Its header.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// All of its bytes in the file; fewer than the header says if the file ends before.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Whether its events are compressed: a header buffer never is, whatever its flags.
    pub(crate) fn is_compressed(&self) -> bool {
        self.head.is_compressed() && self.place.offset > 0
    }

    /// Which form its headers have.
    pub fn generation(&self) -> Generation {
        self.common.generation
    }

    /// The buffer as it was in memory. A compressed one is decompressed into `scratch`, whose memory is used again.
    pub fn image<'s>(&self, scratch: &'s mut Scratch) -> Image<'s>
    where
        'a: 's,
    {
        match self.is_compressed() {
            false => {
                let (end, fault) = self.valid_end();
                self.of(&self.bytes[..end], fault)
            }
            true => match self.decompress(scratch) {
                Ok(()) => self.of(&scratch.0, None),
                Err(what) => self.of(&scratch.0, Some(what)),
            },
        }
    }

    fn of<'s>(&self, bytes: &'s [u8], what: Option<What>) -> Image<'s>
    where
        'a: 's,
    {
        Image { buffer: *self, bytes, fault: what.map(|what| self.finding(what)) }
    }

    /// What is wrong with the whole buffer, with its place.
    pub(crate) fn finding(&self, what: What) -> Finding {
        self.place.finding(0, what)
    }

    /// Where the events of an uncompressed buffer end, no further than its bytes go; and what is wrong there.
    pub(crate) fn valid_end(&self) -> (usize, Option<What>) {
        let there = self.bytes.len();
        match self.head.offset as usize {
            offset if offset < BUFFER_HEADER || offset > self.head.size as usize => {
                (self.filled_end(), Some(What::Offset(self.head.offset)))
            }
            offset => {
                let end = align8(offset.min(there)).min(there);
                // Every logger fills what it does not use: what else is there was valid once.
                (end, if is_fill(&self.bytes[end..]) { None } else { Some(self.tail(end)) })
            }
        }
    }

    /// What is behind the valid end, if that is not the fill of unused space.
    #[cold]
    fn tail(&self, end: usize) -> What {
        let events = Events::new(self.bytes, end, self.common.generation, self.place, None);
        let whole = events.map_while(Result::ok).take_while(|event| event.header_type().is_known());
        What::Tail { bytes: (self.bytes.len() - end) as u32, events: whole.count() as u32 }
    }

    /// Where the fill of unused space begins behind the last event; the end of the bytes if something else is there. Apart, so that it does
    /// not change how the walk that everybody takes is compiled.
    #[cold]
    #[inline(never)]
    fn filled_end(&self) -> usize {
        let events = Events::new(self.bytes, BUFFER_HEADER, self.common.generation, self.place, None);
        let last = events.map_while(Result::ok).last();
        let end = last.map_or(BUFFER_HEADER, |last| align8(last.offset() as usize + last.bytes().len())).min(self.bytes.len());
        if is_fill(&self.bytes[end..]) { end } else { self.bytes.len() }
    }

    /// Bytes that [`decompress`](Self::decompress) takes at most.
    pub(crate) fn room(&self) -> usize {
        if self.is_possible() { align8(self.head.offset as usize) } else { 0 }
    }

    fn is_possible(&self) -> bool {
        self.head.offset <= self.common.largest()
    }

    /// Decompresses, as far as the stream can be.
    pub(crate) fn decompress(&self, scratch: &mut Scratch) -> Result<(), What> {
        let image = &mut scratch.0;
        let stated = self.head.offset;
        let (head, stream) = self.bytes.split_at(BUFFER_HEADER.min(self.bytes.len()));
        let end = stated as usize;
        let format = match self.common.format() {
            _ if !self.is_possible() => Err(What::TooLarge(stated)),
            _ if end < BUFFER_HEADER => Err(What::Offset(stated)),
            format => format.ok_or(What::Compression(self.common.compression)),
        };
        let format = format.inspect_err(|_| {
            image.clear();
            image.extend_from_slice(head);
        })?;
        // What is there of another buffer is overwritten, and need not be zero.
        image.reserve_exact(align8(end).saturating_sub(image.len()));
        image.resize(align8(end), 0);
        image[..BUFFER_HEADER].fill(0);
        image[..head.len()].copy_from_slice(head);
        image[end..].fill(0);
        let result = format.decompress(stream, &mut image[BUFFER_HEADER..end]);
        let (there, what) = match result {
            Ok(there) if there == end - BUFFER_HEADER => return Ok(()),
            Ok(there) => (there, What::Decompressed { stated, there: (BUFFER_HEADER + there) as u32 }),
            Err(error) => {
                let there = match error {
                    compression::Error::Xpress(error) => error.output,
                    compression::Error::Other { output, .. } => output,
                };
                (there, What::Stream(error.to_string()))
            }
        };
        image.truncate((BUFFER_HEADER + there) & !7);
        Err(what)
    }
}

/// Whether there is nothing but the fill of unused space. Blocks without a branch in them are compared several bytes at once.
fn is_fill(bytes: &[u8]) -> bool {
    let is_fill = |block: &[u8]| block.iter().fold(0xFF, |all, byte| all & byte) == 0xFF;
    bytes.chunks(256).all(is_fill)
}

/// Memory for decompressed buffers, used again for each.
#[derive(Clone, Debug, Default)]
pub struct Scratch(pub(crate) Vec<u8>);

/// A buffer as it was in memory, up to its valid end.
#[derive(Clone, Debug)]
pub struct Image<'s> {
    buffer: Buffer<'s>,
    bytes: &'s [u8],
    fault: Option<Finding>,
}

impl<'s> Image<'s> {
    /// The buffer as it lies in the file.
    pub fn buffer(&self) -> &Buffer<'s> {
        &self.buffer
    }

    /// Its bytes, header included, up to the valid end.
    pub fn bytes(&self) -> &'s [u8] {
        self.bytes
    }

    /// What is wrong with the whole buffer.
    pub fn fault(&self) -> Option<&Finding> {
        self.fault.as_ref()
    }

    /// Its events. A fault of the whole buffer comes after them.
    #[inline]
    pub fn events(&self) -> Events<'s> {
        let Buffer { common, place, .. } = self.buffer;
        Events::new(self.bytes, BUFFER_HEADER, common.generation, place, self.fault.clone().map(Box::new))
    }
}
