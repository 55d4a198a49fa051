//! The licenses of the crates that are compiled into the program and the Python package, which require their text beside them.

use crate::Error;
use crate::steps::{packages, printed};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    /// No source: a crate of the workspace, whose licenses are in the archive.
    source: Option<String>,
    manifest_path: PathBuf,
}

/// The name of the file with these licenses.
pub(super) const FILE: &str = "LICENSES-OF-CRATES";

/// All licenses of a package for a target; each text once, after the crates that have it.
pub(super) fn of_package(package: &str, target: &str) -> Result<String, Error> {
    let tree = ["tree", "--locked", "-p", package, "-e", "normal", "--prefix", "none", "--format", "{p}", "--target", target];
    let tree = printed(&tree)?;
    let compiled = |package: &&Package| {
        let line = format!("{} v{}", package.name, package.version);
        tree.lines().any(|other| other.strip_prefix(&line).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')))
    };
    let packages: Vec<Package> = packages(&["--filter-platform", target])?;
    let (mut list, mut texts) = (String::new(), BTreeMap::<String, Vec<String>>::new());
    for package in packages.iter().filter(|package| package.source.is_some()).filter(compiled) {
        let name = format!("{} {}", package.name, package.version);
        writeln!(list, "{name}: {}", package.license.as_deref().unwrap_or("see its text"))?;
        for path in files(package.manifest_path.parent().unwrap_or(&package.manifest_path), true)? {
            let text = String::from_utf8_lossy(&fs::read(path)?).replace('\r', "");
            texts.entry(text.trim_end().to_owned()).or_default().push(name.clone());
        }
    }
    let mut all = format!("The compiled code contains these crates:\n\n{list}");
    for (text, mut names) in texts {
        names.dedup();
        write!(all, "\n{}\n{}:\n\n{text}\n", "-".repeat(80), names.join(", "))?;
    }
    Ok(all)
}

/// The license files in a folder, and in its subfolders: a crate can contain a library in C with a license of its own.
fn files(folder: &Path, with_subfolders: bool) -> Result<Vec<PathBuf>, Error> {
    let (mut files, mut entries) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(folder)? {
        entries.push(entry?.path());
    }
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        if path.is_dir() && with_subfolders {
            files.extend(self::files(&path, false)?);
        } else if path.is_file()
            && !name.ends_with(".RS")
            && ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"].iter().any(|word| name.starts_with(word))
        {
            files.push(path);
        }
    }
    Ok(files)
}
