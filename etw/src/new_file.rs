//! Files that get their name when they are complete.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process;

/// A new file. It is written beside its place, as `NAME.PROCESS.part`, and gets its name when it is complete. If it is dropped before
/// that, it is removed. If the process is killed, the `.part` file stays; it does not block another run.
#[derive(Debug)]
pub struct NewFile {
    file: File,
    part: PathBuf,
    path: PathBuf,
}

impl NewFile {
    /// Begins a file.
    ///
    /// # Errors
    ///
    /// The file exists or cannot be created. The text belongs into a line that names the file.
    pub fn create(path: &Path) -> Result<Self, String> {
        if path.symlink_metadata().is_ok() {
            return Err(exists());
        }
        let name = path.file_name().ok_or("names no file")?.to_string_lossy();
        // File systems take names of 255 bytes.
        let name: String = name.chars().take(50).collect();
        for number in 0.. {
            let number = if number == 0 { String::new() } else { format!("-{number}") };
            let part = path.with_file_name(format!("{name}.{}{number}.part", process::id()));
            match File::create_new(&part) {
                Ok(file) => return Ok(Self { file, part, path: path.to_owned() }),
                // Left by a killed process of the same number.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        Err(exists())
    }

    /// Where to write.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Gives the complete file its name.
    ///
    /// # Errors
    ///
    /// The file exists by now, or it cannot be written.
    pub fn finish(self) -> Result<(), String> {
        self.file.sync_all().map_err(|error| error.to_string())?;
        // Unlike a rename, a hard link never replaces a file. Without hard links, the best that can be done is to check first.
        match fs::hard_link(&self.part, &self.path) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(exists()),
            Err(_) if self.path.symlink_metadata().is_ok() => Err(exists()),
            Err(_) => fs::rename(&self.part, &self.path).map_err(|error| error.to_string()),
        }
    }

    /// Writes a whole file. A file of the same content is left as it is.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create) and [`finish`](Self::finish).
    pub fn write(path: &Path, content: &[u8]) -> Result<(), String> {
        if is_same(path, content).unwrap_or(false) {
            return Ok(());
        }
        let new = Self::create(path)?;
        new.file().write_all(content).map_err(|error| error.to_string())?;
        new.finish()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        // The error that stopped the writing is reported; there is nothing to add.
        let _ = fs::remove_file(&self.part);
    }
}

fn is_same(path: &Path, content: &[u8]) -> io::Result<bool> {
    let is_as_long = path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() == content.len() as u64);
    Ok(is_as_long && fs::read(path)? == content)
}

fn exists() -> String {
    "already exists; refusing to overwrite: choose another name, or remove it".into()
}
