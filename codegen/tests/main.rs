//! Tests from spec texts to emitted text.

mod classes;
mod docs;
mod lines;
mod ranges;
mod scopes;
