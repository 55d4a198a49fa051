//! Tests of traces.

mod names;
mod order;
mod real;
mod stacks;
