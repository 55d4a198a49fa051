//! Decodes the events that the consumers of sessions receive in real time (EVENT_RECORD), on any host and without the decoder of Windows (TDH).
//!
//! A [`Decoder`] has the schemas of kernel events, and of the providers of Windows and .NET. It reads the manifests that EventSource providers send as
//! events, and those of files that you name, which can also have the formats of WPP messages. TraceLogging events, also those of EventSource, contain their schemas.
//!
//! In Rust, an [`EventRecordRef`] has the members of an EVENT_RECORD as plain data; [`capi::record`] makes one from the pointer that a consumer receives. C programs
//! include `include/etw_record.h`, and link this crate as a static library.
//!
//! Programs that need only the fields of events, with fewer dependencies, use [`EventRecordRef::event`] of `etw-layouts-etl`. Without `std`,
//! `etw-layouts-payload` decodes payloads with TraceLogging schemas and libraries of schemas.
//!
//! Unsafe code is in one file, `capi.rs`.

// Allowed in capi.rs.
#![deny(unsafe_code)]

pub mod capi;
mod decoder;

pub use decoder::{Decoder, LiveEvent, SchemasError};
pub use etw_layouts_etl::live::EventRecordRef;
