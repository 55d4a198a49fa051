//! Reading of files with a size limit for their kind.

use crate::{isf, pdb};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Maximum size of a program database, in bytes. Those of Windows kernels have 10 to 60 MB; those of large programs, such as browsers, can exceed it.
pub const MAX_PDB: u64 = 512 << 20;

/// Reads a file for [`read()`](crate::read()): at most [`MAX_PDB`] bytes of a program database, at most [`isf::MAX_JSON`] of any
/// other file.
///
/// # Errors
///
/// The file cannot be read, or is larger. Other sources such as pipes are read as well, up to the same limit.
pub fn load(path: &Path) -> io::Result<Vec<u8>> {
    bounded(path, |start| if pdb::recognizes(start) { MAX_PDB } else { isf::MAX_JSON as u64 })
}

/// Reads a file, whose first bytes determine the size limit.
pub(crate) fn bounded(path: &Path, most: impl Fn(&[u8]) -> u64) -> io::Result<Vec<u8>> {
    let mut file = File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => io::Error::new(error.kind(), "no such file or folder; check the path"),
        _ => error,
    })?;
    let mut bytes = Vec::new();
    file.by_ref().take(64).read_to_end(&mut bytes)?;
    let most = most(&bytes);
    let too_large = || {
        let message = format!("file too large: more than {} MiB, the limit for files of this kind", most >> 20);
        io::Error::new(io::ErrorKind::FileTooLarge, message)
    };
    // Only regular files have a meaningful length.
    let length = file.metadata()?.len();
    if length > most {
        return Err(too_large());
    }
    bytes.reserve_exact(length as usize);
    file.take(most + 1 - bytes.len() as u64).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_large()) } else { Ok(bytes) }
}
