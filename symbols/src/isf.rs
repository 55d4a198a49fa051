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
#[cfg(feature = "xz")]
mod xz;

pub use closure::work_limit;
pub use error::{Error, Fault};

use crate::model::{Globals, SymbolTable};
pub use crate::wanted::Wanted;
use std::collections::BTreeSet;

/// Maximum size of a table, in bytes of JSON. Tables of Windows kernels have 0.5 to 7 MB.
pub const MAX_JSON: usize = 64 << 20;

/// Memory limit of the decoder of xz, which suffices for the 64 MiB dictionary of `xz -9`.
const XZ_MEMORY: u64 = 96 << 20;

/// Maximum number of members and constants in a result. Those of unnamed types are repeated wherever the type is used.
pub const MAX_MEMBERS: usize = 1 << 18;

/// Reads a table, plain or compressed with xz, according to its first bytes.
///
/// One leading underscore is removed from names: `_LIST_ENTRY` becomes `LIST_ENTRY`. Unnamed types (`__unnamed_1045`,
/// `__anonymous_10db`, `<unnamed-tag>`) become part of the types that use them, so that nothing depends on the numbering of a
/// table. Anonymous members become members of the enclosing type.
///
/// # Errors
///
/// The input is corrupt, is not ISF, or is larger than [`MAX_JSON`]; or its types nest deeper than [`crate::MAX_DEPTH`], or
/// repeat into more than [`MAX_MEMBERS`]. No input causes a panic.
pub fn read(input: &[u8], wanted: &Wanted) -> Result<SymbolTable, Error> {
    unpack::with_text(input, |text| {
        let document = document::parse(text, &wanted.variables())?;
        let types = closure::types(text, &document, wanted)?;
        let (producer, pdb, arch, foreign) = document.identity();
        Ok(SymbolTable { producer, pdb, arch, foreign, types, globals: document.globals })
    })
}

/// Addresses of global variables and functions by name, in bytes from the image base. Names that the table lacks are omitted.
///
/// # Errors
///
/// The input is corrupt, is not ISF, or is larger than [`MAX_JSON`]. No input causes a panic.
pub fn globals(input: &[u8], names: &BTreeSet<&str>) -> Result<Globals, Error> {
    unpack::with_text(input, |text| Ok(document::parse(text, names)?.globals))
}
