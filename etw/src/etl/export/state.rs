//! The folder of a dataset: the records of its parts, and the recovery after an interrupted run.

use super::paths;
use super::record::{Exported, LIMIT, Options, Record, Written};
use etw_layouts_cli::{Error, no_folder, pretty};
use etw_layouts_folder::Folder;
use etw_layouts_table::write::retain;
use etw_layouts_table::{self as table};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs::{File, TryLockError};
use std::io::{self, BufWriter};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

/// A dataset that is locked for this process.
#[derive(Debug)]
pub struct State {
    pub options: Options,
    /// The parts of earlier runs that are complete.
    pub records: Vec<Record>,
    root: Folder,
    /// The records of parts.
    parts: Folder,
    /// The files of parts without a record, in a folder for each part.
    staging: Folder,
    /// Locked until the process ends.
    _lock: File,
}

/// The folder for records. Readers of datasets ignore names that begin with an underscore.
const OWN: &str = "_etw";
const MANIFEST: &str = "manifest.json";

impl State {
    /// Opens or creates a dataset. Completes parts with a stored record, and removes other files of an interrupted run.
    pub fn open(folder: &Path, options: &Options) -> Result<Self, Error> {
        let root = Folder::create(folder).map_err(|error| match folder.is_dir() {
            true => error.to_string(),
            false => no_folder(folder, &error),
        })?;
        let own = root.create_folder(OWN)?;
        let (parts, staging) = (own.create_folder("parts")?, own.create_folder("staging")?);
        let lock = own.lock_file("lock")?;
        if !is_locked(&lock) {
            return Err(format!("{}: another export writes to this folder; wait until it ends", folder.display()).into());
        }
        let mut state = Self { options: options.clone(), records: Vec::new(), root, parts, staging, _lock: lock };
        state.recover()?;
        if let Some(old) = state.records.iter().find(|record| record.options.tables != options.tables) {
            return Err(format!(
                "{}: the dataset has tables of version {}, this program writes version {}; export the traces again: `etw etl export -o \
                 NEW-FOLDER TRACES`",
                folder.display(),
                old.options.tables,
                options.tables
            )
            .into());
        }
        if let Some(other) = state.records.iter().find(|record| record.options != *options) {
            return Err(format!(
                "{}: the dataset has other options: {}; export to another folder, or use the same options",
                folder.display(),
                difference(&other.options, options)
            )
            .into());
        }
        Ok(state)
    }

    fn recover(&mut self) -> io::Result<()> {
        // All records are read before the first of them changes a file.
        for record in self.stored()? {
            self.publish(&record)?;
            let is_broken = !self.is_whole(&record)?;
            self.records.push(Record { is_broken, ..record });
        }
        self.staging.names()?.iter().filter(|name| paths::is_part(name)).try_for_each(|part| self.staging.remove_folder(part))
    }

    /// The stored records. Other files in their folder are ignored.
    fn stored(&self) -> io::Result<Vec<Record>> {
        let mut records = Vec::new();
        for name in self.parts.names()? {
            let Some(part) = name.strip_suffix(".json").filter(|part| paths::is_part(part)) else { continue };
            let Some(bytes) = self.parts.read(&name, LIMIT)? else { continue };
            records.push(Record::parse(&bytes, part).map_err(|why| {
                let path = self.parts.path().join(&name);
                io::Error::other(format!("{}: invalid record: {why}; remove the dataset and export again", path.display()))
            })?);
        }
        Ok(records)
    }

    /// The folder in which the files of a part are written. It is empty.
    pub fn stage(&self, part: &str) -> io::Result<Folder> {
        self.unstage(part)?;
        self.staging.create_folder(part)
    }

    /// Removes the files of a part that are not visible yet.
    pub fn unstage(&self, part: &str) -> io::Result<()> {
        self.staging.remove_folder(part)
    }

    /// Stores the record of a part, which makes the part complete. Then makes its files visible.
    pub fn commit(&self, record: &Record) -> io::Result<()> {
        let text = pretty(record).map_err(io::Error::other)?;
        self.parts.replace(&format!("{}.json", record.part), text.as_bytes())?;
        self.publish(record)
    }

    /// The same, without the rows of traces that are not in the record. Returns the record of the part that has the others.
    pub fn commit_known(&self, record: &Record) -> Result<Record, table::Error> {
        let staging = self.staging.create_folder(&record.part)?;
        let known = self.copy(&staging, record, record.traces.clone())?;
        drop(staging);
        self.unstage(&record.part)?;
        Ok(known)
    }

    /// Moves the files of a part that are still in its staging folder.
    fn publish(&self, record: &Record) -> io::Result<()> {
        let Some(staging) = self.staging.folder(&record.part)? else { return Ok(()) };
        for file in &record.files {
            if staging.stat(&file.path)?.is_some() {
                staging.rename(&file.path, &self.root, &file.path)?;
            }
        }
        // Windows does not remove a folder while a handle of it is open.
        drop(staging);
        self.unstage(&record.part)
    }

