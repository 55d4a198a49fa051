//! Crash dumps, made up and real.

#![allow(missing_docs, reason = "tests")]

mod damage;
mod memory;
mod paging;
mod real;
mod written;
