//! Identities of files: the GUID and age of a program database, from the file itself or from an image, and the time stamp and
//! size of an image.

use crate::little_endian::{u16_at, u32_at};
use uuid::Uuid;
use uuid::fmt::Simple;

/// The identity of a program database on a symbol server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pdb {
    /// File name, such as `ntkrnlmp.pdb`; empty if the source does not state it.
    pub name: String,
    /// The GUID. Never zero.
    pub guid: Uuid,
    /// Age: number of times the file was written since its GUID was created.
    pub age: u32,
}

/// The identity of an image on a symbol server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ImageFile {
    /// File name, such as `ntoskrnl.exe`.
    pub name: String,
    /// `TimeDateStamp` of its header.
    pub time_stamp: u32,
    /// `SizeOfImage` of its header, in bytes.
    pub size: u32,
}

/// Number of the stream with version, time stamp, age and GUID.
pub(crate) const INFORMATION: u16 = 1;
/// Number of the stream with -1, version and age of the linked modules, and then the machine.
pub(crate) const MODULES: u16 = 3;
/// First version of the information stream with a GUID.
const VISUAL_C_7: u32 = 20_000_404;

/// The identity that a program database states. Old files lack parts of it, which is not an error.
pub(crate) struct Stated {
    /// `None` if the file states none, or zero.
    pub guid: Option<Uuid>,
    /// Age of the file. Tools that strip a file increase it.
    age: Option<u32>,
    /// Age in the image, unchanged since the linker wrote it.
    linked: Option<u32>,
    /// `IMAGE_FILE_MACHINE_…`; `None` if the file does not state it.
    pub machine: Option<u16>,
}

impl Stated {
    /// Decodes the starts of the two streams; missing bytes are absent.
    pub fn read(information: &[u8], modules: &[u8]) -> Stated {
        let modules = if u32_at(modules, 0) == Some(u32::MAX) { modules } else { &[] };
        let has_guid = u32_at(information, 0).is_some_and(|version| version >= VISUAL_C_7);
        let stored = information.get(12..).and_then(|rest| rest.first_chunk()).filter(|_| has_guid);
        Stated {
            guid: stored.map(|stored| Uuid::from_bytes_le(*stored)).filter(|guid| !guid.is_nil()),
            age: u32_at(information, 8),
            linked: u32_at(modules, 8).filter(|age| *age != 0),
            machine: u16_at(modules, 58).filter(|machine| *machine != 0),
        }
    }

    /// The identities for which a symbol server returns this file, without the file name: first that of the image.
    pub fn pdbs(&self) -> impl Iterator<Item = Pdb> {
        let ages = [self.linked, self.age].into_iter().flatten();
        self.guid.into_iter().flat_map(move |guid| ages.clone().map(move |age| Pdb { name: String::new(), guid, age }))
    }

    /// The identity on a symbol server, without the file name.
    pub fn pdb(&self) -> Option<Pdb> {
        self.pdbs().next()
    }

    /// Whether a symbol server returns this file for an identity.
    #[cfg(feature = "store")]
    pub fn is(&self, pdb: &Pdb) -> bool {
        self.pdbs().any(|known| (known.guid, known.age) == (pdb.guid, pdb.age))
    }
}

/// Reason why a CodeView record of an image's debug directory does not identify a program database.
#[cfg(feature = "image")]
pub(crate) enum Unnamed {
    /// The record is of a kind that identifies no PDB.
    Kind,
    /// The record identifies this file by a time stamp.
    TimeStamp(String),
    /// The record is corrupt.
    Damaged(String),
}

impl Pdb {
    /// Its folder in a symbol store, such as `BBED7C2955FBE4522AAA23F4B8677AD91`: GUID, then age.
    #[must_use]
    pub fn key(&self) -> String {
        format!("{:X}{:x}", self.guid.simple(), self.age)
    }
}

impl ImageFile {
    /// Its folder in a symbol store, such as `5D7B1A2C1F0000`: time stamp, then size.
    #[must_use]
    pub fn key(&self) -> String {
        format!("{:08X}{:x}", self.time_stamp, self.size)
    }
}

#[cfg(feature = "image")]
impl Pdb {
    /// The program database of a CodeView record: `RSDS`, GUID, age and path, or `NB10`, offset, time stamp, age and path.
    pub(crate) fn from_codeview(record: &[u8]) -> Result<Pdb, Unnamed> {
        let cut = || Unnamed::Damaged("too short".to_owned());
        let (magic, rest) = record.split_first_chunk::<4>().ok_or_else(cut)?;
        match magic {
            b"RSDS" => {
                let (stored, rest) = rest.split_first_chunk::<16>().ok_or_else(cut)?;
                let (age, path) = rest.split_first_chunk::<4>().ok_or_else(cut)?;
                let (guid, age) = (Uuid::from_bytes_le(*stored), u32::from_le_bytes(*age));
                if guid.is_nil() {
                    return Err(Unnamed::Damaged("zero GUID".to_owned()));
                }
                Ok(Pdb { name: name(path)?, guid, age })
            }
            b"NB10" => Err(Unnamed::TimeStamp(name(rest.get(12..).ok_or_else(cut)?)?)),
            _ => Err(Unnamed::Kind),
        }
    }
}

/// The file name in a NUL-terminated path, which may be a path on the machine that linked the image.
#[cfg(feature = "image")]
fn name(path: &[u8]) -> Result<String, Unnamed> {
    let end = path.iter().position(|&byte| byte == 0).ok_or_else(|| Unnamed::Damaged("unterminated path".to_owned()))?;
    let path = String::from_utf8_lossy(&path[..end]);
    let name = path.rsplit(['\\', '/']).next().unwrap_or_default();
    match is_file_name(name) {
        true => Ok(name.to_owned()),
        false => Err(Unnamed::Damaged(format!("invalid file name `{}`", path.escape_debug()))),
    }
}

/// Whether a name is a plain file name on every system: no path, drive, stream or console device.
pub(crate) fn is_file_name(name: &str) -> bool {
    let dots = name.bytes().all(|byte| byte == b'.');
    let forbidden = |char: char| char.is_control() || "\\/:*?\"<>|".contains(char);
    !dots && name.len() <= 255 && !name.contains(forbidden)
}

/// Parses a GUID of 32 hexadecimal digits.
pub(crate) fn guid(digits: &str) -> Option<Uuid> {
    digits.parse::<Simple>().ok().map(Simple::into_uuid)
}
