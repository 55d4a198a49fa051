//! What happened, when, and who did it: the events that people look for, as entries with a sentence.
//!
//! The kinds are a table in `kinds.rs`; the events that state them, and the meaning of their fields, one in `rows.rs`. Only events whose fields a schema states
//! give entries. Processes that existed before the trace give none: no event states when they started.

mod document;
mod entry;
mod field;
mod kinds;
mod reader;
mod rows;

pub use document::Form;
pub use entry::{Entry, Participant, User, Value};
pub use field::{Field, Format};
pub use kinds::{KINDS, Kind, kind_named};
pub use reader::{Counts, Timeline};
pub use rows::{Completion, ROWS, Row, Source};
