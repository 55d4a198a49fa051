//! The memory layouts of Event Tracing for Windows: every structure, every Windows version from 2000 on, x86, x64 and
//! ARM64, as Rust types.
//!
//! Types are plain old data ([`bytemuck::Pod`]), without `std`, on any little-endian host. That each has the size, alignment and offsets
//! that it states, and no padding that is not a member, is checked when the crate compiles. The page of each type has a table of its members.
//!
//! # A build that is known when you write
//!
//! Each kernel has a module, in it one for each architecture, with Microsoft's names for the types as that kernel has them:
//!
//! ```
//! use etw_layouts::{bytemuck, win10_2004::x64::WMI_BUFFER_HEADER};
//!
//! // A buffer of a trace file, as bytes; here, an empty one.
//! let bytes = [0u8; 0x48];
//! let header: WMI_BUFFER_HEADER = bytemuck::pod_read_unaligned(&bytes);
//! println!("{} bytes, clock {:?}, {:?}", header.BufferSize, header.ClockType(), header.BufferFlag);
//! ```
//!
//! Members are fields. Bit fields and members of unnamed unions have a function that reads them and one that replaces them (`ClockType`,
//! `set_ClockType`). Pointers are addresses ([`Ptr32`](runtime::Ptr32), [`Ptr64`](runtime::Ptr64)). Enumerations and flags keep values
//! that they do not know. Of members
//! without a name, `_padding24` is padding and `bits20` the unit of bit fields at that offset, and `union_Flags` the union that begins
//! with `Flags`.
//!
//! # A build that is known when you run
//!
//! [`structures`] has every structure in all its layouts. One of them is chosen by build, together with how sure it is
//! ([`Confidence`](runtime::meta::Confidence)); a [`View`](runtime::View) reads bytes by it, and the tokens in [`members`] say which
//! member, whichever layout it is. [`LAYOUTS`] is the table of all layouts. It has the examined builds, and finds one by its PDB or its
//! image:
//!
//! ```
//! use etw_layouts::constants::LOG_FILE_MODE;
//! use etw_layouts::members::{UNICODE_STRING as TEXT, WMI_LOGGER_CONTEXT as CONTEXT};
//! use etw_layouts::runtime::{View, ViewMut, meta::{Confidence, Pdb}};
//! use etw_layouts::{Arch, Build, LAYOUTS, structures};
//!
//! let build: Build = "6.1.7601.29999".parse()?;
//! let chosen = structures::WMI_LOGGER_CONTEXT.select(build, Arch::X64)?;
//! match chosen.confidence {
//!     sure if sure.is_sure() => {}
//!     Confidence::Uncertain { .. } => println!("this layout, or else {:?}", chosen.candidates().nth(1)),
//!     // Nothing contradicts the layout, and no symbols verify it.
//!     confidence => println!("{build}: {confidence}"),
//! }
//! // This update was not examined, and the next release has another layout than the last update that was.
//! assert!(matches!(chosen.confidence, Confidence::Uncertain { .. }));
//! // A crash dump or an image names its kernel's PDB.
//! let seen = LAYOUTS.by_pdb(Pdb { guid: "3177d310-00ba-7590-ded3-35936c93e374".parse()?, age: 1 });
//! assert_eq!(seen.map(|kernel| kernel.build), Some(Build::new(10, 0, 19041, 1415)));
//!
//! // A logger context in memory, at any address.
//! let mut memory = [0u8; 0x1000];
//! ViewMut::at(chosen.layout, &mut memory, 0x10)?.set(CONTEXT::LOGGER_MODE, 0x0800_0101)?;
//! let context = View::at(chosen.layout, &memory, 0x10)?;
//! let name = context.get(CONTEXT::LOGGER_NAME).ok_or("not in this layout")?;
//! assert_eq!(name.unsigned(TEXT::LENGTH), Some(0));
//! let mode = context.get(CONTEXT::LOGGER_MODE).ok_or("not in this layout")?.choice();
//! assert!(mode.contains(LOG_FILE_MODE::EVENT_TRACE_REAL_TIME_MODE) && mode.is("EVENT_TRACE_REAL_TIME_MODE"));
//! // A member that other builds have.
//! assert!(context.get(CONTEXT::KERNEL_TRACE_ON).is_none());
//! println!("{context:#?}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`runtime::bytes`] reads and writes whole types at any offset.
//!
//! # What is where
//!
//! | module | holds |
//! |---|---|
//! | [`win2000`] … [`win11_26h1`] | the types of a kernel, by Microsoft's names |
//! | [`layouts`] | the pages of all distinct layouts; a private module, because another examined build can rename them |
//! | [`constants`] | flags and other named values |
//! | [`structures`] | which kernel has which layout, and how sure that is |
//! | [`LAYOUTS`] | the table of all layouts; the builds at which they change; the examined builds, by build, PDB and image |
//! | [`members`] | the tokens |
//! | [`events`] | schemas of kernel events, found by hook or GUID; a type with getters for each event, in all versions; types of payloads without variable parts |
//!
//! # Features
//!
//! A structure is a feature by its name in small letters, `wmi_logger_context`, which includes the structures that it embeds and their
//! enumerations. Pointers are addresses, so the structures that they point to are features of their own. A program that needs few structures
//! compiles in a fraction of the time without the others:
//!
//! ```toml
//! etw-layouts = { version = "0.1", default-features = false, features = ["wmi_logger_context"] }
//! ```
//!
//! The groups and the other features but `derive` are on by default:
//!
//! | feature | adds |
//! |---|---|
//! | `trace` | all structures in trace files |
//! | `kernel` | all structures in the memory of kernels, and of their interfaces |
//! | `dump` | all structures of crash dumps |
//! | `metadata` | [`LAYOUTS`], [`structures`] and [`members`], which choose a layout by build; without any types. A newer file can replace the table: see [`runtime::packed`] |
//! | `derive` | `#[derive(Relocated)]`, which declares the members that a program reads: see [`runtime::relocated`]; not on by default |
//! | `events` | [`events`], what decodes the payloads of kernel events |
//! | `targets` | a module for each kernel, with the types of the structures that are on; each of them enables it |

