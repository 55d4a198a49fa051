//! Tests of the catalogue.

mod facts;
mod manifests;
mod traces;
