//! The lock of a project, and the recovery of interrupted changes.
//!
//! One file in the folder of the specs is both the lock and the journal. A process locks it before it reads anything, and unlocks
//! it when everything is written. Before the first file is replaced, the journal contains the old and the new content of all
//! files, and a last line that marks it as complete. A killed process loses the lock. The next process that finds the journal
//! completes the change if a file has been replaced. Otherwise it discards the journal.

#[cfg(test)]
mod tests;

use crate::Error;
use crate::project::{Files, Project};
use crate::replace::{Changes, Replacement, Side, Writing, clean, named, put};
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Component, Path, PathBuf, absolute};
use std::process;

/// The journal, in the folder of the specs. It exists after the first change, and is empty when no change is in progress.
pub const JOURNAL: &str = ".journal";

/// The exclusive right to change a project.
pub struct Lock {
    file: File,
    place: Place,
    /// Whether the journal contains an unfinished change.
    pending: bool,
}

/// Location of a journal, and the files that it may change.
struct Place {
    journal: PathBuf,
    /// Base of the paths in the journal.
    base: PathBuf,
    /// Folders that contain all of the files.
    folders: Vec<PathBuf>,
}

/// Contents of a journal.
#[derive(Debug, PartialEq, Eq)]
struct Journal {
    /// Command that wrote it.
    command: String,
    /// Process that wrote it.
    process: u32,
    /// Changes; `None` while the journal is incomplete.
    files: Option<Vec<Replacement>>,
}

impl Project {
    /// Locks the project. An interrupted change is [recovered](Project::recover) first.
    ///
    /// # Errors
    ///
    /// Another process has the lock, the folder of the specs is not writable, or the project is built into the program.
    pub fn lock(&self, command: &str) -> Result<Lock, Error> {
        self.folder()?;
        let place = Place::of(self).ok_or("the specs are not in a folder")?;
        self.recover()?;
        let options = File::options().read(true).write(true).create(true).truncate(false).open(&place.journal);
        let mut file = options.map_err(|e| named(&place.journal, &e))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::Error(error)) => return Err(named(&place.journal, &error).into()),
            Err(TryLockError::WouldBlock) => {
                let who = read(&mut file).ok().and_then(|bytes| Journal::parse(&bytes));
                let who = who.map_or("another command".into(), |j| format!("`{}` (process {})", j.command, j.process));
                let specs = place.journal.with_file_name("");
                let help = "wait until it ends, and run this command again";
                return Err(format!("{who} is changing {}; {help}", specs.display()).into());
            }
        }
        if !read(&mut file)?.is_empty() {
            return Err("another command was just interrupted; run this command again".into());
        }
        let mut lock = Lock { file, place, pending: false };
        lock.append(Journal::head(command, process::id()).as_bytes()).map_err(|e| named(&lock.place.journal, &e))?;
        Ok(lock)
    }

    /// Completes an interrupted change if it had begun to replace files, otherwise discards it. Returns a line that describes the
    /// result.
    ///
    /// # Errors
    ///
    /// Files cannot be replaced, or were changed by someone else in the meantime.
    pub fn recover(&self) -> Result<Option<String>, Error> {
        let Some(place) = Place::of(self) else { return Ok(None) };
        if !std::fs::metadata(&place.journal).is_ok_and(|journal| journal.len() > 0) {
            return Ok(None);
        }
        let mut file = File::options().read(true).write(true).open(&place.journal).map_err(|e| named(&place.journal, &e))?;
        match file.try_lock() {
            Ok(()) => Ok(place.recovered(&mut file, &|| Ok(()))?),
            // The other process is running.
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(named(&place.journal, &error).into()),
        }
    }
}

impl Lock {
    /// Replaces the texts of files: all of them, or none. If the process is killed, the next command completes the change.
    ///
    /// # Errors
    ///
    /// A file cannot be replaced; then nothing is changed.
    pub fn replace(mut self, changes: Changes) -> Result<(), Error> {
        Ok(self.replaced(changes, &|| Ok(()))?)
    }

    fn replaced(&mut self, changes: Changes, before: &dyn Fn() -> io::Result<()>) -> Result<(), String> {
        let unchanged = |error: String| format!("{error}; nothing was changed");
        let files = changes.into_iter().map(|(path, text)| Replacement::of(path, text)).collect::<Result<Vec<_>, _>>();
        let files = files.map_err(unchanged)?;
        let path = self.place.journal.clone();
        let texts = files.iter().map(|file| self.place.entry(file)).collect::<Result<Vec<_>, _>>()?;
        self.pending = true;
        let mut journal = || {
            for text in texts.iter().map(Vec::as_slice).chain([END.as_bytes()]) {
                before()?;
                self.append(text)?;
            }
            self.file.sync_all()
        };
        if let Err(error) = journal() {
            self.pending = false;
            return Err(unchanged(named(&path, &error)));
        }
        let writing = Writing { process: process::id(), before };
        if let Err(error) = put(&files, Side::New, writing) {
            let problem = |other| format!("{error}; then {other}: fix this, and the next command completes the change");
            put(&files, Side::Old, writing).map_err(problem)?;
            self.pending = false;
            return Err(unchanged(error));
        }
        self.pending = false;
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(io::SeekFrom::End(0))?;
        self.file.write_all(bytes)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if !self.pending {
            // On failure the next command finds a completed change.
            drop(self.file.set_len(0));
        }
    }
}

impl Place {
    /// The location for a writable project.
    fn of(project: &Project) -> Option<Self> {
        let Files::Folder(specs) = &project.specs else { return None };
        let specs = absolute(project.root.join(specs)).ok()?;
        // A single spec file is a spec set too.
        let specs = if specs.is_file() { specs.parent()?.to_owned() } else { specs };
        let mut folders = vec![specs.clone()];
        if let Files::Folder(facts) = &project.facts {
            folders.push(absolute(project.root.join(facts)).ok()?);
        }
        if project.generated.is_some() {
            folders.push(absolute(&project.root).ok()?);
        }
        Some(Self { journal: specs.join(JOURNAL), base: specs.parent()?.to_owned(), folders })
    }

