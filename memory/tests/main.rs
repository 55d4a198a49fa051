//! Memory images of every kernel, walked.

mod anomalies;
mod damage;
mod large;
mod pieces;
mod whole;
