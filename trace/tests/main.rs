//! Tests of traces.

mod made;
mod order;
mod processes;
mod who;
