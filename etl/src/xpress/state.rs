//! The state of a decompression.

/// Progress of a decompression, before an item or before flags.
#[derive(Clone, Copy)]
pub(super) struct State {
    /// Number of bytes read from the stream.
    pub read: usize,
    /// Number of bytes decompressed.
    pub written: usize,
    /// The remaining flags, the next in the lowest bit, and above them a marker bit that ends them.
    pub flags: u64,
    /// The half byte that the next length takes, with [`PRESENT`] set; or 0.
    pub half: u8,
}

/// Marks a half byte as present.
pub(super) const PRESENT: u8 = 16;

/// The flags in a word of the stream, reversed: the next flag is the highest bit of the word, and the lowest of the result.
pub(super) fn flags(word: u32) -> u64 {
    u64::from(word.reverse_bits()) | 1 << 32
}
