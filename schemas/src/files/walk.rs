//! The files of a folder.

use super::UnusableFile;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Maximum nesting of folders. There are no loops, because links are not followed.
const MAX_DEPTH: usize = 128;

/// The files of a path in the order of their paths, and folders that cannot be read. Links in folders, devices and pipes are left out.
pub(super) fn files(path: &Path) -> io::Result<(Vec<PathBuf>, Vec<UnusableFile>)> {
    let (mut files, mut unusable) = (Vec::new(), Vec::new());
    if !fs::metadata(path)?.is_dir() {
        return Ok((vec![path.to_owned()], unusable));
    }
    let mut folders = vec![(path.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let mut failed = |error: io::Error| unusable.push(UnusableFile { path: folder.clone(), reason: error.to_string() });
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) => {
                failed(error);
                continue;
            }
        };
        for entry in entries {
            match entry.and_then(|entry| Ok((entry.file_type()?, entry.path()))) {
                Ok((kind, path)) if kind.is_dir() && depth < MAX_DEPTH => folders.push((path, depth + 1)),
                Ok((kind, path)) if kind.is_file() => files.push(path),
                Ok(_) => {}
                Err(error) => failed(error),
            }
        }
    }
    files.sort_unstable();
    Ok((files, unusable))
}
