//! Writes the files of an atlas to a folder.

use etw_layouts_folder::Folder;
use etw_layouts_project::Error;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Lists the files of an atlas, each with the hash of its content. The next atlas may overwrite or remove only listed files with
/// an unchanged hash. During writing, it also lists the files of the previous atlas.
const LIST: &str = "atlas.txt";
/// The first line of the list.
const HEAD: &str = "etw-layouts atlas 1";

/// Maximum size of the list and of a page, in bytes.
const LIMIT: u64 = 256 << 20;

/// Writes the files to an existing folder, and removes unchanged files of the previous atlas.
///
/// # Errors
///
/// The folder contains other files or links, or cannot be written.
pub fn write(folder: &Path, files: &BTreeMap<String, String>) -> Result<(), Error> {
    let own = Folder::open(folder)?;
    let old = own.read(LIST, LIMIT)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    // An interrupted run can leave a part of the list.
    let is_part = |entry: io::Result<fs::DirEntry>| Ok::<_, io::Error>(entry?.file_name() == *format!("{LIST}.part"));
    let is_empty = fs::read_dir(folder)?.map(is_part).collect::<Result<Vec<_>, _>>()?.into_iter().all(|is_part| is_part);
    let mut lines = old.lines();
    if lines.next() != Some(HEAD) && !is_empty {
        return Err(format!("{}: folder is not empty and contains no atlas; name a new or empty folder", folder.display()).into());
    }
    let listed: BTreeSet<&str> = lines.collect();
    let is_listed = |path: &str, content: &[u8]| listed.contains(line(path, content).as_str());
    // A page that is only the start of the new text was left incomplete by an interrupted run.
    let problem = |(path, text): (&String, &String)| match own.read(path, LIMIT) {
        Ok(Some(content)) if !text.as_bytes().starts_with(&content) && !is_listed(path, &content) => {
            let path = folder.join(path);
            Some(format!("{}: changed since the atlas was written; move it away or name another folder", path.display()))
        }
        Ok(_) => None,
        Err(error) => Some(error.to_string()),
    };
    if let Some(problem) = files.par_iter().find_map_first(problem) {
        return Err(problem.into());
    }
    let new: BTreeSet<String> = files.iter().map(|(path, text)| line(path, text.as_bytes())).collect();
    let write_list = |lines: &BTreeSet<&str>| {
        let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
        own.replace(LIST, format!("{HEAD}\n{lines}").as_bytes())
    };
    let new: BTreeSet<&str> = new.iter().map(String::as_str).collect();
    // The list is written first, so that an incomplete atlas is recognized.
    write_list(&listed.union(&new).copied().collect())?;
    for path in listed.iter().filter_map(|line| Some(line.split_once(' ')?.1)).filter(|path| !files.contains_key(*path)) {
        // A list of someone else can name anything; what is no file of this folder stays as it is.
        if own.read(path, LIMIT).is_ok_and(|content| content.is_some_and(|content| is_listed(path, &content))) {
            own.remove_file(path)?;
        }
    }
    let write = |(path, text): (&String, &String)| own.create_file(path)?.write_all(text.as_bytes());
    let named = |path: &String, error: io::Error| format!("{}: {error}", folder.join(path).display());
    files.par_iter().try_for_each(|(path, text)| write((path, text)).map_err(|error| named(path, error)))?;
    write_list(&new)?;
    Ok(())
}

/// The line of a file in the list.
fn line(path: &str, content: &[u8]) -> String {
    format!("{} {path}", hash(content))
}

/// FNV-1a, in hexadecimal; detects pages that were changed by hand.
fn hash(content: &[u8]) -> String {
    let sum = content.iter().fold(0xcbf2_9ce4_8422_2325, |sum: u64, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    format!("{sum:016x}")
}
