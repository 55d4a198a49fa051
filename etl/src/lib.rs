//! Reads and writes the trace files (ETL) of Event Tracing for Windows, with their buffers and events, on any host and without
//! Windows APIs.
//!
//! [`Trace`] reads a file from a byte slice, in file order or in time order; [`Reader`] reads in file order from any
//! [`Read`](std::io::Read). Events borrow from their buffer, and decode their headers on demand. [`mod@write`] creates buffers
//! and files. Every header is a generated type of `etw-layouts`.
//!
//! Errors of a file are reported as [`Diagnostic`]s, with their places; reading continues after them.
//!
//! Memory use does not depend on the size of a file or the number of its errors, except in time order. There, 16 to 64 bytes are kept for each
//! buffer that is far from its position in time order: because its processor is far behind the others in the file, or because the buffers of
//! its processor are out of order. If the events of a buffer are out of order, four bytes are kept for each event. The total never exceeds the
//! size of the file, and is small for files that Windows writes.
//!
//! *Stale* bytes are remains of earlier contents of the session's memory, which Windows writes to padding and unused members.
//!
//! Unsafe code is in one place: the copy loop of [`xpress::decompress`].

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
mod kinds;
mod logfile;
mod merge;
pub mod names;
mod order;
mod plan;
pub mod processes;
mod producer;
mod reader;
mod records;
mod schemas;
mod source;
pub mod stat;
pub mod text;
pub mod threads;
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
pub use merge::{Merged, merge};
pub use order::{ByTime, OrderedEvent};
pub use plan::Plan;
pub use reader::Reader;
pub use records::{EventRecord, EventRecords};
pub use schemas::{Decoded, Schemas};
pub use trace::Trace;
pub use walk::Events;
