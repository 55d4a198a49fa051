//! A trace buffer, and its decompressed bytes, from which events are borrowed.

use crate::buffer_header::BufferHeader;
use crate::common::Common;
use crate::compression;
use crate::diagnostic::{BufferPosition, Diagnostic, DiagnosticKind};
use crate::event::Event;
use crate::walk::{Events, step};
use crate::wire::{BUFFER_HEADER, Generation, align8};

/// A buffer as stored in a file.
#[derive(Clone, Copy, Debug)]
pub struct Buffer<'a> {
    place: BufferPosition,
    header: BufferHeader,
    bytes: &'a [u8],
    common: Common,
}

/// The position and header of a buffer, without its bytes.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) place: BufferPosition,
    pub(crate) header: BufferHeader,
    /// Number of bytes present: fewer than the header states if the file is truncated.
    pub(crate) length: usize,
}

/// The format of the buffers of a file, from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferFormat(Common);

impl BufferFormat {
    pub(crate) fn new(common: Common) -> Self {
        Self(common)
    }

    /// The buffer with these bytes, which was found at an index and an offset of the file. `None` if there are fewer bytes than a buffer header
    /// has.
    pub fn buffer<'a>(&self, index: u32, offset: u64, bytes: &'a [u8]) -> Option<Buffer<'a>> {
        let header = BufferHeader::read(self.0.generation, bytes)?;
        Some(Buffer { place: BufferPosition { offset, index }, header, bytes, common: self.0 })
    }

    /// The event at an offset of a decompressed buffer: one that [`Events`] returned before. `None` if there is no event.
    pub fn event<'a>(&self, bytes: &'a [u8], offset: u32) -> Option<Event<'a>> {
        let rest = bytes.get(offset as usize..)?;
        Some(step(rest, self.0.generation).ok()??.event(rest, offset))
    }
}

impl<'a> Buffer<'a> {
    pub(crate) fn new(Frame { place, header, .. }: Frame, bytes: &'a [u8], common: Common) -> Self {
        Self { place, header, bytes, common }
    }

    /// Index of the buffer within the file, from 0.
    pub fn index(&self) -> u32 {
        self.place.index
    }

    /// Offset of the buffer within the file, in bytes.
    pub fn offset(&self) -> u64 {
        self.place.offset
    }

    pub(crate) fn place(&self) -> BufferPosition {
        self.place
    }

    /// The buffer header.
    pub fn header(&self) -> &BufferHeader {
        &self.header
    }

    /// All bytes of the buffer that are present in the file; fewer than the header states if the file is truncated.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Whether the events are compressed. A header buffer is never compressed, even if its flags state it.
    pub(crate) fn is_compressed(&self) -> bool {
        self.header.is_compressed() && self.place.offset > 0
    }

    /// The form of the headers, which depends on the producing version.
    pub fn generation(&self) -> Generation {
        self.common.generation
    }

