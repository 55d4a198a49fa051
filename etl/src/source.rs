//! Where the bytes of a file come from.

use std::convert::Infallible;

/// The bytes of a file, whether they are in memory or come one after the other.
pub(crate) trait Source {
    /// Why they cannot be read.
    type Error;

    /// So many bytes from an offset on, fewer only at the end of the file. An offset is never less than the one before it.
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
