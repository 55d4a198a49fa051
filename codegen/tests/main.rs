//! Tests from spec texts to emitted text.

mod classes;
mod confidence;
mod docs;
mod features;
mod format;
mod lines;
mod packed;
mod ranges;
mod scopes;
