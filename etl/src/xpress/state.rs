//! Where decompression is in a stream.

/// How far decompression is: before an item, or before flags.
#[derive(Clone, Copy)]
pub(super) struct State {
    /// Bytes of the stream that were taken.
    pub read: usize,
    /// Bytes that were decompressed.
    pub written: usize,
    /// The flags that are left, the next in the lowest bit, and above them a bit that ends them.
    pub flags: u64,
    /// The half of a byte that the next length takes, and [`HELD`]; or 0.
    pub half: u8,
}

/// Marks a half that is there.
pub(super) const HELD: u8 = 16;

/// Flags as a stream has them, the next in the highest bit, turned round.
pub(super) fn flags(word: u32) -> u64 {
    u64::from(word.reverse_bits()) | 1 << 32
}
