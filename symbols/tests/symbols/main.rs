//! One binary for all tests. All tables in its code are synthetic.

mod annotations;
mod compare;
#[cfg(feature = "functions")]
mod functions;
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
