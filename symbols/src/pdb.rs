//! Reads program databases: the symbol files of the Microsoft linker, as symbol servers keep them.
//!
//! The containers MSF 7.00 and MSFZ (`.pdz`) are read, with the types of Visual C++ 7 and later, which are those of Windows XP and later.
//!
//! ```no_run
//! use etw_layouts_symbols::{Wanted, pdb};
//!
//! let file = std::fs::read("ntkrnlmp.pdb")?;
//! let table = pdb::read(&file, &Wanted::from_iter(["WMI_LOGGER_CONTEXT"]))?;
//! println!("{:?}", table.types["WMI_LOGGER_CONTEXT"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod closure;
mod container;
mod error;
mod globals;
mod leaf;
mod msfz;
mod primitive;
mod records;
mod sound;

pub use closure::work_limit;
pub use error::Error;

use crate::identity::{INFORMATION, MODULES, Stated};
use crate::model::{Arch, Globals, Machine, SymbolTable};
use crate::wanted::Wanted;
use pdb2::StreamIndex;
use records::Records;
use std::collections::BTreeSet;

/// Whether a file is a program database, or something that is easily taken for one, of which [`read`] says what it is.
pub fn recognizes(input: &[u8]) -> bool {
    container::recognizes(input)
}

/// Reads a program database.
///
/// The model is that of [`isf::read`](crate::isf::read): names lose one leading underscore, unnamed types become part of
/// what uses them, members of anonymous ones are members of the enclosing type. Base classes, static members and functions
/// are left out, `const` and `volatile` are not kept.
///
/// A program database does not know its own name, so the name in [`SymbolTable::pdb`] is empty. The age is the one that an image
/// states, which a symbol server is asked for. Where the file names no machine, the size of its pointers tells [`SymbolTable::arch`].
///
/// # Errors
///
/// If the input is something else, damaged, holds no types, or if the wanted types nest deeper than [`crate::MAX_DEPTH`]
/// or repeat one another without end. No input panics, and memory stays proportional to the input's size.
pub fn read(input: &[u8], wanted: &Wanted) -> Result<SymbolTable, Error> {
    let variables = wanted.variables();
    let msf = container::msf(input, if variables.is_empty() { container::TYPES } else { usize::MAX })?;
    let mut file = container::open(&msf)?;
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

/// What a program database states of itself.
#[cfg(feature = "store")]
pub(crate) fn stated(input: &[u8]) -> Result<Stated, Error> {
    let msf = container::msf(input, container::TYPES)?;
    let mut file = container::open(&msf)?;
    let modules = stream(&mut file, MODULES);
    Ok(Stated::read(&stream(&mut file, INFORMATION), &modules))
}

/// Where the global variables and functions of these names are, in bytes from where their image begins. Names are without the underscore
/// that those of 32-bit images have in front. A name that the file lacks is left out; a file that belongs to no image has none.
///
/// # Errors
///
/// If the input is something else, or damaged. No input panics.
pub fn globals(input: &[u8], names: &BTreeSet<&str>) -> Result<Globals, Error> {
    let msf = container::msf(input, usize::MAX)?;
    let mut file = container::open(&msf)?;
    let modules = stream(&mut file, MODULES);
    Ok(addresses(&mut file, &modules, names))
}

/// The addresses of wanted names, from the streams that the stream of modules tells of.
fn addresses(file: &mut container::File<'_>, modules: &[u8], names: &BTreeSet<&str>) -> Globals {
    let Some(streams) = globals::Streams::read(modules).filter(|_| !names.is_empty()) else { return Globals::new() };
    let map = streams.map.map(|map| stream(file, map));
    globals::addresses(&stream(file, streams.symbols), &stream(file, streams.sections), map.as_deref(), names)
}

/// The bytes of a stream; none if the file lacks it.
fn stream(file: &mut container::File<'_>, number: u16) -> Vec<u8> {
    file.raw_stream(StreamIndex(number)).ok().flatten().map(|stream| stream.to_vec()).unwrap_or_default()
}
