//! Tests of traces.

mod arrangements;
mod damage;
mod made;
mod names;
mod needs;
mod order;
mod processes;
mod real;
mod stacks;
mod survivors;
mod typed_event;
mod who;
