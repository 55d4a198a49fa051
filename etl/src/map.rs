//! Files mapped into memory.

use memmap2::{Advice, Mmap};
use std::fs::File;
use std::io;
use std::ops::Deref;
use std::path::Path;

/// The bytes of a mapped file: pages are read when they are first touched, and can be dropped again.
#[derive(Debug)]
pub struct Mapped(
    /// Nothing can be mapped of no length.
    Option<Mmap>,
);

/// Maps a file into memory, read-only, so that a [`Trace`](crate::Trace) of any size takes no memory that the system cannot take
/// back. A [`Reader`](crate::Reader) needs no promise.
///
/// # Safety
///
/// As long as the result lives nobody, in this process or in another, writes to the file or truncates it. A logger that is still
/// at work does both. Bytes that change under a shared slice are undefined behaviour; to touch those that a truncation took ends
/// the program (SIGBUS; Windows refuses the truncation).
///
/// # Errors
///
/// The file cannot be opened or mapped, or is none: a pipe or a folder.
#[allow(unsafe_code)]
pub unsafe fn map(path: impl AsRef<Path>) -> io::Result<Mapped> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "only a file can be mapped"));
    }
    if metadata.len() == 0 {
        return Ok(Mapped(None));
    }
    // SAFETY: The pages are mapped read-only, so nothing here writes to them, and they stay mapped as long as the `Mmap` that
    // every slice borrows. That nobody else changes or truncates the file is what the caller promises.
    let mapped = unsafe { Mmap::map(&file)? };
    // A hint that reading ahead pays; nothing is lost where the system does not take it.
    #[cfg(unix)]
    let _ = mapped.advise(Advice::Sequential);
    Ok(Mapped(Some(mapped)))
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.as_deref().unwrap_or(&[])
    }
}
