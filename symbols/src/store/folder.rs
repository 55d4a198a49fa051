//! Stores that are folders.

use std::fs;
use std::path::{Path, PathBuf};

/// The files of a folder that may be the wanted one, likeliest first: those that exist of `NAME`, `pdb/NAME`,
/// `symbols/pdb/NAME`, `NAME/KEY/NAME`, `NAME/KEY/NA_`, `NAME/KEY/file.ptr`, and the same below `NA` in a store of two tiers.
pub(super) fn candidates(root: &Path, name: &str, key: &str) -> Vec<PathBuf> {
    let extension = name.rsplit_once('.').map_or("pdb", |(_, extension)| extension);
    let mut paths = vec![vec![name], vec![extension, name], vec!["symbols", extension, name]];
    let compressed = compressed(name);
    for file in [name, &compressed, POINTER] {
        paths.push(vec![name, key, file]);
        paths.push(vec![tier(name), name, key, file]);
    }
    let found = paths.into_iter().filter_map(|path| path.into_iter().try_fold(root.to_owned(), |at, part| below(&at, part)));
    found.filter(|path| path.is_file()).collect()
}

/// The folder in which a cache keeps a file.
pub(super) fn home(root: &Path, name: &str, key: &str) -> PathBuf {
    let base = if root.join(TIERS).is_file() { root.join(tier(name)) } else { root.to_owned() };
    base.join(name).join(key)
}

/// The entry that says where a file is.
pub(super) const POINTER: &str = "file.ptr";
/// The file that makes a store one of two tiers.
pub(super) const TIERS: &str = "index2.txt";

/// The name of a file that is compressed: with `_` for its last character.
pub(super) fn compressed(name: &str) -> String {
    let mut name = name.to_owned();
    name.pop();
    name + "_"
}

/// The folder of a name in a store of two tiers: its first two characters.
pub(super) fn tier(name: &str) -> &str {
    name.char_indices().nth(2).map_or(name, |(end, _)| &name[..end])
}

/// An entry of a folder. Stores are made on systems that ignore case, and may be read on one that does not.
fn below(folder: &Path, name: &str) -> Option<PathBuf> {
    let exact = folder.join(name);
    if exact.exists() {
        return Some(exact);
    }
    let entries = fs::read_dir(folder).ok()?.filter_map(Result::ok);
    let same = |entry: &fs::DirEntry| entry.file_name().to_str().is_some_and(|other| other.eq_ignore_ascii_case(name));
    entries.into_iter().find(same).map(|entry| entry.path())
}
