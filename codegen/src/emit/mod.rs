//! Conversion of [`Layouts`](crate::layouts::Layouts) to text, to BTF, and to the table that the runtime reads. Emitters only print; they decide nothing.

pub mod btf;
pub mod c;
pub mod cstruct;
pub mod isf;
mod order;
pub mod packed;
mod padded;
pub mod rust;
pub mod toml;
mod words;

pub use order::types;

use std::collections::BTreeMap;

/// Generated files: relative path, and text.
pub type Files = BTreeMap<String, String>;

/// Notes on types, by name. A note is a comment before its type.
pub type Notes = BTreeMap<String, String>;
