//! The facts that the specs of `etw-layouts` are held against, as text: symbol tables of Windows kernels, reduced to the structures
//! that the specs speak of. The program `etw` carries them.

#![no_std]
#![forbid(unsafe_code)]

/// Each file by its path in the repository, such as `facts/10.0.19041.329-x64.facts`, with its text; sorted.
pub const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/files.rs"));
