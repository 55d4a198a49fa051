//! Hash maps with a fast hash, for a limited number of keys.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

pub(crate) type Map<K, V> = HashMap<K, V, BuildHasherDefault<Mix>>;

/// A multiplicative hash of 64 bits. It is the same on every host and in every version, because names of files contain it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mix(u64);

const ODD: u64 = 0x9E37_79B9_7F4A_7C15;

impl Mix {
    #[inline]
    fn word(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(26) ^ word).wrapping_mul(ODD);
    }

    /// The hash of bytes.
    pub fn of(bytes: &[u8]) -> u64 {
        let mut mix = Self::default();
        mix.write(bytes);
        mix.finish()
    }
}

impl Hasher for Mix {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.word(u64::from_le_bytes(*word)));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.word(u64::from_le_bytes(last));
        self.word(bytes.len() as u64);
    }

    #[inline]
    fn write_u32(&mut self, word: u32) {
        self.word(word.into());
    }

    #[inline]
    fn write_u64(&mut self, word: u64) {
        self.word(word);
    }

    #[inline]
    fn write_u128(&mut self, word: u128) {
        self.word(word as u64);
        self.word((word >> 64) as u64);
    }

    #[inline]
    fn finish(&self) -> u64 {
        // Multiplication mixes the high bits best, but hash tables use the low bits, too.
        let mixed = self.0 ^ self.0 >> 32;
        mixed.wrapping_mul(ODD) ^ mixed >> 29
    }
}
