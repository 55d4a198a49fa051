//! Answers from real and made traces.

mod frames;
mod profile;
mod real;
mod timeline;
