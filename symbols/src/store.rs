//! Finds a PDB along a symbol path, as the debuggers do, and downloads it where the path says so.
//!
//! A path is a list of elements between `;`, searched in order:
//!
//! | element | is |
//! |---|---|
//! | `FOLDER` | a folder that holds the file itself, or below `pdb` or `symbols/pdb`, or that is a store |
//! | `srv*STORE`, `srv*CACHE*STORE`, `srv*CACHE*…*STORE` | a store, and caches to its left that keep what it gave |
//! | `srv*` | Microsoft's public store, [`MICROSOFT`] |
//! | `symsrv*symsrv.dll*…` | the same as `srv*…` |
//! | `cache*CACHE` | a cache for all that follows |
//!
//! A store is a folder, or a URL of `http`, `https` or `file`. It holds a file as `NAME/GUIDAGE/NAME`, GUID and age in
//! hexadecimal; compressed into a cabinet as `NAME/GUIDAGE/NA_`, with `_` for the last character; or as
//! `NAME/GUIDAGE/file.ptr`, which says where it is. A store with an `index2.txt` has two tiers, with the first two
//! characters of the name as a folder above. An empty CACHE is the default cache. The query of a URL is sent with all that is
//! asked of its store. In a folder,
//! `%NAME%` is the value of that environment variable.

mod cabinet;
mod check;
mod download;
mod error;
mod folder;
mod path;
mod search;

pub use error::{Error, PathError, Tried};

use crate::identity::Pdb;
use std::path::{Path, PathBuf};

/// Microsoft's public store, which has the symbols of Windows.
pub const MICROSOFT: &str = "https://msdl.microsoft.com/download/symbols";

/// The largest file accepted, in bytes, compressed or not.
pub const MAX_FILE: u64 = crate::MAX_PDB;

/// What is told of a download while it runs: bytes that are here, and bytes of the whole if the server says how many.
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
    /// Whatever is found is checked: it is a whole MSF 7 file of the same GUID and age, that of its information or of its DBI
    /// stream. A file enters a cache by renaming, so that a cache never holds part of one. A download that breaks off is
    /// continued, now and in the next call, from the `.part` file that it leaves; a wrong one is deleted.
    ///
    /// # Errors
    ///
    /// If no element has it: every place that was tried, and what each said.
    pub fn find(&self, pdb: &Pdb, progress: &mut Progress) -> Result<PathBuf, Error> {
        search::find(self, pdb, progress)
    }
}
