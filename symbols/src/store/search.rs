//! Search along a symbol path.

use super::{Error, MAX_FILE, Progress, Store, SymbolPath, Tried, cabinet};
use crate::identity::{Pdb, is_file_name};
use crate::{load, pdb};
use etw_layouts_folder::Folder;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek};
use std::path::{Path, PathBuf};
use std::process;

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
            let opened = File::open(&file).and_then(|mut file| Ok((cabinet::is(&mut file)?, file)));
            let found = match opened {
                Ok((true, packed)) => self.put(self.nearest(caches), |new| cabinet::expand(BufReader::new(&packed), new)),
                Ok((false, _)) => unreadable(load(&file)).and_then(|bytes| check(&bytes, self.pdb)).map(|()| file.clone()),
                Err(error) => unreadable(Err(error)),
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
        self.note(base, "server not contacted: this program is built without the feature `download`, which `etw` has by default");
        None
    }

    /// The cache that a file is stored in first.
    pub(super) fn nearest<'c>(&'c self, caches: &[&'c Path]) -> &'c Path {
        caches.last().copied().unwrap_or(self.default_cache)
    }

    /// Copies a file to every cache on the way, and returns the last copy.
    fn cached(&self, mut found: PathBuf, caches: &[&Path]) -> PathBuf {
        for cache in caches.iter().rev() {
            let copy = |new: &mut File| io::copy(&mut File::open(&found)?, new).map(drop);
            let copied = self.put(cache, |new| copy(new).map_err(|error| error.to_string()));
            // A cache that cannot be written does not prevent use of the file.
            found = copied.unwrap_or(found);
        }
        found
    }

    /// Adds a file to a cache unless it is present: in its folder, or, in the format MSFZ, in the subfolder of that. No link below the cache is
    /// followed.
    pub(super) fn put(&self, cache: &Path, write: impl FnOnce(&mut File) -> Result<(), String>) -> Result<PathBuf, String> {
        let name = &self.pdb.name;
        let failed = |error: io::Error| format!("cannot be stored in {} ({error})", cache.display());
        let home =
            Folder::create(cache).and_then(|cache| cache.create_folder(&format!("{name}/{}", self.key))).map_err(failed)?;
        let is_kept = |home: &Folder| {
            let bytes = home.read(name, MAX_FILE).map_err(failed)?;
            Ok::<_, String>(bytes.is_some_and(|bytes| check(&bytes, self.pdb).is_ok()))
        };
        if is_kept(&home)? {
            return Ok(home.path().join(name));
        }
        if home.path().join(MSFZ).is_dir() {
            let home = home.create_folder(MSFZ).map_err(failed)?;
            if is_kept(&home)? {
                return Ok(home.path().join(name));
            }
        }
        let new = format!("{name}.{}.new", process::id());
        let mut file = home.create_file(&new).map_err(failed)?;
        let made = write(&mut file).and_then(|()| {
            let mut bytes = Vec::new();
            unreadable(file.rewind().and_then(|()| file.take(MAX_FILE).read_to_end(&mut bytes)))?;
            check(&bytes, self.pdb).map(|()| pdb::is_msfz(&bytes))
        });
        let made = made.and_then(|is_msfz| {
            let folder = if is_msfz { Some(home.create_folder(MSFZ).map_err(failed)?) } else { None };
            let folder = folder.as_ref().unwrap_or(&home);
            home.rename(&new, folder, name).map_err(failed)?;
            Ok(folder.path().join(name))
        });
        if made.is_err() {
            let _ = home.remove_file(&new);
        }
        made
    }
}

fn unreadable<T>(result: io::Result<T>) -> Result<T, String> {
    result.map_err(|error| format!("cannot be read ({error})"))
}

/// Verifies that a file is the wanted PDB, and complete.
///
/// # Errors
///
/// The problem of the file, phrased to follow its name.
fn check(bytes: &[u8], pdb: &Pdb) -> Result<(), String> {
    let stated = pdb::stated(bytes).map_err(|error| match error {
        pdb::Error::Unrecognized => format!("is not a PDB: it begins with `{}`", bytes[..bytes.len().min(16)].escape_ascii()),
        error => format!("cannot be used: {error}"),
    })?;
    match stated.pdb() {
        _ if stated.is(pdb) => Ok(()),
        Some(Pdb { guid, age, .. }) => Err(format!("is a different PDB, with GUID {:X} and age {age}", guid.simple())),
        None => Err("is a PDB without a GUID".to_owned()),
    }
}

/// The subfolder of PDBs in the format MSFZ, by which a symbol store has both formats of a PDB.
const MSFZ: &str = "msfz0";

/// Possible files in a folder that exist, most likely first: `NAME`, `pdb/NAME`, `symbols/pdb/NAME`, `NAME/KEY/NAME`, `NAME/KEY/msfz0/NAME` and
/// `NAME/KEY/NA_`.
fn candidates(root: &Path, name: &str, key: &str) -> Vec<PathBuf> {
    let compressed = compressed(name);
    let extension = name.rsplit_once('.').map_or("pdb", |(_, extension)| extension);
    let paths: [&[&str]; 6] = [
        &[name],
        &[extension, name],
        &["symbols", extension, name],
        &[name, key, name],
        &[name, key, MSFZ, name],
        &[name, key, &compressed],
    ];
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
