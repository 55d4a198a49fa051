//! Answers from traces of Event Tracing for Windows: where the time went, who did what, and when.

#![forbid(unsafe_code)]

mod compare;
mod frame;
pub mod top;
pub mod timeline;

pub use compare::{Change, Comparison, Statistic, compare};
pub use frame::{Frame, Frames};
