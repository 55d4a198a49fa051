//! Reads the state of Event Tracing for Windows from crash dumps, on any host and without Windows APIs. Supported are triage
//! dumps (the minidumps that a blue screen leaves), full dumps and kernel dumps. [`DumpFile::open`] opens a file of any kind.
//!
//! # Minidumps
//!
//! Since Windows 10 the kernel appends buffers of several sessions to such a dump, in its secondary data. [`Dump::open`] reads
//! a file, [`Dump::from_bytes`] bytes in memory:
//!
//! ```no_run
//! let dump = etw_layouts_dump::Dump::open("minidump.dmp")?;
//! for session in dump.sessions() {
//!     let (events, _) = session.events();
//!     println!("{}: {} buffers, {} events", session.name(), session.buffers.len(), events.len());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`DumpSession::save`] writes a session to a trace file; [`DumpSession::read`] reads one from any memory. [`Dump::memory`] returns the
//! pieces of memory in the dump; they implement [`Memory`](etw_layouts_memory::Memory), and can be walked with `etw-layouts-memory`.
//! [`Dump::registrations`] and [`Dump::trace_buffers`] search this memory without following pointers; [`Dump::memory_sessions`]
//! returns the buffers found as sessions.
//!
//! # Memory dumps
//!
//! [`MemoryDump`] contains pages of physical memory, and implements [`Memory`](etw_layouts_memory::Memory) by virtual address. It
//! reads only the required parts of a file, or of another [`Source`]:
//!
//! ```no_run
//! use etw_layouts_dump::{BufferSelection, MemoryDump};
//! use etw_layouts_memory::Walk;
//!
//! # fn globals() -> Vec<(String, u64)> { Vec::new() }
//! let dump = MemoryDump::open("MEMORY.DMP")?;
//! let mut kernel = dump.kernel(dump.identity().build);
//! // The addresses of variables are built in for many kernels. For others, read them from the PDB of the image with `etw-layouts-symbols`.
//! if let Some(image) = dump.image().filter(|_| dump.known_globals().is_empty()) {
//!     kernel = kernel.with_globals(image.base, globals());
//! }
//! let mut walk = Walk::new(&dump, &kernel).with_limits(dump.limits());
//! let found = walk.sessions();
//! for session in dump.sessions(&mut walk, &found, BufferSelection::Pending) {
//!     println!("{}: {} events", session.name(), session.events().0.len());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | dump type | architectures | supported | source |
//! |---|---|---|---|
//! | 1: all pages, in runs | x86, PAE, x64, ARM64 | yes | ntiodump.h |
//! | 2: pages of the kernel, listed in a bitmap, up to Windows 7 | x86, PAE, x64 | yes | ntiodump.h, and a reader that states the same offsets |
//! | 3: headers only | | no: it has no memory | |
//! | 5, 6, 7: pages listed in a bitmap, since Windows 8 | x64, ARM64 | yes | several readers, such as kdmp-parser |
//! | 5, 6, 7 | x86 | no | described by a single reader |
//! | 8, 9, 10: ranges of pages, written by debuggers of a running system (`.dump /k`, `/ka`, `/f`) | x64, ARM64 | yes | kdmp-parser, and published values of one real dump of type 10 |
//!
//! No real dump of these types was available. In generated dumps of the types that the crate kdmp-parser supports (1, 5, 6, 8, 9,
//! 10), it finds the same pages at the same offsets.
//!
//! Page tables of x64 have four or five levels. For ARM64, tables with pages of 4 KiB are supported, with both halves of the
//! address space in one top-level table, as in Windows; this is known from public research, and not confirmed by a real dump. The
//! list of modules has to link back to its head; otherwise a diagnostic states that addresses cannot be trusted. Pages in
//! transition are read on every architecture. On x64 and with PAE they are assumed to be below 32 TiB, because kernels with the
//! L1 Terminal Fault mitigation set bit 45 of their entries. Compressed pages, pages in a page file, and secondary data after
//! such dumps are not read.
//!
//! # Diagnostics
//!
//! Errors of a dump are reported as [`Diagnostic`]s, with their places; reading continues after them. Memory use is at most a
//! small multiple of the file size.

#![forbid(unsafe_code)]

mod blob;
mod compressed;
mod diagnostic;
mod dump;
mod error;
mod events;
mod header;
mod image;
mod kernel_search;
mod lists;
mod memory;
mod open;
mod pages;
mod paging;
mod physical;
mod pool;
mod save;
mod search;
mod secondary;
mod session;
mod silo_search;
mod source;
mod system;
mod walked;
mod wire;

pub use blob::ETW_TAG;
pub use compressed::decoded_buffers;
pub use diagnostic::{Diagnostic, DiagnosticKind};
pub use dump::Dump;
pub use error::{Error, OpenError};
pub use events::{TimedEvent, by_time};
pub use header::DumpHeader;
pub use image::{KernelImage, Pdb};
pub use memory::TriageMemory;
pub use open::DumpFile;
pub use pool::PoolRegistration;
pub use save::{SaveError, SaveSummary};
pub use search::TraceBuffer;
pub use secondary::Blob;
pub use session::{Buffer, DumpSession};
pub use source::Source;
pub use system::{Identity, IdentitySource, MemoryDump};
pub use walked::BufferSelection;
