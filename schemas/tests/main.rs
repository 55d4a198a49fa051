//! Schemas of events from manifests and Windows binaries.

mod clr;
