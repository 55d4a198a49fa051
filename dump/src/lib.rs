//! Reads what Event Tracing for Windows has in crash dumps, on any host and with no Windows API: triage dumps, the minidumps that a
//! blue screen leaves.
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
//! [`Dump::trace_buffers`] find what lies in them without a path to it.
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
mod memory;
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
