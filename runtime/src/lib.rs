//! Runtime of generated layout types: addresses, types as bytes, bit fields, and tables of layouts for choosing a layout by build at
//! run time. It does not use `std`, and does not allocate memory.
//!
//! Users of `etw-layouts`, and of types generated with `etw-layouts-macros` or `etw-layouts-codegen`, need three types:
//!
//! - a [`Structure`](packed::Structure) has every layout of a structure; [`select`](packed::Structure::select) chooses the layout for
//!   a [`Build`], and returns its confidence;
//! - a [`View`] reads bytes with a layout, a [`ViewMut`] also replaces members;
//! - a [`Token`] denotes a member, independent of the layout.
//!
//! ```
//! mod driver {
//!     etw_layouts_macros::layouts! {
//!         spec = r#"
//!             [struct]
//!             name = "REQUEST"
//!             members = [
//!               { name = "Size", type = "ULONG", in = "6.1.." },
//!               { name = "Id",   type = "ULONG" },
//!             ]
//!         "#,
//!     }
//! }
//! use driver::{members::REQUEST, structures};
//! use etw_layouts_runtime::{Arch, Build, View};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let bytes = [8, 0, 0, 0, 77, 0, 0, 0];
//! for (build, id, size) in [("6.0.6002", 8, None), ("6.1.7601.24000", 77, Some(8))] {
//!     let build: Build = build.parse()?;
//!     let chosen = structures::REQUEST.select(build, Arch::X64)?;
//!     let view = View::new(chosen.layout, &bytes)?;
//!     assert_eq!((view.unsigned(REQUEST::ID), view.unsigned(REQUEST::SIZE)), (Some(id), size));
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Generated code consists of macro calls. Three of these macros can also be called by hand: [`layout!`] defines and checks a structure or
//! union, [`values!`] an enumeration or flags, [`tokens!`] the tokens of a structure. Accepted input is safe, and types other than plain old
//! data are rejected.

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
pub mod relocated;
mod structure;
pub mod token;
mod value;
mod values;
mod view;

#[doc(hidden)]
pub use access::{At, Bits, Number, at, plain, shown};
pub use bitflags;
pub use bytemuck;
#[doc(hidden)]
pub use core;
pub use data::{Bytes, Ptr32, Ptr64};
pub use error::{Error, ErrorKind};
pub use meta::{Arch, Build};
pub use names::Named;
#[doc(hidden)]
pub use names::print_named;
pub use token::{LayoutOf, MemberOf, Token};
pub use uuid::Uuid;
pub use value::{Choice, Value};
pub use view::{View, ViewMut};
