//! Tests of the whole pipeline.

mod own_specs;
