//! `cargo xtask snapshot`.

use crate::replace::{Changes, replace};
use crate::tables::{self, SNAPSHOT, Stated, Table};
use crate::verify::names;
use crate::{Error, Outcome, project};
use etw_layouts_codegen::axis::{self, Arch, Axis};
use etw_layouts_symbols::Wanted;
use etw_layouts_symbols::snapshot::Kernel;
use etw_layouts_symbols::{self as symbols, Rules, Snapshot};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Reduce symbol files to the facts that the specs are held against, and add them to tests/snapshots.
///
/// Each file there is a distinct set of facts, with the kernels that have it. A kernel that is there already is replaced. The
/// order of the paths does not matter.
///
///     cargo xtask snapshot symbols/
///     cargo xtask snapshot ntkrnlmp.json.xz --build 10.0.22621.1 --arch x64
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Symbol files, or folders of them.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The build of a symbol file whose name does not tell it.
    #[arg(long)]
    build: Option<String>,
    /// The architecture, where the file does not tell it.
    #[arg(long, value_parser = ["x86", "x64"])]
    arch: Option<String>,
    /// The folder to write to.
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<Outcome, Error> {
    let stated = Stated { build: args.build.clone(), arch: args.arch.as_deref().and_then(Arch::parse) };
    let folder = args.out.clone().unwrap_or(project::root().join(project::SNAPSHOTS));
    let (count, bytes) = write(&args.paths, &stated, &folder)?;
    anstream::println!("{count} snapshots, {bytes} bytes, in {}", folder.display());
    Ok(Outcome::Good)
}

/// Adds the tables of paths to a folder of snapshots; returns how many files are there then, and their bytes.
///
/// # Errors
///
/// Files that cannot be read or written. Nothing is written before everything is read.
pub fn write(paths: &[PathBuf], stated: &Stated, folder: &Path) -> Result<(usize, usize), Error> {
    let layouts = project::layouts()?;
    let wanted: Wanted = names(&layouts, None)?.into_iter().collect();
    let read = |path: &PathBuf| tables::read(path, &layouts.spec.axis, &wanted, stated);
    let new: Vec<_> = tables::files(paths)?.par_iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let changes = added(new.into_iter().flatten().collect(), &layouts.spec.axis, &wanted, folder)?;
    replace(&changes)?;
    let lengths: Vec<_> = changes.iter().filter_map(|(_, text)| Some(text.as_ref()?.len())).collect();
    Ok((lengths.len(), lengths.iter().sum()))
}

/// A folder of snapshots with tables added, in place of those of the same kernels.
///
/// # Errors
///
/// Files that cannot be read.
pub fn added(new: Vec<Table>, axis: &Axis, wanted: &Wanted, folder: &Path) -> Result<Changes, Error> {
    let old: Vec<PathBuf> = tables::files(&[folder.to_owned()]).unwrap_or_default();
    let read = |path: &PathBuf| tables::read(path, axis, wanted, &Stated::default());
    let mut kernels = BTreeMap::new();
    // Those that are there already, and last the new ones, which replace them.
    for table in old.iter().map(read).collect::<Result<Vec<_>, _>>()?.into_iter().flatten().chain(new) {
        let table = reduced(table);
        kernels.insert((table.build, table.arch, table.producer.clone()), table);
    }
    let texts =
        grouped(kernels.into_values().collect()).into_iter().map(|(name, snapshot)| (folder.join(name), snapshot.to_string()));
    let texts: BTreeMap<_, _> = texts.collect();
    let gone: Vec<_> = old.into_iter().filter(|path| !texts.contains_key(path)).map(|path| (path, None)).collect();
    Ok(texts.into_iter().map(|(path, text)| (path, Some(text))).chain(gone).collect())
}

/// The profile that a table was converted from is no fact about the kernel, and would keep equal facts apart.
fn reduced(table: Table) -> Table {
    match Rules::for_producer(&table.producer) {
        Rules::Converted => Table { producer: "converted from Volatility 2 profiles".into(), ..table },
        Rules::Faithful => table,
    }
}

/// One snapshot for each distinct set of facts, by a file name made of its first kernel.
fn grouped(tables: Vec<Table>) -> BTreeMap<String, Snapshot> {
    let mut snapshots: Vec<Snapshot> = Vec::new();
    for table in tables {
        let kernel = kernel(&table);
        let same = |s: &&mut Snapshot| s.producer == table.producer && s.types == table.types && s.kernels[0].arch == kernel.arch;
        match snapshots.iter_mut().find(same) {
            Some(snapshot) => snapshot.kernels.push(kernel),
            None => snapshots.push(Snapshot { producer: table.producer, kernels: vec![kernel], types: table.types }),
        }
    }
    let mut named = BTreeMap::new();
    for snapshot in snapshots {
        let [major, minor, build, revision] = snapshot.kernels[0].build;
        let converted = if Rules::for_producer(&snapshot.producer) == Rules::Converted { "-converted" } else { "" };
        let arch = snapshot.kernels[0].arch.as_str();
        named.insert(format!("{major}.{minor}.{build}.{revision}-{arch}{converted}{SNAPSHOT}"), snapshot);
    }
    named
}

fn kernel(table: &Table) -> Kernel {
    let [major, minor, build] = table.build.number;
    let arch = match table.arch {
        axis::Arch::X86 => symbols::Arch::X86,
        axis::Arch::X64 => symbols::Arch::X64,
    };
    Kernel { build: [major, minor, build, table.build.revision], arch, pdb: table.pdb.clone() }
}
