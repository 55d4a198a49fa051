//! Reads and writes the trace files (ETL) of Event Tracing for Windows, with their buffers and events, on any host and without
//! Windows APIs.
//!
//! [`Trace`] reads a file from a byte slice, in file order or in time order; [`Reader`] reads in file order from any
//! [`Read`](std::io::Read). Events borrow from their buffer, and decode their headers on demand. [`mod@write`] creates buffers
//! and files. Every header is a generated type of `etw-layouts`.
//!
//! Faults of a file are reported as [`Diagnostic`]s, with their positions; reading continues after them.
//!
//! Memory does not depend on the size of a file or the number of its faults, with one exception. In time order, the positions of
//! buffers are kept, 16 to 64 bytes each, in two cases: if the next buffer of one processor is found after many buffers of
//! others, and if the buffers of a processor are not in time order. Real files have few of either; for a file made to have the
//! most, this takes less memory than the file. For a buffer whose events are not in time order, four bytes are kept per event.
//!
//! There is unsafe code in one place: in the copy loop of [`xpress::decompress`].

// Allowed in xpress/bulk.rs.
#![deny(unsafe_code)]

mod buffer;
mod buffer_header;
mod buffers;
pub mod check;
mod clock;
mod common;
pub mod compression;
mod diagnostic;
mod event;
mod filter;
pub mod header;
mod header_type;
pub mod item;
mod logfile;
mod merge;
pub mod names;
mod order;
pub mod processes;
mod producer;
mod reader;
mod records;
mod schemas;
mod source;
mod split_buffer;
pub mod stat;
pub mod threads;
mod trace;
pub mod tracelogging;
mod walk;
pub mod wire;
pub mod write;
pub mod xpress;

pub use buffer::{Buffer, DecodedBuffer, Scratch};
pub use buffer_header::BufferHeader;
pub use buffers::Buffers;
pub use clock::{Clock, ClockType};
pub use common::Error;
pub use diagnostic::{Diagnostic, DiagnosticKind, Rule};
/// Schemas of payloads, and their one walk.
pub use etw_layouts_payload as payload;
pub use etw_layouts_payload::{FileTime, ParseFileTimeError, Uuid};
pub use event::Event;
pub use filter::Filter;
pub use header::EventHeader;
pub use header_type::HeaderType;
pub use item::{Item, Items};
pub use logfile::LogFile;
pub use merge::{Merged, merge};
pub use order::{ByTime, OrderedEvent};
pub use reader::Reader;
pub use records::{EventRecord, EventRecords};
pub use schemas::{Decoded, Schemas};
pub use split_buffer::SplitBuffer;
pub use trace::Trace;
pub use walk::Events;
