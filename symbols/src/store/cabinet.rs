//! Compressed entries: a cabinet that holds one file.

use super::MAX_FILE;
use cab::Cabinet;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

/// Whether a file begins like a cabinet.
pub(super) fn is(path: &Path) -> io::Result<bool> {
    let mut start = Vec::new();
    File::open(path)?.take(4).read_to_end(&mut start)?;
    Ok(start == b"MSCF")
}

/// Expands the wanted file of a cabinet, or its first, into another file.
///
/// # Errors
///
/// What is wrong with the cabinet, as the end of a sentence that begins with its name.
pub(super) fn expand(path: &Path, name: &str, to: &Path) -> Result<(), String> {
    let damaged = |error: io::Error| format!("is a cabinet that cannot be expanded ({error})");
    let file = File::open(path).map_err(damaged)?;
    let mut cabinet = Cabinet::new(BufReader::new(file)).map_err(damaged)?;
    let names = |cabinet: &Cabinet<_>| -> Vec<String> {
        let entries = cabinet.folder_entries().flat_map(cab::FolderEntry::file_entries);
        entries.map(|entry| entry.name().to_owned()).collect()
    };
    let names = names(&cabinet);
    let wanted = names.iter().find(|entry| entry.eq_ignore_ascii_case(name)).or(names.first());
    let entry = cabinet.read_file(wanted.ok_or("is a cabinet without a file")?).map_err(damaged)?;
    let mut out = File::create(to).map_err(|error| format!("cannot be expanded to {} ({error})", to.display()))?;
    io::copy(&mut entry.take(MAX_FILE), &mut out).map_err(damaged)?;
    Ok(())
}
