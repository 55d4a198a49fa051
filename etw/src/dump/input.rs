//! Input: a minidump is read as a whole; larger dumps are read page by page.

use crate::input::Input;
use crate::input::kind::no_dump;
use crate::output::stop::Stop;
use etw_layouts_dump::{DumpHeader, Error};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// An open dump.
pub enum Opened {
    /// The header and the bytes of a minidump.
    Triage(DumpHeader, Vec<u8>),
    /// The header and the file of a full or kernel dump.
    Memory(DumpHeader, File),
}

/// Opens a dump.
pub fn open(input: &Input) -> Result<Opened, Stop> {
    let path = input.path()?;
    let unreadable = |error: io::Error| Stop::Input(etw_layouts_cli::unreadable(&error));
    let file = if path == Path::new("-") { None } else { Some(File::open(path).map_err(unreadable)?) };
    let mut reader: Box<dyn Read + '_> = match &file {
        Some(file) => Box::new(file),
        None => Box::new(io::stdin().lock()),
    };
    let mut bytes = Vec::new();
    reader.by_ref().take(DumpHeader::SIZE as u64).read_to_end(&mut bytes).map_err(unreadable)?;
    let header = DumpHeader::of(&bytes).map_err(|error| match error {
        Error::NoDump if !bytes.starts_with(b"PAGEDU") => Stop::Input(no_dump(&bytes).unwrap_or_else(|| error.to_string())),
        _ => Stop::Input(error.to_string()),
    })?;
    if header.is_triage() {
        reader.read_to_end(&mut bytes).map_err(unreadable)?;
        return Ok(Opened::Triage(header, bytes));
    }
    drop(reader);
    let pipe = "cannot read a full dump from a pipe: its pages are read on demand; name the file";
    file.map(|file| Opened::Memory(header, file)).ok_or_else(|| Stop::Input(pipe.into()))
}

/// The stem of the names of output files.
pub fn stem(input: &Input) -> &str {
    Path::new(&input.name).file_stem().and_then(OsStr::to_str).filter(|stem| *stem != "-").unwrap_or("dump")
}
