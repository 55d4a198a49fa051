//! Runtime of generated layout types: addresses, types as bytes, bit fields, and metadata for choosing a layout by build at run
//! time. It does not use `std`, and does not allocate memory.
//!
//! Users of `etw-layouts`, and of types generated with `etw-layouts-macros` or `etw-layouts-codegen`, need three types:
//!
//! - a [`Structure`](meta::Structure) has every layout of a structure; [`select`](meta::Structure::select) chooses the layout for
//!   a [`Build`], and returns its confidence;
//! - a [`View`] reads bytes with a layout, a [`ViewMut`] also replaces members;
//! - a [`Token`] denotes a member, independent of the layout.
//!
//! ```
//! use etw_layouts_runtime::{Arch, Build, View};
//! # use etw_layouts_runtime::{Described, generated::{axis, kernel, structure}, layout, meta::{Axis, Change, Registry, Structure}, tokens};
//! # tokens! { REQUEST { Id ID, "all versions"; Size SIZE, "6.1.."; } }
//! # layout! { /// Then.
//! #     pub struct Old: REQUEST, 4, 4 { 0 Id: u32 = "ULONG", ""; } }
//! # layout! { /// Now.
//! #     pub struct New: REQUEST, 8, 4 { 0 Size: u32 = "ULONG", ""; 4 Id: u32 = "ULONG", ""; } }
//! # static AXIS: Axis = axis(&[
//! #     kernel(Build::new(6, 0, 6000, 0), "", &[Arch::X64], &[]),
//! #     kernel(Build::new(6, 1, 7600, 0), "", &[Arch::X64], &[]),
//! # ], &[]);
//! # static REQUESTS: Structure<REQUEST::Type> = structure("REQUEST", &AXIS, Registry::EMPTY, &[], &[
//! #     Change::layout(Build::new(6, 0, 6000, 0), Arch::X64, Old::LAYOUT.layout()),
//! #     Change::layout(Build::new(6, 1, 7600, 0), Arch::X64, New::LAYOUT.layout()),
//! # ]);
//! let bytes = [8, 0, 0, 0, 77, 0, 0, 0];
//! for (build, id, size) in [("6.0.6002", 8, None), ("6.1.7601.24000", 77, Some(8))] {
//!     let build: Build = build.parse()?;
//!     let chosen = REQUESTS.select(build, Arch::X64)?;
//!     let view = View::new(chosen.layout, &bytes)?;
//!     assert_eq!((view.unsigned(REQUEST::ID), view.unsigned(REQUEST::SIZE)), (Some(id), size));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Generated code consists of three macro calls: [`layout!`] defines and checks a structure or union, [`values!`] an enumeration
//! or flags, [`tokens!`] the tokens of a structure. They can also be written by hand: accepted input is safe, and types other
//! than plain old data are rejected.

#![no_std]

#[cfg(target_endian = "big")]
compile_error!("unsupported big-endian host: layouts are little-endian, as Windows is; use a little-endian host");

mod access;
pub mod bytes;
#[doc(hidden)]
pub mod check;
mod data;
mod error;
#[doc(hidden)]
pub mod generated;
mod layout;
pub mod meta;
mod names;
pub mod packed;
pub mod token;
mod value;
mod values;
mod view;

#[doc(hidden)]
pub use access::{At, Bits, Number, at, plain};
pub use bitflags;
pub use bytemuck;
#[doc(hidden)]
pub use core;
pub use data::{Bytes, Ptr32, Ptr64};
pub use error::{Error, Reason};
pub use meta::{Arch, Build, Described};
#[doc(hidden)]
pub use names::print_named;
pub use token::{LayoutOf, Token};
pub use uuid::Uuid;
#[doc(hidden)]
pub use value::print;
pub use value::{Choice, Value};
pub use view::{View, ViewMut};
