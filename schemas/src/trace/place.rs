//! Places of events.

/// The place of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Number of the file, from 0.
    pub file: usize,
    /// Index of the buffer in the file, from 0.
    pub buffer: u32,
    /// Offset of the buffer in the file, in bytes.
    pub buffer_offset: u64,
    /// Offset of the event in the decompressed buffer, in bytes.
    pub offset: u32,
}
