//! Crash dumps, made up and real.

#![allow(missing_docs, reason = "tests")]

mod damage;
mod memory;
mod real;
mod written;
