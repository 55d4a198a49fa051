//! Recognizes the kind of a file by its content.

use crate::manifest::{self, MAX_MANIFEST};
use crate::tmf;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;

/// The kind of a file, with its content.
pub(super) enum Content {
    Manifest(Vec<u8>),
    Tmf(Vec<u8>),
    #[cfg(feature = "pdb")]
    Pdb(Vec<u8>),
    /// Possibly a program, library, driver or language file.
    Binary(File),
    Other,
}

/// Number of bytes that are read to recognize a file.
const HEAD: u64 = 512;

/// Opens a file, and reads it if it is a text with schemas.
pub(super) fn content(path: &Path) -> io::Result<Content> {
    let mut file = File::open(path)?;
    let mut head = Vec::new();
    file.by_ref().take(HEAD).read_to_end(&mut head)?;
    if head.starts_with(b"MZ") {
        return Ok(Content::Binary(file));
    }
    #[cfg(feature = "pdb")]
    if etw_layouts_symbols::pdb::is_pdb(&head) {
        return etw_layouts_symbols::load(path).map(Content::Pdb);
    }
    let is_xml = manifest::is_xml(&head);
    if !is_xml && !tmf::is_tmf(&head) || file.metadata()?.len() > MAX_MANIFEST {
        return Ok(Content::Other);
    }
    file.rewind()?;
    let mut bytes = Vec::new();
    // The size is limited again, because the file can grow.
    file.take(MAX_MANIFEST).read_to_end(&mut bytes)?;
    Ok(of_bytes(bytes))
}

/// The kind of a file that is not a binary.
pub(super) fn of_bytes(bytes: Vec<u8>) -> Content {
    #[cfg(feature = "pdb")]
    if etw_layouts_symbols::pdb::is_pdb(&bytes) {
        return Content::Pdb(bytes);
    }
    match manifest::is_xml(&bytes) {
        true if manifest::is_manifest(&bytes) => Content::Manifest(bytes),
        false if tmf::is_tmf(&bytes) => Content::Tmf(bytes),
        _ => Content::Other,
    }
}
