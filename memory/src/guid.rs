//! GUIDs of providers.

use core::fmt;

/// A GUID, as its bytes in memory. Displayed in lowercase with hyphens, without braces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Guid(pub [u8; 16]);

impl Guid {
    /// The exclusive or of the GUID's four words; kernels use its lowest bits to select a bucket.
    pub fn hash(&self) -> u32 {
        self.0.chunks_exact(4).fold(0, |hash, word| word.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte)) ^ hash)
    }
}

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The first three members are little-endian numbers.
        let order = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
        for (place, byte) in order.into_iter().enumerate() {
            if matches!(place, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{:02x}", self.0[byte])?;
        }
        Ok(())
    }
}
