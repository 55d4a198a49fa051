//! Spec files on disk.

use crate::source::Sources;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

impl Sources {
    /// Reads a spec file, or every `.toml` file below a folder, in the order of their paths.
    ///
    /// # Errors
    ///
    /// A file or folder cannot be read; the error has its path.
    pub fn load(path: &Path) -> io::Result<Self> {
        let mut sources = Self::default();
        sources.read(Path::new(""), path)?;
        Ok(sources)
    }

    /// Adds the spec files of a path that is relative to `root`. The shown paths omit `root`.
    pub(crate) fn read(&mut self, root: &Path, path: &Path) -> io::Result<()> {
        let whole = root.join(path);
        if !whole.exists() {
            let from = if path.is_absolute() { String::new() } else { format!("; paths of specs start from {}", start(root)) };
            let message = format!("{}: no such file or folder of specs{from}", path.display());
            return Err(io::Error::new(io::ErrorKind::NotFound, message));
        }
        settled(if whole.is_file() { whole.parent().unwrap_or(&whole) } else { &whole })?;
        let list = files(&whole)?;
        if list.is_empty() {
            let message = format!("{}: contains no .toml files; name a folder of specs", whole.display());
            return Err(io::Error::new(io::ErrorKind::NotFound, message));
        }
        for file in list {
            let text = text(&file)?;
            let shown = if path.is_absolute() { &file } else { file.strip_prefix(root).unwrap_or(&file) };
            self.add(shown.display().to_string().replace('\\', "/"), text);
        }
        Ok(())
    }
}

/// Name of a file in a folder of specs. While it exists, a command is changing files of the folder, or was interrupted.
pub const CHANGE: &str = ".change";

/// Verifies that the files in a folder of specs belong together, and so do the facts of these specs.
///
/// # Errors
///
/// A command that changes files is running, or was interrupted after it had changed some of them.
pub fn settled(folder: &Path) -> io::Result<()> {
    match folder.join(CHANGE).symlink_metadata() {
        Ok(_) => {
            let problem = "a command that changes these files was interrupted or is still running: some are new, others are old";
            let help =
                "run `etw fmt` with the same --specs and --facts, or `cargo xtask fmt` in a clone: it completes the change";
            Err(io::Error::new(io::ErrorKind::ResourceBusy, format!("{}: {problem}; {help}", folder.display())))
        }
        Err(_) => Ok(()),
    }
}

/// The folder that relative paths start from. A build script runs in the folder of its crate.
fn start(root: &Path) -> String {
    std::path::absolute(root.join(".")).unwrap_or_else(|_| root.to_owned()).display().to_string()
}

/// The spec files of a folder, sorted; or the one file itself. A folder that is reached twice through links is read once. A folder of specs
/// can be a crate, whose manifest is not a spec.
pub fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let mut list = Vec::new();
    collect(path, &mut BTreeSet::new(), &mut list)?;
    list.sort();
    Ok(list)
}

fn collect(folder: &Path, seen: &mut BTreeSet<PathBuf>, list: &mut Vec<PathBuf>) -> io::Result<()> {
    if !seen.insert(folder.canonicalize().map_err(|e| named(folder, e))?) {
        return Ok(());
    }
    let entries = fs::read_dir(folder).map_err(|e| named(folder, e))?;
    let mut entries = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>().map_err(|e| named(folder, e))?;
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(&path, seen, list)?;
        } else if path.extension().is_some_and(|e| e == "toml") && path.file_name().is_some_and(|name| name != "Cargo.toml") {
            list.push(path);
        }
    }
    Ok(())
}

fn text(file: &Path) -> io::Result<String> {
    String::from_utf8(fs::read(file).map_err(|e| named(file, e))?).map_err(|error| {
        let bytes = error.as_bytes();
        let at = error.utf8_error().valid_up_to();
        let line = bytes[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        let message = format!("{}:{line}: byte {:#04x} is not UTF-8; save the file as UTF-8", file.display(), bytes[at]);
        io::Error::new(io::ErrorKind::InvalidData, message)
    })
}

fn named(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
