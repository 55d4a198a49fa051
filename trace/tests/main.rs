//! Tests of traces.

mod names;
mod needs;
mod order;
mod real;
mod stacks;
