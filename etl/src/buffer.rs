//! Trace buffers: the header, and the image that events borrow from.

use crate::compression::{self, Format};
use crate::finding::{Finding, What};
use crate::layout::{
    BUFFER_HEADER, BufferHeader51, BufferHeader52, BufferHeader60, BufferHeader61, ETW_BUFFER_FLAG, ETW_BUFFER_TYPE, Generation,
    align8, quad, view,
};
use crate::trace::Place;
use crate::walk::Events;

/// No logger has larger buffers: 16 MiB.
pub const LARGEST: u32 = 16 << 20;

/// The header of a buffer, of any version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Bytes in the file; the distance to the next buffer.
    pub size: u32,
    /// The valid end as some producers have it; zero or stale in many header buffers.
    pub saved_offset: u32,
    /// Where the next event would have gone; of no use in a file.
    pub current_offset: u32,
    /// The valid end, in bytes from the start of the buffer, decompressed.
    pub offset: u32,
    /// About when the buffer was written, by the session's clock, or as system time if the file was made from another.
    pub time_stamp: i64,
    /// Counts the buffers of a logger; 0 before 6.0.
    pub sequence: i64,
    /// The processor's number: the low byte of the context.
    pub context: u16,
    /// The logger's number.
    pub logger: u16,
    /// ETW_BUFFER_STATE; of a header buffer the low word can name a compression format.
    pub state: u32,
    /// None before 5.2.
    pub flags: ETW_BUFFER_FLAG,
    /// GENERIC before 5.2.
    pub ty: ETW_BUFFER_TYPE,
}

impl Head {
    /// Decodes a header; `None` if there are too few bytes.
    pub fn read(generation: Generation, bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.get(..BUFFER_HEADER)?;
        Some(match generation {
            Generation::V5_1 => {
                let header: BufferHeader51 = view(bytes);
                let context = header.ClientContext();
                let generic = ETW_BUFFER_TYPE::ETW_BUFFER_TYPE_GENERIC;
                Self {
                    size: header.Wnode().BufferSize,
                    saved_offset: header.SavedOffset(),
                    current_offset: header.CurrentOffset(),
                    offset: header.Offset,
                    time_stamp: quad(header.TimeStamp()),
                    sequence: 0,
                    context: u16::from_le_bytes([context.ProcessorNumber, context.Alignment]),
                    logger: context.LoggerId,
                    state: header.Flags(),
                    flags: ETW_BUFFER_FLAG(0),
                    ty: generic,
                }
            }
            Generation::V5_2 => {
                let header: BufferHeader52 = view(bytes);
                let context = header.ClientContext();
                Self {
                    size: header.Wnode().BufferSize,
                    saved_offset: header.SavedOffset(),
                    current_offset: header.CurrentOffset(),
                    offset: header.Offset,
                    time_stamp: quad(header.TimeStamp()),
                    sequence: 0,
                    context: u16::from_le_bytes([context.ProcessorNumber, context.Alignment]),
                    logger: context.LoggerId,
                    state: header.Flags(),
                    flags: header.BufferFlag,
                    ty: header.BufferType,
                }
            }
            Generation::V6_0 => {
                let header: BufferHeader60 = view(bytes);
                let context = header.ClientContext();
                Self {
                    size: header.BufferSize(),
                    saved_offset: header.SavedOffset(),
                    current_offset: header.CurrentOffset(),
                    offset: header.Offset,
                    time_stamp: quad(header.TimeStamp()),
                    sequence: header.SequenceNumber(),
                    context: u16::from_le_bytes([context.ProcessorNumber, context.Alignment]),
                    logger: context.LoggerId,
                    state: header.Flags(),
                    flags: header.BufferFlag,
                    ty: header.BufferType,
                }
            }
            Generation::V6_1 => {
                let header: BufferHeader61 = view(bytes);
                Self {
                    size: header.BufferSize,
                    saved_offset: header.SavedOffset,
                    current_offset: header.CurrentOffset,
                    offset: header.Offset,
                    time_stamp: quad(header.TimeStamp),
                    sequence: header.SequenceNumber,
                    context: header.ClientContext.ProcessorIndex(),
                    logger: header.ClientContext.LoggerId,
                    state: header.State.0 as u32,
                    flags: header.BufferFlag,
                    ty: header.BufferType,
                }
            }
        })
    }

