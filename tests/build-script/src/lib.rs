//! The layouts of our own specs, for all targets, generated when the crate is built.

include!(concat!(env!("OUT_DIR"), "/layouts.rs"));

/// What the build script wrote.
pub const TEXT: &str = include_str!(concat!(env!("OUT_DIR"), "/layouts.rs"));
