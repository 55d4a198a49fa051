//! Memory images of every kernel, walked.

mod anomalies;
mod compressed;
mod damage;
mod edges;
mod large;
mod pieces;
mod whole;