#![no_std]
#![forbid(unsafe_code)]
// The text above describes the crate with all features, and links to their modules.
#![cfg_attr(not(all(feature = "events", feature = "metadata", feature = "targets")), allow(rustdoc::broken_intra_doc_links))]
#![allow(non_snake_case, non_camel_case_types, non_upper_case_globals)]

#[rustfmt::skip]
pub mod constants;
#[cfg(feature = "events")]
mod event_table;
#[cfg(feature = "events")]
#[rustfmt::skip]
pub mod events;
// Pages of types, without names that programs can depend on: another examined build can rename the types.
#[cfg(all(feature = "targets", doc))]
#[rustfmt::skip]
pub mod layouts;
#[cfg(all(feature = "targets", not(doc)))]
#[rustfmt::skip]
mod layouts;
#[cfg(feature = "metadata")]
#[rustfmt::skip]
pub mod members;
#[cfg(feature = "metadata")]
#[rustfmt::skip]
pub mod structures;
// Without some features, some sets of types are empty.
#[allow(unused_imports)]
#[cfg(feature = "targets")]
#[rustfmt::skip]
mod targets;
#[cfg(feature = "events")]
mod typed_event;
#[cfg(feature = "events")]
mod value_maps;
#[cfg(feature = "events")]
mod who;

pub use bytemuck;
#[cfg(feature = "derive")]
pub use etw_layouts_macros::Relocated;
#[cfg(feature = "derive")]
pub use etw_layouts_runtime::relocated::Relocated;
pub use etw_layouts_runtime::{self as runtime, Arch, Build};
#[cfg(feature = "metadata")]
pub use structures::LAYOUTS;
#[cfg(feature = "targets")]
pub use targets::*;
