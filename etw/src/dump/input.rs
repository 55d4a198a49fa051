//! What is read: dumps, what folders hold, a pipe.

use crate::etl::stop::Stop;
use etw_layouts_dump::Header;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// One dump, whether or not it can be read.
pub struct Input {
    /// As the user knows it.
    pub name: String,
    path: Result<PathBuf, String>,
}

/// The dump of that path, the standard input, or the dumps in a folder and in those below it.
pub fn find(path: &Path) -> Vec<Input> {
    let input = |path: PathBuf, why: Option<String>| Input { name: path.display().to_string(), path: why.map_or(Ok(path), Err) };
    // A file that is not there is found out when it is opened.
    if path == Path::new("-") || !path.is_dir() {
        return vec![input(path.to_owned(), None)];
    }
    let mut found = Vec::new();
    search(path, &mut found);
    if found.is_empty() {
        found.push((path.to_owned(), Some("there are no crash dumps (*.dmp) in this folder".to_owned())));
    }
    found.into_iter().map(|(path, why)| input(path, why)).collect()
}

/// Adds the dumps in a folder and in those below it, in the order of their names. Links to folders are not followed, so that there are
/// no circles.
fn search(folder: &Path, found: &mut Vec<(PathBuf, Option<String>)>) {
    let entries = fs::read_dir(folder).and_then(|entries| entries.collect::<io::Result<Vec<_>>>());
    let mut entries = match entries {
        Ok(entries) => entries,
        Err(error) => return found.push((folder.to_owned(), Some(error.to_string()))),
    };
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let is_dump = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(OsStr::new("dmp")));
        if entry.file_type().is_ok_and(|ty| ty.is_dir()) {
            search(&path, found);
        } else if is_dump && path.is_file() {
            found.push((path, None));
        }
    }
}

/// The headers of a dump take fewer bytes.
const HEADERS: u64 = 1 << 14;

impl Input {
    /// Reads it; of what is no triage dump only its headers, since others can be as large as memory.
    pub fn read(&self) -> Result<Vec<u8>, Stop> {
        let path = self.path.as_ref().map_err(|why| Stop::Input(why.clone()))?;
        let unreadable = |error: io::Error| Stop::Input(error.to_string());
        let mut file: Box<dyn Read> = match path == Path::new("-") {
            true => Box::new(io::stdin().lock()),
            false => Box::new(File::open(path).map_err(unreadable)?),
        };
        let mut bytes = Vec::new();
        file.by_ref().take(HEADERS).read_to_end(&mut bytes).map_err(unreadable)?;
        Header::of(&bytes).map_err(|error| Stop::Input(error.to_string()))?;
        file.read_to_end(&mut bytes).map_err(unreadable)?;
        Ok(bytes)
    }

    /// What files made of it are called by.
    pub fn stem(&self) -> &str {
        Path::new(&self.name).file_stem().and_then(OsStr::to_str).filter(|stem| *stem != "-").unwrap_or("dump")
    }
}
