//! Tests of the catalogue.

mod traces;
