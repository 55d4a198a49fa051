//! Changes of several files of a project: all of them, or none.
//!
//! Each new file is first written beside the old one. Then the list of these files gets the name [`CHANGE`], and the new files are
//! renamed. While this list exists, some files can be old and others new: commands that read refuse the project, and the next command
//! that writes completes the change. Before that, all files are old, and the next command that writes removes the new files.
//!
//! A list has no content, and its paths are relative. It can only rename files that were written beside files of the project, so
//! a list that came with specs of someone else changes nothing outside of their folder.

#[cfg(test)]
mod tests;

use crate::Error;
use crate::project::{Files, Project};
use etw_layouts_codegen::{CHANGE, settled};
use etw_layouts_folder::Folder;
use serde::{Deserialize, Serialize};
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Component, Path, PathBuf, absolute};
use std::time::UNIX_EPOCH;

/// Files to write with their bytes; a file without bytes is removed.
pub type Changes = Vec<(PathBuf, Option<Vec<u8>>)>;

/// The exclusive right to change a project.
pub struct Lock {
    place: Place,
    command: String,
    /// What was done with the change of an interrupted command, if there was one.
    pub recovered: Option<String>,
    /// Locked until it is closed.
    _file: File,
}

/// A command, and the files of its change.
#[derive(Deserialize, Serialize)]
struct List {
    command: String,
    entries: Vec<Entry>,
}

#[derive(Deserialize, Serialize)]
struct Entry {
    /// Name of its folder: `specs`, `facts` or `generated`.
    folder: String,
    /// Its path in the folder, with `/`.
    path: String,
    /// Its modification time before the change, in nanoseconds since 1970; `None` if it did not exist.
    old: Option<u64>,
    /// Whether the change removes it.
    removed: bool,
}

/// The folders of a project whose files change, each with its name in lists.
struct Place(Vec<(&'static str, PathBuf)>);

/// Called before each write, renaming and removal; tests fail or stop here.
type Before<'a> = &'a dyn Fn() -> io::Result<()>;

/// Name of the file that is locked, in the folder of the specs. It is always empty.
const LOCK: &str = ".lock";
/// Maximum size of a list in bytes.
const LIMIT: u64 = 16 << 20;
/// Name of the folder of the specs in lists.
const SPECS: &str = "specs";

impl Project {
    /// Locks the project, and completes or discards the change of an interrupted command.
    ///
    /// # Errors
    ///
    /// Another process has the lock, the folder of the specs is not writable, the project is built into the program, or files
    /// changed since the interruption.
    pub fn lock(&self, command: &str) -> Result<Lock, Error> {
        self.folder()?;
        let place = Place::of(self)?.ok_or("the specs are not in a folder")?;
        let specs = place.folder(SPECS)?;
        let file = specs.lock_file(LOCK)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let specs = place.path(SPECS)?.display();
                return Err(
                    format!("{specs}: another command is changing these files; run this command again when it ends").into()
                );
            }
            Err(TryLockError::Error(error)) => return Err(format!("{}: {error}", place.path(SPECS)?.join(LOCK).display()).into()),
        }
        let recovered = place.recovered(&|| Ok(()))?;
        Ok(Lock { place, command: command.to_owned(), recovered, _file: file })
    }

    /// Verifies that no change of files is in progress, so that the facts belong together. Specs verify this when they are read.
    ///
    /// # Errors
    ///
    /// A command that changes files is running, or was interrupted.
    pub(crate) fn settled(&self) -> Result<(), Error> {
        match Place::of(self)? {
            Some(place) => Ok(settled(place.path(SPECS)?)?),
            None => Ok(()),
        }
    }
}

impl Lock {
    /// Replaces the contents of files: all of them, or none. If the process is killed, the next command that writes completes or
    /// discards the change.
    ///
    /// # Errors
    ///
    /// A file cannot be written; then nothing is changed. Or a file cannot be renamed; then the next command that writes completes
    /// the change.
    pub fn replace(self, changes: Changes) -> Result<(), Error> {
        Ok(self.replaced(changes, &|| Ok(()))?)
    }

    fn replaced(&self, changes: Changes, before: Before) -> io::Result<()> {
        let mut list = List { command: self.command.clone(), entries: Vec::new() };
        let outcome = |error: io::Error, outcome: &str| io::Error::new(error.kind(), format!("{error}; {outcome}"));
        if let Err(error) = self.place.stage(&mut list, changes, before) {
            // If this fails too, the next command that writes discards the change.
            drop(self.place.discard(&list));
            return Err(outcome(error, "nothing was changed"));
        }
        let help = "fix this, and run the command again: it completes the change first";
        self.place.complete(&list, before).map_err(|error| outcome(error, help))
    }
}

impl Place {
    /// The folders of a project on disk.
    fn of(project: &Project) -> io::Result<Option<Self>> {
        let Files::Folder(specs) = &project.specs else { return Ok(None) };
        let specs = absolute(project.root.join(specs))?;
        // A single spec file is a spec set too.
        let specs = if specs.is_file() { specs.parent().unwrap_or(&specs).to_owned() } else { specs };
        let mut folders = vec![(SPECS, specs)];
        if let Files::Folder(facts) = &project.facts {
            folders.push(("facts", absolute(project.root.join(facts))?));
        }
        if project.generated.is_some() {
            folders.push(("generated", absolute(&project.root)?));
        }
        Ok(Some(Self(folders)))
    }

