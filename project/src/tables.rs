//! Symbol tables, and the kernels that they belong to.

use crate::names::meant;
use crate::{Error, Refusal, Remedy};
use etw_layouts_codegen::SelectedBy;
use etw_layouts_codegen::axis::{self, Axis, Build};
use etw_layouts_symbols::image::{self, Image};
use etw_layouts_symbols::store::SymbolPath;
use etw_layouts_symbols::{
    self as symbols, Arch, Globals, ImageFile, Machine, Offsets, Pdb, Rules, Snapshot, SymbolTable, Symbols, Types, Wanted,
    images,
};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::{fmt, fs};

/// A symbol table with its kernel.
#[derive(Clone)]
pub struct BuildTable {
    /// File name as given by the user.
    pub source: String,
    /// Program that created the table.
    pub producer: String,
    /// The kernel's build and revision.
    pub build: Build,
    /// The build as written by the user or in the file.
    pub label: String,
    /// The architecture.
    pub arch: axis::Arch,
    /// The symbol file, if known.
    pub pdb: Option<Pdb>,
    /// The kernel's image, if known.
    pub image: Option<ImageFile>,
    /// The types, shared by all kernels of a snapshot.
    pub types: Arc<Types>,
    /// Member offsets in images; a table with such offsets has no types.
    pub offsets: Arc<Offsets>,
    /// Addresses of global variables, for this PDB, or for this image if no PDB is known.
    pub globals: Globals,
}

impl BuildTable {
    /// Whether this is partial evidence: an image with some known offsets and addresses.
    pub fn is_partial(&self) -> bool {
        !self.offsets.is_empty() || self.pdb.is_none() && !self.globals.is_empty()
    }

    /// Whether it was converted, and so has less information than the original symbols.
    pub(crate) fn is_converted(&self) -> bool {
        Rules::for_producer(&self.producer) == Rules::Converted
    }

    /// Names of the structures and enumerations with any facts.
    pub fn holds(&self) -> impl Iterator<Item = &String> {
        self.types.keys().chain(self.offsets.keys())
    }

    /// Adds facts that this table lacks from another table of the same kernel, as either may be reduced. Addresses of variables
    /// are combined only for the same symbol file.
    pub(crate) fn complete(&mut self, other: &Self) {
        let types = Arc::make_mut(&mut self.types);
        for (name, facts) in other.types.iter() {
            types.entry(name.clone()).or_insert_with(|| facts.clone());
        }
        if self.pdb == other.pdb {
            other.globals.iter().for_each(|(name, &at)| _ = self.globals.entry(name.clone()).or_insert(at));
        }
    }
}

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

/// A `builds.tsv`, which lists the kernels of the files in its folder. It is read once, for the first of them.
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

    fn bytes(&self) -> io::Result<Cow<'static, [u8]>> {
        match self {
            Self::OnDisk { path, .. } => symbols::load(path).map(Cow::Owned),
            Self::Embedded { text, .. } => Ok(Cow::Borrowed(text.as_bytes())),
        }
    }
}

/// Error of a symbol file for an unsupported machine: reported if the file was named, otherwise the file is skipped.
#[derive(Debug)]
pub struct Foreign {
    source: String,
    machine: Machine,
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: unsupported architecture {}; layouts exist for x86, x64 and arm64", self.source, self.machine)
    }
}

impl std::error::Error for Foreign {}

/// Build and architecture given by the user for a table without them.
#[derive(Clone, Default)]
pub struct Stated {
    /// The build.
    pub build: Option<String>,
    /// The architecture.
    pub arch: Option<axis::Arch>,
}

