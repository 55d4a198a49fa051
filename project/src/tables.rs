//! Symbol tables: where they are, which kernel each is of.

use crate::Error;
use etw_layouts_codegen::Named;
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
use std::{env, fmt, fs};

/// A symbol table and the kernel that it is of.
#[derive(Clone)]
pub struct Table {
    /// The file as the user named it.
    pub source: String,
    /// The program that made it.
    pub producer: String,
    /// The kernel's build and revision.
    pub build: Build,
    /// The build as the user or the file wrote it.
    pub label: String,
    /// The architecture.
    pub arch: axis::Arch,
    /// The symbol file, if known.
    pub pdb: Option<Pdb>,
    /// The kernel's image, if known.
    pub image: Option<ImageFile>,
    /// The types; the kernels of a snapshot share them.
    pub types: Arc<Types>,
    /// What an image tells of structures that were not seen whole; a table that has any has no types.
    pub offsets: Arc<Offsets>,
    /// Addresses of global variables: of this PDB, or of this image if no PDB is known.
    pub globals: Globals,
}

impl Table {
    /// Whether it is a partial witness: an image, of which some offsets and addresses were seen and nothing else.
    pub fn is_partial(&self) -> bool {
        !self.offsets.is_empty() || self.pdb.is_none() && !self.globals.is_empty()
    }

    /// Whether it was converted, and so has less than the symbols that it is from.
    pub(crate) fn is_converted(&self) -> bool {
        Rules::for_producer(&self.producer) == Rules::Converted
    }

    /// The structures and enumerations of which it states anything.
    pub fn holds(&self) -> impl Iterator<Item = &String> {
        self.types.keys().chain(self.offsets.keys())
    }

    /// Takes from another table of the same kernel what this one lacks, which may have been reduced to fewer types or variables. Addresses
    /// of variables are those of one symbol file alone.
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

/// A file of symbols: on disk, or part of the program.
#[derive(Clone, Debug)]
pub enum SymbolFile {
    /// On disk.
    OnDisk {
        /// Where.
        path: PathBuf,
        /// What the list beside it says.
        builds: Arc<Builds>,
    },
    /// Part of the program.
    Embedded {
        /// What it is called.
        path: &'static str,
        /// Its text.
        text: &'static str,
    },
}

/// A `builds.tsv`, which says which kernels the files of its folder are of. It is read once, when the first of them is.
#[derive(Debug, Default)]
pub struct Builds(OnceLock<Result<List, String>>);

/// Build and architecture of each file.
type List = BTreeMap<String, (String, axis::Arch)>;

impl SymbolFile {
    /// A file on disk.
    pub fn on_disk(path: PathBuf) -> Self {
        Self::OnDisk { path, builds: Arc::default() }
    }

