//! The files of an atlas, in a folder.

use crate::Error;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path};

/// Lists the files of an atlas. What is listed there may go when the atlas is written anew, and nothing else.
const LIST: &str = "atlas.txt";

/// Writes the files, and removes those of the atlas that was there before.
///
/// # Errors
///
/// The folder holds something else, or cannot be written.
pub fn write(folder: &Path, files: &BTreeMap<String, String>) -> Result<(), Error> {
    let at = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(folder).map_err(|error| at(folder, error))?;
    let list = folder.join(LIST);
    let is_empty = fs::read_dir(folder).map_err(|error| at(folder, error))?.next().is_none();
    let old = match fs::read_to_string(&list) {
        Ok(text) => text,
        Err(_) if is_empty => String::new(),
        Err(_) => {
            let help = "name a new folder, or an empty one";
            return Err(format!("{} is not empty and holds no atlas: {help}", folder.display()).into());
        }
    };
    let is_within = |path: &str| Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    for path in old.lines().filter(|path| is_within(path) && !files.contains_key(*path)) {
        // One that is gone already is as it should be.
        let _ = fs::remove_file(folder.join(path));
    }
    let folders: BTreeSet<_> = files.keys().filter_map(|path| Path::new(path).parent()).collect();
    for inner in folders {
        let path = folder.join(inner);
        fs::create_dir_all(&path).map_err(|error| at(&path, error))?;
    }
    // First the list, so that an atlas that is torn is known as one.
    let names: String = files.keys().map(|path| format!("{path}\n")).collect();
    fs::write(&list, names).map_err(|error| at(&list, error))?;
    files.par_iter().try_for_each(|(path, text)| {
        let path = folder.join(path);
        fs::write(&path, text).map_err(|error| at(&path, error))
    })?;
    Ok(())
}
