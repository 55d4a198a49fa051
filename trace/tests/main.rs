//! Tests of traces.

mod damage;
mod made;
mod names;
mod needs;
mod order;
mod processes;
mod real;
mod stacks;
mod who;
