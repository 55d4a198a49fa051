//! Events: their documents, and how `list` and `show` print them.

mod document;
mod text;

pub use document::{Event, Field, Version, events, found, joined};
pub use text::{listed, shown};
