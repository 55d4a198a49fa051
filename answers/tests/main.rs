//! Answers from real and made traces.

mod frames;
mod real;
