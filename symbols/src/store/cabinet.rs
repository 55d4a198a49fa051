//! Compressed store entries: cabinets with a single file.

use super::search::Problem;
use super::{MAX_FILE, Reason};
use cab::Cabinet;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// Whether a file begins as a cabinet.
pub(super) fn is(file: &mut File) -> io::Result<bool> {
    let mut start = Vec::new();
    file.rewind()?;
    file.take(4).read_to_end(&mut start)?;
    Ok(start == b"MSCF")
}

/// Expands the file in a cabinet. Stores compress each file to a separate cabinet.
///
/// # Errors
///
/// The problem of the cabinet, phrased to follow its name.
pub(super) fn expand(mut file: impl Read + Seek, to: &mut File) -> Result<(), Problem> {
    let unusable = |answer: String| (Reason::Unusable, answer);
    let damaged = |error: io::Error| unusable(format!("is a cabinet that cannot be expanded ({error})"));
    if first_offset(&mut file).map_err(damaged)? != 0 {
        return Err(unusable("is a cabinet with other data before its file".to_owned()));
    }
    let mut cabinet = Cabinet::new(file).map_err(damaged)?;
    let files: Vec<_> =
        cabinet.folder_entries().flat_map(cab::FolderEntry::file_entries).map(|file| file.name().to_owned()).collect();
    let [name] = &files[..] else { return Err(unusable(format!("is a cabinet of {} files, not of one", files.len()))) };
    let content = cabinet.read_file(name).map_err(damaged)?;
    io::copy(&mut content.take(MAX_FILE), to).map(drop).map_err(damaged)
}

/// Offset of the file in the expanded data. `cab` 0.6 panics if it is beyond the end.
fn first_offset(cabinet: &mut (impl Read + Seek)) -> io::Result<u32> {
    let mut word = |at: u64| {
        let mut word = [0; 4];
        cabinet.seek(SeekFrom::Start(at)).and_then(|_| cabinet.read_exact(&mut word)).map(|()| u32::from_le_bytes(word))
    };
    let files = word(16)?;
    let offset = word(u64::from(files) + 4)?;
    cabinet.rewind().map(|()| offset)
}
