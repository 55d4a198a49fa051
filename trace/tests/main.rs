//! Tests of traces.

mod damage;
mod names;
mod needs;
mod order;
mod real;
mod stacks;