    /// Writes what the header states over the bytes of one, and leaves the rest.
    pub(crate) fn write(&self, generation: Generation, bytes: &mut [u8; BUFFER_HEADER]) {
        let [number, alignment] = self.context.to_le_bytes();
        macro_rules! over_wnode {
            ($header:ident) => {{
                let mut wnode = $header.Wnode();
                wnode.BufferSize = self.size;
                $header.set_Wnode(wnode);
                $header.set_SavedOffset(self.saved_offset);
                $header.set_CurrentOffset(self.current_offset);
                $header.set_TimeStamp(crate::layout::large(self.time_stamp));
                let mut context = $header.ClientContext();
                (context.ProcessorNumber, context.Alignment, context.LoggerId) = (number, alignment, self.logger);
                $header.set_ClientContext(context);
                $header.set_Flags(self.state);
                $header.Offset = self.offset;
            }};
        }
        match generation {
            Generation::V5_1 => {
                let mut header: BufferHeader51 = view(bytes);
                over_wnode!(header);
                bytes.copy_from_slice(bytemuck::bytes_of(&header));
            }
            Generation::V5_2 => {
                let mut header: BufferHeader52 = view(bytes);
                over_wnode!(header);
                (header.BufferFlag, header.BufferType) = (self.flags, self.ty);
                bytes.copy_from_slice(bytemuck::bytes_of(&header));
            }
            Generation::V6_0 => {
                let mut header: BufferHeader60 = view(bytes);
                over_wnode!(header);
                header.set_BufferSize(self.size);
                header.set_SequenceNumber(self.sequence);
                (header.BufferFlag, header.BufferType) = (self.flags, self.ty);
                bytes.copy_from_slice(bytemuck::bytes_of(&header));
            }
            Generation::V6_1 => {
                let mut header: BufferHeader61 = view(bytes);
                header.BufferSize = self.size;
                header.SavedOffset = self.saved_offset;
                header.CurrentOffset = self.current_offset;
                header.Offset = self.offset;
                header.TimeStamp = crate::layout::large(self.time_stamp);
                header.SequenceNumber = self.sequence;
                header.ClientContext.set_ProcessorIndex(self.context);
                header.ClientContext.LoggerId = self.logger;
                header.State.0 = self.state as i32;
                (header.BufferFlag, header.BufferType) = (self.flags, self.ty);
                bytes.copy_from_slice(bytemuck::bytes_of(&header));
            }
        }
    }

    /// The processor that wrote the events.
    pub fn processor(&self) -> u16 {
        match self.flags.contains(ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_PROC_INDEX) {
            true => self.context & PROCESSOR_INDEX,
            false => self.context & 0xFF,
        }
    }

    /// Whether what follows the header is a compressed stream.
    pub fn is_compressed(&self) -> bool {
        self.flags.contains(ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_COMPRESSED)
    }
}

/// The bits of a processor index.
pub(crate) const PROCESSOR_INDEX: u16 = 0x07FF;

/// What one file's buffers have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Common {
    pub generation: Generation,
    /// Bytes of the logger's buffers.
    pub size: u32,
    /// Whether every buffer takes `size` bytes of the file.
    pub uniform: bool,
    /// The compression format, 3 for XPRESS.
    pub compression: u32,
}

/// A buffer as it lies in a file.
#[derive(Clone, Copy, Debug)]
pub struct Buffer<'a> {
    index: u32,
    offset: u64,
    head: Head,
    bytes: &'a [u8],
    common: Common,
}

impl<'a> Buffer<'a> {
    pub(crate) fn new(index: u32, offset: u64, head: Head, bytes: &'a [u8], common: Common) -> Self {
        Self { index, offset, head, bytes, common }
    }

    /// Its place among the buffers of the file, from 0.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Where it begins in the file, in bytes.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    pub(crate) fn place(&self) -> Place {
        Place { offset: self.offset, index: self.index }
    }

    /// Its header.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// All of its bytes in the file; fewer than the header says if the file ends before.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
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
        match self.head.is_compressed() {
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
        Finding { buffer: self.offset, at: 0, what }
    }

    /// Where the events of an uncompressed buffer end, no further than its bytes go.
    pub(crate) fn valid_end(&self) -> (usize, Option<What>) {
        let there = self.bytes.len();
        match self.head.offset as usize {
            offset if offset < BUFFER_HEADER || offset > self.head.size as usize => (there, Some(What::Offset(self.head.offset))),
            offset => (align8(offset).min(there), None),
        }
    }

    /// Bytes that [`decompress`](Self::decompress) takes at most.
    pub(crate) fn room(&self) -> usize {
        if self.is_possible() { align8(self.head.offset as usize) } else { 0 }
    }

    fn is_possible(&self) -> bool {
        self.head.offset <= LARGEST.min(self.common.size)
    }

    /// Decompresses, as far as the stream can be.
    pub(crate) fn decompress(&self, scratch: &mut Scratch) -> Result<(), What> {
        let image = &mut scratch.0;
        let stated = self.head.offset;
        let (head, stream) = self.bytes.split_at(BUFFER_HEADER.min(self.bytes.len()));
        image.truncate(BUFFER_HEADER);
        if !self.is_possible() {
            return Err(What::TooLarge(stated));
        }
        let end = stated as usize;
        if end < BUFFER_HEADER {
            return Err(What::Offset(stated));
        }
        let format = u16::try_from(self.common.compression).ok().and_then(Format::new);
        let format = format.ok_or(What::Compression(self.common.compression))?;
        image.reserve_exact(align8(end) - image.len());
        image.resize(align8(end), 0);
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

/// The format of nearly all compressed files.
pub(crate) const XPRESS: u32 = 3;

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

    /// The image with a fault of the whole buffer, if it has none yet.
    pub(crate) fn or_fault(mut self, what: Option<What>) -> Self {
        self.fault = self.fault.or(what.map(|what| self.buffer.finding(what)));
        self
    }

    /// What is wrong with the whole buffer.
    pub fn fault(&self) -> Option<&Finding> {
        self.fault.as_ref()
    }

    /// Its events. A fault of the whole buffer comes after them.
    #[inline]
    pub fn events(&self) -> Events<'s> {
        let Buffer { common, offset, .. } = self.buffer;
        Events::new(self.bytes, BUFFER_HEADER, common.generation, offset, self.fault.clone().map(Box::new))
    }
}
