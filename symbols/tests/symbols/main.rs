//! One binary for all tests. Every table in here is made up.

mod compare;
mod fixture;
#[cfg(feature = "store")]
mod image;
mod isf;
mod isf_errors;
mod pdb;
mod pdb_errors;
mod pdb_fixture;
#[cfg(feature = "store")]
mod pe;
#[cfg(feature = "store")]
mod server;
mod snapshot;
mod store;
#[cfg(feature = "store")]
mod symbol_path;
