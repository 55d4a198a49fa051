//! The specs of `etw-layouts` as text: what is known of the memory layouts of Event Tracing for Windows, and their version axis,
//! scalars and constants.
//!
//! The program `etw` carries them, and `etw-layouts-codegen` completes specs of others with them. The language of the specs is
//! described in the README.

#![no_std]
#![forbid(unsafe_code)]

/// Each spec by its path in the repository, such as `specs/etw/WMI_BUFFER_HEADER.toml`, with its text; sorted.
pub const FILES: &[(&str, &str)] = &files::TABLE;

// A static, because a program would contain the texts of a constant once for each unit that uses it.
mod files {
    include!(concat!(env!("OUT_DIR"), "/files.rs"));
}
