//! Reads what a PE image, such as `ntoskrnl.exe`, tells of itself: version, architecture, and the symbol file made with it.

mod error;
mod version;

pub use error::Error;

use crate::model::{Arch, Pdb};
use object::pe::{self, ImageDebugDirectory, ImageNtHeaders32, ImageNtHeaders64};
use object::read::FileKind;
use object::read::pe::{ImageNtHeaders, PeFile};
use object::{LittleEndian, ReadRef, pod};

/// What an image tells of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The file version of its version resource: major and minor version, build, revision.
    pub version: [u32; 4],
    /// The architecture.
    pub arch: Arch,
    /// The symbol file, by the CodeView record of the debug directory. Its name is a file name, never a path.
    pub pdb: Pdb,
}

/// Reads an image, PE32 or PE32+.
///
/// # Errors
///
/// If the input is no PE image, is damaged, of another architecture, or lacks any of what [`Image`] holds. No input panics.
pub fn read(bytes: &[u8]) -> Result<Image, Error> {
    match FileKind::parse(bytes) {
        Ok(FileKind::Pe32) => facts::<ImageNtHeaders32>(bytes),
        Ok(FileKind::Pe64) => facts::<ImageNtHeaders64>(bytes),
        _ => Err(Error::not_pe(bytes)),
    }
}

fn facts<Headers: ImageNtHeaders>(bytes: &[u8]) -> Result<Image, Error> {
    let file = PeFile::<Headers>::parse(bytes).map_err(Error::damaged("headers"))?;
    let arch = match file.nt_headers().file_header().machine.get(LittleEndian) {
        pe::IMAGE_FILE_MACHINE_I386 => Arch::X86,
        pe::IMAGE_FILE_MACHINE_AMD64 => Arch::X64,
        machine => return Err(Error::Machine(machine.0)),
    };
    Ok(Image { version: version::file(&file, bytes)?, arch, pdb: codeview(&file, bytes)? })
}

/// The first CodeView record that names a PDB.
fn codeview<Headers: ImageNtHeaders>(file: &PeFile<Headers>, bytes: &[u8]) -> Result<Pdb, Error> {
    let damaged = Error::damaged("debug directory");
    let directory = file.data_directory(pe::IMAGE_DIRECTORY_ENTRY_DEBUG).ok_or(Error::NoDebugDirectory)?;
    let data = directory.data(bytes, &file.section_table()).map_err(&damaged)?;
    let entries = pod::slice_from_all_bytes::<ImageDebugDirectory>(data)
        .map_err(|()| Error::Damaged { part: "debug directory", reason: "its size is not that of whole entries".to_owned() })?;
    let mut error = Error::NoCodeView;
    for entry in entries.iter().filter(|entry| entry.typ.get(LittleEndian) == pe::IMAGE_DEBUG_TYPE_CODEVIEW) {
        let (offset, size) = (entry.pointer_to_raw_data.get(LittleEndian), entry.size_of_data.get(LittleEndian));
        match bytes.read_bytes_at(offset.into(), size.into()).map(record) {
            Ok(Ok(pdb)) => return Ok(pdb),
            Ok(Err(reason)) => error = reason,
            Err(()) => error = Error::record("it lies beyond the end of the file"),
        }
    }
    Err(error)
}

/// `RSDS`, GUID, age and path, or `NB10`, offset, time stamp, age and path.
fn record(data: &[u8]) -> Result<Pdb, Error> {
    let cut = || Error::record("it is too short");
    let (magic, rest) = data.split_first_chunk::<4>().ok_or_else(cut)?;
    match magic {
        b"RSDS" => {
            let (guid, rest) = rest.split_first_chunk::<16>().ok_or_else(cut)?;
            let (age, path) = rest.split_first_chunk::<4>().ok_or_else(cut)?;
            let (guid, age) = (guid_of(*guid), u32::from_le_bytes(*age));
            if guid == 0 {
                return Err(Error::record("its GUID is zero"));
            }
            Ok(Pdb { name: name(path)?, guid, age })
        }
        b"NB10" => Err(Error::NoGuid { name: name(rest.get(12..).ok_or_else(cut)?)? }),
        _ => Err(Error::NoCodeView),
    }
}

/// The file name of a path, which ends in NUL and may be that of the machine that linked the image.
fn name(path: &[u8]) -> Result<String, Error> {
    let end = path.iter().position(|&byte| byte == 0).ok_or_else(|| Error::record("the path in it does not end"))?;
    let path = String::from_utf8_lossy(&path[..end]);
    let name = path.rsplit(['\\', '/']).next().unwrap_or_default();
    match is_file_name(name) {
        true => Ok(name.to_owned()),
        false => Err(Error::record(&format!("`{}` is no file name", path.escape_debug()))),
    }
}

/// Whether a name is that of a file on any system: no path, no drive, no stream, no device of the console's.
pub(crate) fn is_file_name(name: &str) -> bool {
    let dots = name.bytes().all(|byte| byte == b'.');
    let forbidden = |char: char| char.is_control() || "\\/:*?\"<>|".contains(char);
    !dots && name.len() <= 255 && !name.contains(forbidden)
}

/// A GUID as it is stored: the first three of its fields are little-endian.
pub(crate) fn guid_of(stored: [u8; 16]) -> u128 {
    let [a, b, c, d, e, f, g, h, rest @ ..] = stored;
    let [i, j, k, l, m, n, o, p] = rest;
    u128::from_be_bytes([d, c, b, a, f, e, h, g, i, j, k, l, m, n, o, p])
}
