//! The place of an event in its file.

use etw_layouts_etl::{Diagnostic, DiagnosticKind};

/// The place of an event in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Place {
    /// Index of its buffer within the file, from 0.
    pub buffer: u32,
    /// Offset of its buffer within the file, in bytes.
    pub buffer_offset: u64,
    /// Offset of the event within the decompressed buffer, in bytes.
    pub offset: u32,
    /// The processor that wrote it.
    pub processor: u16,
}

/// The position of an event in the files of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Position {
    /// Index of the file.
    pub file: u32,
    /// Index of the buffer in the file.
    pub buffer: u32,
    /// Offset in the decompressed buffer, in bytes.
    pub offset: u32,
}

impl Position {
    /// The position with this [sequence](Place::sequence) in a file.
    pub fn new(file: u32, sequence: u64) -> Self {
        Self { file, buffer: (sequence >> 32) as u32, offset: sequence as u32 }
    }
}

impl Place {
    /// A number that identifies the event in its file: the buffer in the high half, the offset in the low half. It increases in file order.
    pub fn sequence(self) -> u64 {
        u64::from(self.buffer) << 32 | u64::from(self.offset)
    }

    /// A diagnostic for the event.
    pub fn diagnostic(self, kind: DiagnosticKind) -> Diagnostic {
        Diagnostic { buffer: self.buffer, buffer_offset: self.buffer_offset, offset: self.offset, kind }
    }
}
