//! Symbol tables and their builds.

mod symbol_file;
#[cfg(test)]
mod tests;

pub use self::symbol_file::{Builds, SNAPSHOT, SymbolFile, files, in_folder};
use self::symbol_file::{ENDINGS, file_name};

use crate::{Error, Refusal, Remedy};
use etw_layouts_codegen::SelectedBy;
use etw_layouts_codegen::axis::{self, Axis, Build};
use etw_layouts_symbols::image::{self, Image};
use etw_layouts_symbols::store::SymbolPath;
use etw_layouts_symbols::{
    self as symbols, Arch, Globals, ImageFile, Machine, Offsets, Pdb, Rules, Snapshot, SymbolTable, Symbols, Types, Wanted,
};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A symbol table with its build.
#[derive(Clone)]
pub struct BuildTable {
    /// File name as given by the user.
    pub source: String,
    /// Program that created the table.
    pub producer: String,
    /// The build and revision.
    pub build: Build,
    /// The build as written by the user or in the file.
    pub label: String,
    /// The architecture.
    pub arch: axis::Arch,
    /// The symbol file, if known.
    pub pdb: Option<Pdb>,
    /// The kernel's image, if known.
    pub image: Option<ImageFile>,
    /// The types, shared by all builds of a snapshot.
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

    /// Adds facts that this table lacks from another table of the same build: either table may be reduced. Addresses of variables
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
    /// Verifies that the given build is a single one, for a table that is written as a table of that build.
    ///
    /// # Errors
    ///
    /// The build is a label, or has no revision.
    pub fn one_kernel(&self, axis: &Axis) -> Result<(), Error> {
        let Some(build) = &self.build else { return Ok(()) };
        let is_one = match build.parse::<Build>() {
            Ok(_) => build.split('.').count() % 2 == 0,
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

/// Reads a symbol file. A snapshot or a table of images can apply to several builds, and then gives several tables.
///
/// # Errors
///
/// The file is invalid; the message names it. The error is [`Foreign`] if the file is for another machine.
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
    let own = table.arch.map(ours);
    let (label, build, arch) = kernel(file, axis, stated, own)?;
    let arch = arch.ok_or_else(|| Refusal::new("unknown architecture", Remedy::Architecture).at(&source))?;
    if let Some(own) = own.filter(|own| *own != arch) {
        let problem = format!(
            "wrong architecture: the table is of {own}, but --arch, builds.tsv or the file name states {arch}; correct it"
        );
        return Err(format!("{source}: {problem}").into());
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

/// The tables of a snapshot, one per build.
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

/// The symbol file of a kernel image, with its build and architecture. It is searched along a symbol path, and downloaded if the
/// path has a server. If the path names no cache, downloads are stored in `cache`.
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

/// The build of a symbol file, as text and as a number, with its architecture. They come from the command line, from `builds.tsv`
/// in its folder, or from its name. `own` is the architecture that the file itself states.
fn kernel(
    file: &SymbolFile,
    axis: &Axis,
    stated: &Stated,
    own: Option<axis::Arch>,
) -> Result<(String, Build, Option<axis::Arch>), Error> {
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
    let arch = arch.or(own);
    let number = number(&build, axis, arch).map_err(named)?;
    Ok((build, number, arch))
}

/// Number of a build, service pack or update. A label, or a build without a revision, gives its first revision.
fn number(build: &str, axis: &Axis, arch: Option<axis::Arch>) -> Result<Build, String> {
    if let Some(number) = axis.build(build) {
        return Ok(number);
    }
    axis.find_build(build, arch.unwrap_or(axis::Arch::X86)).map(|asked| asked.own)
}
