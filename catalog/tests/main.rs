//! Tests of the catalogue.

mod consumer;
mod corrections;
mod facts;
mod manifests;
mod traces;
