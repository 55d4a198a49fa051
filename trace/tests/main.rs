//! Tests of traces.

mod order;
