//! One binary for all tests. Every table in here is made up.

mod compare;
mod fixture;
mod isf;
mod isf_errors;
mod pdb;
mod pdb_errors;
mod pdb_fixture;
mod snapshot;
mod store;
