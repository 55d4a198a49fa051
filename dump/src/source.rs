//! Sources of the bytes of a dump.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};

/// The bytes of a dump by file offset, in memory or in a file, which is read only where required: a full dump is as large as the
/// memory of its computer.
pub trait Source {
    /// Reads bytes from an offset on, and returns the number of bytes read at the front of `out`.
    fn read_at(&self, offset: u64, out: &mut [u8]) -> usize;

    /// Length of the dump, in bytes.
    fn length(&self) -> u64;
}

impl<S: Source + ?Sized> Source for &S {
    fn read_at(&self, offset: u64, out: &mut [u8]) -> usize {
        (**self).read_at(offset, out)
    }

    fn length(&self) -> u64 {
        (**self).length()
    }
}

impl Source for [u8] {
    fn read_at(&self, offset: u64, out: &mut [u8]) -> usize {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.get(offset..)).unwrap_or_default();
        let length = rest.len().min(out.len());
        out[..length].copy_from_slice(&rest[..length]);
        length
    }

    fn length(&self) -> u64 {
        self.len() as u64
    }
}

/// A read error is treated as the end of the file: the bytes are missing.
impl Source for File {
    fn read_at(&self, offset: u64, out: &mut [u8]) -> usize {
        let mut file = self;
        if file.seek(SeekFrom::Start(offset)).is_err() {
            return 0;
        }
        let (mut file, mut out) = (file.take(out.len() as u64), Cursor::new(out));
        // Bytes read before an error are used.
        let _ = io::copy(&mut file, &mut out);
        out.position() as usize
    }

    fn length(&self) -> u64 {
        let mut file = self;
        file.seek(SeekFrom::End(0)).unwrap_or(0)
    }
}