    /// The path.
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

/// A symbol file of a machine that no layout is of: an error where it was asked for, and to be passed over among others.
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

/// What the user says of a table whose name does not tell.
#[derive(Clone, Default)]
pub struct Stated {
    /// `--build`.
    pub build: Option<String>,
    /// `--arch`.
    pub arch: Option<axis::Arch>,
}

impl Stated {
    /// That `--build` names one kernel, where a table is to be written as that kernel's.
    ///
    /// # Errors
    ///
    /// It is a label, or a build without a revision.
    pub fn one_kernel(&self, axis: &Axis) -> Result<(), Error> {
        let Some(build) = &self.build else { return Ok(()) };
        let is_one = match build.parse::<Build>() {
            Ok(_) => build.split('.').count() == 4,
            Err(_) => {
                axis.find_build(build, self.arch.unwrap_or(axis::Arch::X86)).is_ok_and(|asked| asked.named == Named::Kernel)
            }
        };
        let help =
            "add the revision, as in 10.0.26100.3915, or for Windows XP and Server 2003 the service pack, as in 5.1.2600-sp3";
        if is_one { Ok(()) } else { Err(format!("--build {build}: does not select a single build; {help}").into()) }
    }
}

/// The files that paths name: the files themselves, and the symbol files in folders, sorted.
///
/// # Errors
///
/// Paths that do not exist, and folders without a symbol file.
pub fn files(paths: &[PathBuf]) -> Result<Vec<SymbolFile>, Error> {
    let mut list: Vec<PathBuf> = Vec::new();
    for path in paths {
        let before = list.len();
        collect(path, &mut BTreeSet::new(), &mut list)?;
        if list.len() == before {
            return Err(format!("{}: contains no {} file", path.display(), ENDINGS.join(", ")).into());
        }
    }
    Ok(with_builds(list))
}

/// The symbol files in a folder; none if there is no such folder, or no symbol file in it.
///
/// # Errors
///
/// A folder that cannot be read.
pub fn in_folder(folder: &Path) -> Result<Vec<SymbolFile>, Error> {
    if fs::symlink_metadata(folder).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        return Ok(Vec::new());
    }
    let mut list = Vec::new();
    collect(folder, &mut BTreeSet::new(), &mut list)?;
    Ok(with_builds(list))
}

/// Each file with what the list of its folder says.
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
    // Links may lead to a folder in many ways, and in circles.
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

/// How the names of snapshots end.
pub const SNAPSHOT: &str = ".facts";

/// How the names of tables of images end; many another file's name ends so.
const IMAGES: &str = ".tsv";

/// Whether a file begins like a table of images.
fn is_of_images(path: &Path) -> bool {
    let mut start = Vec::new();
    fs::File::open(path).and_then(|file| file.take(64).read_to_end(&mut start)).is_ok_and(|_| images::recognizes(&start))
}

/// How the names of symbol files end. In a folder these are read; what a file holds, its content tells.
const ENDINGS: [&str; 5] = [".json", ".json.xz", SNAPSHOT, ".pdb", ".pdz"];

/// Reads a symbol file. A snapshot may hold for several kernels, and is then several tables; so is a table of images.
///
/// # Errors
///
/// What is wrong with the file, by its name; [`Foreign`] if it is of another machine.
pub fn read(file: &SymbolFile, axis: &Axis, wanted: &Wanted, stated: &Stated) -> Result<Vec<Table>, Error> {
    let path = file.path();
    let source = path.display().to_string();
    let named = |error: &dyn std::fmt::Display| Error::from(format!("{source}: {error}"));
    let bytes = file.bytes().map_err(|e| named(&e))?;
    let table = match symbols::read(&bytes, wanted).map_err(|e| named(&e))? {
        Symbols::Table(table) => table,
        Symbols::Snapshot(snapshot) => return Ok(of(&source, snapshot)),
        Symbols::Images(snapshots) => {
            let mut images: Vec<_> = snapshots.into_iter().flat_map(|snapshot| of(&source, snapshot)).collect();
            images.retain(Table::is_partial);
            if images.is_empty() {
                return Err(named(&"contains no structure or variable of the specs"));
            }
            return Ok(images);
        }
    };
    if let Some(machine) = table.foreign {
        return Err(Foreign { source, machine }.into());
    }
    let (label, build, arch) = kernel(file, axis, stated).map_err(|e| named(&e))?;
    let arch = arch.or(table.arch.map(ours));
    let arch = arch.ok_or_else(|| named(&"unknown architecture; name it with --arch x86, x64 or arm64"))?;
    if table.arch.is_some_and(|own| ours(own) != arch) {
        return Err(named(&format!("the table is not of {arch}; correct --arch, builds.tsv or the file name")));
    }
    let pdb = table.pdb.map(|pdb| if pdb.name.is_empty() { Pdb { name: file_name(path), ..pdb } } else { pdb });
    // Without the symbol file's identity nobody could tell whose they are.
    let globals = if pdb.is_some() { table.globals } else { Globals::new() };
    let SymbolTable { producer, types, .. } = table;
    Ok(vec![Table {
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

/// The tables of a snapshot, one a kernel.
pub fn of(source: &str, snapshot: Snapshot) -> Vec<Table> {
    let Snapshot { producer, kernels, types, offsets } = snapshot;
    let (types, offsets) = (Arc::new(types), Arc::new(offsets));
    let table = |kernel: symbols::snapshot::Kernel| {
        let [major, minor, build, revision] = kernel.build;
        let build = Build { number: [major, minor, build], revision };
        Table {
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

/// The symbol file of a kernel's image, found along a symbol path and downloaded if the path says so, with the kernel's build
/// and architecture. Without a path, the one in `_NT_SYMBOL_PATH`. Where the path names no cache, downloads are kept in
/// `cache`. `progress` is called with the name of the download, the number of received bytes, and the total.
///
/// # Errors
///
/// What is wrong with the image or the path, or every place where the symbol file is not.
pub fn from_image(
    image: &Path,
    symbol_path: Option<&str>,
    cache: &Path,
    progress: &mut dyn FnMut(&str, u64, Option<u64>),
) -> Result<(PathBuf, Build, axis::Arch), Error> {
    let named = |error: &dyn std::fmt::Display| Error::from(format!("{}: {error}", image.display()));
    let bytes = image::load(image).map_err(|e| named(&e))?;
    let Image { version: [major, minor, build, revision], arch, pdb } = image::read(&bytes).map_err(|e| named(&e))?;
    let help = "no symbol path; set --symbol-path or _NT_SYMBOL_PATH to a folder, or to srv*CACHE*https://SERVER";
    let path = match symbol_path {
        Some(path) => path.to_owned(),
        None => env::var("_NT_SYMBOL_PATH").map_err(|_| named(&help))?,
    };
    let path = SymbolPath::parse(&path, cache)?;
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

/// The kernel of a symbol file, its build as written and as a number: from the command line, from `builds.tsv` beside it, or from its
/// name.
fn kernel(file: &SymbolFile, axis: &Axis, stated: &Stated) -> Result<(String, Build, Option<axis::Arch>), String> {
    let name = file_name(file.path());
    let stem = ENDINGS.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    let in_list = match file {
        SymbolFile::OnDisk { path, builds } => builds.of(path, &name)?,
        SymbolFile::Embedded { .. } => None,
    };
    let in_name = stem.rsplit_once('-').and_then(|(build, arch)| Some((build.to_owned(), arch.parse().ok()?)));
    let (build, arch) = match (&stated.build, in_list, in_name) {
        (Some(build), ..) => (build.clone(), stated.arch),
        (None, Some((build, arch)), _) | (None, None, Some((build, arch))) => (build, stated.arch.or(Some(arch))),
        (None, None, None) => {
            let help = "name it with --build, in a builds.tsv beside the file (columns file, build, arch), or in the file name, as in 10.0.19041.329-x64.json.xz";
            return Err(format!("unknown build; {help}"));
        }
    };
    let number = number(&build, axis, arch)?;
    Ok((build, number, arch))
}

/// A build's number; service packs have one too. A label, and a build without a revision, is its first kernel's.
fn number(build: &str, axis: &Axis, arch: Option<axis::Arch>) -> Result<Build, String> {
    if let Some(number) = axis.build(build) {
        return Ok(number);
    }
    let asked = axis.find_build(build, arch.unwrap_or(axis::Arch::X86));
    let asked = asked.map_err(|e| format!("{e}; write any other build as in 10.0.26100.3915"))?;
    Ok(axis.kernels[axis.targets[asked.target].kernel].build)
}

impl Builds {
    /// Build and architecture of a file, whose path and name these are.
    fn of(&self, path: &Path, name: &str) -> Result<Option<(String, axis::Arch)>, String> {
        let list = self.0.get_or_init(|| read_builds(&path.with_file_name("builds.tsv")));
        Ok(list.as_ref().map_err(Clone::clone)?.get(name).cloned())
    }
}

/// The files of a `builds.tsv`; none if there is no such list.
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
        let folder = env::temp_dir().join(format!("etw-layouts-builds-{}", std::process::id()));
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
        assert_eq!(first, Ok((329, Some(axis::Arch::X64))));
        assert_eq!(later[0], Ok((1526, Some(axis::Arch::Arm64))));
        assert!(later[1].as_ref().is_err_and(|error| error.starts_with("unknown build; ")), "{later:?}");
        assert!(anew.as_ref().is_err_and(|error| error.contains("builds.tsv beside it, line 2: ")), "{anew:?}");
    }

    /// What is not there is no facts yet; what is there and cannot be read is an error, and never taken for nothing.
    #[test]
    fn a_folder_that_cannot_be_read_is_not_empty() {
        let folder = env::temp_dir().join(format!("etw-layouts-unread-{}", std::process::id()));
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
        let folder = env::temp_dir().join(format!("etw-layouts-circles-{}", std::process::id()));
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
