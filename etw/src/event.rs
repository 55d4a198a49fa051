//! Events: their documents, and how `list` and `show` print them.

mod document;
mod text;

pub use document::{Event, event, events};
pub use text::{listed, shown};
