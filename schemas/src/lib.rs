//! Schemas of events of Event Tracing for Windows, read from traces, manifests and Windows binaries.
//!
//! Each reader returns [`Provider`]s: plain data with the events of a provider, their fields, and names of their values. [`LibraryBuilder`]
//! packs them into a [`Library`], in which events are found and with which payloads are decoded.

#![forbid(unsafe_code)]

mod builder;
mod library;
mod model;
mod records;
mod write;

pub use builder::LibraryBuilder;
pub use library::Library;
pub use model::{Count, Event, Field, Keyword, Length, Map, MapEntry, Name, Provider};
