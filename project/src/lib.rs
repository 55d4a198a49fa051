//! Queries, comparison and verification of the layouts of a spec set, and the import of new builds.
//!
//! Everything works on a [`Project`]: a folder of specs, and the facts that they are verified against.

#![forbid(unsafe_code)]

pub mod change;
mod choice;
pub mod diff;
pub mod errata;
mod error;
pub mod events;
pub mod evidence;
pub mod facts;
pub mod format;
pub mod history;
pub mod import;
pub mod map;
pub mod matrix;
pub mod members;
pub mod names;
pub mod offsets;
pub mod project;
mod registry;
pub mod stored;
pub mod subject;
pub mod tables;
pub mod updates;
pub mod verify;

pub use choice::{Choice, sentence};
pub use error::{Error, Refusal, Remedy, Several};
pub use etw_layouts_runtime::meta::{Confidence, InferredFrom, SymbolSource};
pub use evidence::Source;
pub use project::Project;
