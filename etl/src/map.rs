//! Files as bytes: mapped into memory, or read into it.

use memmap2::{Advice, Mmap};
use std::fs::File;
use std::io;
use std::ops::Deref;
use std::path::Path;

/// The bytes of a file.
#[derive(Debug)]
pub enum Bytes {
    /// Mapped: pages are read when they are first touched, and can be dropped again.
    Mapped(Mmap),
    /// Read whole.
    Read(Vec<u8>),
}

/// Maps a file into memory, read-only.
///
/// Whoever maps a file sees to it that nobody truncates or rewrites it meanwhile: bytes of a file that another process truncates are
/// gone, and touching them ends the program (SIGBUS; on Windows the truncation is refused). A file that a logger still
/// writes is one to [`read`].
///
/// # Errors
///
/// The file cannot be opened or mapped, as a pipe cannot. [`read`] may do.
#[allow(unsafe_code)]
pub fn map(path: impl AsRef<Path>) -> io::Result<Bytes> {
    let file = File::open(path)?;
    // Nothing can be mapped of no length.
    if file.metadata()?.len() == 0 {
        return Ok(Bytes::Read(Vec::new()));
    }
    // SAFETY: The pages are mapped read-only, so nothing here writes to them, and they stay mapped as long as the `Mmap` that
    // every slice borrows. What no program can rule out is that another one changes the file meanwhile: then the bytes change
    // under a shared slice. No code of this crate depends on two reads of a byte being equal for its memory safety: it keeps no
    // reference, length or index that was validated once and is trusted later without a check of its own, for there is no
    // other unsafe code in it, and every access is bounds-checked against the slice's length, which the file does not change.
    // That no one changes the file is what the documentation asks of the caller.
    let mapped = unsafe { Mmap::map(&file)? };
    // A hint that reading ahead pays; nothing is lost where the system does not take it.
    #[cfg(unix)]
    let _ = mapped.advise(Advice::Sequential);
    Ok(Bytes::Mapped(mapped))
}

/// Reads a file into memory.
///
/// # Errors
///
/// The file cannot be opened or read.
pub fn read(path: impl AsRef<Path>) -> io::Result<Bytes> {
    std::fs::read(path).map(Bytes::Read)
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(bytes) => bytes,
            Self::Read(bytes) => bytes,
        }
    }
}
