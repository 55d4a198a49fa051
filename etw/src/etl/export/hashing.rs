//! Hashes a file while it is read.

use indicatif::ProgressBar;
use std::fs::File;
use std::hash::Hasher;
use std::io::{self, Read};
use std::path::Path;
use twox_hash::XxHash64;

/// A reader that hashes all bytes and shows progress.
pub struct Hashing<'b> {
    file: File,
    hasher: XxHash64,
    bar: &'b ProgressBar,
}

impl<'b> Hashing<'b> {
    pub fn new(file: File, bar: &'b ProgressBar) -> Self {
        Self { file, hasher: XxHash64::with_seed(0), bar }
    }

    /// Reads the rest of the file. Returns the hash of all of it.
    pub fn finish(mut self) -> io::Result<String> {
        io::copy(&mut self, &mut io::sink())?;
        Ok(format!("{:016x}", self.hasher.finish()))
    }
}

impl Read for Hashing<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(bytes)?;
        self.hasher.write(&bytes[..count]);
        self.bar.inc(count as u64);
        Ok(count)
    }
}

/// The hash of a file.
pub fn hash(path: &Path) -> io::Result<String> {
    Hashing::new(File::open(path)?, &ProgressBar::hidden()).finish()
}
