//! Writes the files of an atlas to a folder.

use crate::Error;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path};

/// Lists the files of an atlas, each with the hash of its content. The next atlas may overwrite or remove only listed files with
/// an unchanged hash. During writing, it also lists the files of the previous atlas.
const LIST: &str = "atlas.txt";
/// The first line of the list.
const HEAD: &str = "etw-layouts atlas 1";

/// Writes the files, and removes those of the previous atlas.
///
/// # Errors
///
/// The folder contains other files, or cannot be written.
pub fn write(folder: &Path, files: &BTreeMap<String, String>) -> Result<(), Error> {
    let at = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(folder).map_err(|error| crate::no_folder(folder, &error))?;
    let list = folder.join(LIST);
    let is_empty = fs::read_dir(folder).map_err(|error| at(folder, error))?.next().is_none();
    let old = fs::read_to_string(&list).unwrap_or_default();
    let mut lines = old.lines();
    if lines.next() != Some(HEAD) && !is_empty {
        return Err(format!("{}: folder is not empty and contains no atlas; name a new or empty folder", folder.display()).into());
    }
    let listed: BTreeSet<&str> = lines.collect();
    let is_listed = |path: &str, content: &[u8]| listed.contains(line(path, content).as_str());
    let real = folder.canonicalize().map_err(|error| at(folder, error))?;
    let folders: BTreeSet<_> = files.keys().filter_map(|path| Path::new(path).parent()).collect();
    for inner in folders {
        let path = folder.join(inner);
        fs::create_dir_all(&path).map_err(|error| at(&path, error))?;
    }
    if let Some(path) = files.keys().map(String::as_str).chain([LIST]).find(|path| !is_within(&real, folder, path)) {
        return Err(format!("{}: link out of the atlas folder; remove it", folder.join(path).display()).into());
    }
    // A page that is only the start of the new text was left incomplete by an interrupted run.
    let is_foreign = |(path, text): &(&String, &String)| match fs::read(folder.join(path)) {
        Ok(content) => !text.as_bytes().starts_with(&content) && !is_listed(path, &content),
        Err(_) => false,
    };
    if let Some((path, _)) = files.par_iter().find_first(is_foreign) {
        let path = folder.join(path);
        return Err(
            format!("{}: changed since the atlas was written; move it away or name another folder", path.display()).into()
        );
    }
    let new: BTreeSet<String> = files.iter().map(|(path, text)| line(path, text.as_bytes())).collect();
    let write_list = |lines: &BTreeSet<&str>| {
        let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
        fs::write(&list, format!("{HEAD}\n{lines}")).map_err(|error| at(&list, error))
    };
    let new: BTreeSet<&str> = new.iter().map(String::as_str).collect();
    // The list is written first, so that an incomplete atlas is recognized.
    write_list(&listed.union(&new).copied().collect())?;
    for path in listed.iter().filter_map(|line| Some(line.split_once(' ')?.1)).filter(|path| !files.contains_key(*path)) {
        let own = folder.join(path);
        if is_within(&real, folder, path) && fs::read(&own).is_ok_and(|content| is_listed(path, &content)) {
            fs::remove_file(&own).map_err(|error| at(&own, error))?;
        }
    }
    files.par_iter().try_for_each(|(path, text)| {
        let path = folder.join(path);
        fs::write(&path, text).map_err(|error| at(&path, error))
    })?;
    write_list(&new)?;
    Ok(())
}

/// The line of a file in the list.
fn line(path: &str, content: &[u8]) -> String {
    format!("{} {path}", hash(content))
}

/// Whether a path stays within a folder with this real path: no link and no `..` leads out of it.
fn is_within(real: &Path, folder: &Path, path: &str) -> bool {
    let path = Path::new(path);
    let own = folder.join(path);
    let parent = own.parent().and_then(|parent| parent.canonicalize().ok());
    path.components().all(|part| matches!(part, Component::Normal(_)))
        && parent.is_some_and(|parent| parent == real.join(path.parent().unwrap_or(Path::new(""))))
        && !fs::symlink_metadata(&own).is_ok_and(|about| about.is_symlink())
}

/// FNV-1a, in hexadecimal; detects pages that were changed by hand.
fn hash(content: &[u8]) -> String {
    let sum = content.iter().fold(0xcbf2_9ce4_8422_2325, |sum: u64, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    format!("{sum:016x}")
}
