//! Symbol tables: where they are, which kernel each is of.

use crate::{Error, project};
use etw_layouts_codegen::axis::{self, Axis, Build};
use etw_layouts_symbols::image::{self, Image};
use etw_layouts_symbols::store::SymbolPath;
use etw_layouts_symbols::{self as symbols, Arch, Pdb, Snapshot, Symbols, Types, Wanted};
use indicatif::{ProgressBar, ProgressStyle};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// A symbol table and the kernel that it is of.
#[derive(Clone)]
pub struct Table {
    /// The file as the user named it.
    pub source: String,
    /// The program that made it.
    pub producer: String,
    /// The kernel's build and revision.
    pub build: Build,
    /// The architecture.
    pub arch: axis::Arch,
    /// The symbol file, if known.
    pub pdb: Option<Pdb>,
    /// The types.
    pub types: Types,
}

/// What the user says of a table whose name does not tell.
#[derive(Clone, Default)]
pub struct Stated {
    /// `--build`.
    pub build: Option<String>,
    /// `--arch`.
    pub arch: Option<axis::Arch>,
}

/// The files that paths name: the files themselves, and the symbol files in folders, sorted.
///
/// # Errors
///
/// Paths that do not exist, and folders without a symbol file.
pub fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut list = Vec::new();
    for path in paths {
        let before = list.len();
        collect(path, &mut list)?;
        if list.len() == before {
            return Err(format!("{}: no {} file is there", path.display(), ENDINGS.join(", ")).into());
        }
    }
    Ok(list)
}

