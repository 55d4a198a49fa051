//! Answers from traces of Event Tracing for Windows: where the time went, who did what, and when.

#![forbid(unsafe_code)]

mod collections;
mod compare;
mod frame;
mod functions;
mod pending;
pub mod profile;
mod samples;
mod thread_states;
pub mod timeline;
pub mod top;

pub use compare::{Change, Comparison, Statistic, compare};
pub use frame::{Frame, FrameCounts, FrameKind, Frames, Function, ImageKey, MAX_FRAMES};
pub use functions::{Functions, PdbFailure};
