//! The syntax of spec files: a table of all keys, and a lossless tree of a file.
//!
//! [`TableKind`] lists the keys of each kind of table in the order in which they are written, and the form of their values. [`Tree`] is a
//! parsed file, with the place of each key and value in the text. Comments are stored separately.

mod comments;
mod keys;
mod tree;

pub use comments::comments;
pub use keys::{Key, TableKind, ValueForm, key};
pub use tree::{Entry, Node, Piece, Pieces, TomlTable, Tree};
