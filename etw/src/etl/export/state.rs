//! The folder of a dataset: the records of its parts, and the recovery after an interrupted run.

use super::record::{Options, Record};
use etw_layouts_cli::{Error, no_folder, pretty};
use serde::Serialize;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

/// A dataset that is locked for this process.
#[derive(Debug)]
pub struct State {
    pub folder: PathBuf,
    pub options: Options,
    /// The parts of earlier runs that are complete.
    pub records: Vec<Record>,
    /// Locked until the process ends.
    _lock: File,
}

/// The folder for records. Readers of datasets ignore names that begin with an underscore.
const OWN: &str = "_etw";
const MANIFEST: &str = "manifest.json";

impl State {
    /// Opens or creates a dataset. Completes parts with a stored record, and removes other files of an interrupted run.
    pub fn open(folder: &Path, options: &Options) -> Result<Self, Error> {
        let own = folder.join(OWN);
        for path in [own.join("parts"), own.join("staging")] {
            fs::create_dir_all(&path).map_err(|error| no_folder(folder, &error))?;
        }
        let lock = File::create(own.join("lock")).map_err(|error| no_folder(folder, &error))?;
        if !is_locked(&lock) {
            return Err(format!("{}: another export writes to this folder; wait until it ends", folder.display()).into());
        }
        let mut state = Self { folder: folder.to_owned(), options: options.clone(), records: Vec::new(), _lock: lock };
        state.recover().map_err(|error| -> Error { format!("{}: {error}", folder.display()).into() })?;
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
        let mut paths: Vec<_> = fs::read_dir(self.parts())?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
        paths.sort();
        for path in paths {
            if path.extension().is_none_or(|extension| extension != "json") {
                fs::remove_file(&path)?;
                continue;
            }
            let record: Option<Record> = serde_json::from_slice(&fs::read(&path)?).ok();
            match record {
                Some(record) => {
                    self.publish(&record)?;
                    let is_whole = record.files.iter().all(|file| {
                        fs::metadata(self.folder.join(&file.path)).is_ok_and(|metadata| metadata.len() == file.bytes)
                    });
                    if is_whole { self.records.push(record) } else { self.remove(&record)? }
                }
                None => {
                    let why = format!("unreadable record {}; remove the folder and export again", path.display());
                    return Err(io::Error::new(io::ErrorKind::InvalidData, why));
                }
            }
        }
        for entry in fs::read_dir(self.own().join("staging"))? {
            fs::remove_dir_all(entry?.path())?;
        }
        Ok(())
    }

    fn own(&self) -> PathBuf {
        self.folder.join(OWN)
    }

    fn parts(&self) -> PathBuf {
        self.own().join("parts")
    }

    /// The folder in which the files of a part are written.
    pub fn staging(&self, part: &str) -> PathBuf {
        self.own().join("staging").join(part)
    }

    /// Stores the record of a part, which makes the part complete. Then makes its files visible.
    pub fn commit(&self, record: &Record) -> io::Result<()> {
        let text = pretty(record).map_err(io::Error::other)?;
        replace(&self.parts().join(format!("{}.json", record.part)), text.as_bytes())?;
        self.publish(record)
    }

    /// Moves the files of a part that are still in its staging folder.
    fn publish(&self, record: &Record) -> io::Result<()> {
        let staging = self.staging(&record.part);
        if !staging.exists() {
            return Ok(());
        }
        for file in &record.files {
            let (from, to) = (staging.join(&file.path), self.folder.join(&file.path));
            if from.exists() {
                to.parent().map_or(Ok(()), fs::create_dir_all)?;
                fs::rename(from, to)?;
            }
        }
        fs::remove_dir_all(staging)
    }

    /// Removes a part: first its files, then its record.
    pub fn remove(&self, record: &Record) -> io::Result<()> {
        for file in &record.files {
            match fs::remove_file(self.folder.join(&file.path)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        match fs::remove_file(self.parts().join(format!("{}.json", record.part))) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Writes the manifest: the records of all parts.
    pub fn summarize(&self) -> Result<(), Error> {
        let mut paths: Vec<_> = fs::read_dir(self.parts())?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
        paths.sort();
        let records = paths
            .iter()
            .map(|path| Ok(serde_json::from_slice::<Record>(&fs::read(path)?)?))
            .collect::<Result<Vec<_>, Error>>()?;
        let traces = || records.iter().flat_map(|record| &record.traces);
        let manifest = Manifest {
            options: &self.options,
            traces: traces().count(),
            events: traces().map(|trace| trace.events).sum(),
            rows: traces().map(|trace| trace.rows).sum(),
            files: records.iter().map(|record| record.files.len()).sum(),
            parts: &records,
        };
        Ok(replace(&self.folder.join(MANIFEST), pretty(&manifest)?.as_bytes())?)
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

/// Replaces a file; the path never has an incomplete file.
fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let part = path.with_extension("part");
    let mut file = File::create(&part)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(part, path)
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
