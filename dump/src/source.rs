//! Where the bytes of a dump come from.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};

/// The bytes of a dump, by their offset in the file: all of them in memory, or a file, of which only what is asked for is read. A full dump
/// is as large as the memory of its computer.
pub trait Source {
    /// Reads bytes from an offset on, and tells how many of the first ones it could.
    fn read_at(&self, offset: u64, out: &mut [u8]) -> usize;

    /// How many bytes there are.
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

/// A failure to read is as good as the end of the file: those bytes are missing.
impl Source for File {
    fn read_at(&self, offset: u64, out: &mut [u8]) -> usize {
        let mut file = self;
        if file.seek(SeekFrom::Start(offset)).is_err() {
            return 0;
        }
        let (mut file, mut out) = (file.take(out.len() as u64), Cursor::new(out));
        // What was read before a failure is there.
        let _ = io::copy(&mut file, &mut out);
        out.position() as usize
    }

    fn length(&self) -> u64 {
        let mut file = self;
        file.seek(SeekFrom::End(0)).unwrap_or(0)
    }
}
