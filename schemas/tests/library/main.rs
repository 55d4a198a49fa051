//! Libraries of random providers, intact and damaged.

mod damage;
// The text of the generator is unused here, because decoding is compared with that of a table.
#[allow(dead_code)]
#[path = "../../../payload/tests/kit.rs"]
mod kit;
mod library;
mod made;
