//! What generated layout types stand on: pointers as addresses, bytes as types, bit fields, and metadata from which a layout is
//! chosen by build at run time. Without `std`, without allocation.

#![no_std]

#[cfg(target_endian = "big")]
compile_error!(
    "the layouts are little-endian, as Windows is: a big-endian host would have to swap every member; use a little-endian one"
);

mod access;
pub mod bytes;
#[doc(hidden)]
pub mod check;
mod data;
#[doc(hidden)]
pub mod debug;
mod error;
pub mod meta;
#[doc(hidden)]
pub mod stated;
pub mod token;
mod value;
mod values;
mod view;

pub use access::{bits, read, set_bits, signed_bits, write};
pub use bytemuck;
pub use data::{Bytes, Ptr32, Ptr64};
pub use error::{Error, Reason};
pub use meta::{Arch, Build, Described};
pub use token::Token;
pub use value::{Choice, Value};
pub use view::{View, ViewMut};
