//! Atomic changes of several files.

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Files to write; a file without a text is removed.
pub type Changes = Vec<(PathBuf, Option<String>)>;

/// Content of a file before and after; `None` if it does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Replacement {
    /// The file.
    pub path: PathBuf,
    /// Its content before.
    pub old: Option<Vec<u8>>,
    /// Its content after.
    pub new: Option<Vec<u8>>,
}

/// Side of a [`Replacement`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Before.
    Old,
    /// After.
    New,
}

/// Parameters of writing files.
#[derive(Clone, Copy)]
pub(crate) struct Writing<'a> {
    /// The process that owns the content: temporary files are named after it.
    pub process: u32,
    /// Called before each write, renaming and removal; tests fail or stop here.
    pub before: &'a dyn Fn() -> io::Result<()>,
}

impl Replacement {
    /// The replacement for the current file.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn of(path: PathBuf, new: Option<String>) -> Result<Self, String> {
        Ok(Self { old: present(&path)?, new: new.map(String::into_bytes), path })
    }

    fn content(&self, side: Side) -> Option<&[u8]> {
        match side {
            Side::Old => self.old.as_deref(),
            Side::New => self.new.as_deref(),
        }
    }

    /// Whether the file has the content of a side.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn is(&self, side: Side) -> Result<bool, String> {
        Ok(present(&self.path)?.as_deref() == self.content(side))
    }
}

/// Gives all files the content of a side. All contents are first written to temporary files, which are then renamed, so that a
/// lack of disk space changes nothing.
///
/// # Errors
///
/// A file cannot be written or removed. The files before it have the new content then.
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

/// Removes temporary files of an interrupted process.
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

/// Path of the temporary file of a process.
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
