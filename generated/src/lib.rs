//! The memory layouts of Event Tracing for Windows, for every Windows version from 2000 on.

#![no_std]
#![allow(non_snake_case, non_camel_case_types, non_upper_case_globals)]

#[rustfmt::skip]
pub mod axis;
#[rustfmt::skip]
pub mod constants;
#[rustfmt::skip]
pub mod layouts;
#[rustfmt::skip]
pub mod members;
#[rustfmt::skip]
pub mod structures;
#[rustfmt::skip]
mod targets;

pub use bytemuck;
pub use etw_layouts_runtime::{self as runtime, Arch, Build, Described};
pub use targets::*;
