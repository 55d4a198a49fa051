//! Reads Intermediate Symbol Format: the JSON tables of Volatility 3, plain or compressed with xz.
//!
//! ```
//! use etw_layouts_symbols::{TypeFacts, Wanted, isf};
//!
//! let table = br#"{
//!     "metadata": {"producer": {"name": "by hand"}},
//!     "base_types": {"unsigned long": {"kind": "int", "size": 4, "signed": false, "endian": "little"}},
//!     "user_types": {"_WMI_TRACE_PACKET": {"kind": "struct", "size": 4, "fields": {}}},
//!     "enums": {},
//!     "symbols": {}
//! }"#;
//! let table = isf::read(table, &Wanted::from_iter(["WMI_TRACE_PACKET"]))?;
//! assert!(matches!(&table.types["WMI_TRACE_PACKET"], TypeFacts::Aggregate(packet) if packet.size == 4));
//! # Ok::<(), isf::Error>(())
//! ```

mod closure;
mod document;
mod error;
mod known;
mod unpack;

pub use closure::work_limit;
pub use error::{Error, Fault};

use crate::model::{Globals, SymbolTable};
pub use crate::wanted::Wanted;
use std::collections::BTreeSet;

/// The largest table accepted, in bytes of JSON. Those of Windows kernels are 0.5 to 7 MB.
pub const MAX_JSON: usize = 64 << 20;

/// The most members and constants accepted in one result. Unnamed types repeat theirs wherever they are used.
pub const MAX_MEMBERS: usize = 1 << 18;

/// Reads a table, plain or xz, which its first bytes tell.
///
/// Names lose one leading underscore: `_LIST_ENTRY` is `LIST_ENTRY`. Unnamed types (`__unnamed_1045`,
/// `__anonymous_10db`, `<unnamed-tag>`) become part of what uses them, so that nothing depends on a table's numbering.
/// Anonymous members become members of the enclosing type.
///
/// # Errors
///
/// If the input is damaged, not ISF, larger than [`MAX_JSON`], or if its types nest deeper than [`crate::MAX_DEPTH`]
/// or repeat into more than [`MAX_MEMBERS`]. No input panics.
pub fn read(input: &[u8], wanted: &Wanted) -> Result<SymbolTable, Error> {
    unpack::with_text(input, |text| {
        let document = document::parse(text, &wanted.variables())?;
        let types = closure::types(text, &document, wanted)?;
        let (producer, pdb, arch, foreign) = document.identity();
        Ok(SymbolTable { producer, pdb, arch, foreign, types, globals: document.globals })
    })
}

/// Where the global variables and functions of these names are, in bytes from where their image begins. A name that the table lacks is left
/// out.
///
/// # Errors
///
/// If the input is damaged, not ISF, or larger than [`MAX_JSON`]. No input panics.
pub fn globals(input: &[u8], names: &BTreeSet<&str>) -> Result<Globals, Error> {
    unpack::with_text(input, |text| Ok(document::parse(text, names)?.globals))
}
