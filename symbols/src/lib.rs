//! An independent witness for memory layouts: what symbol tables state about structures, and whether it agrees.
//!
//! - [`pdb`] reads Microsoft's program databases, [`isf`] Volatility's ISF tables, [`snapshot`] this project's own reduced form
//!   of the same facts; [`images`] reads tables of kernel images, which have offsets of a few members and addresses of variables; [`read()`] tells which of them
//!   a file is.
//! - `image` reads which PDB belongs to a kernel's image, and `store` finds it along a symbol path (feature `store`).
//! - [`mod@compare`] holds any definitions against them, fact by fact.
//!
//! Offsets and sizes are bytes, bit positions count from the least significant bit of the unit.
//! Nothing here computes a layout: every number is one that a table states. Two are worked out from such numbers: the offset
//! of a member of an anonymous aggregate is counted from the start of the enclosing one, as C counts it, and the elements
//! of an array, of which a program database states the bytes, are as many as their size makes them.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod identity;
mod little_endian;
mod load;
mod model;
mod names;
mod read;
mod spelling;
mod wanted;

pub mod compare;
#[cfg(feature = "store")]
pub mod image;
pub mod images;
pub mod isf;
pub mod pdb;
pub mod snapshot;
#[cfg(feature = "store")]
pub mod store;

pub use compare::{Rule, Rules, StructureReport, compare, compare_offsets};
pub use identity::{ImageFile, Pdb};
pub use load::{MAX_PDB, load};
pub use model::{
    Aggregate, AggregateKind, Arch, Enumeration, Globals, Integer, MAX_DEPTH, Machine, Member, Offsets, SymbolTable, Type,
    TypeFacts, Types,
};
pub use read::{Error, Symbols, globals, read};
pub use snapshot::Snapshot;
pub use wanted::Wanted;
