//! Files into memory, no further than any file of their kind goes.

use crate::{isf, pdb};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The largest program database accepted, in bytes. Those of Windows kernels have 10 to 60 MB.
pub const MAX_PDB: u64 = 512 << 20;

/// Reads a file for [`read()`](crate::read()): at most [`MAX_PDB`] bytes of a program database, and [`isf::MAX_JSON`] of
/// anything else.
///
/// # Errors
///
/// If it cannot be read, or is larger. What is not a file, such as a pipe, is read as well, up to the same limit.
pub fn load(path: &Path) -> io::Result<Vec<u8>> {
    bounded(path, |start| if pdb::recognizes(start) { MAX_PDB } else { isf::MAX_JSON as u64 })
}

/// Reads a file, of which the first bytes tell how large it may be.
pub(crate) fn bounded(path: &Path, most: impl Fn(&[u8]) -> u64) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    file.by_ref().take(64).read_to_end(&mut bytes)?;
    let most = most(&bytes);
    let too_large = || {
        let message = format!("more than {} MiB, which no such file of a Windows kernel has: give another", most >> 20);
        io::Error::new(io::ErrorKind::FileTooLarge, message)
    };
    // What is no file has no length that says anything.
    let length = file.metadata()?.len();
    if length > most {
        return Err(too_large());
    }
    bytes.reserve_exact(length as usize);
    file.take(most + 1 - bytes.len() as u64).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_large()) } else { Ok(bytes) }
}
