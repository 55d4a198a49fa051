//! Answers from traces of Event Tracing for Windows: where the time went, who did what, and when.

#![forbid(unsafe_code)]

mod frame;
mod functions;
pub mod profile;
mod samples;

pub use frame::{Frame, FrameCounts, FrameKind, Frames, Function, ImageKey, MAX_FRAMES};
pub use functions::Functions;
