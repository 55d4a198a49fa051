//! Search along a symbol path.

use super::{Error, Progress, Store, SymbolPath, Tried, cabinet};
use crate::identity::{Pdb, is_file_name};
use crate::{load, pdb};
use std::collections::BTreeSet;
use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};
use std::{fs, process};

pub(super) fn find(path: &SymbolPath, pdb: &Pdb, progress: &mut Progress) -> Result<PathBuf, Error> {
    let SymbolPath { elements, default_cache } = path;
    let mut search = Search { pdb, key: pdb.key(), default_cache, tried: Vec::new() };
    if !is_file_name(&pdb.name) {
        search.note("its name", "is not a file name");
        return Err(Error { pdb: pdb.clone(), tried: search.tried });
    }
    let mut seen = BTreeSet::new();
    for stores in elements {
        let mut caches = Vec::new();
        for store in stores {
            let found = match store {
                _ if !seen.insert(store) => None,
                Store::Folder(root) => search.folder(root, &caches),
                Store::Server(url) => search.server(url, &caches, progress),
            };
            if let Some(found) = found {
                return Ok(search.cached(found, &caches));
            }
            if let Store::Folder(root) = store {
                caches.push(root.as_path());
            }
        }
    }
    Err(Error { pdb: pdb.clone(), tried: search.tried })
}

pub(super) struct Search<'a> {
    pub(super) pdb: &'a Pdb,
    pub(super) key: String,
    default_cache: &'a Path,
    tried: Vec<Tried>,
}

impl Search<'_> {
    pub(super) fn note(&mut self, place: impl Display, answer: impl Display) {
        self.tried.push(Tried { place: place.to_string(), answer: answer.to_string() });
    }

    fn folder(&mut self, root: &Path, caches: &[&Path]) -> Option<PathBuf> {
        let files = candidates(root, &self.pdb.name, &self.key);
        if files.is_empty() {
            self.note(root.display(), if root.is_dir() { "does not have it" } else { "the folder does not exist" });
        }
        for file in files {
            let found = match cabinet::is(&file) {
                Ok(true) => self.put(self.nearest(caches), |new| cabinet::expand(&file, new)),
                Ok(false) => check(&file, self.pdb).map(|()| file.clone()),
                Err(error) => Err(format!("cannot be read ({error})")),
            };
            match found {
                Ok(found) => return Some(found),
                Err(answer) => self.note(file.display(), answer),
            }
        }
        None
    }

    #[cfg(not(feature = "download"))]
    pub(super) fn server(&mut self, base: &str, _: &[&Path], _: &mut Progress) -> Option<PathBuf> {
        self.note(
            base,
            "server not contacted: this program is built without the feature `download`; use `etw` instead of `cargo xtask`",
        );
        None
    }

    /// The cache that a file is stored in first.
    pub(super) fn nearest<'c>(&'c self, caches: &[&'c Path]) -> &'c Path {
        caches.last().copied().unwrap_or(self.default_cache)
    }

    /// Copies a file to every cache on the way, and returns the last copy.
    fn cached(&self, mut found: PathBuf, caches: &[&Path]) -> PathBuf {
        for cache in caches.iter().rev() {
            let copied = self.put(cache, |new| fs::copy(&found, new).map(drop).map_err(|error| error.to_string()));
            // A cache that cannot be written does not prevent use of the file.
            found = copied.unwrap_or(found);
        }
        found
    }

    /// Adds a file to a cache unless it is present.
    pub(super) fn put(&self, cache: &Path, write: impl FnOnce(&Path) -> Result<(), String>) -> Result<PathBuf, String> {
        let home = cache.join(&self.pdb.name).join(&self.key);
        let failed = |error: io::Error| format!("cannot be stored in {} ({error})", home.display());
        let (kept, new) = (home.join(&self.pdb.name), home.join(format!("{}.{}.new", self.pdb.name, process::id())));
        if check(&kept, self.pdb).is_ok() {
            return Ok(kept);
        }
        fs::create_dir_all(&home).map_err(failed)?;
        let made = write(&new).and_then(|()| check(&new, self.pdb)).and_then(|()| fs::rename(&new, &kept).map_err(failed));
        if made.is_err() {
            let _ = fs::remove_file(&new);
        }
        made.map(|()| kept)
    }
}

/// Verifies that a file is the wanted PDB, and complete.
///
/// # Errors
///
/// The problem of the file, phrased to follow its name.
fn check(path: &Path, pdb: &Pdb) -> Result<(), String> {
    let bytes = load(path).map_err(|error| format!("cannot be read ({error})"))?;
    let stated = pdb::stated(&bytes).map_err(|error| match error {
        pdb::Error::Unrecognized => format!("is not a PDB: it begins with `{}`", bytes[..bytes.len().min(16)].escape_ascii()),
        error => format!("cannot be used: {error}"),
    })?;
    match stated.pdb() {
        _ if stated.is(pdb) => Ok(()),
        Some(Pdb { guid, age, .. }) => Err(format!("is a different PDB, with GUID {:X} and age {age}", guid.simple())),
        None => Err("is a PDB without a GUID".to_owned()),
    }
}

/// Possible files in a folder that exist, most likely first: `NAME`, `pdb/NAME`, `symbols/pdb/NAME`, `NAME/KEY/NAME` and
/// `NAME/KEY/NA_`.
fn candidates(root: &Path, name: &str, key: &str) -> Vec<PathBuf> {
    let compressed = compressed(name);
    let extension = name.rsplit_once('.').map_or("pdb", |(_, extension)| extension);
    let paths: [&[&str]; 5] =
        [&[name], &[extension, name], &["symbols", extension, name], &[name, key, name], &[name, key, &compressed]];
    let found = paths.into_iter().filter_map(|path| path.iter().try_fold(root.to_owned(), |at, part| below(&at, part)));
    found.filter(|path| path.is_file()).collect()
}

/// An entry of a folder, ignoring case: stores are created on systems that ignore case, and may be read on one that does not.
fn below(folder: &Path, name: &str) -> Option<PathBuf> {
    let exact = folder.join(name);
    if exact.exists() {
        return Some(exact);
    }
    let entries = fs::read_dir(folder).ok()?.filter_map(Result::ok);
    let same = |entry: &fs::DirEntry| entry.file_name().to_str().is_some_and(|other| other.eq_ignore_ascii_case(name));
    entries.into_iter().find(same).map(|entry| entry.path())
}

/// Name of a compressed file, with `_` as the last character.
pub(super) fn compressed(name: &str) -> String {
    let mut name = name.to_owned();
    name.pop();
    name + "_"
}
