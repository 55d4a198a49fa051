//! The syntax of spec files: every key once, and a file as a tree that loses nothing.
//!
//! [`Sort`] says which keys each sort of table has, in the order in which they are written, and what their values are. [`Tree`] is a
//! file in these terms, each key and value with its place in the text. Reading takes facts from it, and whoever changes a fact on
//! purpose finds it there. Comments are beside it.

mod comments;
mod keys;
mod tree;

pub use comments::comments;
pub use keys::{Holds, Key, Sort, key};
pub use tree::{Entry, Form, Node, Piece, Pieces, Table, Tree};
