//! The header of a trace buffer.

use crate::producer::Producer;
use crate::wire::{
    BUFFER_HEADER, BufferHeader51, BufferHeader52, BufferHeader60, BufferHeader61, ETW_BUFFER_FLAG, ETW_BUFFER_STATE,
    ETW_BUFFER_TYPE, Generation, quad, view,
};

/// Maximum size of a session's buffers: 16 MiB.
pub const LARGEST: u32 = 16 << 20;

/// Whether a buffer in a file can have this size.
pub(crate) fn fits(size: u32) -> bool {
    (BUFFER_HEADER as u32..=LARGEST).contains(&size)
}

/// The header of a buffer, independent of the version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferHeader {
    /// Size in the file, in bytes; the distance to the next buffer.
    pub size: u32,
    /// The valid end as some producers store it; zero or stale in many header buffers.
    pub saved_offset: u32,
    /// Offset at which the next event would have been written; meaningless in a file.
    pub current_offset: u32,
    /// The valid end: its offset in the decompressed buffer, in bytes.
    pub offset: u32,
    /// Approximate time of writing, by the session's clock; system time if the file was made from another file.
    pub time_stamp: i64,
    /// Sequence number of the buffer within the session; 0 before 6.0.
    pub sequence: i64,
    /// The processor number in the low byte, or the processor index.
    pub context: u16,
    /// The number of the session.
    pub logger: u16,
    /// ETW_BUFFER_STATE; in a header buffer the low word can contain a compression format.
    pub state: u32,
    /// Empty before 5.2.
    pub flags: ETW_BUFFER_FLAG,
    /// GENERIC before 5.2.
    pub ty: ETW_BUFFER_TYPE,
}

impl BufferHeader {
    /// The header of a flushed buffer of a processor, without sizes.
    pub fn new(processor: u16, time_stamp: i64, sequence: i64) -> Self {
        Self {
            size: 0,
            saved_offset: 0,
            current_offset: 0,
            offset: 0,
            time_stamp,
            sequence,
            context: processor,
            logger: 0,
            state: FLUSH,
            flags: ETW_BUFFER_FLAG(0),
            ty: ETW_BUFFER_TYPE::ETW_BUFFER_TYPE_GENERIC,
        }
    }