impl Stated {
    /// Verifies that the given build is a single kernel, for a table that is written as that kernel's.
    ///
    /// # Errors
    ///
    /// The build is a label, or has no revision.
    pub fn one_kernel(&self, axis: &Axis) -> Result<(), Error> {
        let Some(build) = &self.build else { return Ok(()) };
        let is_one = match build.parse::<Build>() {
            Ok(_) => build.split('.').count() == 4,
            Err(_) => axis
                .find_build(build, self.arch.unwrap_or(axis::Arch::X86))
                .is_ok_and(|asked| asked.selected_by == SelectedBy::Revision),
        };
        if is_one {
            Ok(())
        } else {
            Err(Refusal::new(format!("build {build} does not select a single build"), Remedy::Revision).into())
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
    let named = |e: io::Error| format!("{}: {e}", path.display());
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
const ENDINGS: [&str; 5] = [".json", ".json.xz", SNAPSHOT, ".pdb", ".pdz"];

/// Reads a symbol file. A snapshot can apply to several kernels, and then gives several tables; so does a table of images.
///
/// # Errors
///
/// The file is invalid, named in the message; [`Foreign`] if it is for another machine.
pub fn read(file: &SymbolFile, axis: &Axis, wanted: &Wanted, stated: &Stated) -> Result<Vec<BuildTable>, Error> {
    let path = file.path();
    let source = path.display().to_string();
    let named = |error: &dyn std::fmt::Display| Error::from(format!("{source}: {error}"));
    let bytes = file.bytes().map_err(|e| named(&e))?;
    let table = match symbols::read(&bytes, wanted).map_err(|e| named(&e))? {
        Symbols::Table(table) => table,
        Symbols::Snapshot(snapshot) => return Ok(of(&source, snapshot)),
        Symbols::Images(snapshots) => {
            let mut images: Vec<_> = snapshots.into_iter().flat_map(|snapshot| of(&source, snapshot)).collect();
            images.retain(BuildTable::is_partial);
            if images.is_empty() {
                return Err(named(&"contains no structure or variable of the specs"));
            }
            return Ok(images);
        }
    };
    if let Some(machine) = table.foreign {
        return Err(Foreign { source, machine }.into());
    }
    let (label, build, arch) = kernel(file, axis, stated)?;
    let arch = arch.or(table.arch.map(ours));
    let arch = arch.ok_or_else(|| Refusal::new("unknown architecture", Remedy::Architecture).at(&source))?;
    if table.arch.is_some_and(|own| ours(own) != arch) {
        let problem = format!("the table is not of {arch}, the architecture stated, in builds.tsv, or in the file name");
        return Err(Refusal::new(problem, Remedy::Architecture).at(&source).into());
    }
    let pdb = table.pdb.map(|pdb| if pdb.name.is_empty() { Pdb { name: file_name(path), ..pdb } } else { pdb });
    // Without the identity of the symbol file, addresses cannot be used.
    let globals = if pdb.is_some() { table.globals } else { Globals::new() };
    let SymbolTable { producer, types, .. } = table;
    Ok(vec![BuildTable {
        source: source.clone(),
        producer,
        build,
        label,
        arch,
        pdb,
        image: None,
        types: types.into(),
        offsets: Arc::default(),
        globals,
    }])
}

/// The tables of a snapshot, one per kernel.
pub fn of(source: &str, snapshot: Snapshot) -> Vec<BuildTable> {
    let Snapshot { producer, kernels, types, offsets } = snapshot;
    let (types, offsets) = (Arc::new(types), Arc::new(offsets));
    let table = |kernel: symbols::snapshot::Kernel| {
        let [major, minor, build, revision] = kernel.build;
        let build = Build { number: [major, minor, build], revision };
        BuildTable {
            source: source.to_owned(),
            producer: producer.clone(),
            build,
            label: build.to_string(),
            arch: ours(kernel.arch),
            pdb: kernel.pdb,
            image: kernel.image,
            types: types.clone(),
            offsets: offsets.clone(),
            globals: kernel.globals,
        }
    };
    kernels.into_iter().map(table).collect()
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The symbol file of a kernel image, with the kernel's build and architecture. It is found along a symbol path, and downloaded if
/// the path has a server. If the path names no cache, downloads are stored in `cache`.
/// `progress` is called with the name of the download, the number of bytes received, and the total.
///
/// # Errors
///
/// The image or the path is invalid, or the symbol file was not found; the error lists all places searched.
pub fn from_image(
    image: &Path,
    symbol_path: Option<&str>,
    cache: &Path,
    progress: &mut dyn FnMut(&str, u64, Option<u64>),
) -> Result<(PathBuf, Build, axis::Arch), Error> {
    let named = |error: &dyn std::fmt::Display| Error::from(format!("{}: {error}", image.display()));
    let bytes = image::load(image).map_err(|e| named(&e))?;
    let Image { version: [major, minor, build, revision], arch, pdb } = image::read(&bytes).map_err(|e| named(&e))?;
    let no_path = || Refusal::new("no symbol path is given", Remedy::SymbolPath).at(image.display());
    let path = SymbolPath::parse(symbol_path.ok_or_else(no_path)?, cache)?;
    let found = path.find(&pdb, &mut |done, whole| progress(&pdb.name, done, whole));
    Ok((found.map_err(|e| named(&e))?, Build { number: [major, minor, build], revision }, ours(arch)))
}

fn ours(arch: Arch) -> axis::Arch {
    match arch {
        Arch::X86 => axis::Arch::X86,
        Arch::X64 => axis::Arch::X64,
        Arch::Arm64 => axis::Arch::Arm64,
    }
}

/// The kernel of a symbol file, with its build as text and as a number: from the command line, from `builds.tsv` in its folder,
/// or from its name.
fn kernel(file: &SymbolFile, axis: &Axis, stated: &Stated) -> Result<(String, Build, Option<axis::Arch>), Error> {
    let named = |problem: String| format!("{}: {problem}", file.path().display());
    let name = file_name(file.path());
    let stem = ENDINGS.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    let in_list = match file {
        SymbolFile::OnDisk { path, builds } => builds.of(path, &name).map_err(named)?,
        SymbolFile::Embedded { .. } => None,
    };
    let in_name = stem.rsplit_once('-').and_then(|(build, arch)| Some((build.to_owned(), arch.parse().ok()?)));
    let (build, arch) = match (&stated.build, in_list, in_name) {
        (Some(build), ..) => (build.clone(), stated.arch),
        (None, Some((build, arch)), _) | (None, None, Some((build, arch))) => (build, stated.arch.or(Some(arch))),
        (None, None, None) => {
            return Err(Refusal::new("unknown build", Remedy::Build).at(file.path().display()).into());
        }
    };
    let number = number(&build, axis, arch).map_err(named)?;
    Ok((build, number, arch))
}

/// Number of a build or service pack. A label, or a build without a revision, gives its first kernel.
fn number(build: &str, axis: &Axis, arch: Option<axis::Arch>) -> Result<Build, String> {
    if let Some(number) = axis.build(build) {
        return Ok(number);
    }
    let asked = axis.find_build(build, arch.unwrap_or(axis::Arch::X86));
    let asked = asked.map_err(|error| match error.starts_with("unknown build") {
        true => {
            let meant = meant(build, axis.labels());
            format!("unknown build `{build}`{meant}write a label or a full build such as 10.0.26100.3915")
        }
        false => error,
    })?;
    Ok(axis.kernel_of(asked.target).build)
}

impl Builds {
    /// Build and architecture of a file with this path and name.
    fn of(&self, path: &Path, name: &str) -> Result<Option<(String, axis::Arch)>, String> {
        let list = self.0.get_or_init(|| read_builds(&path.with_file_name("builds.tsv")));
        Ok(list.as_ref().map_err(Clone::clone)?.get(name).cloned())
    }
}

/// The files in a `builds.tsv`; empty if there is none.
fn read_builds(path: &Path) -> Result<BTreeMap<String, (String, axis::Arch)>, String> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => return Err(format!("builds.tsv beside it: {error}")),
    };
    let row = |(number, line): (usize, &str)| {
        let wrong = || {
            format!(
                "builds.tsv beside it, line {}: invalid line; write file, build and architecture (x86, x64, arm64), separated by tabs",
                number + 1
            )
        };
        let columns: Vec<_> = line.split('\t').map(str::trim).collect();
        let [file, build, arch] = columns[..] else { return Err(wrong()) };
        Ok((file.to_owned(), (build.to_owned(), arch.parse().map_err(|_| wrong())?)))
    };
    text.lines().enumerate().skip(1).filter(|(_, line)| !line.trim().is_empty()).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The list of a folder is read with its first table, for all of them.
    #[test]
    fn a_list_of_builds_is_read_once() {
        let folder = std::env::temp_dir().join(format!("etw-layouts-builds-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a temporary folder");
        let list = folder.join("builds.tsv");
        fs::write(&list, "file\tbuild\tarch\na.json\t10.0.19041.329\tx64\nb.json\t10.0.19041.1526\tarm64\n").expect("a list");
        for name in ["a.json", "b.json", "c.json"] {
            fs::write(folder.join(name), "").expect("a temporary file");
        }
        let found = files(std::slice::from_ref(&folder)).expect("they are there");
        let label =
            |file: &SymbolFile| kernel(file, &Axis::default(), &Stated::default()).map(|(_, build, arch)| (build.revision, arch));
        let first = label(&found[0]);
        fs::write(&list, "file\tbuild\tarch\nb.json\tnot a build\n").expect("another list");
        let later = [label(&found[1]), label(&found[2])];
        let anew = label(&SymbolFile::on_disk(folder.join("b.json")));
        fs::remove_dir_all(&folder).expect("the temporary folder can be removed");
        assert_eq!(first.ok(), Some((329, Some(axis::Arch::X64))));
        assert_eq!(later[0].as_ref().ok(), Some(&(1526, Some(axis::Arch::Arm64))));
        assert!(later[1].as_ref().is_err_and(|error| error.to_string().contains(": unknown build; ")), "{later:?}");
        assert!(anew.as_ref().is_err_and(|error| error.to_string().contains("builds.tsv beside it, line 2: ")), "{anew:?}");
    }

    /// What is not there is no facts yet; what is there and cannot be read is an error, and never taken for nothing.
    #[test]
    fn a_folder_that_cannot_be_read_is_not_empty() {
        let folder = std::env::temp_dir().join(format!("etw-layouts-unread-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a temporary folder");
        let file = folder.join("a.facts");
        fs::write(&file, "").expect("a temporary file");
        let found =
            [&folder, &folder.join("none"), &file.join("below")].map(|path| in_folder(path).map(|files| files.len()).ok());
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("circle", folder.join("circle")).expect("a link");
            assert!(in_folder(&folder.join("circle")).is_err());
        }
        fs::create_dir_all(folder.join("builds.tsv")).expect("a temporary folder");
        let list = read_builds(&folder.join("builds.tsv"));
        fs::remove_dir_all(&folder).expect("the temporary folder can be removed");
        assert_eq!(found, [Some(1), Some(0), None]);
        assert!(list.is_err(), "{list:?}");
    }

    /// Two links that lead back give 2^40 paths, of which the system follows each.
    #[cfg(unix)]
    #[test]
    fn links_in_circles() {
        use std::os::unix::fs::symlink;
        let folder = std::env::temp_dir().join(format!("etw-layouts-circles-{}", std::process::id()));
        fs::create_dir_all(folder.join("below")).expect("a temporary folder");
        fs::write(folder.join("below/a.facts"), "").expect("a temporary file");
        for (to, link) in [(".", "one"), (".", "two"), ("..", "below/up"), ("below", "other")] {
            symlink(to, folder.join(link)).expect("a link");
        }
        let found = files(std::slice::from_ref(&folder));
        fs::remove_dir_all(&folder).expect("the temporary folder can be removed");
        let found: Vec<_> = found.expect("they are read").iter().map(|file| file.path().to_owned()).collect();
        assert_eq!(found, [folder.join("below/a.facts")]);
    }
}
