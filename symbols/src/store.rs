//! Finds a PDB along a symbol path, as the debuggers do, and downloads it where the path says so.
//!
//! A path is a list of elements between `;`, searched in order:
//!
//! | element | meaning |
//! |---|---|
//! | `FOLDER` | a folder with the file itself, in `pdb` or `symbols/pdb` below it, or a store |
//! | `srv*STORE`, `srv*CACHE*STORE`, `srv*CACHE*…*STORE` | a store, and caches to its left that keep its files |
//! | `srv*` | Microsoft's public store, [`MICROSOFT`] |
//! | `symsrv*symsrv.dll*…` | the same as `srv*…` |
//! | `cache*CACHE` | a cache for all elements that follow |
//!
//! A store is a folder, or a URL of `http` or `https`. It holds a file as `NAME/GUIDAGE/NAME`, GUID and age in hexadecimal, or,
//! compressed into a cabinet, as `NAME/GUIDAGE/NA_`, with `_` for the last character. An empty CACHE is the default cache.

mod cabinet;
mod download;
mod error;
mod path;
mod search;

pub use error::{Error, PathError, Tried};

use crate::identity::Pdb;
use std::path::{Path, PathBuf};

/// Microsoft's public store, which has the symbols of Windows.
pub const MICROSOFT: &str = "https://msdl.microsoft.com/download/symbols";

/// The largest file accepted, in bytes, compressed or not.
pub const MAX_FILE: u64 = crate::MAX_PDB;

/// Called while a download runs, with the bytes received and, if the server states it, the size of the file.
pub type Progress<'a> = dyn FnMut(u64, Option<u64>) + 'a;

/// A symbol path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolPath {
    /// Of each element the stores, in the order of the search.
    elements: Vec<Vec<Store>>,
    default_cache: PathBuf,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Store {
    Folder(PathBuf),
    Server(String),
}

impl SymbolPath {
    /// Reads a path, such as the value of `_NT_SYMBOL_PATH`. What is downloaded or expanded where the path names no cache goes
    /// to `default_cache`. Nothing is looked up yet.
    ///
    /// # Errors
    ///
    /// If the path is empty, or has an element that is none of those in [`self`](crate::store).
    pub fn parse(text: &str, default_cache: &Path) -> Result<SymbolPath, PathError> {
        path::parse(text, default_cache)
    }

    /// Finds a PDB, and downloads it if it must.
    ///
    /// Each file is checked: it is a whole PDB of the same GUID and age, that of its information or of its DBI stream. A file enters
    /// a cache by renaming, so that a cache never holds part of one.
    ///
    /// # Errors
    ///
    /// If no element has it: every place that was tried, with its answer.
    pub fn find(&self, pdb: &Pdb, progress: &mut Progress) -> Result<PathBuf, Error> {
        search::find(self, pdb, progress)
    }
}
