//! Schemas of events of Event Tracing for Windows, read from traces, manifests and Windows binaries.
//!
//! Each reader returns [`Provider`]s: plain data with the events of a provider, their fields, and names of their values.

#![forbid(unsafe_code)]

#[cfg(feature = "trace")]
pub mod event_info;
#[cfg(feature = "trace")]
pub mod event_source;
#[cfg(feature = "trace")]
mod info_bytes;
#[cfg(feature = "trace")]
pub mod map_info;
#[cfg(feature = "trace")]
mod merge;
mod model;
#[cfg(feature = "trace")]
pub mod trace;

#[cfg(feature = "trace")]
pub use info_bytes::InfoError;
pub use model::{Count, Event, Field, Keyword, Length, Map, MapEntry, Name, Provider};