fn collect(path: &Path, list: &mut Vec<PathBuf>) -> Result<(), Error> {
    if !path.is_dir() {
        fs::metadata(path).map_err(|e| format!("{}: {e}", path.display()))?;
        list.push(path.to_owned());
        return Ok(());
    }
    let entries = fs::read_dir(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut entries = entries.map(|e| e.map(|e| e.path())).collect::<Result<Vec<_>, _>>()?;
    entries.sort();
    for entry in entries {
        let name = file_name(&entry);
        if entry.is_dir() {
            collect(&entry, list)?;
        } else if ENDINGS.iter().any(|end| name.ends_with(end)) {
            list.push(entry);
        }
    }
    Ok(())
}

/// How the names of snapshots end.
pub const SNAPSHOT: &str = ".facts";

/// How the names of symbol files end. In a folder these are read; what a file holds, its content tells.
const ENDINGS: [&str; 5] = [".json", ".json.xz", SNAPSHOT, ".pdb", ".pdz"];

/// Reads a symbol file. A snapshot may hold for several kernels, and is then several tables.
///
/// # Errors
///
/// What is wrong with the file, by its name.
pub fn read(path: &Path, axis: &Axis, wanted: &Wanted, stated: &Stated) -> Result<Vec<Table>, Error> {
    let source = path.display().to_string();
    let named = |error: &dyn std::fmt::Display| Error::from(format!("{source}: {error}"));
    let bytes = fs::read(path).map_err(|e| named(&e))?;
    let table = match symbols::read(&bytes, wanted).map_err(|e| named(&e))? {
        Symbols::Table(table) => table,
        Symbols::Snapshot(snapshot) => return Ok(tables(&source, snapshot)),
    };
    let (build, arch) = kernel(path, axis, stated).map_err(|e| named(&e))?;
    let arch = arch.or(table.arch.map(ours));
    let arch = arch.ok_or_else(|| named(&"the architecture is not known; say it with --arch x86 or --arch x64"))?;
    if table.arch.is_some_and(|own| ours(own) != arch) {
        return Err(named(&format!("the table is not of {arch}; mend --arch, builds.tsv or the file's name")));
    }
    let pdb = table.pdb.map(|pdb| if pdb.name.is_empty() { Pdb { name: file_name(path), ..pdb } } else { pdb });
    Ok(vec![Table { source: source.clone(), producer: table.producer, build, arch, pdb, types: table.types }])
}

/// The tables of a snapshot, one a kernel.
fn tables(source: &str, snapshot: Snapshot) -> Vec<Table> {
    let Snapshot { producer, kernels, types } = snapshot;
    let table = |kernel: symbols::snapshot::Kernel| {
        let [major, minor, build, revision] = kernel.build;
        Table {
            source: source.to_owned(),
            producer: producer.clone(),
            build: Build { number: [major, minor, build], revision },
            arch: ours(kernel.arch),
            pdb: kernel.pdb,
            types: types.clone(),
        }
    };
    kernels.into_iter().map(table).collect()
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The symbol file of a kernel's image, found along a symbol path and downloaded if the path says so, with the kernel's build
/// and architecture. Without a path, the one in `_NT_SYMBOL_PATH`. Where the path names no cache, downloads are kept in
/// `target/symbols`.
///
/// # Errors
///
/// What is wrong with the image or the path, or every place where the symbol file is not.
pub fn from_image(image: &Path, symbol_path: Option<&str>) -> Result<(PathBuf, Build, axis::Arch), Error> {
    let named = |error: &dyn std::fmt::Display| Error::from(format!("{}: {error}", image.display()));
    let bytes = fs::read(image).map_err(|e| named(&e))?;
    let Image { version: [major, minor, build, revision], arch, pdb } = image::read(&bytes).map_err(|e| named(&e))?;
    let help = "say where symbols are with --symbol-path or _NT_SYMBOL_PATH: a folder, or srv*CACHE*https://SERVER";
    let path = match symbol_path {
        Some(path) => path.to_owned(),
        None => env::var("_NT_SYMBOL_PATH").map_err(|_| named(&help))?,
    };
    let path = SymbolPath::parse(&path, &project::root().join("target/symbols"))?;
    let style = ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes} {bytes_per_sec} {msg}")?;
    let bar = ProgressBar::no_length().with_style(style).with_message(pdb.name.clone());
    let found = path.find(&pdb, &mut |done, whole| {
        bar.set_length(whole.unwrap_or(done));
        bar.set_position(done);
    });
    bar.finish_and_clear();
    Ok((found.map_err(|e| named(&e))?, Build { number: [major, minor, build], revision }, ours(arch)))
}

fn ours(arch: Arch) -> axis::Arch {
    match arch {
        Arch::X86 => axis::Arch::X86,
        Arch::X64 => axis::Arch::X64,
    }
}

/// The kernel of a symbol file: from the command line, from `builds.tsv` beside it, or from its name.
fn kernel(path: &Path, axis: &Axis, stated: &Stated) -> Result<(Build, Option<axis::Arch>), String> {
    let file = file_name(path);
    let stem = ENDINGS.iter().find_map(|end| file.strip_suffix(end)).unwrap_or(&file);
    let in_list = builds(path)?.remove(&file);
    let in_name = stem.rsplit_once('-').and_then(|(build, arch)| Some((build.to_owned(), axis::Arch::parse(arch)?)));
    let (build, arch) = match (&stated.build, in_list, in_name) {
        (Some(build), ..) => (build.clone(), stated.arch),
        (None, Some((build, arch)), _) | (None, None, Some((build, arch))) => (build, stated.arch.or(Some(arch))),
        (None, None, None) => {
            let help = "say it with --build, in a builds.tsv beside the file (columns file, build, arch), or in the file's name, as 10.0.19041.329-x64.json.xz";
            return Err(format!("which kernel is it? {help}"));
        }
    };
    Ok((number(&build, axis, arch)?, arch))
}

/// A build's number; service packs have one too, and a label is its first kernel's.
fn number(build: &str, axis: &Axis, arch: Option<axis::Arch>) -> Result<Build, String> {
    if let Some((number, _)) = Build::parse(build) {
        return Ok(number);
    }
    let choice = axis.find_build(build, arch.unwrap_or(axis::Arch::X86));
    let choice = choice.map_err(|e| format!("{e}. A build that is not among them is written 10.0.26100.3915"))?;
    Ok(axis.kernels[axis.targets[choice.target].kernel].build)
}

/// `builds.tsv` beside a file: build and architecture by file name.
fn builds(path: &Path) -> Result<BTreeMap<String, (String, axis::Arch)>, String> {
    let mut list = BTreeMap::new();
    let Ok(text) = fs::read_to_string(path.with_file_name("builds.tsv")) else { return Ok(list) };
    for (number, line) in text.lines().enumerate().skip(1).filter(|(_, line)| !line.trim().is_empty()) {
        let columns: Vec<_> = line.split('\t').map(str::trim).collect();
        let row = match columns[..] {
            [file, build, arch] => axis::Arch::parse(arch).map(|arch| (file.to_owned(), (build.to_owned(), arch))),
            _ => None,
        };
        let (file, kernel) = row
            .ok_or_else(|| format!("builds.tsv beside it, line {}: not file, build and x86 or x64, between tabs", number + 1))?;
        list.insert(file, kernel);
    }
    Ok(list)
}
