//! Reads and writes the trace files (ETL) of Event Tracing for Windows, with their buffers and events, on any host and without
//! Windows APIs.
//!
//! [`Trace`] reads a file from a byte slice, [`Reader`] from any [`Read`](std::io::Read). Both read in file order and keep no events in
//! memory. The crate `etw-layouts-trace` reads in time order, and finds the processes, threads and call stacks of events. Events borrow
//! from their buffer and decode their headers on demand. [`mod@write`] creates buffers and files. Every header is a generated type of
//! `etw-layouts`.
//!
//! Errors of a file are reported as [`Diagnostic`]s, with their places; reading continues after them.
//!
//! Memory use does not depend on the size of a file or the number of its errors.
//!
//! *Stale* bytes are remains of earlier contents of the session's memory, which Windows writes to padding and unused members.
//!
//! Unsafe code is in one place: the copy loop of [`xpress::decompress`].

// Allowed in xpress/bulk.rs.
#![deny(unsafe_code)]

mod buffer;
mod buffer_header;
mod buffers;
pub mod carve;
pub mod check;
mod clock;
pub mod codes;
mod common;
pub mod compression;
mod diagnostic;
mod event;
mod filter;
pub mod header;
mod header_type;
pub mod item;
mod kinds;
pub mod live;
mod logfile;
pub mod names;
mod plan;
mod producer;
mod reader;
mod records;
mod schemas;
mod search;
mod source;
pub mod stat;
pub mod text;
mod time_zone;
mod trace;
pub mod tracelogging;
mod walk;
pub mod wire;
pub mod write;
pub mod xpress;

pub use buffer::{Buffer, BufferFormat, DecodedBuffer, Scratch};
pub use buffer_header::BufferHeader;
pub use buffers::Buffers;
pub use clock::{Clock, ClockType};
pub use common::Error;
pub use diagnostic::{Diagnostic, DiagnosticKind, Rule, Undecoded};
/// Schemas and decoding of payloads.
pub use etw_layouts_payload as payload;
pub use etw_layouts_payload::{FileTime, ParseFileTimeError, Uuid};
pub use event::{Event, Extent};
pub use filter::Filter;
pub use header::EventHeader;
pub use header_type::HeaderType;
pub use item::{Item, Items};
pub use kinds::Kinds;
pub use logfile::LogFile;
pub use plan::Plan;
pub use reader::Reader;
pub use records::{EventRecord, EventRecords};
pub use schemas::{Decoded, Schemas};
pub use time_zone::UtcOffset;
pub use trace::Trace;
pub use walk::Events;
