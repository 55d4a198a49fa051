//! Traces of Event Tracing for Windows: the events of one or more trace files in time order, with their processes, threads, names and call
//! stacks.
//!
//! [`Trace::open`] reads a file once; [`Trace::events`] reads it again, in any order. Memory does not depend on the number of events. A
//! trace needs 56 bytes per buffer, the memory that [`Processes`] and [`Threads`] document, about 10 MB for buffers in use, and up to 32 MB
//! for the keys, times and positions of names and call stacks. If these exceed the limit, they are written to temporary files;
//! [`Notice::Temporary`] reports their size. The names and call stacks themselves are read from the trace again.
//!
//! ```no_run
//! use etw_layouts_trace::{Trace, kernel::process};
//! # fn main() -> Result<(), etw_layouts_trace::Error> {
//!
//! let trace = Trace::open("boot.etl")?;
//! for event in trace.events() {
//!     let event = event?;
//!     if let Some(start) = event.get::<process::Start>() {
//!         println!("{:?} {:?}", event.time(), start.command_line());
//!     }
//!     println!("{:?} {:?} {}", event.process().map(|p| p.image()), event.stack()?, event.name());
//! }
//! for process in trace.processes() {
//!     println!("{} {:?} {:?} {:?} {:?}", process.id, process.parent_id, process.user(), process.start, process.end);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Files with the same logger, start, boot and clock are parts of one [`Session`], and share schemas. Files of different sessions share nothing.

#![forbid(unsafe_code)]

mod buffer;
mod buffers;
mod copy;
mod deferred;
mod error;
mod event;
mod event_at;
mod events;
mod file;
mod index;
mod name_event;
mod names;
mod naming;
mod needs;
mod options;
mod order;
mod parallel;
mod place;
mod process;
mod process_table;
mod processes;
pub mod providers;
mod recall;
mod runtime_stacks;
#[cfg(feature = "serde")]
mod serialize;
mod session;
mod slice;
mod sorted;
mod source;
mod specified;
mod stack;
mod stack_counter;
mod stacks;
mod threads;
mod timer;
mod trace;
mod volumes;
mod who;
mod wpp;

pub use buffers::Buffers;
pub use copy::{Copied, CopyError};
pub use error::Error;
pub use etw_layouts::events as kernel;
pub use etw_layouts_etl as etl;
pub use event::{Event, Record};
pub use events::Events;
pub use file::TraceFile;
pub use naming::{AtAddress, ImagePdb, NameId, Named, Names};
pub use needs::Needs;
pub use options::{Notice, Options};
pub use order::{Order, Slice};
pub use parallel::in_order;
pub use place::Place;
pub use process::{Known, LoadedImage, Moment, Process, ProcessIndex, StatedBy};
pub use process_table::ProcessTable;
pub use processes::Processes;
pub use session::{Session, group};
pub use source::{BytesSource, FileSource, Sequential, Source};
pub use specified::{EventKind, kind};
pub use stack::{Stack, StackPart};
pub use stack_counter::{StackCounter, UnboundStacks};
pub use stacks::StackSource;
pub use threads::{ThreadTable, Threads};
pub use timer::TimerInterval;
pub use trace::{Losses, MEMORY, Trace};
pub use volumes::Volume;
pub use who::{KnownBy, Party, Who, who};
pub use wpp::WppSources;
