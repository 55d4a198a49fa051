//! Answers from traces of Event Tracing for Windows: where the time went, who did what, and when.

#![forbid(unsafe_code)]

mod frame;
pub mod timeline;

pub use frame::{Frame, Frames};
