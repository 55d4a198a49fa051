//! Crash dumps, made up and real.

#![allow(missing_docs, reason = "tests")]

mod damage;
mod image;
mod memory;
mod open;
mod paging;
mod real;
mod secondary;
mod written;
