//! Files that change together: all of them or none.

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Files to write; one without a text is to be removed.
pub type Changes = Vec<(PathBuf, Option<String>)>;

/// A file before and after; without content it does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Replacement {
    /// The file.
    pub path: PathBuf,
    /// Its content before.
    pub old: Option<Vec<u8>>,
    /// Its content after.
    pub new: Option<Vec<u8>>,
}

/// Which content of a [`Replacement`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Before.
    Old,
    /// After.
    New,
}

/// How files are written.
#[derive(Clone, Copy)]
pub(crate) struct Writing<'a> {
    /// The process whose content it is: what it writes beside a file is named by it.
    pub process: u32,
    /// Asked before each write, renaming and removal: tests fail here, or stop.
    pub before: &'a dyn Fn() -> io::Result<()>,
}

impl Replacement {
    /// What a change does to the file that is there.
    ///
    /// # Errors
    ///
    /// A file that cannot be read.
    pub fn of(path: PathBuf, new: Option<String>) -> Result<Self, String> {
        Ok(Self { old: present(&path)?, new: new.map(String::into_bytes), path })
    }

    fn content(&self, side: Side) -> Option<&[u8]> {
        match side {
            Side::Old => self.old.as_deref(),
            Side::New => self.new.as_deref(),
        }
    }

    /// Whether the file has that content.
    ///
    /// # Errors
    ///
    /// A file that cannot be read.
    pub fn is(&self, side: Side) -> Result<bool, String> {
        Ok(present(&self.path)?.as_deref() == self.content(side))
    }
}

/// Gives every file the content of a side. Each is written beside its place first, and only when all are written are they put
/// in their places, so what cannot be written for want of room changes nothing.
///
/// # Errors
///
/// The file that cannot be written or removed. Those before it have their content then.
pub(crate) fn put(files: &[Replacement], side: Side, writing: Writing) -> Result<(), String> {
    let mut pending = Vec::new();
    for file in files {
        if !file.is(side)? {
            pending.push((file, file.content(side)));
        }
    }
    let done = writing.all(&pending);
    if done.is_err() {
        clean(files, writing.process);
    }
    done
}

/// Removes what an interrupted process has written beside files.
pub(crate) fn clean(files: &[Replacement], process: u32) {
    files.iter().for_each(|file| drop(fs::remove_file(beside(&file.path, process))));
}

impl Writing<'_> {
    fn all(self, files: &[(&Replacement, Option<&[u8]>)]) -> Result<(), String> {
        for (file, content) in files {
            self.staged(&file.path, *content).map_err(|e| named(&file.path, &e))?;
        }
        for (file, content) in files {
            self.placed(&file.path, *content).map_err(|e| named(&file.path, &e))?;
        }
        Ok(())
    }

    fn staged(self, path: &Path, content: Option<&[u8]>) -> io::Result<()> {
        let Some(content) = content else { return Ok(()) };
        fs::create_dir_all(path.parent().unwrap_or(path))?;
        (self.before)()?;
        let mut file = fs::File::create(beside(path, self.process))?;
        file.write_all(content)?;
        file.sync_all()
    }

    fn placed(self, path: &Path, content: Option<&[u8]>) -> io::Result<()> {
        (self.before)()?;
        match content {
            Some(_) => fs::rename(beside(path, self.process), path),
            None => fs::remove_file(path),
        }
    }
}

/// Where a process writes a content before it is put in its place.
fn beside(path: &Path, process: u32) -> PathBuf {
    path.with_added_extension(OsString::from(format!("{process}.new")))
}

fn present(path: &Path) -> Result<Option<Vec<u8>>, String> {
    match fs::read(path) {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(named(path, &error)),
    }
}

pub(crate) fn named(path: &Path, error: &io::Error) -> String {
    format!("{}: {error}", path.display())
}
