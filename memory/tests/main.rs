//! Walks through generated memory images of every kernel.

mod anomalies;
mod compressed;
mod damage;
mod edges;
mod large;
mod pieces;
mod whole;
