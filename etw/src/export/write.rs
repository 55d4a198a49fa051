//! The output of an export.

use crate::{Error, NewFile, Outcome, print};
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

/// A file to write.
pub struct Text {
    /// Its name in the folder.
    pub name: String,
    /// Its content.
    pub text: String,
}

/// Whether an extension is that of a file. A folder name such as `tables.10.0` also has an extension.
fn is_file_extension(extension: &OsStr) -> bool {
    extension.to_string_lossy().chars().all(|letter| letter.is_ascii_alphabetic())
}

/// Writes files to a folder, or prints a single file. A path with the extension of the files names a single file. An existing file with
/// other content is not overwritten.
pub fn write(texts: &[Text], folder: Option<&Path>) -> Result<Outcome, Error> {
    let Some(folder) = folder else {
        let [Text { text, .. }] = texts else {
            return Err(format!("cannot print {} files to standard output; name a folder with -o", texts.len()).into());
        };
        print(text)?;
        return Ok(Outcome::Good);
    };
    let is_file =
        |text: &Text| !folder.is_dir() && folder.extension().is_some() && folder.extension() == Path::new(&text.name).extension();
    match texts {
        [text] if is_file(text) => {
            NewFile::write(folder, text.text.as_bytes()).map_err(|error| format!("{}: {error}", folder.display()))?;
            print(&format!("wrote {}\n", folder.display()))?;
            return Ok(Outcome::Good);
        }
        [text, ..] if is_file(text) => {
            let (count, folder) = (texts.len(), folder.display());
            return Err(format!("{folder}: cannot write {count} files to one file; name a folder with -o").into());
        }
        [text, ..] if !folder.is_dir() => {
            let wanted = Path::new(&text.name).extension().unwrap_or_default().to_string_lossy();
            if let Some(other) = folder.extension().filter(|other| is_file_extension(other)) {
                let (folder, other) = (folder.display(), other.to_string_lossy());
                return Err(format!("{folder}: wrong extension .{other}; name a file with .{wanted}, or a folder").into());
            }
        }
        _ => {}
    }
    fs::create_dir_all(folder).map_err(|error| crate::no_folder(folder, &error))?;
    for Text { name, text } in texts {
        let path = folder.join(name);
        NewFile::write(&path, text.as_bytes()).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    let files = if texts.len() == 1 { texts[0].name.clone() } else { format!("{} files", texts.len()) };
    print(&format!("wrote {files} to {}\n", folder.display()))?;
    Ok(Outcome::Good)
}
