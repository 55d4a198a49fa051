//! One binary for all tests. Every table in here is made up.

mod compare;
mod fixture;
mod isf;
mod isf_errors;
mod snapshot;
mod store;
