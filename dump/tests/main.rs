//! Crash dumps, made up and real.

#![allow(missing_docs, reason = "tests")]

mod damage;
mod real;
mod written;
