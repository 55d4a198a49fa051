//! Answers from real and made traces.

mod frames;
mod profile;
#[path = "../../trace/tests/real.rs"]
mod real;
mod timeline;
