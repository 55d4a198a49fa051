//! The fuzz targets, and the inputs that once broke them.

use crate::{Error, workspace};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The names of the targets, sorted.
///
/// # Errors
///
/// The folder cannot be read.
pub fn targets() -> Result<Vec<String>, Error> {
    let stem = |path: PathBuf| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut names: Vec<_> = entries(&workspace::root().join("fuzz/fuzz_targets"))?.into_iter().map(stem).collect();
    names.sort();
    Ok(names)
}

/// How many regression inputs a target has.
pub fn regressions(target: &str) -> usize {
    entries(&workspace::root().join("fuzz/regressions").join(target)).map_or(0, |list| list.len())
}

/// What is in a folder; nothing, if it is not there.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let list = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        list => list.map_err(|e| format!("{}: {e}", folder.display()))?,
    };
    Ok(list.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?)
}
