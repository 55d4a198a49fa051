//! Hashes a file while it is read.

use etw_layouts_trace::{FileSource, Source};
use indicatif::ProgressBar;
use sha2::{Digest, Sha256};
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// A file that hashes the bytes that are read, as long as they are read in order, and shows progress.
#[derive(Clone, Debug)]
pub struct Hashing(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    file: FileSource,
    bar: ProgressBar,
    hashed: Mutex<Hashed>,
}

#[derive(Debug)]
struct Hashed {
    hasher: Sha256,
    /// Number of bytes at the start of the file that are hashed.
    length: u64,
}

impl Hashing {
    pub fn open(path: &Path, bar: &ProgressBar) -> io::Result<Self> {
        let hashed = Mutex::new(Hashed { hasher: Sha256::new(), length: 0 });
        Ok(Self(Arc::new(Inner { file: FileSource::open(path)?, bar: bar.clone(), hashed })))
    }

    /// The SHA-256 of all bytes.
    pub fn finish(&self) -> io::Result<String> {
        let mut bytes = vec![0; 1 << 16];
        loop {
            let (start, left) = {
                let hashed = self.0.hashed.lock().unwrap_or_else(PoisonError::into_inner);
                (hashed.length, self.length() - hashed.length)
            };
            if left == 0 {
                let hashed = self.0.hashed.lock().unwrap_or_else(PoisonError::into_inner);
                return Ok(hex(&hashed.hasher.clone().finalize()));
            }
            let count = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
            self.read_at(start, &mut bytes[..count])?;
        }
    }
}

impl Source for Hashing {
    fn length(&self) -> u64 {
        self.0.file.length()
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.0.file.read_at(offset, bytes)?;
        self.0.bar.inc(bytes.len() as u64);
        let mut hashed = self.0.hashed.lock().unwrap_or_else(PoisonError::into_inner);
        let known = hashed.length.checked_sub(offset).and_then(|known| usize::try_from(known).ok());
        if let Some(new) = known.and_then(|known| bytes.get(known..)) {
            hashed.hasher.update(new);
            hashed.length += new.len() as u64;
        }
        Ok(())
    }

    fn growth(&self) -> u64 {
        self.0.file.growth()
    }
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The SHA-256 of the bytes of a reader.
pub fn hash_all(mut reader: impl Read) -> io::Result<String> {
    let (mut hasher, mut bytes) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match reader.read(&mut bytes)? {
            0 => return Ok(hex(&hasher.finalize())),
            count => hasher.update(&bytes[..count]),
        }
    }
}

/// The SHA-256 of a file.
pub fn hash(path: &Path) -> io::Result<String> {
    Hashing::open(path, &ProgressBar::hidden())?.finish()
}
