//! Tests of traces.

mod order;
mod real;
mod stacks;
