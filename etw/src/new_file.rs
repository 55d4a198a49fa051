//! Files that are written under a temporary name, and renamed when they are complete.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process;

/// A new file. It is written as `NAME.PROCESS.part` in the same folder, and renamed when it is complete. If it is dropped before
/// that, it is removed. If the process is killed, the `.part` file stays, and does not block another run.
#[derive(Debug)]
pub struct NewFile {
    file: File,
    part: PathBuf,
    path: PathBuf,
}

impl NewFile {
    /// Creates the temporary file.
    pub fn create(path: &Path) -> Result<Self, String> {
        if path.symlink_metadata().is_ok() {
            return Err(exists());
        }
        let name = path.file_name().ok_or("path has no file name")?.to_string_lossy();
        // File systems limit names to 255 bytes.
        let name: String = name.chars().take(50).collect();
        for number in 0.. {
            let number = if number == 0 { String::new() } else { format!("-{number}") };
            let part = path.with_file_name(format!("{name}.{}{number}.part", process::id()));
            match File::create_new(&part) {
                Ok(file) => return Ok(Self { file, part, path: path.to_owned() }),
                // A killed process with the same id left the file.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    return Err("the folder does not exist; create it, or choose another path".into());
                }
                Err(error) => return Err(error.to_string()),
            }
        }
        Err(exists())
    }

    /// The file to write to.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Renames the complete file.
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

    /// Writes a whole file. An existing file with the same content stays as it is.
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
        // The error that stopped the writing is already reported.
        let _ = fs::remove_file(&self.part);
    }
}

fn is_same(path: &Path, content: &[u8]) -> io::Result<bool> {
    let is_as_long = path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() == content.len() as u64);
    Ok(is_as_long && fs::read(path)? == content)
}

fn exists() -> String {
    "already exists: refusing to overwrite; choose another name or remove the file".into()
}
