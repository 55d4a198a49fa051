//! Walks the structures of Event Tracing for Windows in kernel memory: sessions, their buffers and consumers, providers and their
//! registrations, for every kernel that [`etw_layouts`] covers.
//!
//! [`Memory`] is any source of bytes by address: a crash dump, an image with its page tables, a debugger. A [`Kernel`] describes
//! the kernel: build and architecture determine the layouts, and a [`Walk`] starts at its global variables ([`globals`]).
//! `etw-layouts-symbols` reads their addresses from a PDB or an ISF table. From an image to sessions:
//!
//! ```
//! use etw_layouts::Arch;
//! use etw_layouts_memory::{Address, Kernel, Walk};
//!
//! # use etw_layouts::members::{ESERVERSILO_GLOBALS, ETW_SILODRIVERSTATE, UNICODE_STRING, WMI_LOGGER_CONTEXT};
//! # use etw_layouts::{Build, runtime::ViewMut, structures};
//! # use etw_layouts_memory::SparseMemory;
//! # const BUILD: Build = Build::new(10, 0, 19041, 1415);
//! # fn image() -> Result<SparseMemory, Box<dyn std::error::Error>> {
//! #     let mut pieces = SparseMemory::default();
//! #     let silo = structures::ESERVERSILO_GLOBALS.select(BUILD, Arch::X64)?.layout;
//! #     let mut bytes = vec![0; silo.size];
//! #     ViewMut::new(silo, &mut bytes)?.set(ESERVERSILO_GLOBALS::ETW_SILO_STATE, 0xFFFF_9000_0000_0000_u64)?;
//! #     pieces.insert(Address(0xFFFF_F800_00D2_4540), bytes);
//! #     let state = structures::ETW_SILODRIVERSTATE.select(BUILD, Arch::X64)?.layout;
//! #     let mut bytes = vec![0; state.size];
//! #     let mut view = ViewMut::new(state, &mut bytes)?;
//! #     view.set(ETW_SILODRIVERSTATE::MAX_LOGGERS, 4)?;
//! #     view.set(ETW_SILODRIVERSTATE::ETWP_LOGGER_CONTEXT, 0xFFFF_9000_0000_4000_u64)?;
//! #     pieces.insert(Address(0xFFFF_9000_0000_0000), bytes);
//! #     pieces.insert(Address(0xFFFF_9000_0000_4000), [1, 1, 0xFFFF_9000_0000_5000_u64, 1].map(u64::to_le_bytes).concat());
//! #     let logger = structures::WMI_LOGGER_CONTEXT.select(BUILD, Arch::X64)?.layout;
//! #     let mut bytes = vec![0; logger.size];
//! #     let mut view = ViewMut::new(logger, &mut bytes)?;
//! #     view.set(WMI_LOGGER_CONTEXT::LOGGER_ID, 2)?;
//! #     view.set(WMI_LOGGER_CONTEXT::LOGGER_MODE, 0x400)?;
//! #     let name = logger.find(WMI_LOGGER_CONTEXT::LOGGER_NAME).ok_or("no name")?;
//! #     let text = structures::UNICODE_STRING.select(BUILD, Arch::X64)?.layout;
//! #     let mut name = ViewMut::at(text, &mut bytes, name.offset)?;
//! #     name.set(UNICODE_STRING::LENGTH, 8)?;
//! #     name.set(UNICODE_STRING::MAXIMUM_LENGTH, 8)?;
//! #     name.set(UNICODE_STRING::BUFFER, 0xFFFF_9000_0000_6000_u64)?;
//! #     pieces.insert(Address(0xFFFF_9000_0000_5000), bytes);
//! #     pieces.insert(Address(0xFFFF_9000_0000_6000), b"C\0K\0C\0L\0".to_vec());
//! #     Ok(pieces)
//! # }
//! // Parts of an image, for this example.
//! let memory = image()?;
//! // The base address of the kernel image, and the offsets of variables from its symbols.
//! let (base, symbols) = (Address(0xFFFF_F800_0000_0000), [("PspHostSiloGlobals", 0xD2_4540)]);
//! let kernel = Kernel::new("10.0.19041.1415".parse()?, Arch::X64).with_globals(base, symbols);
//!
//! let mut walk = Walk::new(&memory, &kernel);
//! let sessions = walk.sessions();
//! for session in &sessions {
//!     println!("{session}");
//!     println!("    {:?}, {:?} events lost, {} buffers", session.clock, session.events_lost, walk.buffers(session).len());
//! }
//! for finding in walk.findings() {
//!     println!("{:?}: {finding}", finding.weight());
//! }
//! assert_eq!(sessions[0].name.as_deref(), Some("CKCL"));
//! assert_eq!(sessions[0].mode_names, ["EVENT_TRACE_BUFFERING_MODE"]);
//! assert!(walk.findings().is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Contents of a walk
//!
//! | data | function | source |
//! |---|---|---|
//! | sessions | [`Walk::sessions`] | the table of sessions: in the host silo since 1511, before that a global variable; or the table in the debugger data |
//! | buffers | [`Walk::buffers`] | the session's list of all buffers, those of its processors, and its current one |
//! | clocks and processors | [`Walk::time`] | global variables; up to 5.2, the file header that a session has prepared |
//! | providers | [`Walk::providers`] | the hash table of the silo or the global one; up to 6.1, two lists |
//! | consumers | [`Walk::consumers`] | the session's list |
//! | registrations of the kernel itself | [`Walk::variable_registrations`] | global variables that refer to them, independent of the lists |
//! | traits of a provider | [`Walk::traits`] | a registration |
//! | other silos | [`Walk::silos`] | the provider entries of silos, linked to those of the host |
//! | all of these, with consistency checks | [`Walk::census`] | all of the above |
//! | member offsets that the kernel itself states | [`Walk::published_offsets`] | `EtwpDebuggerData` |
//!
//! The crate `etw-layouts-dump` reads a session with its buffers, compressed ones included, and saves it as a trace file
//! (`DumpSession::read`).
//!
//! For other structures there are [`Walk::object`], [`Walk::list`], [`Walk::text`] and [`Walk::untag`]. They read the available
//! members of a structure even if some of its pages are missing, lists of every kind, strings, and pointers with a count in their
//! low bits.
//!
//! # Guarantees
//!
//! For any contents of memory, a walk ends within its [`Limits`], without a panic. Irregularities are reported as [`Finding`]s
//! with a place and a description. Their [`Weight`] distinguishes inconsistent memory from suspected tampering. A finding depends
//! on the layout used: [`Kernel::chosen`] returns the confidence of each layout for this kernel.
//!
//! The only offsets in this crate are those of the statements in `EtwpDebuggerData`, which belong to no structure. Four facts are
//! known from public research instead of symbols: the meaning of these statements; the hash of GUIDs ([`FindingKind::Bucket`]); that a
//! table slot without a session contains an odd number; and that a registration handle of the kernel is the address of the
//! registration ([`Walk::variable_registrations`]).

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod address;
mod buffer;
mod census;
mod consumer;
mod finding;
mod kernel;
mod kernel_registrations;
mod list;
mod memory;
mod object;
mod provider;
mod published;
mod session;
mod start;
mod time;
mod traits;
mod walk;

pub use address::Address;
pub use buffer::{Buffer, BufferBytes, MAX_BUFFER_SIZE, State};
pub use census::Census;
pub use consumer::Consumer;
pub use finding::{Finding, FindingKind, MemberLocation, Weight};
pub use kernel::{Kernel, Module, Time};
pub use memory::{Memory, ReadError, SparseMemory};
pub use object::Object;
pub use provider::{Enable, Kind, Last, Owner, Provider, Registration, guid_hash};
pub use published::Stated;
pub use session::{Routine, Session};
pub use traits::Traits;
pub use uuid::Uuid;
pub use walk::{Limits, Walk};

/// Names of the global variables that walks start from, as in symbols. Each build has some of them.
pub fn globals() -> impl Iterator<Item = &'static str> {
    etw_layouts::LAYOUTS.variables()
}
