//! From spec texts to what is emitted.

mod classes;
mod docs;
mod lines;
mod scopes;
