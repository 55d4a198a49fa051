//! Whether a file is the PDB that is wanted: a look at its directory and at the start of two streams, nothing more.

use crate::identity::{INFORMATION, MODULES, Pdb, Stated};
use crate::msf::{Fault, HEADER, Header, MSF_2, MSF_7, MSFZ};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// Checks that a file is the PDB that is wanted, whole.
///
/// # Errors
///
/// What it is instead, as the end of a sentence that begins with its name.
pub(super) fn check(path: &Path, pdb: &Pdb) -> Result<(), String> {
    let mut msf = Msf::open(path)?;
    let stated = Stated::read(&msf.start(INFORMATION)?, &msf.start(MODULES)?);
    match stated.pdb() {
        _ if stated.is(pdb) => Ok(()),
        Some(Pdb { guid, age, .. }) => Err(format!("is another PDB, of GUID {guid:032X} and age {age}")),
        None => Err("is a PDB without a GUID".to_owned()),
    }
}

struct Msf {
    file: File,
    page_size: u64,
    /// The page that lists the pages of the directory.
    map: u64,
    streams: u32,
}

impl Msf {
    fn open(path: &Path) -> Result<Msf, String> {
        let mut file = File::open(path).map_err(|error| format!("cannot be opened ({error})"))?;
        let length = file.metadata().map_err(failed)?.len();
        let mut start = [0; HEADER];
        if length < start.len() as u64 {
            return Err(format!("is no PDB: it has {length} bytes"));
        }
        file.read_exact(&mut start).map_err(failed)?;
        if !start.starts_with(MSF_7) {
            return Err(other(&start));
        }
        let header = Header::read(&start, length).map_err(|fault| match fault {
            Fault::Short => format!("is no PDB: it has {length} bytes"),
            Fault::PageSize(size) => format!("is a damaged PDB: its pages have {size} bytes"),
            Fault::CutShort(whole) => format!("is cut short: {length} of {whole} bytes"),
        })?;
        let mut msf = Msf { file, page_size: header.page_size.into(), map: header.map.into(), streams: 0 };
        msf.streams = msf.directory(0)?;
        Ok(msf)
    }

    /// The start of a stream, as far as it is looked at; empty if there is no such stream.
    fn start(&mut self, stream: u16) -> Result<Vec<u8>, String> {
        let mut before = 0;
        for earlier in 0..stream {
            before += self.size(earlier)?.div_ceil(self.page_size);
        }
        let length = self.size(stream)?.min(Stated::START as u64) as usize;
        if length == 0 {
            return Ok(Vec::new());
        }
        let page = self.directory(1 + u64::from(self.streams) + before)?;
        let mut start = self.at::<{ Stated::START }>(u64::from(page) * self.page_size)?.to_vec();
        start.truncate(length);
        Ok(start)
    }

    fn size(&mut self, stream: u16) -> Result<u64, String> {
        if u32::from(stream) >= self.streams {
            return Ok(0);
        }
        let size = self.directory(1 + u64::from(stream))?;
        Ok(if size == u32::MAX { 0 } else { size.into() })
    }

    /// A word of the directory: how many streams there are, the size of each, the pages of each.
    fn directory(&mut self, word: u64) -> Result<u32, String> {
        let offset = word * 4;
        let page = self.word(self.map * self.page_size + offset / self.page_size * 4)?;
        self.word(u64::from(page) * self.page_size + offset % self.page_size)
    }

    fn word(&mut self, offset: u64) -> Result<u32, String> {
        self.at(offset).map(u32::from_le_bytes)
    }

    fn at<const LENGTH: usize>(&mut self, offset: u64) -> Result<[u8; LENGTH], String> {
        let mut bytes = [0; LENGTH];
        let read = self.file.seek(SeekFrom::Start(offset)).and_then(|_| self.file.read_exact(&mut bytes));
        read.map(|()| bytes).map_err(|error| format!("is a damaged PDB: byte {offset:#x} cannot be read ({error})"))
    }
}

fn failed(error: io::Error) -> String {
    format!("cannot be read ({error})")
}

fn other(start: &[u8]) -> String {
    if start.starts_with(MSF_2) {
        return "is a PDB of before 2002 (MSF 2.0), which has no GUID".to_owned();
    }
    if start.starts_with(MSFZ) {
        return "is a compressed PDB (MSFZ), whose GUID is not looked up: give it as a symbol file".to_owned();
    }
    format!("is no PDB: it begins with `{}`", start[..16].escape_ascii())
}
