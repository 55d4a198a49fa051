//! Tests with generated and real crash dumps.

#![allow(missing_docs, reason = "tests")]

mod damage;
mod disk;
mod image;
mod memory;
mod missing;
mod open;
mod paging;
mod real;
mod secondary;
mod written;
