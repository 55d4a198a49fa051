//! Libraries of random providers, and what damage does to them.

mod damage;
// The walk is compared with that by a table, not with the text.
#[allow(dead_code)]
#[path = "../../payload/tests/kit.rs"]
mod kit;
mod library;
mod made;
