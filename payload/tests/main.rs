//! Payloads that a kit encodes from random schemas, with an arithmetic of its own, and what damage does to them.

mod damage;
mod kit;
mod round_trip;
mod values;
