//! The search along a path.

use super::check::check;
use super::download::{Client, Failure, Part};
use super::folder::{self, POINTER, TIERS};
use super::{Error, Progress, Store, SymbolPath, Tried, cabinet};
use crate::identity::{Pdb, is_file_name};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::collections::BTreeSet;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process;

/// What needs no escape in a URL.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'.').remove(b'_').remove(b'-').remove(b'~').remove(b'+');
/// The longest `file.ptr`, in bytes: longer than any path.
const MAX_POINTER: u64 = 64 << 10;

pub(super) fn find(path: &SymbolPath, pdb: &Pdb, progress: &mut Progress) -> Result<PathBuf, Error> {
    let SymbolPath { elements, default_cache } = path;
    let mut search = Search { pdb, key: pdb.key(), default_cache, client: Client::new(), progress, tried: Vec::new() };
    if !is_file_name(&pdb.name) {
        search.note("its name", "is no file name");
        return Err(Error { pdb: pdb.clone(), tried: search.tried });
    }
    let mut seen = BTreeSet::new();
    for stores in elements {
        let mut caches = Vec::new();
        for store in stores {
            let found = match store {
                _ if !seen.insert(store) => None,
                Store::Folder(root) => search.folder(root, &caches),
                Store::Server(url) => search.server(url, &caches),
            };
            if let Some(found) = found {
                return Ok(found);
            }
            if let Store::Folder(root) = store {
                caches.push(root.as_path());
            }
        }
    }
    Err(Error { pdb: pdb.clone(), tried: search.tried })
}

struct Search<'a, 'b> {
    pdb: &'a Pdb,
    key: String,
    default_cache: &'a Path,
    client: Client,
    progress: &'a mut Progress<'b>,
    tried: Vec<Tried>,
}

impl Search<'_, '_> {
    fn note(&mut self, place: impl Display, answer: impl Display) {
        self.tried.push(Tried { place: place.to_string(), answer: answer.to_string() });
    }

    fn folder(&mut self, root: &Path, caches: &[&Path]) -> Option<PathBuf> {
        let before = self.tried.len();
        for file in folder::candidates(root, &self.pdb.name, &self.key) {
            let is_pointer = file.file_name().is_some_and(|name| name.eq_ignore_ascii_case(POINTER));
            let found = match is_pointer {
                true => self.pointer(&file.display().to_string(), &text(&file), caches),
                false => self.offered(&file, caches),
            };
            if found.is_some() {
                return found;
            }
        }
        if self.tried.len() == before {
            self.note(root.display(), if root.is_dir() { "does not have it" } else { "there is no such folder" });
        }
        None
    }

    fn server(&mut self, base: &str, caches: &[&Path]) -> Option<PathBuf> {
        let name = self.pdb.name.clone();
        let caches = self.or_default(caches);
        for tiers in [false, true] {
            let tier = if tiers { format!("{}/", escaped(folder::tier(&name))) } else { String::new() };
            if tiers && self.client.text(&below(base, TIERS), MAX_POINTER).is_err() {
                return None;
            }
            for file in [&name, &folder::compressed(&name), POINTER] {
                let url = below(base, &format!("{tier}{}/{}/{}", escaped(&name), self.key, escaped(file)));
                match if file == POINTER { self.fetch_pointer(&url, &caches) } else { self.fetch(&url, file, &caches) } {
                    Ok(None) => continue,
                    Ok(found) => return found,
                    Err(Unreachable) => return None,
                }
            }
        }
        None
    }

    fn or_default<'a>(&'a self, caches: &[&'a Path]) -> Vec<PathBuf> {
        let default = [self.default_cache];
        let caches = if caches.is_empty() { &default[..] } else { caches };
        caches.iter().map(|cache| cache.to_path_buf()).collect()
    }

    /// Downloads a file into the first cache that takes it, and copies it to the others.
    fn fetch(&mut self, url: &str, file: &str, caches: &[PathBuf]) -> Result<Option<PathBuf>, Unreachable> {
        for cache in caches {
            let home = folder::home(cache, &self.pdb.name, &self.key);
            match self.client.download(url, &home.join(format!("{file}.part")), self.progress) {
                Ok(part) => {
                    let kept = self.downloaded(&part, &home);
                    part.remove();
                    let Ok(kept) = kept.map_err(|answer| self.note(url, format!("{answer}; it was deleted"))) else { break };
                    for other in caches.iter().filter(|other| *other != cache) {
                        let _ = self.put(&kept, &folder::home(other, &self.pdb.name, &self.key));
                    }
                    return Ok(Some(kept));
                }
                Err(failure) => {
                    self.note(url, &failure);
                    match failure {
                        Failure::Missing(_) => break,
                        Failure::Disk(_) => {}
                        Failure::Broken(_) | Failure::Slow(_) => return Err(Unreachable),
                    }
                }
            }
        }
        Ok(None)
    }

