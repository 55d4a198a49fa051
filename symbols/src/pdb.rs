//! Reads program databases: the symbol files of the Microsoft linker, as symbol servers keep them.
//!
//! Read are the containers MSF 7.00 and 2.00, and MSFZ (`.pdz`), with the types of Visual C++ 5 and later.
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
mod identity;
mod leaf;
mod msfz;
mod primitive;
mod records;
mod sound;

pub use error::Error;

use crate::model::Table;
use crate::wanted::Wanted;
use records::Records;

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
/// A program database does not know its own name, so the name in [`Table::pdb`] is empty. The age is the one that an image
/// states, which a symbol server is asked for. Where the file names no machine, the size of its pointers tells [`Table::arch`].
///
/// # Errors
///
/// If the input is something else, damaged, holds no types, or if the wanted types nest deeper than [`crate::MAX_DEPTH`]
/// or repeat one another without end. No input panics, and memory stays proportional to the input's size.
pub fn read(input: &[u8], wanted: &Wanted) -> Result<Table, Error> {
    let msf = container::msf(input)?;
    let mut file = container::open(&msf)?;
    let identity = identity::read(&mut file);
    let stream = records::stream(&mut file, &msf, &identity)?;
    let records = Records::new(&stream)?;
    let types = closure::types(&records, wanted)?;
    let arch = identity.arch(records.pointer_size());
    Ok(Table { producer: "program database".to_owned(), pdb: identity.pdb, arch, types })
}