    /// Decodes a buffer header; `None` if there are too few bytes.
    pub fn read(generation: Generation, bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.get(..BUFFER_HEADER)?;
        // Headers that begin with a WNODE_HEADER.
        macro_rules! with_wnode {
            ($header:ident: $ty:ty => $($member:ident: $value:expr),*) => {{
                let $header: $ty = view(bytes);
                let context = $header.ClientContext();
                Self {
                    saved_offset: $header.SavedOffset(),
                    current_offset: $header.CurrentOffset(),
                    offset: $header.Offset,
                    time_stamp: quad($header.TimeStamp()),
                    context: u16::from_le_bytes([context.ProcessorNumber, context.Alignment]),
                    logger: context.LoggerId,
                    state: $header.Flags(),
                    $($member: $value),*
                }
            }};
        }
        let (no_flags, generic) = (ETW_BUFFER_FLAG(0), ETW_BUFFER_TYPE::ETW_BUFFER_TYPE_GENERIC);
        Some(match generation {
            Generation::V5_1 => {
                with_wnode!(header: BufferHeader51 => size: header.Wnode().BufferSize, sequence: 0, flags: no_flags, ty: generic)
            }
            Generation::V5_2 => with_wnode!(
                header: BufferHeader52 =>
                size: header.Wnode().BufferSize, sequence: 0, flags: header.BufferFlag, ty: header.BufferType
            ),
            Generation::V6_0 => with_wnode!(
                header: BufferHeader60 =>
                size: header.BufferSize(), sequence: header.SequenceNumber(), flags: header.BufferFlag, ty: header.BufferType
            ),
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

    /// Overwrites the decoded members in the bytes of a header, and keeps the other bytes.
    pub(crate) fn write(&self, generation: Generation, bytes: &mut [u8; BUFFER_HEADER]) {
        let [number, alignment] = self.context.to_le_bytes();
        macro_rules! over_wnode {
            ($header:ident) => {{
                let mut wnode = $header.Wnode();
                wnode.BufferSize = self.size;
                $header.set_Wnode(wnode);
                $header.set_SavedOffset(self.saved_offset);
                $header.set_CurrentOffset(self.current_offset);
                $header.set_TimeStamp(crate::wire::large(self.time_stamp));
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
                header.TimeStamp = crate::wire::large(self.time_stamp);
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

    /// Whether a buffer can have this header. All headers of real files pass, and other bytes almost never pass: this is how the
    /// next buffer is found after damage.
    ///
    /// `size` is the size of the session's buffers. `any_size` is true if a buffer can be smaller in the file. `is_first` is true
    /// for the header buffer, which often has a stale SavedOffset.
    pub(crate) fn is_plausible(&self, generation: Generation, size: u32, any_size: bool, is_first: bool) -> bool {
        let end = if self.is_compressed() { size } else { self.size };
        let fits = fits(self.size)
            && if generation >= Generation::V6_0 && (any_size || self.is_compressed()) {
                self.size <= size
            } else {
                self.size == size
            };
        // Before 6.0 the member can be zero.
        let saved = is_first || self.saved_offset == self.offset || (generation < Generation::V6_0 && self.saved_offset == 0);
        // Before 6.0 the member contains other flags.
        let state = generation < Generation::V6_0 || self.state < STATES;
        let ty = match generation {
            Generation::V5_1 => true,
            _ => {
                (self.ty == ETW_BUFFER_TYPE::ETW_BUFFER_TYPE_HEADER) == is_first
                    && self.ty.0 < ETW_BUFFER_TYPE::ETW_BUFFER_TYPE_MAXIMUM.0
            }
        };
        fits && saved && state && ty && self.flags.0 & !FLAGS == 0 && (BUFFER_HEADER as u32..=end).contains(&self.offset)
    }

    /// The end of the events, in bytes from the start of the buffer, of a buffer in memory, which a session may still write to. `None` if no
    /// buffer of the producer can have this header in memory; compressed buffers are not recognized.
    pub fn end_in_memory(&self, producer: &Producer) -> Option<u32> {
        let processor = u32::from(self.context) < producer.most_processors();
        let kind = self.ty.0 < ETW_BUFFER_TYPE::ETW_BUFFER_TYPE_MAXIMUM.0 && self.state < STATES;
        let size = self.size >= KIB && self.size.is_multiple_of(KIB) && self.size <= LARGEST;
        // In a buffer in use, Offset is not set yet. CurrentOffset exceeds the size after an event did not fit.
        let end = if self.saved_offset > 0 { self.saved_offset } else { self.current_offset.max(self.offset) };
        let ends = (BUFFER_HEADER as u32 + 1..=self.size).contains(&end) && self.saved_offset <= self.size;
        let logger = self.logger > 0 && self.logger < LOGGERS;
        (!self.is_compressed() && processor && kind && size && ends && logger).then_some(end)
    }

    /// Whether a compressed stream follows the header.
    pub fn is_compressed(&self) -> bool {
        self.flags.contains(ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_COMPRESSED)
    }
}

/// Flags with a known meaning.
pub(crate) const FLAGS: u16 = ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_FLUSH_MARKER.0
    | ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_EVENTS_LOST.0
    | ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_BUFFER_LOST.0
    | ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_RTBACKUP_CORRUPT.0
    | ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_RTBACKUP.0
    | ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_PROC_INDEX.0
    | ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_COMPRESSED.0;

/// State of a flushed buffer.
pub(crate) const FLUSH: u32 = 3;

/// The number of buffer states: EtwBufferStateMaximum.
pub(crate) const STATES: u32 = ETW_BUFFER_STATE::EtwBufferStateMaximum.0 as u32;

/// Unit of the buffer sizes of sessions.
pub(crate) const KIB: u32 = 0x400;

/// Upper bound for the number of sessions in every version.
const LOGGERS: u16 = 256;

/// The bits of a processor index.
pub(crate) const PROCESSOR_INDEX: u16 = 0x07FF;
