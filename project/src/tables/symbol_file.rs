//! Symbol files on disk or built into the program, and the lists of their builds.

use crate::Error;
use etw_layouts_codegen::axis;
use etw_layouts_symbols::{self as symbols, images};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// A symbol file on disk or built into the program.
#[derive(Clone, Debug)]
pub enum SymbolFile {
    /// On disk.
    OnDisk {
        /// Path of the file.
        path: PathBuf,
        /// The list of builds in its folder.
        builds: Arc<Builds>,
    },
    /// Built into the program.
    Embedded {
        /// Name of the file.
        path: &'static str,
        /// Text of the file.
        text: &'static str,
    },
}

/// A `builds.tsv`, which lists the builds of the files in its folder. It is read once, for the first of them.
#[derive(Debug, Default)]
pub struct Builds(OnceLock<Result<List, String>>);

/// Build and architecture of each file.
type List = BTreeMap<String, (String, axis::Arch)>;

impl SymbolFile {
    /// A file on disk.
    pub fn on_disk(path: PathBuf) -> Self {
        Self::OnDisk { path, builds: Arc::default() }
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        match self {
            Self::OnDisk { path, .. } => path,
            Self::Embedded { path, .. } => Path::new(path),
        }
    }

    pub(crate) fn bytes(&self) -> io::Result<Cow<'static, [u8]>> {
        match self {
            Self::OnDisk { path, .. } => symbols::load(path).map(Cow::Owned),
            Self::Embedded { text, .. } => Ok(Cow::Borrowed(text.as_bytes())),
        }
    }
}

/// The named files, and the symbol files in named folders, sorted.
///
/// # Errors
///
/// A path does not exist, or a folder has no symbol file.
pub fn files(paths: &[PathBuf]) -> Result<Vec<SymbolFile>, Error> {
    let mut list: Vec<PathBuf> = Vec::new();
    for path in paths {
        let before = list.len();
        collect(path, &mut BTreeSet::new(), &mut list)?;
        if list.len() == before {
            return Err(format!(
                "{}: contains no symbol files ({}, .tsv); name a file or another folder",
                path.display(),
                ENDINGS.join(", ")
            )
            .into());
        }
    }
    Ok(with_builds(list))
}

/// The symbol files in a folder; empty if the folder does not exist.
///
/// # Errors
///
/// The folder cannot be read.
pub fn in_folder(folder: &Path) -> Result<Vec<SymbolFile>, Error> {
    if fs::symlink_metadata(folder).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        return Ok(Vec::new());
    }
    let mut list = Vec::new();
    collect(folder, &mut BTreeSet::new(), &mut list)?;
    Ok(with_builds(list))
}

/// The files with the lists of builds in their folders.
fn with_builds(list: Vec<PathBuf>) -> Vec<SymbolFile> {
    let mut folders: BTreeMap<Option<PathBuf>, Arc<Builds>> = BTreeMap::new();
    let with_builds = |path: PathBuf| {
        let builds = folders.entry(path.parent().map(Path::to_owned)).or_default().clone();
        SymbolFile::OnDisk { path, builds }
    };
    list.into_iter().map(with_builds).collect()
}

fn collect(path: &Path, seen: &mut BTreeSet<PathBuf>, list: &mut Vec<PathBuf>) -> Result<(), Error> {
    let named = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => format!("{}: no such file or folder; check the path", path.display()),
        _ => format!("{}: {error}", path.display()),
    };
    let real = path.canonicalize().map_err(named)?;
    if !real.is_dir() {
        list.push(path.to_owned());
        return Ok(());
    }
    // Links can lead to a folder by many paths, and in cycles.
    if !seen.insert(real) {
        return Ok(());
    }
    let entries = fs::read_dir(path).map_err(named)?;
    let mut entries = entries.map(|e| e.map(|e| e.path())).collect::<Result<Vec<_>, _>>().map_err(named)?;
    entries.sort();
    for entry in entries {
        let name = file_name(&entry);
        if entry.is_dir() {
            collect(&entry, seen, list)?;
        } else if ENDINGS.iter().any(|end| name.ends_with(end)) || name.ends_with(IMAGES) && is_of_images(&entry) {
            list.push(entry);
        }
    }
    Ok(())
}

/// File name extension of snapshots.
pub const SNAPSHOT: &str = ".facts";

/// File name extension of tables of images, which other files have too.
const IMAGES: &str = ".tsv";

/// Whether a file begins as a table of images.
fn is_of_images(path: &Path) -> bool {
    let mut start = Vec::new();
    fs::File::open(path).and_then(|file| file.take(64).read_to_end(&mut start)).is_ok_and(|_| images::recognizes(&start))
}

/// File name extensions of symbol files to read in folders. The content determines the format.
pub(super) const ENDINGS: [&str; 5] = [".json", ".json.xz", SNAPSHOT, ".pdb", ".pdz"];

impl Builds {
    /// Build and architecture of a file with this path and name.
    pub(super) fn of(&self, path: &Path, name: &str) -> Result<Option<(String, axis::Arch)>, String> {
        let list = self.0.get_or_init(|| read_builds(&path.with_file_name("builds.tsv")));
        Ok(list.as_ref().map_err(Clone::clone)?.get(name).cloned())
    }
}

/// The files in a `builds.tsv`; empty if there is none.
pub(super) fn read_builds(path: &Path) -> Result<BTreeMap<String, (String, axis::Arch)>, String> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => return Err(format!("builds.tsv in its folder: {error}")),
    };
    let row = |(number, line): (usize, &str)| {
        let wrong = || {
            format!(
                "builds.tsv in its folder, line {}: invalid line; write file, build and architecture (x86, x64, arm64), separated by tabs",
                number + 1
            )
        };
        let columns: Vec<_> = line.split('\t').map(str::trim).collect();
        let [file, build, arch] = columns[..] else { return Err(wrong()) };
        Ok((file.to_owned(), (build.to_owned(), arch.parse().map_err(|_| wrong())?)))
    };
    text.lines().enumerate().skip(1).filter(|(_, line)| !line.trim().is_empty()).map(row).collect()
}

pub(super) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