    /// Completes or discards the change in a journal, and empties the journal.
    fn recovered(&self, file: &mut File, before: &dyn Fn() -> io::Result<()>) -> Result<Option<String>, String> {
        let of_journal = |e: io::Error| named(&self.journal, &e);
        let bytes = read(file).map_err(of_journal)?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let journal = Journal::parse(&bytes);
        let done = match &journal {
            Some(Journal { command, process, files: Some(files) }) => self.completed(command, *process, files, before)?,
            Some(Journal { command, .. }) => format!("`{command}` was interrupted before it wrote anything; run it again"),
            None => "a command was interrupted before it wrote anything; run it again".to_owned(),
        };
        file.set_len(0).map_err(of_journal)?;
        Ok(Some(done))
    }

    fn completed(
        &self,
        command: &str,
        process: u32,
        files: &[Replacement],
        before: &dyn Fn() -> io::Result<()>,
    ) -> Result<String, String> {
        let files: Vec<Replacement> = files.iter().map(|file| self.found(file)).collect::<Result<_, _>>()?;
        let mut begun = false;
        for file in &files {
            let (old, new) = (file.is(Side::Old)?, file.is(Side::New)?);
            if !old && !new {
                let journal = self.journal.display();
                let help = format!("restore the file, or delete {journal} to keep all files as they are");
                return Err(format!("{}: changed since `{command}` was interrupted; {help}", file.path.display()));
            }
            begun |= !old;
        }
        clean(&files, process);
        let about = format!("`{command}` was interrupted");
        if !begun {
            return Ok(format!("{about}, and is rolled back: no file had been replaced; run it again"));
        }
        let writing = Writing { process, before };
        match put(&files, Side::New, writing) {
            Ok(()) => Ok(format!("{about}, and is now completed: {} files", files.len())),
            Err(error) => match put(&files, Side::Old, writing) {
                Ok(()) => Ok(format!("{about}, and is rolled back: {error}")),
                Err(other) => Err(format!("{about}: {error}; then {other}: fix this, and the next command completes it")),
            },
        }
    }

    /// Encodes a file for the journal.
    fn entry(&self, file: &Replacement) -> Result<Vec<u8>, String> {
        let path = absolute(&file.path).map_err(|e| named(&file.path, &e))?;
        let path = path.strip_prefix(&self.base).unwrap_or(&path);
        let text = path.to_str().filter(|text| !text.contains('\n'));
        let text = text.ok_or_else(|| {
            format!("{}: unsupported path: not UTF-8, or contains a line break; rename the file", path.display())
        })?;
        let mut bytes = format!("{} {} {text}\n", length(&file.old), length(&file.new)).into_bytes();
        bytes.extend([&file.old, &file.new].into_iter().flatten().flatten());
        Ok(bytes)
    }

    /// Validates a file of a journal, whose origin is unknown: it must be in a folder of the project.
    fn found(&self, file: &Replacement) -> Result<Replacement, String> {
        let path = self.base.join(&file.path);
        let inside = |folder: &PathBuf| real(&path).is_some_and(|path| real(folder).is_some_and(|f| path.starts_with(f)));
        if !self.folders.iter().any(inside) {
            let journal = self.journal.display();
            let help = "run the interrupted command again, or delete the journal";
            return Err(format!("{journal}: {} is outside of the folders of this project; {help}", path.display()));
        }
        Ok(Replacement { path, ..file.clone() })
    }
}

/// A path without links and `..`, as far as it exists.
fn real(path: &Path) -> Option<PathBuf> {
    if path.components().any(|part| part == Component::ParentDir) {
        return None;
    }
    let there = path.ancestors().find(|path| path.exists())?;
    Some(there.canonicalize().ok()?.join(path.strip_prefix(there).ok()?))
}

/// Last line of a complete journal.
const END: &str = "complete\n";

impl Journal {
    /// The first line.
    fn head(command: &str, process: u32) -> String {
        format!("etw-layouts {command} {process}\n")
    }

    /// Parses the bytes of a journal; `None` if not even the first line is complete.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let head = line(&mut rest)?;
        let (command, process) = head.strip_prefix("etw-layouts ")?.rsplit_once(' ')?;
        Some(Self { command: command.to_owned(), process: process.parse().ok()?, files: replacements(rest) })
    }
}

fn replacements(mut rest: &[u8]) -> Option<Vec<Replacement>> {
    let mut files = Vec::new();
    while rest != END.as_bytes() {
        let mut words = line(&mut rest)?.splitn(3, ' ');
        let mut content = || -> Option<Option<usize>> {
            match words.next()? {
                "-" => Some(None),
                length => length.parse().ok().map(Some),
            }
        };
        let (old, new) = (content()?, content()?);
        let path = PathBuf::from(words.next()?);
        let mut bytes = |length: Option<usize>| -> Option<Option<Vec<u8>>> {
            let Some(length) = length else { return Some(None) };
            let (content, behind) = rest.split_at_checked(length)?;
            rest = behind;
            Some(Some(content.to_vec()))
        };
        files.push(Replacement { path, old: bytes(old)?, new: bytes(new)? });
    }
    Some(files)
}

fn line<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let line = core::str::from_utf8(&rest[..end]).ok()?;
    *rest = &rest[end + 1..];
    Some(line)
}

fn length(content: &Option<Vec<u8>>) -> String {
    content.as_ref().map_or("-".into(), |content| content.len().to_string())
}

fn read(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}
