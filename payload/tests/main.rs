//! Decodes payloads of random schemas, intact and damaged. A generator encodes them without code of the decoder.

mod damage;
mod kit;
mod plan;
mod round_trip;
mod values;
