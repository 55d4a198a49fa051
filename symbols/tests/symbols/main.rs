//! One binary for all tests. Every table in here is made up.

mod compare;
mod globals;
#[cfg(feature = "store")]
mod image;
mod images;
mod isf;
mod isf_errors;
mod load;
mod pdb;
mod pdb_errors;
#[cfg(feature = "download")]
mod server;
mod snapshot;
mod store;
#[cfg(feature = "download")]
mod symbol_path;