    /// The buffer as it was in memory. A compressed buffer is decompressed into `scratch`, which can be reused.
    pub fn decode<'s>(&self, scratch: &'s mut Scratch) -> DecodedBuffer<'s>
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
                Err(kind) => self.of(&scratch.0, Some(kind)),
            },
        }
    }

    fn of<'s>(&self, bytes: &'s [u8], kind: Option<DiagnosticKind>) -> DecodedBuffer<'s>
    where
        'a: 's,
    {
        DecodedBuffer { buffer: *self, bytes, fault: kind.map(|kind| self.diagnostic(kind)) }
    }

    /// A diagnostic for the whole buffer, with its position.
    pub(crate) fn diagnostic(&self, kind: DiagnosticKind) -> Diagnostic {
        self.place.diagnostic(0, kind)
    }

    /// The end of the events of an uncompressed buffer, limited to the bytes present; and any fault found there.
    fn valid_end(&self) -> (usize, Option<DiagnosticKind>) {
        let present = self.bytes.len();
        match self.header.offset as usize {
            offset if offset < BUFFER_HEADER || offset > self.header.size as usize => {
                (self.filled_end(), Some(DiagnosticKind::Offset(self.header.offset)))
            }
            offset => {
                let end = align8(offset.min(present)).min(present);
                // Every session fills unused space; other bytes after the end may once have been valid.
                (end, if is_fill(&self.bytes[end..]) { None } else { Some(self.tail(end)) })
            }
        }
    }

    /// Describes the bytes after the valid end when they are not the fill of unused space.
    #[cold]
    fn tail(&self, end: usize) -> DiagnosticKind {
        let events = Events::new(self.bytes, end, self.common.generation, self.place, None);
        let whole = events.map_while(Result::ok).take_while(|event| event.header_type().is_known());
        DiagnosticKind::Tail { bytes: (self.bytes.len() - end) as u32, events: whole.count() as u32 }
    }

    /// The start of the fill of unused space after the last event; the end of the bytes if something else follows. This is a separate
    /// function, so that it does not affect the compilation of the hot walk.
    #[cold]
    #[inline(never)]
    fn filled_end(&self) -> usize {
        let events = Events::new(self.bytes, BUFFER_HEADER, self.common.generation, self.place, None);
        let last = events.map_while(Result::ok).last();
        let end = last.map_or(BUFFER_HEADER, |last| align8(last.offset() as usize + last.bytes().len())).min(self.bytes.len());
        if is_fill(&self.bytes[end..]) { end } else { self.bytes.len() }
    }

    /// Decompresses the stream, up to its first error.
    fn decompress(&self, scratch: &mut Scratch) -> Result<(), DiagnosticKind> {
        let decoded = &mut scratch.0;
        let stated = self.header.offset;
        let (header, stream) = self.bytes.split_at(BUFFER_HEADER.min(self.bytes.len()));
        let end = stated as usize;
        let format = match self.common.format() {
            _ if stated > self.common.largest() => Err(DiagnosticKind::TooLarge(stated)),
            _ if end < BUFFER_HEADER => Err(DiagnosticKind::Offset(stated)),
            format => format.ok_or(DiagnosticKind::Compression(self.common.compression)),
        };
        let format = format.inspect_err(|_| {
            decoded.clear();
            decoded.extend_from_slice(header);
        })?;
        // Bytes left from another buffer are overwritten, and need not be zeroed.
        decoded.reserve_exact(align8(end).saturating_sub(decoded.len()));
        decoded.resize(align8(end), 0);
        decoded[..BUFFER_HEADER].fill(0);
        decoded[..header.len()].copy_from_slice(header);
        decoded[end..].fill(0);
        let result = format.decompress(stream, &mut decoded[BUFFER_HEADER..end]);
        let (present, kind) = match result {
            Ok(present) if present == end - BUFFER_HEADER => return Ok(()),
            Ok(present) => (present, DiagnosticKind::Decompressed { stated, present: (BUFFER_HEADER + present) as u32 }),
            Err(error) => {
                let present = match error {
                    compression::Error::Xpress(error) => error.output,
                    compression::Error::Other { output, .. } => output,
                };
                (present, DiagnosticKind::Stream(error.to_string()))
            }
        };
        decoded.truncate((BUFFER_HEADER + present) & !7);
        Err(kind)
    }
}

/// Whether all bytes are the fill of unused space. Without branches in a block, the compiler compares several bytes at once.
pub(crate) fn is_fill(bytes: &[u8]) -> bool {
    let is_fill = |block: &[u8]| block.iter().fold(0xFF, |all, byte| all & byte) == 0xFF;
    bytes.chunks(256).all(is_fill)
}

/// Memory for decompressed buffers, reused for each buffer. Its bytes are of any content.
#[derive(Clone, Debug, Default)]
pub struct Scratch(pub(crate) Vec<u8>);

impl From<Vec<u8>> for Scratch {
    fn from(memory: Vec<u8>) -> Self {
        Self(memory)
    }
}

impl Scratch {
    /// The bytes of the latest buffer that was decompressed.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// A buffer as it was in memory, up to its valid end.
#[derive(Clone, Debug)]
pub struct DecodedBuffer<'s> {
    buffer: Buffer<'s>,
    bytes: &'s [u8],
    fault: Option<Diagnostic>,
}

impl<'s> DecodedBuffer<'s> {
    /// The buffer as stored in the file.
    pub fn buffer(&self) -> &Buffer<'s> {
        &self.buffer
    }

    /// The bytes of the buffer, header included, up to the valid end.
    pub fn bytes(&self) -> &'s [u8] {
        self.bytes
    }

    /// The fault of the whole buffer, if it has one.
    pub fn fault(&self) -> Option<&Diagnostic> {
        self.fault.as_ref()
    }

    /// The events of the buffer. A fault of the whole buffer follows the last event.
    #[inline]
    pub fn events(&self) -> Events<'s> {
        let Buffer { common, place, .. } = self.buffer;
        Events::new(self.bytes, BUFFER_HEADER, common.generation, place, self.fault.clone().map(Box::new))
    }
}
