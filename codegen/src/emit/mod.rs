//! From [`Layouts`](crate::layouts::Layouts) to text. Emitters only print: everything is decided before.

pub mod c;
pub mod cstruct;
pub mod isf;
mod order;
mod padded;
pub mod rust;
pub mod toml;
mod words;

pub use order::types;

use std::collections::BTreeMap;

/// Generated files: path from the folder they belong to, and text.
pub type Files = BTreeMap<String, String>;

/// What is to be said of types, by name: a comment before each.
pub type Notes = BTreeMap<String, String>;
