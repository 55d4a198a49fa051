//! Files in a folder whose content may come from someone else.
//!
//! A program that keeps its own files in a folder reads them again later: records, lists, locks. By then, the folder can be one
//! that was received, with files that the program never wrote. A [`Folder`] never leads out of itself: each part of a path is a
//! [plain name](is_name), links are refused, and only regular files are read, up to a limit. Paths are resolved from the handle of
//! the folder, so this also applies while someone else changes it.

#![forbid(unsafe_code)]

mod name;

pub use name::is_name;

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A folder. Paths below it are relative, and have `/` between their parts. All errors name the file or folder.
#[derive(Debug)]
pub struct Folder {
    dir: Dir,
    path: PathBuf,
}

/// A regular file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Its size in bytes.
    pub bytes: u64,
    /// The time of its last modification.
    pub modified: SystemTime,
}

impl Folder {
    /// Opens a folder. Its own path is the user's, and can lead through links.
    ///
    /// # Errors
    ///
    /// The folder does not exist, or cannot be read.
    pub fn open(path: &Path) -> io::Result<Self> {
        // The parent of a plain file name is empty.
        let own = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let dir = Dir::open_ambient_dir(own, ambient_authority()).map_err(|error| named(path, &error))?;
        Ok(Self { dir, path: path.to_owned() })
    }

    /// Opens a folder, and creates it if it does not exist.
    ///
    /// # Errors
    ///
    /// The folder cannot be created or read.
    pub fn create(path: &Path) -> io::Result<Self> {
        fs::create_dir_all(path).map_err(|error| named(path, &error))?;
        Self::open(path)
    }

    /// The path of the folder, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A folder below this one; `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// The path leads through a link or a file, or has a part that is not a plain name.
    pub fn folder(&self, path: &str) -> io::Result<Option<Self>> {
        self.descend(Some(path), false)
    }

    /// Like [`folder`](Self::folder); creates the folder if it does not exist.
    ///
    /// # Errors
    ///
    /// As `folder`, or the folder cannot be created.
    pub fn create_folder(&self, path: &str) -> io::Result<Self> {
        self.created(Some(path))
    }

