//! Reads and writes what Event Tracing for Windows writes, on any host and with no Windows API: trace buffers, events, and
//! whole ETL files.
//!
//! [`Trace`] reads a file from a byte slice, in file order or in the order of time; [`Reader`] reads in file order from any
//! [`Read`](std::io::Read). Events borrow from the buffer that holds them, and decode their headers only when asked.
//! [`mod@write`] makes buffers and files. Every header is a generated type of `etw-layouts`.
//!
//! What is wrong with a file is a [`Finding`], with its place; reading goes on after it.
//!
//! Memory does not grow with the file, nor with what is wrong in it, but for one thing. In the order of time the places of buffers
//! are kept, with 16 to 64 bytes each, where the next buffer of one processor lies behind many of others; and where a processor's
//! buffers lie in no order of time, of all of these. Files of loggers have few of either; a file made to have the most takes less
//! memory than its size. Of a buffer whose events are in disorder, four bytes are kept for each.
//!
//! There is unsafe code in two places: where a file is mapped ([`map::map`]), and in the copy
//! loop of [`xpress::decompress`].

// Allowed in map.rs and xpress/bulk.rs.
#![deny(unsafe_code)]

mod buffer;
mod buffers;
pub mod check;
mod clock;
mod common;
pub mod compression;
mod event;
mod filter;
mod finding;
mod guid;
mod head;
pub mod header;
mod header_type;
pub mod item;
mod logfile;
pub mod map;
pub mod names;
mod order;
mod parts;
mod producer;
mod reader;
mod source;
mod stamp;
pub mod stat;
mod trace;
pub mod tracelogging;
mod walk;
pub mod wire;
pub mod write;
pub mod xpress;

pub use buffer::{Buffer, Image, Scratch};
pub use buffers::Buffers;
pub use clock::{Clock, ClockType};
pub use common::Error;
pub use event::Event;
pub use filter::Filter;
pub use finding::{Finding, Rule, What};
pub use guid::{Guid, NoGuid};
pub use head::Head;
pub use header::Header;
pub use header_type::HeaderType;
pub use item::{Item, Items};
pub use logfile::LogFile;
pub use order::{ByTime, Timed};
pub use parts::Parts;
pub use reader::Reader;
pub use stamp::{NoStamp, Stamp};
pub use trace::Trace;
pub use walk::Events;
