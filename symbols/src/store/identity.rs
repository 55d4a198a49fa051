//! The GUID and the ages of an MSF 7 file: a look at its directory and at the start of two streams, nothing more.

use crate::image::guid_of;
use crate::model::Pdb;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

const MAGIC: &[u8; 32] = b"Microsoft C/C++ MSF 7.00\r\n\x1ADS\0\0\0";
/// The stream that tells version, time stamp, age and GUID.
const INFORMATION: u32 = 1;
/// The stream that tells -1, version and age. Linkers write the age of the image into this one; tools that rewrite a PDB
/// afterwards raise only the other.
const DBI: u32 = 3;

/// Checks that a file is the PDB that is wanted, whole.
///
/// # Errors
///
/// What it is instead, as the end of a sentence that begins with its name.
pub(super) fn check(path: &Path, pdb: &Pdb) -> Result<(), String> {
    let mut msf = Msf::open(path)?;
    let information: [u8; 28] = msf.start(INFORMATION)?.ok_or("is a PDB without an information stream")?;
    let [_, _, age, guid @ ..] = words::<28, 7>(information);
    let dbi: Option<[u8; 12]> = msf.start(DBI)?;
    let dbi_age = match dbi.map(words) {
        Some([u32::MAX, _, age]) => age,
        _ => age,
    };
    let guid = guid_of(bytes(guid));
    match guid == pdb.guid && [age, dbi_age].contains(&pdb.age) {
        true => Ok(()),
        false => Err(format!("is another PDB, of GUID {guid:032X} and age {dbi_age}")),
    }
}

/// Little-endian words.
fn words<const BYTES: usize, const WORDS: usize>(bytes: [u8; BYTES]) -> [u32; WORDS] {
    let mut words = bytes.chunks_exact(4).map(|word| word.try_into().map_or(0, u32::from_le_bytes));
    std::array::from_fn(|_| words.next().unwrap_or(0))
}

fn bytes(words: [u32; 4]) -> [u8; 16] {
    let mut bytes = words.into_iter().flat_map(u32::to_le_bytes);
    std::array::from_fn(|_| bytes.next().unwrap_or(0))
}

struct Msf {
    file: File,
    block: u64,
    /// The block that lists the blocks of the directory.
    map: u64,
    streams: u32,
}

impl Msf {
    fn open(path: &Path) -> Result<Msf, String> {
        let mut file = File::open(path).map_err(|error| format!("cannot be opened ({error})"))?;
        let length = file.metadata().map_err(failed)?.len();
        let mut start = [0; 56];
        if length < start.len() as u64 {
            return Err(format!("is no PDB: it has {length} bytes"));
        }
        file.read_exact(&mut start).map_err(failed)?;
        if !start.starts_with(MAGIC) {
            return Err(other(&start));
        }
        let [block, _, blocks, _, _, map]: [u32; 6] = words(std::array::from_fn::<_, 24, _>(|at| start[32 + at]));
        let whole = u64::from(block) * u64::from(blocks);
        if !block.is_power_of_two() || block < 512 {
            return Err(format!("is a damaged PDB: its blocks have {block} bytes"));
        }
        if length < whole {
            return Err(format!("is cut short: {length} of {whole} bytes"));
        }
        let mut msf = Msf { file, block: block.into(), map: map.into(), streams: 0 };
        msf.streams = msf.directory(0)?;
        Ok(msf)
    }

    /// The first bytes of a stream; `None` if the stream does not have as many.
    fn start<const LENGTH: usize>(&mut self, stream: u32) -> Result<Option<[u8; LENGTH]>, String> {
        let mut before = 0;
        for earlier in 0..stream {
            before += self.size(earlier)?.div_ceil(self.block);
        }
        if self.size(stream)? < LENGTH as u64 {
            return Ok(None);
        }
        let block = self.directory(1 + u64::from(self.streams) + before)?;
        self.at(u64::from(block) * self.block).map(Some)
    }

    fn size(&mut self, stream: u32) -> Result<u64, String> {
        if stream >= self.streams {
            return Ok(0);
        }
        let size = self.directory(1 + u64::from(stream))?;
        Ok(if size == u32::MAX { 0 } else { size.into() })
    }

    /// A word of the directory: how many streams there are, the size of each, the blocks of each.
    fn directory(&mut self, word: u64) -> Result<u32, String> {
        let offset = word * 4;
        let block = self.word(self.map * self.block + offset / self.block * 4)?;
        self.word(u64::from(block) * self.block + offset % self.block)
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
    if start.starts_with(b"Microsoft C/C++ program database 2.00") {
        return "is a PDB of before 2002 (MSF 2.0), which has no GUID".to_owned();
    }
    if start.starts_with(b"Microsoft MSFZ Container") {
        return "is a compressed PDB (MSFZ), whose GUID is not looked up: give it as a symbol file".to_owned();
    }
    format!("is no PDB: it begins with `{}`", start[..16].escape_ascii())
}
