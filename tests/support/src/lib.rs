//! What the tests of several crates share: symbol files, images and traces, all of them made up.

#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "the names say it")]

#[cfg(feature = "symbols")]
pub mod isf;
#[cfg(feature = "symbols")]
pub mod pdb;
#[cfg(feature = "symbols")]
pub mod pe;
#[cfg(feature = "traces")]
pub mod traces;
