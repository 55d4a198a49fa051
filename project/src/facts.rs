//! Facts: symbol tables that are reduced to the types and variables of the specs.

use crate::Error;
use crate::change::Changes;
use crate::project::{Files, Project};
use crate::registry;
use crate::tables::{self, BuildTable, SNAPSHOT, Stated, SymbolFile};
use crate::verify::{label, names, wanted};
use etw_layouts_codegen::axis::{self, Axis};
use etw_layouts_codegen::registry::Registry;
use etw_layouts_symbols::Wanted;
use etw_layouts_symbols::snapshot::Kernel;
use etw_layouts_symbols::{self as symbols, Rules, Snapshot, images};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files of facts that were written.
#[derive(Debug)]
pub struct Written {
    /// Number of files in the folder.
    pub files: usize,
    /// Size of all files in bytes.
    pub bytes: usize,
    /// See [`Lock::recovered`](crate::change::Lock::recovered).
    pub recovered: Option<String>,
}

/// Adds symbol tables to a folder of snapshots.
///
/// # Errors
///
/// A file cannot be read or written, or a table is labelled wrongly. Nothing is written before everything is read.
pub fn write(project: &Project, paths: &[PathBuf], stated: &Stated, folder: &Path) -> Result<Written, Error> {
    let mut lock = home(project, folder)?.lock("snapshot")?;
    let layouts = project.layouts()?;
    let (axis, names) = (&layouts.spec.axis, names(&layouts, None)?);
    stated.one_kernel(axis)?;
    let wanted = wanted(&layouts, &names);
    let read = |file: &SymbolFile| tables::read(file, axis, &wanted, stated);
    let new: Vec<_> = tables::files(paths)?.par_iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let new: Vec<BuildTable> = new.into_iter().flatten().collect();
    let seen = project.registry(axis)?;
    let pdbs = registry::merged([seen.clone(), registry::of(&new)]);
    let refusal = |table: &BuildTable| label::refusal(&layouts, &names, &seen, &pdbs, table);
    let wrong: Vec<_> = new.par_iter().filter_map(refusal).collect();
    if !wrong.is_empty() {
        return Err(wrong.join("\nerror: ").into());
    }
    let (changes, _) = added(new, axis, &wanted, folder)?;
    let lengths: Vec<_> = changes.iter().filter_map(|(_, text)| Some(text.as_ref()?.len())).collect();
    let recovered = lock.recovered.take();
    lock.replace(changes)?;
    Ok(Written { files: lengths.len(), bytes: lengths.iter().sum(), recovered })
}

/// The project whose facts are in a folder: this one, or a project with only that folder.
fn home(project: &Project, folder: &Path) -> Result<Project, Error> {
    if project.folders().is_ok_and(|(_, facts)| project.root.join(facts) == folder) {
        return Ok(project.clone());
    }
    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    Ok(Project::of(Files::Folder(folder.to_owned()), Files::Folder(folder.to_owned())))
}

/// The changes that add tables to a folder of snapshots, and the registry of the result. A new table replaces an existing one of
/// the same build.
///
/// # Errors
///
/// A file cannot be read.
pub fn added(new: Vec<BuildTable>, axis: &Axis, wanted: &Wanted, folder: &Path) -> Result<(Changes, Registry), Error> {
    let old = tables::in_folder(folder)?;
    let read = |file: &SymbolFile| tables::read(file, axis, wanted, &Stated::default());
    let mut kernels = BTreeMap::new();
    // New tables come last and replace existing ones. Tables of the same PDB are merged.
    for table in old.iter().map(read).collect::<Result<Vec<_>, _>>()?.into_iter().flatten().chain(new) {
        let mut table = reduced(table);
        // A build can have several kernel images from the same sources.
        let image =
            table.image.as_ref().filter(|_| table.is_partial()).map(|image| (image.name.clone(), image.time_stamp, image.size));
        let key = (table.build, table.arch, table.producer.clone(), image);
        if let Some(old) = kernels.remove(&key).filter(|old: &BuildTable| old.pdb.is_some() && old.pdb == table.pdb) {
            table.complete(&old);
        }
        kernels.insert(key, table);
    }
    let snapshots = grouped(kernels.into_values().collect());
    let registry =
        registry::of(&snapshots.iter().flat_map(|(name, snapshot)| tables::of(name, snapshot.clone())).collect::<Vec<_>>());
    let texts: BTreeMap<_, _> =
        snapshots.into_iter().map(|(name, snapshot)| (folder.join(name), snapshot.to_string().into_bytes())).collect();
    let old = old.iter().map(|file| file.path().to_owned());
    let gone: Vec<_> = old.filter(|path| !texts.contains_key(path)).map(|path| (path, None)).collect();
    Ok((texts.into_iter().map(|(path, text)| (path, Some(text))).chain(gone).collect(), registry))
}

/// Shortens the producer of a converted table. Its profile, page or download would separate equal facts.
pub fn reduced(table: BuildTable) -> BuildTable {
    let named = |producer: &str| match producer.split_once(" profile ") {
        Some((from, _)) => format!("{from} profiles"),
        None => producer.split([',', '(']).next().unwrap_or_default().trim_end().to_owned(),
    };
    match Rules::for_producer(&table.producer) {
        Rules::Converted => BuildTable { producer: named(&table.producer), ..table },
        Rules::Faithful => table,
    }
}

/// One snapshot for each distinct set of facts, named after its first build.
fn grouped(tables: Vec<BuildTable>) -> BTreeMap<String, Snapshot> {
    let mut snapshots: Vec<Snapshot> = Vec::new();
    for table in tables {
        let kernel = kernel(&table);
        let same = |s: &&mut Snapshot| {
            let facts = s.types == *table.types && s.offsets == *table.offsets;
            s.producer == table.producer && s.kernels[0].arch == kernel.arch && facts
        };
        match snapshots.iter_mut().find(same) {
            Some(snapshot) => snapshot.kernels.push(kernel),
            None => snapshots.push(Snapshot {
                producer: table.producer,
                kernels: vec![kernel],
                types: Arc::unwrap_or_clone(table.types),
                offsets: Arc::unwrap_or_clone(table.offsets),
            }),
        }
    }
    let mut named = BTreeMap::new();
    for snapshot in snapshots {
        let [major, minor, build, revision] = snapshot.kernels[0].build;
        let kind = match Rules::for_producer(&snapshot.producer) {
            _ if snapshot.producer == images::BY_BUILD => "-addresses",
            _ if snapshot.types.is_empty() => "-images",
            Rules::Converted => "-converted",
            Rules::Faithful => "",
        };
        let stem = format!("{major}.{minor}.{build}.{revision}-{}{kind}", snapshot.kernels[0].arch.as_str());
        // A build can have tables of several producers.
        let mut names = (1..).map(|n| if n == 1 { format!("{stem}{SNAPSHOT}") } else { format!("{stem}-{n}{SNAPSHOT}") });
        let name = names.find(|name| !named.contains_key(name)).unwrap_or_default();
        named.insert(name, snapshot);
    }
    named
}

fn kernel(table: &BuildTable) -> Kernel {
    let [major, minor, build] = table.build.number;
    let arch = match table.arch {
        axis::Arch::X86 => symbols::Arch::X86,
        axis::Arch::X64 => symbols::Arch::X64,
        axis::Arch::Arm64 => symbols::Arch::Arm64,
    };
    let (pdb, image, globals) = (table.pdb.clone(), table.image.clone(), table.globals.clone());
    Kernel { build: [major, minor, build, table.build.revision], arch, pdb, image, globals }
}
