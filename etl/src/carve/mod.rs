//! Finds trace buffers in bytes of any kind: disk images, page files, memory, truncated trace files.
//!
//! [`find`] reads a source once and reports each buffer, by the consistency of its header and its events. [`sessions`] groups them,
//! marks copies, and [`Session::write`] writes a group as a trace file. The log file header, which states the clock, can be missing: the
//! file then has a header that states no clock ([`LogFile::states_times`](crate::LogFile::states_times)).
//!
//! Memory use: about 200 bytes for each buffer that was found, and up to 40 MiB for the bytes being searched.

mod content;
mod evidence;
mod examine;
mod find;
mod session;
mod window;
mod write;

pub use examine::{Completeness, Found};
pub use find::{Scan, find};
pub use session::{Copy, Entry, Session, sessions};
pub use write::Written;
