//! Schemas of events of Event Tracing for Windows, read from traces, manifests and Windows binaries.
//!
//! Each reader returns [`Provider`]s: plain data with the events of a provider, their fields, and names of their values. [`LibraryBuilder`]
//! packs them into a [`Library`], which finds the schemas of events to decode their payloads.

#![forbid(unsafe_code)]

#[cfg(feature = "binaries")]
pub mod binary;
mod budget;
mod builder;
#[cfg(all(feature = "manifests", feature = "binaries"))]
pub mod files;
mod interned;
mod library;
#[cfg(feature = "manifests")]
pub mod manifest;
mod messages;
mod model;
mod records;
mod schemas;
pub mod tmf;
#[cfg(feature = "trace")]
pub mod trace;
pub mod wevt;
#[cfg(feature = "manifests")]
mod winmeta;
mod write;

pub use builder::LibraryBuilder;
pub use library::Library;
pub use messages::Messages;
pub use model::{Count, Event, Field, FieldReference, Keyword, Length, Map, MapEntry, Name, Provider};
pub use schemas::{SchemaError, Schemas, SourcePosition};
