//! Schemas of events from manifests and Windows binaries.

mod binaries;
mod clr;
mod describe;
#[allow(dead_code)]
mod kit;
mod manifests;
