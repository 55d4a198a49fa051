//! Tests with generated and real crash dumps.

#![allow(missing_docs, reason = "tests")]

mod damage;
mod image;
mod memory;
mod open;
mod paging;
mod real;
mod secondary;
mod written;
