//! The differences between the structures of two targets, or of a target and a symbol file.

mod changes;
mod side;
mod verdict;

pub use changes::{Changes, Entry, SideFact, changes};
pub use side::{Side, is_known, sides};
pub use verdict::Verdict;
