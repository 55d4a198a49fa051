//! Compression.

use super::{FARTHEST, SHORTEST};

/// Compresses bytes, and appends the stream to `output`.
///
/// [`decompress`](super::decompress()) and Windows can read the stream. Incompressible bytes grow by at most one eighth, plus
/// four bytes.
pub fn compress(input: &[u8], output: &mut Vec<u8>) {
    output.reserve(input.len() + input.len() / 8 + 8);
    let mut stream = Encoded::new(output);
    let mut index = Index::new();
    let mut at = 0;
    while at < input.len() {
        match index.find(input, at) {
            Some(found) => {
                stream.repeat(found);
                for skipped in at + 1..at + found.length {
                    index.add(input, skipped);
                }
                at += found.length;
            }
            None => {
                stream.literal(input[at]);
                at += 1;
            }
        }
    }
    stream.finish();
}

/// A copy of earlier bytes.
#[derive(Clone, Copy)]
struct Match {
    distance: usize,
    length: usize,
}

/// The greatest length that the encoder writes: the greatest that a word can state.
const LONGEST: usize = u16::MAX as usize + SHORTEST;

/// Index of the positions of three-byte sequences, latest first.
struct Index {
    /// Last position by hash, modulo 2³².
    last: Box<[u32]>,
    /// Previous position with the same hash, by position modulo the length of the table.
    before: Box<[u32]>,
}

const HASH_BITS: u32 = 14;

/// Number of earlier positions that are tried. With 1, real buffers become as small as Windows makes them; with 4, a tenth
/// smaller and a fifth slower. Higher values gain little.
const TRIES: usize = 4;

impl Index {
    fn new() -> Self {
        // 0 also means "no position": positions are only candidates until the bytes are compared.
        Self { last: vec![0; 1 << HASH_BITS].into(), before: vec![0; FARTHEST].into() }
    }

    /// Adds a position, and returns the latest earlier one with the same hash.
    fn add(&mut self, input: &[u8], at: usize) -> Option<u32> {
        let &[a, b, c] = input[at..].first_chunk()?;
        let hash = u32::from_le_bytes([0, a, b, c]).wrapping_mul(0x9E37_79B1) >> (32 - HASH_BITS);
        let before = core::mem::replace(&mut self.last[hash as usize], at as u32);
        self.before[at % FARTHEST] = before;
        Some(before)
    }

    /// Adds a position, and returns the longest match for it.
    fn find(&mut self, input: &[u8], at: usize) -> Option<Match> {
        let mut candidate = self.add(input, at)?;
        let mut best = Match { distance: 0, length: SHORTEST - 1 };
        let mut nearest = 0;
        for _ in 0..TRIES {
            let distance = (at as u32).wrapping_sub(candidate) as usize;
            if distance <= nearest || distance > FARTHEST.min(at) {
                break;
            }
            // A longer match has to include this byte.
            if input.get(at - distance + best.length) == input.get(at + best.length) {
                let length = common(&input[at - distance..], &input[at..]);
                if length > best.length {
                    best = Match { distance, length };
                }
            }
            nearest = distance;
            candidate = self.before[candidate as usize % FARTHEST];
        }
        (best.length >= SHORTEST).then_some(best)
    }
}

/// Length of the common prefix, up to the shorter slice and [`LONGEST`].
fn common(a: &[u8], b: &[u8]) -> usize {
    let b = &b[..b.len().min(LONGEST)];
    let mut length = 0;
    for (a, b) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
        let word = |bytes: &[u8]| bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let differ = word(a) ^ word(b);
        if differ != 0 {
            return length + differ.trailing_zeros() as usize / 8;
        }
        length += 8;
    }
    length + a[length..].iter().zip(&b[length..]).take_while(|(a, b)| a == b).count()
}

/// The stream under construction.
struct Encoded<'a> {
    bytes: &'a mut Vec<u8>,
    /// Offset of the current flags.
    flags_at: usize,
    /// The current flags, and above them a marker bit that reaches the top with the last flag.
    flags: u64,
    /// Offset of a byte with a free half.
    half_at: Option<usize>,
}

impl<'a> Encoded<'a> {
    fn new(bytes: &'a mut Vec<u8>) -> Self {
        let flags_at = bytes.len();
        bytes.extend([0; 4]);
        Self { bytes, flags_at, flags: 1, half_at: None }
    }

    fn literal(&mut self, byte: u8) {
        self.bytes.push(byte);
        self.flag(0);
    }

    fn repeat(&mut self, Match { distance, length }: Match) {
        let (distance, length) = (distance - 1, length - SHORTEST);
        let short = length.min(7);
        self.word(distance << 3 | short);
        if short == 7 {
            self.long(length);
        }
        self.flag(1);
    }

    /// The long form of a length: a half byte, a byte and a word, each only if the one before it is full.
    fn long(&mut self, length: usize) {
        let half = (length - 7).min(15);
        match self.half_at.take() {
            Some(at) => self.bytes[at] |= (half as u8) << 4,
            None => {
                self.half_at = Some(self.bytes.len());
                self.bytes.push(half as u8);
            }
        }
        if half == 15 {
            let byte = (length - 7 - 15).min(255);
            self.bytes.push(byte as u8);
            if byte == 255 {
                self.word(length);
            }
        }
    }

    fn word(&mut self, word: usize) {
        self.bytes.extend((word as u16).to_le_bytes());
    }

    fn flag(&mut self, flag: u64) {
        self.flags = self.flags << 1 | flag;
        if self.flags >> 32 != 0 {
            self.end_flags();
            self.flags_at = self.bytes.len();
            self.bytes.extend([0; 4]);
            self.flags = 1;
        }
    }

    fn end_flags(&mut self) {
        if let Some(place) = self.bytes[self.flags_at..].first_chunk_mut() {
            *place = (self.flags as u32).to_le_bytes();
        }
    }

    /// Sets the remaining flags to matches without data, which ends the stream. The last dword is written even if it has no other flags.
    fn finish(mut self) {
        while self.flags >> 32 == 0 {
            self.flags = self.flags << 1 | 1;
        }
        self.end_flags();
    }
}
