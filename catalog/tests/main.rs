//! Tests of the catalogue.

mod consumer;
mod facts;
mod manifests;
mod traces;
