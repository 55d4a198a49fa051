//! Reads what Event Tracing for Windows has in crash dumps, on any host and with no Windows API: triage dumps, the minidumps that a
//! blue screen leaves; full dumps, and dumps of the kernel's memory.
//!
//! # Minidumps
//!
//! Since Windows 10 the kernel adds buffers of several sessions to such a dump. They lie behind it, in its secondary data.
//! [`Dump::new`] reads a dump from a byte slice:
//!
//! ```no_run
//! let bytes = std::fs::read("minidump.dmp")?;
//! let dump = etw_layouts_dump::Dump::new(&bytes)?;
//! for session in dump.sessions() {
//!     let (events, _) = session.events();
//!     println!("{}: {} buffers, {} events", session.name, session.buffers.len(), events.len());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A session is saved as a trace file with [`Session::save`]. The pieces of memory in the dump are a
//! [`Memory`](etw_layouts_memory::Memory), [`Dump::memory`], for the walks of `etw-layouts-memory`; [`Dump::registrations`] and
//! [`Dump::trace_buffers`] find what lies in them without a path to it; [`Dump::memory_sessions`] has these buffers as sessions.
//!
//! # Dumps of memory
//!
//! [`MemoryDump`] has the pages of physical memory, and is the [`Memory`](etw_layouts_memory::Memory) of its system by virtual address. It
//! reads of a [`Source`], such as a file, only what is asked for:
//!
//! ```no_run
//! use etw_layouts_dump::MemoryDump;
//! use etw_layouts_memory::{GLOBALS, Walk, salvage::Which};
//!
//! # fn globals() -> Vec<(String, u64)> { Vec::new() }
//! let dump = MemoryDump::new(std::fs::File::open("MEMORY.DMP")?)?;
//! let mut kernel = dump.kernel(dump.identity().build);
//! // Of many kernels it is known where their variables are. For others there is the PDB that the image names, and `etw-layouts-symbols`.
//! if let Some(image) = dump.image().filter(|_| dump.known_globals().is_empty()) {
//!     kernel = kernel.with_globals(image.base, globals());
//! }
//! let mut walk = Walk::new(&dump, &kernel).with_limits(dump.limits());
//! let found = walk.sessions();
//! for session in dump.sessions(&mut walk, &found, Which::Pending) {
//!     println!("{}: {} events", session.name, session.events().0.len());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | kind | of | read | known from |
//! |---|---|---|---|
//! | 1, all pages, in runs | x86, PAE, x64, ARM64 | yes | ntiodump.h |
//! | 2, pages of the kernel that a bitmap names, up to Windows 7 | x86, PAE, x64 | yes | ntiodump.h, and a reader that states the same offsets |
//! | 3, headers alone | | no: it has no memory | |
//! | 5, 6, 7: pages that a bitmap names, since Windows 8 | x64, ARM64 | yes | several readers, kdmp-parser among them |
//! | the same | x86 | no | one reader alone |
//! | 8, 9, 10: ranges of pages, as debuggers write them of a running system (`.dump /k`, `/ka`, `/f`) | x64, ARM64 | yes | kdmp-parser, and the figures of one real dump of the kind 10 |
//!
//! No real dump of these kinds was at hand. The crate kdmp-parser finds the same pages at the same places in written dumps of the kinds that it reads: 1,
//! 5, 6, 8, 9, 10.
//!
//! Page tables of x64 have four levels or five. Of ARM64, those with pages of 4 KiB are read, and both halves of the address space through
//! one table of the highest level, as Windows has it; that is known from public research, and no real dump was at hand to confirm it. The list of
//! modules has to lead back to its head, or a finding says that no address can be trusted. Pages in transition are read on every architecture.
//! On x64 and with PAE they are taken to lie below 32 TiB: kernels with the fix of L1 Terminal Fault set bit 45 of their entries. Pages that
//! were compressed or written to a page file, and secondary data behind such dumps, are not read.
//!
//! # What is wrong
//!
//! What is wrong with a dump is a [`Finding`], with its place; reading goes on after it. Memory is at most a small multiple of the file's
//! size.

#![forbid(unsafe_code)]

mod blob;
mod dump;
mod error;
mod events;
mod finding;
mod header;
mod image;
mod lists;
mod memory;
mod pages;
mod paging;
mod physical;
mod pool;
mod save;
mod search;
mod secondary;
mod session;
mod source;
mod system;
mod walked;
mod wire;

pub use blob::ETW_TAG;
pub use dump::Dump;
pub use error::Error;
pub use events::{Timed, by_time};
pub use finding::{Finding, What};
pub use header::Header;
pub use image::{KernelImage, Pdb};
pub use memory::Pieces;
pub use pool::Registration;
pub use save::{SaveError, Saved};
pub use search::TraceBuffer;
pub use secondary::Blob;
pub use session::{Buffer, Clocks, Session};
pub use source::Source;
pub use system::{By, Identity, MemoryDump};
