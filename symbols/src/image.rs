//! Reads identifying properties of a PE image, such as `ntoskrnl.exe`: version, architecture, and symbol file.

mod error;
mod exports;
mod version;

pub use error::Error;
pub use exports::Exports;

use crate::identity::{Pdb, Unnamed};
use crate::load::bounded;
use crate::model::Arch;
use object::pe::{self, ImageDebugDirectory, ImageNtHeaders32, ImageNtHeaders64};
use object::read::FileKind;
use object::read::pe::{ImageNtHeaders, PeFile};
use object::{LittleEndian, ReadRef, pod};
use std::io;
use std::path::Path;

/// Properties of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The file version of its version resource: major and minor version, build, revision.
    pub version: [u32; 4],
    /// The architecture.
    pub arch: Arch,
    /// Symbol file, from the CodeView record of the debug directory. Its name is a file name without a path.
    pub pdb: Pdb,
}

/// Maximum size of an image, in bytes. Images of Windows kernels have 2 to 12 MB.
pub const MAX_IMAGE: u64 = 256 << 20;

/// Reads a file for [`read`], at most [`MAX_IMAGE`] bytes.
///
/// # Errors
///
/// The file cannot be read, or is larger.
pub fn load(path: &Path) -> io::Result<Vec<u8>> {
    bounded(path, |_| MAX_IMAGE)
}

/// Reads a PE32 or PE32+ image.
///
/// # Errors
///
/// The input is not a PE image, is corrupt, is for another architecture, or lacks a property of [`Image`]. No input causes a
/// panic.
pub fn read(bytes: &[u8]) -> Result<Image, Error> {
    match FileKind::parse(bytes) {
        Ok(FileKind::Pe32) => facts::<ImageNtHeaders32>(bytes),
        Ok(FileKind::Pe64) => facts::<ImageNtHeaders64>(bytes),
        _ => Err(Error::not_pe(bytes)),
    }
}

fn facts<Headers: ImageNtHeaders>(bytes: &[u8]) -> Result<Image, Error> {
    let file = PeFile::<Headers>::parse(bytes).map_err(Error::damaged("headers"))?;
    let machine = file.nt_headers().file_header().machine.get(LittleEndian).0;
    let arch = Arch::stated(Some(machine.into()), None).ok_or(Error::Machine(machine))?;
    Ok(Image { version: version::file(&file, bytes)?, arch, pdb: codeview(&file, bytes)? })
}

/// The first CodeView record that identifies a PDB.
fn codeview<Headers: ImageNtHeaders>(file: &PeFile<Headers>, bytes: &[u8]) -> Result<Pdb, Error> {
    let damaged = Error::damaged("debug directory");
    let directory = file.data_directory(pe::IMAGE_DIRECTORY_ENTRY_DEBUG).ok_or(Error::NoDebugDirectory)?;
    let data = directory.data(bytes, &file.section_table()).map_err(&damaged)?;
    let entries = pod::slice_from_all_bytes::<ImageDebugDirectory>(data).map_err(|()| Error::Damaged {
        part: "debug directory",
        reason: "its size is not a multiple of the entry size".to_owned(),
    })?;
    let mut error = Error::NoCodeView;
    for entry in entries.iter().filter(|entry| entry.typ.get(LittleEndian) == pe::IMAGE_DEBUG_TYPE_CODEVIEW) {
        let (offset, size) = (entry.pointer_to_raw_data.get(LittleEndian), entry.size_of_data.get(LittleEndian));
        match bytes.read_bytes_at(offset.into(), size.into()).map(Pdb::from_codeview) {
            Ok(Ok(pdb)) => return Ok(pdb),
            Ok(Err(unnamed)) => error = unnamed.into(),
            Err(()) => error = Unnamed::Damaged("it is beyond the end of the file".to_owned()).into(),
        }
    }
    Err(error)
}
