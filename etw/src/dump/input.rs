//! Input: a dump file, or a minidump from a pipe.

use crate::input::Input;
use crate::input::kind::no_dump;
use crate::output::stop::Stop;
use etw_layouts_dump::{Dump, DumpFile, DumpHeader, Error, MemoryDump};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Opens a dump. Unlike [`DumpFile::open`], reads pipes, and names the command for a file of another kind by its first bytes.
pub fn open(input: &Input) -> Result<DumpFile, Stop> {
    let path = input.path()?;
    let unreadable = |error: io::Error| Stop::Input(etw_layouts_cli::unreadable(&error));
    let file = if path == Path::new("-") { None } else { Some(File::open(path).map_err(unreadable)?) };
    let mut reader: Box<dyn Read + '_> = match &file {
        Some(file) => Box::new(file),
        None => Box::new(io::stdin().lock()),
    };
    let mut bytes = Vec::new();
    reader.by_ref().take(DumpHeader::SIZE as u64).read_to_end(&mut bytes).map_err(unreadable)?;
    let header = DumpHeader::read(&bytes).map_err(|error| match error {
        Error::NoDump if !bytes.starts_with(b"PAGEDU") => Stop::Input(no_dump(&bytes).unwrap_or_else(|| error.to_string())),
        _ => Stop::Input(error.to_string()),
    })?;
    let opened = if header.is_triage() {
        reader.read_to_end(&mut bytes).map_err(unreadable)?;
        Dump::with_header(bytes, header).map(DumpFile::Triage)
    } else {
        drop(reader);
        let pipe = "cannot read a full dump from a pipe: its pages are read on demand; name the file";
        let file = file.ok_or_else(|| Stop::Input(pipe.into()))?;
        MemoryDump::with_header(file, header).map(DumpFile::Memory)
    };
    opened.map_err(|error| Stop::Input(error.to_string()))
}

/// The stem of the names of output files.
pub fn stem(input: &Input) -> &str {
    Path::new(&input.name).file_stem().and_then(OsStr::to_str).filter(|stem| *stem != "-").unwrap_or("dump")
}
