//! Search along a symbol path.

use super::{Error, MAX_FILE, NO_FOLDER, Progress, Reason, Store, SymbolPath, Tried, cabinet};
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
        search.note("its name", (Reason::Unusable, "is not a file name".to_owned()));
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

/// The folder beside a PDB in a cache with the same PDB in the container MSFZ, which older debuggers cannot read: PerfView, issue 2243.
const COMPRESSED: &str = "msfz0";

/// Why a place does not have the file: the reason, and a text phrased to follow the name of the place.
pub(super) type Problem = (Reason, String);

pub(super) struct Search<'a> {
    pub(super) pdb: &'a Pdb,
    pub(super) key: String,
    default_cache: &'a Path,
    tried: Vec<Tried>,
}

impl Search<'_> {
    pub(super) fn note(&mut self, place: impl Display, (reason, answer): Problem) {
        self.tried.push(Tried { place: place.to_string(), reason, answer });
    }

    fn folder(&mut self, root: &Path, caches: &[&Path]) -> Option<PathBuf> {
        let files = candidates(root, &self.pdb.name, &self.key);
        if files.is_empty() {
            let answer = if root.is_dir() { "does not have it" } else { NO_FOLDER };
            self.note(root.display(), (Reason::NotFound, answer.to_owned()));
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
                Err(problem) => self.note(file.display(), problem),
            }
        }
        None
    }

    #[cfg(not(feature = "download"))]
    pub(super) fn server(&mut self, base: &str, _: &[&Path], _: &mut Progress) -> Option<PathBuf> {
        let answer = "server not contacted: this program is built without the feature `download`, which `etw` has by default";
        self.note(base, (Reason::Unreachable, answer.to_owned()));
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
            let copied = self.put(cache, |new| unreadable(copy(new)));
            // A cache that cannot be written does not prevent use of the file.
            found = copied.unwrap_or(found);
        }
        found
    }

    /// Adds a file to a cache unless it is present. No link below the cache is followed.
    pub(super) fn put(&self, cache: &Path, write: impl FnOnce(&mut File) -> Result<(), Problem>) -> Result<PathBuf, Problem> {
        let name = &self.pdb.name;
        let failed = |error: io::Error| (Reason::Refused, format!("cannot be stored in {} ({error})", cache.display()));
        let home =
            Folder::create(cache).and_then(|cache| cache.create_folder(&format!("{name}/{}", self.key))).map_err(failed)?;
        for present in [name.clone(), format!("{COMPRESSED}/{name}")] {
            if home.read(&present, MAX_FILE).map_err(failed)?.is_some_and(|bytes| check(&bytes, self.pdb).is_ok()) {
                return Ok(home.path().join(present));
            }
        }
        let new = format!("{name}.{}.new", process::id());
        let mut file = home.create_file(&new).map_err(failed)?;
        let made = write(&mut file).and_then(|()| {
            let mut bytes = Vec::new();
            unreadable(file.rewind().and_then(|()| file.take(MAX_FILE).read_to_end(&mut bytes)))?;
            check(&bytes, self.pdb).map(|()| pdb::is_compressed(&bytes))
        });
        let made = made.and_then(|is_compressed| {
            let own = if is_compressed { Some(home.create_folder(COMPRESSED).map_err(failed)?) } else { None };
            let to = own.as_ref().unwrap_or(&home);
            home.rename(&new, to, name).map_err(failed).map(|()| to.path().join(name))
        });
        if made.is_err() {
            let _ = home.remove_file(&new);
        }
        made
    }
}

pub(super) fn unreadable<T>(result: io::Result<T>) -> Result<T, Problem> {
    result.map_err(|error| {
        let reason = if error.kind() == io::ErrorKind::PermissionDenied { Reason::Refused } else { Reason::Unusable };
        (reason, format!("cannot be read ({error})"))
    })
}

/// Verifies that a file is the wanted PDB, and complete.
///
/// # Errors
///
/// The problem of the file.
fn check(bytes: &[u8], pdb: &Pdb) -> Result<(), Problem> {
    identity(bytes, pdb).map_err(|answer| (Reason::Unusable, answer))
}

fn identity(bytes: &[u8], pdb: &Pdb) -> Result<(), String> {
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

/// Possible files in a folder that exist, most likely first: `NAME`, `pdb/NAME`, `symbols/pdb/NAME`, `NAME/KEY/NAME`,
/// `NAME/KEY/msfz0/NAME` and `NAME/KEY/NA_`.
pub(super) fn candidates(root: &Path, name: &str, key: &str) -> Vec<PathBuf> {
    let compressed = compressed(name);
    let extension = name.rsplit_once('.').map_or("pdb", |(_, extension)| extension);
    let paths: [&[&str]; 6] = [
        &[name],
        &[extension, name],
        &["symbols", extension, name],
        &[name, key, name],
        &[name, key, COMPRESSED, name],
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