    fn path(&self, name: &str) -> io::Result<&Path> {
        let found = self.0.iter().find(|(other, _)| *other == name).map(|(_, path)| path.as_path());
        found.ok_or_else(|| io::Error::other(format!(
                "the interrupted change includes {name} files; run it again with the same --specs and --facts, or run `cargo xtask fmt`"
            )))
    }

    fn folder(&self, name: &str) -> io::Result<Folder> {
        Folder::open(self.path(name)?)
    }

    /// A list in the folder of the specs, if there is one.
    fn list(&self, name: &str) -> io::Result<Option<List>> {
        let specs = self.folder(SPECS)?;
        let Some(bytes) = specs.read(name, LIMIT)? else { return Ok(None) };
        let is_command = |list: &List| !list.command.is_empty() && list.command.bytes().all(|byte| byte.is_ascii_lowercase());
        let list = serde_json::from_slice(&bytes).ok().filter(is_command);
        let invalid = || io::Error::other(format!("{}: not a list of changes; remove it", specs.path().join(name).display()));
        list.map(Some).ok_or_else(invalid)
    }

    /// Writes the list and the files that differ, and then gives the list its name.
    fn stage(&self, list: &mut List, changes: Changes, before: Before) -> io::Result<()> {
        let mut contents = Vec::new();
        for (file, bytes) in changes {
            let own = absolute(&file)?;
            let within = |(name, folder): &(&'static str, PathBuf)| Some((*name, relative(own.strip_prefix(folder).ok()?)?));
            let outside = || io::Error::other(format!("{}: outside of the folders of the project", file.display()));
            let (name, path) = self.0.iter().find_map(within).ok_or_else(outside)?;
            let folder = self.folder(name)?;
            let old = folder.stat(&path)?.map(age);
            if folder.read(&path, u64::MAX)? != bytes {
                list.entries.push(Entry { folder: name.to_owned(), path, old, removed: bytes.is_none() });
                contents.push(bytes.unwrap_or_default());
            }
        }
        if contents.is_empty() {
            return Ok(());
        }
        let specs = self.folder(SPECS)?;
        before()?;
        specs.replace(&beside(CHANGE), &serde_json::to_vec(list)?)?;
        for (entry, bytes) in list.entries.iter().zip(contents) {
            before()?;
            self.folder(&entry.folder)?.write(&beside(&entry.path), &bytes)?;
        }
        before()?;
        specs.rename(&beside(CHANGE), &specs, CHANGE)
    }

    /// Completes or discards an interrupted change, and returns what was done.
    fn recovered(&self, before: Before) -> io::Result<Option<String>> {
        let Some(list) = self.list(CHANGE)? else {
            let Some(list) = self.list(&beside(CHANGE))? else { return Ok(None) };
            self.discard(&list)?;
            return Ok(Some(format!("`{}` was interrupted before it changed files; run it again", list.command)));
        };
        let (command, count) = (&list.command, list.entries.len());
        for Entry { folder, path, old, removed } in &list.entries {
            let folder = self.folder(folder)?;
            let now = folder.stat(path)?.map(age);
            // A file without another one beside it is new already.
            if now != *old && !(*removed && now.is_none()) && folder.stat(&beside(path))?.is_some() {
                let (path, list) = (folder.path().join(path), self.path(SPECS)?.join(CHANGE));
                let help = format!("restore the file, or remove {} to keep all files as they are", list.display());
                return Err(io::Error::other(format!("{}: changed since `{command}` was interrupted; {help}", path.display())));
            }
        }
        self.complete(&list, before)?;
        Ok(Some(format!("`{command}` was interrupted, and is now completed: {count} files")))
    }

    /// Renames the new files, and removes the list.
    fn complete(&self, list: &List, before: Before) -> io::Result<()> {
        for Entry { folder, path, removed, .. } in &list.entries {
            let folder = self.folder(folder)?;
            if folder.stat(&beside(path))?.is_none() {
                continue;
            }
            before()?;
            if *removed {
                folder.remove_file(path)?;
                before()?;
                folder.remove_file(&beside(path))?;
            } else {
                folder.rename(&beside(path), &folder, path)?;
            }
        }
        before()?;
        self.folder(SPECS)?.remove_file(CHANGE)
    }

    /// Removes the new files, and then the list.
    fn discard(&self, list: &List) -> io::Result<()> {
        for entry in &list.entries {
            self.folder(&entry.folder)?.remove_file(&beside(&entry.path))?;
        }
        self.folder(SPECS)?.remove_file(&beside(CHANGE))
    }
}

/// The path of the new file of a file with this path. A file that is removed has an empty one.
fn beside(path: &str) -> String {
    format!("{path}.etw-new")
}

/// A relative path with `/` between its parts.
fn relative(path: &Path) -> Option<String> {
    let part = |part| if let Component::Normal(name) = part { name.to_str() } else { None };
    Some(path.components().map(part).collect::<Option<Vec<_>>>()?.join("/"))
}

/// The modification time of a file, in nanoseconds since 1970. Times before that are 0.
fn age(stat: etw_layouts_folder::Stat) -> u64 {
    let age = stat.modified.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(age.as_nanos()).unwrap_or(u64::MAX)
}
