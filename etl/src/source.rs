//! Sources of the bytes of a file.

use std::convert::Infallible;

/// The bytes of a file, in memory or streamed.
pub(crate) trait Source {
    /// Error of a failed read.
    type Error;

    /// The given number of bytes from an offset, fewer only at the end of the file. Offsets never decrease between calls.
    fn bytes(&mut self, offset: u64, length: usize) -> Result<&[u8], Self::Error>;
}

impl Source for &[u8] {
    type Error = Infallible;

    #[inline]
    fn bytes(&mut self, offset: u64, length: usize) -> Result<&[u8], Infallible> {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.get(offset..)).unwrap_or(&[]);
        Ok(&rest[..length.min(rest.len())])
    }
}
