//! Reads program databases (PDB): the symbol files of the Microsoft linker, as found on symbol servers.
//!
//! Supported are the containers MSF 7.00 and MSFZ (`.pdz`), with types of Visual C++ 7 and later, as used since Windows XP.
//!
//! ```no_run
//! use etw_layouts_symbols::{Wanted, pdb};
//!
//! let file = std::fs::read("ntkrnlmp.pdb")?;
//! let table = pdb::read(&file, &Wanted::from_iter(["WMI_LOGGER_CONTEXT"]))?;
//! println!("{:?}", table.types["WMI_LOGGER_CONTEXT"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod annotations;
mod closure;
mod container;
mod error;
#[cfg(feature = "functions")]
mod functions;
mod globals;
#[cfg(feature = "functions")]
mod ids;
mod leaf;
mod msfz;
mod primitive;
#[cfg(feature = "functions")]
mod reader;
mod records;
mod sound;

pub use annotations::Annotation;
pub use closure::work_limit;
pub use error::Error;
#[cfg(feature = "functions")]
pub use functions::Function;
#[cfg(feature = "functions")]
pub use reader::Functions;

use crate::identity::{INFORMATION, MODULES, Pdb, Stated};
use crate::model::{Arch, Globals, Machine, SymbolTable};
use crate::wanted::Wanted;
use pdb2::StreamIndex;
use records::Records;
use std::collections::BTreeSet;

/// Whether a file is a program database, or another format that [`read`] identifies in its error.
pub fn recognizes(input: &[u8]) -> bool {
    container::recognizes(input)
}

/// Whether a file begins as a program database.
pub fn is_pdb(input: &[u8]) -> bool {
    container::is_pdb(input)
}

/// Whether a file is in the compressed container MSFZ.
#[cfg(feature = "store")]
pub(crate) fn is_compressed(input: &[u8]) -> bool {
    container::is_compressed(input)
}

/// Reads a program database.
///
/// The model is that of [`isf::read`](crate::isf::read): one leading underscore is removed from names, unnamed types become part
/// of the types that use them, and members of anonymous types are members of the enclosing type. Base classes, static members,
/// functions, `const` and `volatile` are omitted.
///
/// A program database does not contain its own name, so the name in [`SymbolTable::pdb`] is empty. The age is the one in the
/// image, which symbol servers use. If the file does not state a machine type, the size of its pointers determines
/// [`SymbolTable::arch`].
///
/// # Errors
///
/// The input is another format, is corrupt, or has no types; or the wanted types nest deeper than [`crate::MAX_DEPTH`], or repeat
/// one another endlessly. No input causes a panic, and memory is proportional to the size of the input.
pub fn read(input: &[u8], wanted: &Wanted) -> Result<SymbolTable, Error> {
    let variables = wanted.variables();
    let msf = container::msf(input, if variables.is_empty() { container::TYPES } else { usize::MAX })?;
    let mut file = container::open(msf)?;
    let modules = stream(&mut file, MODULES);
    let stated = Stated::read(&stream(&mut file, INFORMATION), &modules);
    let types = records::stream(&mut file, &stated)?;
    let records = Records::new(&types)?;
    let types = closure::types(&records, wanted)?;
    let machine = stated.machine.map(u32::from);
    let arch = Arch::stated(machine, records.pointer_size());
    let foreign = machine.map(Machine).filter(|_| arch.is_none());
    let globals = addresses(&mut file, &modules, &variables);
    Ok(SymbolTable { producer: "program database".to_owned(), pdb: stated.pdb(), arch, foreign, types, globals })
}

/// The identities for which a program database is the right one: its GUID, with the age in the image, and with that of the file, which differ if
/// a tool wrote it again. The names are empty. A file without a GUID has none.
///
/// # Errors
///
/// The input is another format, or is corrupt.
pub fn identities(input: &[u8]) -> Result<Vec<Pdb>, Error> {
    Ok(stated(input)?.pdbs().collect())
}

/// The identity in a program database.
pub(crate) fn stated(input: &[u8]) -> Result<Stated, Error> {
    let msf = container::msf(input, container::TYPES)?;
    let mut file = container::open(msf)?;
    let modules = stream(&mut file, MODULES);
    Ok(Stated::read(&stream(&mut file, INFORMATION), &modules))
}

/// Addresses of global variables and functions by name, in bytes from the image base. Names are without the leading underscore of
/// 32-bit images. Names that the file lacks are omitted; a file without an image has none.
///
/// # Errors
///
/// The input is another format, or is corrupt. No input causes a panic.
pub fn globals(input: &[u8], names: &BTreeSet<&str>) -> Result<Globals, Error> {
    let msf = container::msf(input, usize::MAX)?;
    let mut file = container::open(msf)?;
    let modules = stream(&mut file, MODULES);
    Ok(addresses(&mut file, &modules, names))
}

/// Calls `see` with each annotation, module by module, and returns the indices of modules whose symbols are corrupt. Private program databases have those of the source code: the intrinsic
/// `__annotation` writes them, also for the messages of the Windows software trace preprocessor (WPP).
///
/// # Errors
///
/// The input is another format, or is corrupt. No input causes a panic.
pub fn annotations(input: &[u8], see: impl FnMut(Annotation<'_>)) -> Result<Vec<u32>, Error> {
    let msf = container::msf(input, usize::MAX)?;
    let size = msf.len();
    Ok(annotations::all(&mut container::open(msf)?, size, see))
}

/// Addresses of wanted names, from the streams that the module stream refers to.
fn addresses(file: &mut container::File<'_>, modules: &[u8], names: &BTreeSet<&str>) -> Globals {
    let Some(streams) = globals::Streams::read(modules).filter(|_| !names.is_empty()) else { return Globals::new() };
    let map = streams.map.map(|map| stream(file, map));
    globals::addresses(&stream(file, streams.symbols), &stream(file, streams.sections), map.as_deref(), names)
}

/// The bytes of a stream; empty if the file lacks it.
fn stream(file: &mut container::File<'_>, number: u16) -> Vec<u8> {
    file.raw_stream(StreamIndex(number)).ok().flatten().map(|stream| stream.to_vec()).unwrap_or_default()
}
