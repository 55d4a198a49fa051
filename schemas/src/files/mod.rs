//! Reads schemas from files and folders that a user names, such as the System32 folder of a mounted disk image: manifests, PE files with
//! their language files, TMF files, and program databases. Files are recognized by their content.

mod kind;
mod languages;
mod walk;

use crate::schemas::{SchemaError, Schemas};
use crate::tmf::WppMessage;
use kind::Content;
use languages::Languages;
use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The schemas of a path.
#[derive(Clone, Debug, Default)]
pub struct PathSchemas {
    /// Files with schemas, in the order of their paths.
    pub files: Vec<FileSchemas>,
    /// Files and folders that cannot be read, and files with corrupt schemas.
    pub unusable: Vec<UnusableFile>,
    /// Number of files without schemas: other formats, PE files without the resource, and program databases without messages.
    pub others: usize,
}

/// A file with schemas.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FileSchemas {
    /// The file.
    pub path: PathBuf,
    /// Its format.
    pub format: Format,
    /// Providers, and errors in parts that are left out.
    pub schemas: Schemas,
    /// Messages of a TMF file or a program database.
    pub messages: Vec<WppMessage>,
    /// The language file with messages of a PE file, if there is one.
    pub language_file: Option<PathBuf>,
}

/// The format of a file with schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Format {
    /// A manifest in XML.
    Manifest,
    /// A PE file with a WEVT_TEMPLATE resource.
    Binary,
    /// Messages of WPP.
    Tmf,
    /// A program database with messages of WPP.
    Pdb,
}

/// A file or folder that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusableFile {
    /// The file or folder.
    pub path: PathBuf,
    /// `problem: detail; remedy`.
    pub reason: String,
}

/// The progress of [`read_path`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathProgress {
    /// Number of files read so far.
    pub files: usize,
    /// Number of all files.
    pub total: usize,
}

/// Reads a file, or all files of a folder and of the folders in it, on all processors.
///
/// Links in folders are not followed. Of PE files, only headers and the resources with schemas and messages are read. An unusable file
/// does not affect the others. `progress` is called after each file, by any thread.
///
/// # Errors
///
/// The path does not exist, or cannot be read.
pub fn read_path(path: &Path, progress: &(dyn Fn(PathProgress) + Sync)) -> io::Result<PathSchemas> {
    let (files, unusable) = walk::files(path)?;
    let (next, done, outcomes, languages) =
        (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(Vec::new()), Languages::default());
    let work = || {
        let mut own = Vec::new();
        while let Some((index, path)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|index| Some((index, files.get(index)?)))
        {
            own.push((index, read_file(path, &languages)));
            progress(PathProgress { files: done.fetch_add(1, Ordering::Relaxed) + 1, total: files.len() });
        }
        outcomes.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).extend(own);
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(files.len());
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    let mut outcomes = outcomes.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    outcomes.sort_unstable_by_key(|(index, _)| *index);
    let mut found = PathSchemas { unusable, ..PathSchemas::default() };
    for (_, outcome) in outcomes {
        match outcome {
            Ok(Some(file)) => found.files.push(file),
            Ok(None) => found.others += 1,
            Err(file) => found.unusable.push(file),
        }
    }
    found.unusable.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

/// Reads the bytes of a file; `None` if it has no schemas. A PE file is read without language files, whose messages are then absent.
///
/// # Errors
///
/// The schemas are corrupt.
pub fn read_bytes(path: &Path, bytes: Vec<u8>) -> Result<Option<FileSchemas>, UnusableFile> {
    if !bytes.starts_with(b"MZ") {
        return of_content(path, kind::of_bytes(bytes), &Languages::default());
    }
    let schemas = crate::binary::read(&bytes, &[]).map_err(|error| unusable(path, &error))?;
    let has_schemas = !schemas.providers.is_empty() || !schemas.errors.is_empty();
    Ok(has_schemas.then(|| FileSchemas::new(path, Format::Binary, schemas)))
}

/// Reads a file; `None` if it has no schemas.
fn read_file(path: &Path, languages: &Languages) -> Result<Option<FileSchemas>, UnusableFile> {
    of_content(path, kind::content(path).map_err(|error| unusable(path, &error))?, languages)
}

fn of_content(path: &Path, content: Content, languages: &Languages) -> Result<Option<FileSchemas>, UnusableFile> {
    Ok(match content {
        Content::Other => None,
        Content::Manifest(bytes) => {
            let schemas = crate::manifest::read(&bytes).map_err(|error| unusable(path, &error))?;
            Some(FileSchemas::new(path, Format::Manifest, schemas))
        }
        Content::Tmf(bytes) => {
            let (messages, errors) = crate::tmf::read(&bytes);
            let mut schemas = Schemas::default();
            errors.into_iter().for_each(|error: SchemaError| schemas.report(error));
            Some(FileSchemas { messages, ..FileSchemas::new(path, Format::Tmf, schemas) })
        }
        #[cfg(feature = "pdb")]
        Content::Pdb(bytes) => {
            let (messages, schemas) = crate::tmf::read_pdb(&bytes).map_err(|error| unusable(path, &error))?;
            let has_any = !messages.is_empty() || schemas.errors_total > 0;
            has_any.then(|| FileSchemas { messages, ..FileSchemas::new(path, Format::Pdb, schemas) })
        }
        Content::Binary(opened) => {
            let binary = crate::binary::open(opened, || languages.of(path)).map_err(|error| unusable(path, &error))?;
            binary
                .map(|(schemas, language_file)| FileSchemas { language_file, ..FileSchemas::new(path, Format::Binary, schemas) })
        }
    })
}

impl FileSchemas {
    fn new(path: &Path, format: Format, schemas: Schemas) -> Self {
        Self { path: path.to_owned(), format, schemas, messages: Vec::new(), language_file: None }
    }
}

fn unusable(path: &Path, error: &dyn Display) -> UnusableFile {
    UnusableFile { path: path.to_owned(), reason: error.to_string() }
}
