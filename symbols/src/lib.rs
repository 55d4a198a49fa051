//! Independent verification of memory layouts: reads structures from symbol files, and compares them with layouts.
//!
//! - [`pdb`] reads Microsoft's program databases, [`isf`] the ISF tables of Volatility, [`snapshot`] this project's reduced form
//!   of the same facts, and [`images`] tables of kernel images with offsets of some members and addresses of variables.
//!   [`read()`] detects the format.
//! - `pdb::Functions` finds the functions and source lines at addresses of an image (feature `functions`), and [`pdb::annotations`] texts in the source.
//! - `image` identifies the PDB of a kernel image and reads the exports of images (feature `image`), and `store` finds both along a symbol path
//!   (feature `store`).
//! - [`mod@compare`] verifies definitions against them, fact by fact.
//!
//! Offsets and sizes are in bytes; bit positions count from the least significant bit of the unit. This crate does not compute
//! layouts: every number comes from a table. Two kinds of numbers are derived: the offset of a member of an anonymous aggregate
//! is relative to the enclosing one, as in C; and the number of elements of an array is computed from its size in bytes, because
//! a program database states only that size.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod identity;
mod little_endian;
mod load;
mod model;
mod names;
mod read;
mod reason;
mod spelling;
mod wanted;

pub mod compare;
#[cfg(feature = "image")]
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
pub use reason::Reason;
pub use snapshot::Snapshot;
pub use uuid::Uuid;
pub use wanted::Wanted;
