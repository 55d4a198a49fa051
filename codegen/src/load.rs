//! Spec files on disk.

use crate::source::Sources;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

impl Sources {
    /// Reads a spec file, or every `.toml` file below a folder, in the order of their paths.
    ///
    /// # Errors
    ///
    /// Any file or folder that cannot be read, with its path.
    pub fn load(path: &Path) -> io::Result<Self> {
        let mut sources = Self::default();
        sources.read(Path::new(""), path)?;
        Ok(sources)
    }

    /// Adds the spec files of a path that starts from `root`, and shows it without.
    pub(crate) fn read(&mut self, root: &Path, path: &Path) -> io::Result<()> {
        let list = files(&root.join(path))?;
        if list.is_empty() {
            let message = format!("{}: no .toml file is there", root.join(path).display());
            return Err(io::Error::new(io::ErrorKind::NotFound, message));
        }
        for file in list {
            let text = fs::read_to_string(&file).map_err(|e| named(&file, e))?;
            let shown = if path.is_absolute() { &file } else { file.strip_prefix(root).unwrap_or(&file) };
            self.add(shown.display().to_string().replace('\\', "/"), text);
        }
        Ok(())
    }
}

/// The spec files of a folder, sorted; or the one file itself.
pub fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let mut list = Vec::new();
    let entries = fs::read_dir(path).map_err(|e| named(path, e))?;
    for entry in entries {
        let path = entry.map_err(|e| named(path, e))?.path();
        if path.is_dir() {
            list.extend(files(&path)?);
        } else if path.extension().is_some_and(|e| e == "toml") {
            list.push(path);
        }
    }
    list.sort();
    Ok(list)
}

fn named(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
