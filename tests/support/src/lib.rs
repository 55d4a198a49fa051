//! Shared test support for several crates: generated symbol files, images, traces, kernel memory and crash dumps, and reports of
//! missing tools.

#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "the names are descriptive")]

#[cfg(feature = "browser")]
pub mod browser;
pub mod clang;
#[cfg(feature = "traces")]
pub mod consumer;
#[cfg(feature = "dumps")]
pub mod dumps;
#[cfg(feature = "traces")]
pub mod event_infos;
pub mod folder;
pub mod installed;
#[cfg(feature = "symbols")]
pub mod isf;
#[cfg(feature = "kernels")]
pub mod kernels;
#[cfg(feature = "linking")]
pub mod linking;
#[cfg(feature = "traces")]
pub mod logging;
#[cfg(feature = "dumps")]
pub mod memory_dumps;
#[cfg(feature = "symbols")]
pub mod pdb;
#[cfg(feature = "symbols")]
pub mod pe;
#[cfg(feature = "traces")]
pub mod records;
#[cfg(feature = "linking")]
pub mod specs;
#[cfg(feature = "traces")]
pub mod traces;
#[cfg(feature = "schemas")]
pub mod wevt;
