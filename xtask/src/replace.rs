//! Files that change together.

use crate::Error;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Files to write, in order; one without a text is to be removed.
pub type Changes = Vec<(PathBuf, Option<String>)>;

/// Writes each text beside the file that it replaces, and when all are written puts them in place, in order. What cannot be
/// written, for want of room or leave, changes nothing.
///
/// # Errors
///
/// Files that cannot be written or removed.
pub fn replace(changes: &Changes) -> Result<(), Error> {
    let texts = || changes.iter().filter_map(|(path, text)| Some((path, text.as_ref()?)));
    if let Err(error) = texts().try_for_each(|(path, text)| stage(path, text)) {
        texts().for_each(|(path, _)| drop(fs::remove_file(staged(path))));
        return Err(format!("{error}; nothing was changed").into());
    }
    for (path, text) in changes {
        let done = if text.is_some() { fs::rename(staged(path), path) } else { fs::remove_file(path) };
        // What an interruption left beside a file has been put in its place by now.
        let gone = |e: &io::Error| text.is_none() && e.kind() == io::ErrorKind::NotFound;
        done.or_else(|e| if gone(&e) { Ok(()) } else { Err(e) })
            .map_err(|e| format!("{}: {e}; run the command again", path.display()))?;
    }
    Ok(())
}

fn stage(path: &Path, text: &str) -> Result<(), Error> {
    let named = |e| format!("{}: {e}", path.display());
    fs::create_dir_all(path.parent().unwrap_or(path)).map_err(named)?;
    Ok(fs::write(staged(path), text).map_err(named)?)
}

fn staged(path: &Path) -> PathBuf {
    path.with_added_extension("new")
}