    /// The names in the folder, sorted. Names that are not plain names are left out.
    ///
    /// # Errors
    ///
    /// The folder cannot be read.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in self.dir.entries().map_err(|error| named(&self.path, &error))? {
            let name = entry.map_err(|error| named(&self.path, &error))?.file_name();
            names.extend(name.into_string().ok().filter(|name| is_name(name)));
        }
        names.sort();
        Ok(names)
    }

    /// Size and modification time of a file; `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// It is not a regular file, or the path is not valid, as for [`folder`](Self::folder).
    pub fn stat(&self, path: &str) -> io::Result<Option<Stat>> {
        let Some((folder, name)) = self.parent(path)? else { return Ok(None) };
        let stat = match folder.dir.symlink_metadata(name) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            stat => stat.map_err(|error| folder.failed(name, &error))?,
        };
        if !stat.is_file() {
            return Err(folder.irregular(name));
        }
        let modified = stat.modified().map_err(|error| folder.failed(name, &error))?.into_std();
        Ok(Some(Stat { bytes: stat.len(), modified }))
    }

    /// Reads a file; `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// It cannot be read, is not a regular file, or has more bytes than the limit; or the path is not valid.
    pub fn read(&self, path: &str, limit: u64) -> io::Result<Option<Vec<u8>>> {
        let Some(file) = self.open_file(path)? else { return Ok(None) };
        let path = self.path.join(path);
        let mut bytes = Vec::new();
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| named(&path, &error))?;
        match bytes.len() as u64 > limit {
            true => Err(named(&path, &io::Error::other(format!("file too large: more than {limit} bytes")))),
            false => Ok(Some(bytes)),
        }
    }

    /// Opens a file for reading; `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// It cannot be opened, or is not a regular file; or the path is not valid.
    pub fn open_file(&self, path: &str) -> io::Result<Option<File>> {
        let Some((folder, name)) = self.parent(path)? else { return Ok(None) };
        match folder.opened(name, OpenOptions::new().read(true)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            file => file.map(Some),
        }
    }

    /// Opens a file to lock it, and creates it if it does not exist. Its content stays as it is.
    ///
    /// # Errors
    ///
    /// It cannot be opened for writing, or is not a regular file; or the path is not valid.
    pub fn lock_file(&self, name: &str) -> io::Result<File> {
        checked(&self.path, name)?;
        self.opened(name, OpenOptions::new().read(true).write(true).create(true))
    }

    /// Creates a file, and its folders. Replaces a file or link of that name, never what the link leads to.
    ///
    /// # Errors
    ///
    /// It cannot be written, or the path is not valid.
    pub fn create_file(&self, path: &str) -> io::Result<File> {
        let (above, name) = split(path);
        let folder = self.created(above)?;
        folder.remove_file(name)?;
        folder.opened(name, OpenOptions::new().read(true).write(true).create_new(true))
    }

    /// Writes a file under another name, and renames it: under its own name, the file always has the old or the new content.
    ///
    /// # Errors
    ///
    /// As [`create_file`](Self::create_file) and [`rename`](Self::rename).
    pub fn replace(&self, path: &str, content: &[u8]) -> io::Result<()> {
        let part = format!("{path}.part");
        self.write(&part, content)?;
        self.rename(&part, self, path)
    }

    /// Writes a file to the disk; see [`create_file`](Self::create_file).
    ///
    /// # Errors
    ///
    /// As `create_file`, or the disk is full.
    pub fn write(&self, path: &str, content: &[u8]) -> io::Result<()> {
        let mut file = self.create_file(path)?;
        file.write_all(content).and_then(|()| file.sync_all()).map_err(|error| named(&self.path.join(path), &error))
    }

    /// Renames a file, and replaces a file or link that has the new name. Creates the folders of the new name.
    ///
    /// # Errors
    ///
    /// The file does not exist, a folder has the new name, or a path is not valid.
    pub fn rename(&self, from: &str, to: &Folder, path: &str) -> io::Result<()> {
        let gone = || named(&self.path.join(from), &ErrorKind::NotFound.into());
        let (old, from) = self.parent(from)?.ok_or_else(gone)?;
        let (above, name) = split(path);
        let new = to.created(above)?;
        checked(&new.path, name)?;
        old.dir.rename(from, &new.dir, name).map_err(|error| named(&new.path.join(name), &error))
    }

    /// Removes a file or a link, if it exists.
    ///
    /// # Errors
    ///
    /// It is a folder, or cannot be removed; or the path is not valid.
    pub fn remove_file(&self, path: &str) -> io::Result<()> {
        let Some((folder, name)) = self.parent(path)? else { return Ok(()) };
        match folder.dir.remove_file_or_symlink(name) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(named(&folder.path.join(name), &error)),
            _ => Ok(()),
        }
    }

    /// Removes a folder with its content, if it exists. Links in it are removed, not followed.
    ///
    /// # Errors
    ///
    /// It is a link or a file, or cannot be removed. On Windows, it also must not be open as a [`Folder`].
    pub fn remove_folder(&self, name: &str) -> io::Result<()> {
        checked(&self.path, name)?;
        // Windows does not remove a folder while a handle of it is open.
        let Some(path) = self.folder(name)?.map(|folder| folder.path) else { return Ok(()) };
        self.dir.remove_dir_all(name).map_err(|error| named(&path, &error))
    }

    fn created(&self, path: Option<&str>) -> io::Result<Self> {
        self.descend(path, true)?.ok_or_else(|| named(&self.path, &ErrorKind::NotFound.into()))
    }

    fn descend(&self, path: Option<&str>, creates: bool) -> io::Result<Option<Self>> {
        let dir = self.dir.try_clone().map_err(|error| named(&self.path, &error))?;
        let mut folder = Self { dir, path: self.path.clone() };
        for name in path.iter().flat_map(|path| path.split('/')) {
            checked(&folder.path, name)?;
            let dir = match folder.dir.open_dir_nofollow(name) {
                Err(error) if error.kind() == ErrorKind::NotFound && creates => match folder.dir.create_dir(name) {
                    Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(folder.failed(name, &error)),
                    _ => folder.dir.open_dir_nofollow(name),
                },
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                dir => dir,
            };
            let dir = dir.map_err(|error| folder.failed(name, &error))?;
            folder = Self { dir, path: folder.path.join(name) };
        }
        Ok(Some(folder))
    }

    /// The folder of a file, and its name; `None` if the folder does not exist.
    fn parent<'p>(&self, path: &'p str) -> io::Result<Option<(Self, &'p str)>> {
        let (above, name) = split(path);
        let Some(folder) = self.descend(above, false)? else { return Ok(None) };
        checked(&folder.path, name)?;
        Ok(Some((folder, name)))
    }

    /// Opens a regular file. Opening does not wait for the other end of a pipe.
    fn opened(&self, name: &str, options: &mut OpenOptions) -> io::Result<File> {
        let options = options.follow(FollowSymlinks::No).nonblock(true);
        let file = self.dir.open_with(name, options).map_err(|error| self.failed(name, &error))?.into_std();
        match file.metadata().map_err(|error| self.failed(name, &error))?.is_file() {
            true => Ok(file),
            false => Err(self.irregular(name)),
        }
    }

    /// The error of a file or folder. That of a link depends on the system.
    fn failed(&self, name: &str, error: &io::Error) -> io::Error {
        match self.dir.symlink_metadata(name) {
            Ok(stat) if stat.is_symlink() => self.irregular(name),
            _ => named(&self.path.join(name), error),
        }
    }

    fn irregular(&self, name: &str) -> io::Error {
        let is_link = self.dir.symlink_metadata(name).is_ok_and(|stat| stat.is_symlink());
        let problem = if is_link { "is a link; remove it" } else { "is not a regular file; remove it" };
        named(&self.path.join(name), &io::Error::new(ErrorKind::InvalidInput, problem))
    }
}

fn checked(folder: &Path, name: &str) -> io::Result<()> {
    match is_name(name) {
        true => Ok(()),
        false => {
            let problem = format!("`{}` is not a plain file name", name.escape_debug());
            Err(named(folder, &io::Error::new(ErrorKind::InvalidInput, problem)))
        }
    }
}

/// The folder of a path, if the path has one, and the name in it.
fn split(path: &str) -> (Option<&str>, &str) {
    path.rsplit_once('/').map_or((None, path), |(above, name)| (Some(above), name))
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
