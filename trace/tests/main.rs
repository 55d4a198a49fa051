//! Traces as a whole.
mod order;
mod who;
