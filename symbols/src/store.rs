//! Finds a PDB along a symbol path, as debuggers do, and downloads it if the path has a server.
//!
//! A path is a list of elements separated by `;`, searched in order:
//!
//! | element | meaning |
//! |---|---|
//! | `FOLDER` | a folder with the file, directly or in its subfolder `pdb` or `symbols/pdb`, or a store |
//! | `srv*STORE`, `srv*CACHE*STORE`, `srv*CACHE*…*STORE` | a store, and caches for its files |
//! | `srv*` | Microsoft's public store, [`MICROSOFT`] |
//! | `symsrv*symsrv.dll*…` | the same as `srv*…` |
//! | `cache*CACHE` | a cache for all elements that follow |
//!
//! A store is a folder, or a URL with the scheme `http` or `https`. It contains a file as `NAME/GUIDAGE/NAME`, with GUID and age
//! in hexadecimal; in the compressed container MSFZ, as `NAME/GUIDAGE/msfz0/NAME`; or compressed in a cabinet, as `NAME/GUIDAGE/NA_`, with `_`
//! as the last character. An empty CACHE is the default cache.

mod cabinet;
#[cfg(feature = "download")]
mod download;
mod error;
mod image;
mod path;
mod search;
#[cfg(feature = "download")]
mod server;

pub use crate::reason::Reason;
pub use error::{Error, PathError, Tried};

use crate::identity::{ImageFile, Pdb};
use crate::image::Exports;
use std::path::{Path, PathBuf};

/// Microsoft's public store with the symbols of Windows.
pub const MICROSOFT: &str = "https://msdl.microsoft.com/download/symbols";

/// The [answer](Tried::answer) of a folder that does not exist.
pub const NO_FOLDER: &str = "the folder does not exist";

/// Maximum size of a file, in bytes, compressed or not.
pub const MAX_FILE: u64 = crate::MAX_PDB;

/// Called during a download, with the number of bytes received and, if the server states it, the size of the file.
pub type Progress<'a> = dyn FnMut(u64, Option<u64>) + 'a;

/// A symbol path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolPath {
    /// The stores of each element, in search order.
    elements: Vec<Vec<Store>>,
    default_cache: PathBuf,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Store {
    Folder(PathBuf),
    Server(String),
}

impl SymbolPath {
    /// Parses a path, such as the value of `_NT_SYMBOL_PATH`. If the path has no cache, `default_cache` is used for downloaded
    /// and expanded files. No files are accessed.
    ///
    /// # Errors
    ///
    /// The path is empty, or has an element in none of the forms in [`self`](crate::store).
    pub fn parse(text: &str, default_cache: &Path) -> Result<SymbolPath, PathError> {
        path::parse(text, default_cache)
    }

    /// The folders of the path that do not exist, without caches, which are created.
    #[must_use]
    pub fn missing_folders(&self) -> Vec<&Path> {
        let is_cache = |store: &Store| self.elements.iter().any(|stores| stores.iter().rev().skip(1).any(|cache| cache == store));
        let last = self.elements.iter().filter_map(|stores| stores.last());
        let folders = last.filter(|store| !is_cache(store)).filter_map(|store| match store {
            Store::Folder(folder) => Some(folder.as_path()),
            Store::Server(_) => None,
        });
        folders.filter(|folder| *folder != self.default_cache && !folder.exists()).collect()
    }

    /// The path without its servers.
    #[must_use]
    pub fn without_servers(&self) -> SymbolPath {
        let folders = |stores: &Vec<Store>| stores.iter().filter(|store| matches!(store, Store::Folder(_))).cloned().collect();
        SymbolPath { elements: self.elements.iter().map(folders).collect(), default_cache: self.default_cache.clone() }
    }

    /// Finds a PDB, and downloads it if necessary. Without the feature `download`, servers are not contacted, and the error states this.
    ///
    /// Each file is verified: it is a complete PDB with the same GUID and age, either in its information stream or in its DBI
    /// stream. Files are added to a cache by renaming, so that a cache never contains partial files.
    ///
    /// # Errors
    ///
    /// No element has the file. The error lists every place searched, with the result.
    pub fn find(&self, pdb: &Pdb, progress: &mut Progress) -> Result<PathBuf, Error> {
        search::find(self, pdb, progress)
    }

    /// The exports of an image in a folder of the path: directly in it, or as `NAME/KEY/NAME` in a store. The image has the time stamp and size, or, if both are
    /// known, the program database. Servers are not contacted. `None` if no folder has the image; other files with its name, and corrupt ones,
    /// are left out.
    #[must_use]
    pub fn find_exports(&self, image: &ImageFile, pdb: Option<&Pdb>) -> Option<Exports> {
        image::find(self, image, pdb)
    }
}
