//! Language files: for `x.dll`, `en-US\x.dll.mui` in the same folder, ignoring case.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The language files of the folders that were searched so far.
#[derive(Default)]
pub(super) struct Languages(Mutex<HashMap<PathBuf, Arc<Folder>>>);

/// The language files of a folder, by name in lowercase, English first.
type Folder = HashMap<String, Vec<PathBuf>>;

/// Maximum number of languages of a folder. Windows has about 40.
const MAX_LANGUAGES: usize = 256;

impl Languages {
    /// The language files of a file, English first.
    pub fn of(&self, file: &Path) -> Vec<PathBuf> {
        let (Some(folder), Some(name)) = (file.parent(), file.file_name().and_then(|name| name.to_str())) else {
            return Vec::new();
        };
        let known = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).get(folder).cloned();
        let files = known.unwrap_or_else(|| {
            let files = Arc::new(read(folder));
            self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).insert(folder.to_owned(), Arc::clone(&files));
            files
        });
        files.get(&format!("{}.mui", name.to_lowercase())).cloned().unwrap_or_default()
    }
}

fn read(folder: &Path) -> Folder {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = |path: &Path| fs::read_dir(path).into_iter().flatten().flatten();
    let mut languages: Vec<(String, PathBuf)> = entries(folder)
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter_map(|entry| Some((entry.file_name().to_str()?.to_lowercase(), entry.path())))
        .filter(|(name, _)| is_language(name))
        .take(MAX_LANGUAGES)
        .collect();
    languages.sort_by_key(|(name, _)| (name != "en-us", !name.starts_with("en"), name.clone()));
    let mut files = Folder::new();
    for (_, path) in languages {
        for entry in entries(&path).filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file())) {
            if let Some(name) = entry.file_name().to_str().map(str::to_lowercase).filter(|name| name.ends_with(".mui")) {
                files.entry(name).or_default().push(entry.path());
            }
        }
    }
    files
}

/// Whether a folder's name is a language tag such as `en-us`, `sr-latn-rs` or `mui`.
fn is_language(name: &str) -> bool {
    let mut parts = name.split('-');
    let is_part = |part: &str| (2..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    parts
        .next()
        .is_some_and(|language| (2..=3).contains(&language.len()) && language.bytes().all(|byte| byte.is_ascii_alphabetic()))
        && parts.all(is_part)
}
