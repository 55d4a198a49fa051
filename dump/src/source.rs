//! Sources of the bytes of a dump.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};

/// The bytes of a dump by file offset, in memory or in a file, which is read only where required: a full dump is as large as the
/// memory of its computer.
pub trait Source {
    /// Reads bytes from an offset on, and returns the number of bytes read at the front of `out`: fewer only at the end of the dump.
    ///
    /// # Errors
    ///
    /// The bytes are in the dump, but cannot be read.
    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize>;

    /// Length of the dump, in bytes.
    ///
    /// # Errors
    ///
    /// The length cannot be determined.
    fn length(&self) -> io::Result<u64>;
}

impl<S: Source + ?Sized> Source for &S {
    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        (**self).read_at(offset, out)
    }

    fn length(&self) -> io::Result<u64> {
        (**self).length()
    }
}

impl Source for [u8] {
    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.get(offset..)).unwrap_or_default();
        let length = rest.len().min(out.len());
        out[..length].copy_from_slice(&rest[..length]);
        Ok(length)
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }
}

impl Source for File {
    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        let mut file = self;
        file.seek(SeekFrom::Start(offset))?;
        let (mut file, mut out) = (file.take(out.len() as u64), Cursor::new(out));
        io::copy(&mut file, &mut out)?;
        Ok(out.position() as usize)
    }

    fn length(&self) -> io::Result<u64> {
        let mut file = self;
        file.seek(SeekFrom::End(0))
    }
}
