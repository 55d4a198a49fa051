//! The differences between the structures of two targets, or of a target and a symbol file.

mod changes;
mod side;

pub use changes::{Changes, Entry, SideFact, changes, ensure_comparable, unknown};
pub use side::{Side, sides};
