//! Reads and writes what Event Tracing for Windows writes, on any host and with no Windows API.

#![deny(unsafe_code)]

pub mod compression;
pub mod map;
#[forbid(unsafe_code)]
pub mod xpress;