    fn is_whole(&self, record: &Record) -> io::Result<bool> {
        for file in &record.files {
            if self.root.stat(&file.path)?.is_none_or(|stat| stat.bytes != file.bytes) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Removes a part: first its files, then its record.
    pub fn remove(&self, record: &Record) -> io::Result<()> {
        record.files.iter().try_for_each(|file| self.root.remove_file(&file.path))?;
        self.parts.remove_file(&format!("{}.json", record.part))
    }

    /// Stores the record of a part again, with other marks of its traces.
    pub fn update(&self, record: &Record) -> io::Result<()> {
        let text = pretty(record).map_err(io::Error::other)?;
        self.parts.replace(&format!("{}.json", record.part), text.as_bytes())
    }

    /// Removes rows that are in the dataset twice, rows of files that have grown since, and with `prunes` rows of traces that are no longer on
    /// disk. Other rows of their parts are copied to a new part first.
    pub fn settle(&self, prunes: bool) -> Result<(), Error> {
        let mut records = self.stored()?;
        for record in &mut records {
            record.is_broken = !self.is_whole(record)?;
        }
        // Of equal traces, the first complete one stays.
        let mut best: HashMap<String, (bool, usize)> = HashMap::new();
        let mut by_path: HashMap<String, Vec<Exported>> = HashMap::new();
        for (index, record) in records.iter().enumerate() {
            for trace in &record.traces {
                let own = (record.is_broken || trace.is_partial, index);
                let best = best.entry(trace.hash.clone()).or_insert(own);
                *best = own.min(*best);
                by_path.entry(trace.path.clone()).or_default().push(trace.clone());
            }
        }
        for (index, record) in records.iter().enumerate() {
            let is_dropped = |trace: &Exported| {
                prunes && trace.is_gone
                    || best.get(&trace.hash).is_some_and(|(_, best)| *best != index)
                    || by_path.get(&trace.path).into_iter().flatten().any(|other| other.replaces(trace))
            };
            let (dropped, kept): (Vec<_>, Vec<_>) = record.traces.iter().cloned().partition(is_dropped);
            if dropped.is_empty() {
                continue;
            }
            if !kept.is_empty() {
                self.copy(&self.root, record, kept).map_err(|error| {
                    let folder = self.root.path().display();
                    format!("{folder}: cannot copy the rows of {}: {error}; they stay as they are", record.part)
                })?;
            }
            self.remove(record)?;
        }
        Ok(())
    }

    /// Writes a part with the rows of some traces of another, whose files are in a folder.
    fn copy(&self, folder: &Folder, from: &Record, traces: Vec<Exported>) -> Result<Record, table::Error> {
        let part = self.unused_name(&traces.iter().map(|trace| trace.hash.as_str()).collect::<Vec<_>>())?;
        let staging = self.stage(&part)?;
        let mut files = Vec::new();
        for file in &from.files {
            // A file that is missing or has another size was reported.
            if folder.stat(&file.path)?.is_none_or(|stat| stat.bytes != file.bytes) {
                continue;
            }
            let Some(old) = folder.open_file(&file.path)? else { continue };
            let Some((base, end)) = file.path.rsplit_once(&from.part) else { continue };
            let path = format!("{base}{part}{end}");
            let Some(format) = paths::format(&path) else { continue };
            let out = BufWriter::new(staging.create_file(&path)?);
            let keeps = |name: &str| traces.iter().any(|trace| trace.trace == name);
            // The readers of Arrow and Parquet can panic on a file that someone else prepared.
            let copied = catch_unwind(AssertUnwindSafe(|| retain(format, old, out, keeps)));
            let (rows, out) = copied.map_err(|_| io::Error::other(format!("{}: invalid file", file.path)))??;
            let out = out.into_inner().map_err(std::io::IntoInnerError::into_error)?;
            out.sync_all()?;
            match rows {
                0 => staging.remove_file(&path)?,
                _ => files.push(Written { path, rows, bytes: out.metadata()?.len(), ..file.clone() }),
            }
        }
        drop(staging);
        let traces = traces.into_iter().map(|trace| Exported { is_partial: trace.is_partial || from.is_broken, ..trace });
        let options = from.options.clone();
        let record = Record { part, options, traces: traces.collect(), files, is_broken: false };
        self.commit(&record)?;
        Ok(record)
    }

    /// A name for a part with this content that no part has.
    pub fn unused_name(&self, content: &[&str]) -> io::Result<String> {
        let mut text = content.join("\n");
        loop {
            let name = paths::part(&Sha256::digest(&text));
            if self.parts.stat(&format!("{name}.json"))?.is_none() {
                return Ok(name);
            }
            text.push('\n');
        }
    }

    /// Writes the manifest: the records of all parts.
    pub fn summarize(&self) -> Result<(), Error> {
        let records = self.stored()?;
        let traces = || records.iter().flat_map(|record| &record.traces);
        // The numbers in records of someone else can be of any size.
        let sum = |count: fn(&Exported) -> u64| traces().map(count).fold(0, u64::saturating_add);
        let manifest = Manifest {
            options: &self.options,
            traces: traces().count(),
            events: sum(|trace| trace.events),
            rows: sum(|trace| trace.rows),
            files: records.iter().map(|record| record.files.len()).sum(),
            parts: &records,
        };
        Ok(self.root.replace(MANIFEST, pretty(&manifest)?.as_bytes())?)
    }
}

#[derive(Serialize)]
struct Manifest<'a> {
    options: &'a Options,
    traces: usize,
    events: u64,
    rows: u64,
    files: usize,
    parts: &'a [Record],
}

/// Locks the folder. A process that was killed can hold its lock for a moment.
fn is_locked(lock: &File) -> bool {
    for _ in 0..20 {
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => sleep(Duration::from_millis(50)),
            // Some file systems have no locks.
            Ok(()) | Err(TryLockError::Error(_)) => return true,
        }
    }
    false
}

fn difference(one: &Options, other: &Options) -> String {
    let pairs = [
        ("--format", &one.format, &other.format),
        ("--shape", &one.shape, &other.shape),
        ("--order", &one.order, &other.order),
        ("--payload", &one.payload, &other.payload),
    ];
    match pairs.iter().find(|(_, one, other)| one != other) {
        Some((name, one, _)) => format!("{name} {one}"),
        None if one.tables != other.tables => format!("tables of version {}", one.tables),
        None => "another selection of events or schemas".to_owned(),
    }
}