    fn downloaded(&self, part: &Part, home: &Path) -> Result<PathBuf, String> {
        if is_cabinet(&part.path)? {
            return self.put(&part.path, home);
        }
        check(&part.path, self.pdb)?;
        let kept = home.join(&self.pdb.name);
        fs::rename(&part.path, &kept).map_err(|error| format!("cannot be kept as {} ({error})", kept.display()))?;
        Ok(kept)
    }

    fn fetch_pointer(&mut self, url: &str, caches: &[PathBuf]) -> Result<Option<PathBuf>, Unreachable> {
        let caches: Vec<_> = caches.iter().map(PathBuf::as_path).collect();
        match self.client.text(url, MAX_POINTER) {
            Ok(text) => Ok(self.pointer(url, &text, &caches)),
            Err(failure) => {
                self.note(url, &failure);
                if matches!(failure, Failure::Broken(_) | Failure::Slow(_)) { Err(Unreachable) } else { Ok(None) }
            }
        }
    }

    /// `PATH:` and a path, `MSG:` and a message, or a path alone.
    fn pointer(&mut self, place: &str, text: &str, caches: &[&Path]) -> Option<PathBuf> {
        let text = text.trim_matches(['\u{FEFF}', '\0', ' ', '\t', '\r', '\n']);
        if let Some(message) = text.strip_prefix("MSG:") {
            self.note(place, format!("says: {}", message.trim().escape_debug()));
            return None;
        }
        let target = text.strip_prefix("PATH:").unwrap_or(text).trim();
        if target.starts_with("https://") || target.starts_with("http://") {
            let caches = self.or_default(caches);
            return self.fetch(target, &self.pdb.name.clone(), &caches).unwrap_or(None);
        }
        let file = Path::new(target);
        let there = file.is_file();
        let found = if there { self.checked(file, caches).ok() } else { None };
        if found.is_none() {
            // A server may point to any file of this machine, of which nothing more is told.
            let what = if there { "the wanted PDB" } else { "there" };
            self.note(place, format!("points to `{}`, which is not {what}", target.escape_debug()));
        }
        found
    }

    /// A file of a folder, if it is the wanted one: in the first cache, or where it is.
    fn offered(&mut self, file: &Path, caches: &[&Path]) -> Option<PathBuf> {
        let found = self.checked(file, caches);
        found.map_err(|answer| self.note(file.display(), answer)).ok()
    }

    fn checked(&self, file: &Path, caches: &[&Path]) -> Result<PathBuf, String> {
        let packed = is_cabinet(file)?;
        let caches = if packed { self.or_default(caches) } else { caches.iter().map(|cache| cache.to_path_buf()).collect() };
        if !packed {
            check(file, self.pdb)?;
        }
        let mut kept = Err(String::new());
        for cache in caches {
            let source = kept.as_deref().unwrap_or(file);
            let put = self.put(source, &folder::home(&cache, &self.pdb.name, &self.key));
            kept = kept.or(put);
        }
        // A cache that cannot be written to is no reason to refuse a file that needs none.
        if packed { kept } else { Ok(kept.unwrap_or(file.to_owned())) }
    }

    /// Puts a file into a cache, expanded, if it is not there already.
    fn put(&self, file: &Path, home: &Path) -> Result<PathBuf, String> {
        let failed = |error| format!("cannot be kept in {} ({error})", home.display());
        if check(&home.join(&self.pdb.name), self.pdb).is_ok() {
            return Ok(home.join(&self.pdb.name));
        }
        fs::create_dir_all(home).map_err(failed)?;
        let (kept, new) = (home.join(&self.pdb.name), home.join(format!("{}.{}.new", self.pdb.name, process::id())));
        let made = match is_cabinet(file)? {
            true => cabinet::expand(file, &new),
            false => fs::copy(file, &new).map(drop).map_err(failed),
        };
        let checked = made.and_then(|()| check(&new, self.pdb));
        let renamed = checked.and_then(|()| fs::rename(&new, &kept).map_err(failed));
        if renamed.is_err() {
            let _ = fs::remove_file(&new);
        }
        renamed.map(|()| kept)
    }
}

/// A server that does not answer is not asked again.
struct Unreachable;

/// The text of a `file.ptr`.
fn text(file: &Path) -> String {
    let mut text = Vec::new();
    // One that cannot be read points nowhere.
    let _ = File::open(file).and_then(|file| file.take(MAX_POINTER).read_to_end(&mut text));
    String::from_utf8_lossy(&text).into_owned()
}

fn is_cabinet(file: &Path) -> Result<bool, String> {
    cabinet::is(file).map_err(|error| format!("cannot be read ({error})"))
}

/// What is below the URL of a store, with the store's own query.
fn below(base: &str, path: &str) -> String {
    match base.split_once('?') {
        Some((base, query)) => format!("{}/{path}?{query}", base.trim_end_matches('/')),
        None => format!("{base}/{path}"),
    }
}

fn escaped(name: &str) -> impl Display {
    utf8_percent_encode(name, ESCAPED)
}
