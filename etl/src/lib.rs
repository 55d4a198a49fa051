//! Reads and writes what Event Tracing for Windows writes, on any host and with no Windows API: trace buffers, events, and
//! whole ETL files.
//!
//! [`Trace`] reads a file from a byte slice, in file order or in the order of time; [`Reader`] reads in file order from any
//! [`Read`](std::io::Read). Events borrow from the buffer that holds them, and decode their headers only when asked.
//! [`mod@write`] makes buffers and files. Every header is a generated type of `etw-layouts`.
//!
//! What is wrong with a file is a [`Finding`], with its place; reading goes on after it.
//!
//! Memory does not grow with the file, nor with what is wrong in it, but for one thing. In the order of time the buffers of a
//! processor that lie in the file in no order of time are listed, with some 32 bytes each while they are sorted and 16 from there on.
//! And where one processor's next buffer lies far behind those of others, these wait with 16 to 64 bytes each, at most 262,144 of
//! them; a file made to have more takes a scan of its own for each further processor, and so time for processors times buffers.
//!
//! There is unsafe code in two places: where a file is mapped ([`map::map`]), and in the copy
//! loop of [`xpress::decompress`].

// Allowed in map.rs and xpress/bulk.rs.
#![deny(unsafe_code)]

mod buffer;
pub mod check;
mod clock;
pub mod compression;
mod event;
mod finding;
mod guid;
pub mod header;
pub mod item;
pub mod layout;
mod logfile;
pub mod map;
mod order;
mod parts;
mod reader;
mod stamp;
mod trace;
mod walk;
pub mod write;
pub mod xpress;

pub use buffer::{Buffer, Head, Image, Scratch};
pub use clock::{Clock, ClockType};
pub use event::Event;
pub use finding::{Finding, What};
pub use guid::Guid;
pub use header::Header;
pub use item::{Item, Items};
pub use logfile::LogFile;
pub use order::{ByTime, Timed};
pub use parts::Parts;
pub use reader::Reader;
pub use stamp::Stamp;
pub use trace::{Buffers, Error, Trace};
pub use walk::{Events, Kind};
