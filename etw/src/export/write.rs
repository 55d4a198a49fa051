//! Where an export goes.

use crate::{Error, NewFile, Outcome, print};
use std::fs;
use std::path::Path;

/// A file.
pub struct Text {
    /// Its name in the folder.
    pub name: String,
    /// What is in it.
    pub text: String,
}

/// Writes files into a folder, or prints the only one. No file is written over.
pub fn write(texts: &[Text], folder: Option<&Path>) -> Result<Outcome, Error> {
    let Some(folder) = folder else {
        let [Text { text, .. }] = texts else {
            return Err(format!("these are {} files: name a folder for them with -o", texts.len()).into());
        };
        print(text)?;
        return Ok(Outcome::Good);
    };
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for Text { name, text } in texts {
        let path = folder.join(name);
        NewFile::write(&path, text.as_bytes()).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    let files = if texts.len() == 1 { texts[0].name.clone() } else { format!("{} files", texts.len()) };
    print(&format!("wrote {files} to {}\n", folder.display()))?;
    Ok(Outcome::Good)
}
