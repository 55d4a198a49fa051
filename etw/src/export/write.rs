//! The output of an export.

use crate::print::escaped;
use crate::{Error, NewFile, Outcome, print};
use std::ffi::OsStr;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::{fs, mem};

/// A file to write.
pub struct Output {
    /// Its name in the folder.
    pub name: String,
    /// Its content.
    pub content: Vec<u8>,
}

/// A file that is written part by part, so that it need not fit in memory. A part ends with a line.
pub struct Parts {
    /// The parts not yet written.
    buffer: Vec<u8>,
    /// The file; `None` for standard output.
    file: Option<NewFile>,
    path: PathBuf,
    is_json: bool,
}

/// The bytes that are collected before they are written.
const PART: usize = 1 << 20;

impl Parts {
    /// Opens FILE, or the file `name` in DIR, or standard output.
    pub fn open(name: &str, folder: Option<&Path>) -> Result<Self, Error> {
        let path = folder.map(|folder| place(name, folder)).transpose()?;
        let create = |path: &PathBuf| NewFile::create(path).map_err(|error| format!("{}: {error}", path.display()));
        let file = path.as_ref().map(create).transpose()?;
        Ok(Self { buffer: Vec::new(), file, path: path.unwrap_or_default(), is_json: name.ends_with(".json") })
    }

    /// Writes the rest, and gives the file its name.
    pub fn finish(mut self) -> Result<Outcome, Error> {
        self.pass(self.buffer.len())?;
        if let Some(file) = self.file {
            file.finish().map_err(|error| format!("{}: {error}", self.path.display()))?;
            print(&format!("wrote {}\n", self.path.display()))?;
        }
        Ok(Outcome::Good)
    }

    /// Writes the first bytes of the buffer.
    fn pass(&mut self, length: usize) -> io::Result<()> {
        let rest = self.buffer.split_off(length);
        let part = String::from_utf8(mem::replace(&mut self.buffer, rest)).map_err(io::Error::other)?;
        let part = if self.is_json { escaped(part) } else { part };
        let written = match &self.file {
            Some(file) => file.file().write_all(part.as_bytes()).map_err(|error| format!("{}: {error}", self.path.display())),
            None => print(&part).map_err(|error| error.to_string()),
        };
        written.map_err(io::Error::other)
    }
}

impl Write for Parts {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= PART
            && let Some(end) = self.buffer.iter().rposition(|byte| *byte == b'\n')
        {
            self.pass(end + 1)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The path of a single file in a folder that is created if it does not exist, or the path itself if it has the extension of the file.
pub(super) fn place(name: &str, folder: &Path) -> Result<PathBuf, Error> {
    if !folder.is_dir() {
        let wanted = Path::new(name).extension();
        match folder.extension() {
            extension if extension.is_some() && extension == wanted => return Ok(folder.to_owned()),
            Some(other) if is_file_extension(other) => {
                let (folder, other, wanted) = (folder.display(), other.display(), wanted.unwrap_or_default().display());
                return Err(format!("{folder}: wrong extension .{other}; name a file with .{wanted}, or a folder").into());
            }
            _ => {}
        }
    }
    fs::create_dir_all(folder).map_err(|error| crate::no_folder(folder, &error))?;
    Ok(folder.join(name))
}

/// Whether an extension is that of a file. A folder name such as `tables.10.0` also has an extension.
fn is_file_extension(extension: &OsStr) -> bool {
    extension.to_string_lossy().chars().all(|letter| letter.is_ascii_alphabetic())
}

/// Writes files to a folder, or prints a single file. A path with the extension of the files names a single file. An existing file with
/// other content is not overwritten.
pub fn write(outputs: &[Output], folder: Option<&Path>) -> Result<Outcome, Error> {
    let Some(folder) = folder else {
        let [Output { content, .. }] = outputs else {
            return Err(format!("cannot print {} files to standard output; name a folder with -o", outputs.len()).into());
        };
        match std::str::from_utf8(content) {
            Ok(text) => print(text)?,
            Err(_) if io::stdout().is_terminal() => return Err("a terminal cannot show this file; name a file with -o".into()),
            Err(_) => crate::print::bytes(content)?,
        }
        return Ok(Outcome::Good);
    };
    let is_file = |output: &Output| {
        !folder.is_dir() && folder.extension().is_some() && folder.extension() == Path::new(&output.name).extension()
    };
    let (count, shown) = (outputs.len(), folder.display());
    if count > 1 && outputs.first().is_some_and(is_file) {
        return Err(format!("{shown}: cannot write {count} files to one file; name a folder with -o").into());
    }
    for Output { name, content } in outputs {
        let path = place(name, folder)?;
        NewFile::write(&path, content).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    print(&match outputs {
        [output] if is_file(output) => format!("wrote {shown}\n"),
        [output] => format!("wrote {} to {shown}\n", output.name),
        _ => format!("wrote {count} files to {shown}\n"),
    })?;
    Ok(Outcome::Good)
}
