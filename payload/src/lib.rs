//! Decodes payloads of events of Event Tracing for Windows by schemas. It does not use `std`, and does not allocate memory.
//!
//! A [`Schema`] contains the name of an event, and its fields as a table or as an encoded TraceLogging schema. [`Schema::decode`] combines it
//! with a payload. [`Fields`] returns values by name or position, and [`Steps`] traverses a payload with its arrays and structures. All
//! values borrow from the payload.
//!
//! ```
//! use etw_layouts_payload::{Field, InType, OutType, PointerSize, Schema};
//!
//! const FIELDS: &[Field<'_>] = &[
//!     Field::new("ProcessId", InType::UINT32).out(OutType::PID),
//!     Field::new("CommandLine", InType::UNICODESTRING),
//! ];
//! const SCHEMA: Schema<'_> = Schema::specified("Process", "Start", 4, FIELDS);
//!
//! let fields = SCHEMA.decode(&[4, 0, 0, 0, b'-', 0, b'k', 0, 0, 0], PointerSize::Bits64);
//! assert_eq!(fields.get("ProcessId").and_then(|value| value.number()), Some(4));
//! assert_eq!(fields.get("CommandLine").unwrap().to_string(), "-k");
//! assert_eq!(fields.check(), Ok(()));
//! ```
//!
//! Schemas and payloads are untrusted: no input causes a panic, and the work is bounded by their sizes. A truncated payload gives the
//! fields before its end, and a payload with bytes after the last field gives all fields. Both report a [`Fault`].

#![no_std]
#![forbid(unsafe_code)]

mod data;
mod fault;
mod field_values;
mod fields;
mod file_time;
mod hidden;
mod map;
mod name;
pub mod packed;
mod plan;
mod schema;
mod size;
mod steps;
mod text;
pub mod tracelogging;
mod types;
mod value;

pub use data::{Data, Sid, SystemTime};
pub use fault::{Fault, FaultKind};
pub use field_values::FieldValues;
pub use fields::{Fields, Values};
pub use file_time::{FileTime, ParseFileTimeError, Rfc3339};
pub use hidden::{escape, is_formula, is_hidden};
pub use map::{Map, MapKind, ValueMap};
pub use plan::{Cursor, Part, Slot, Slots};
pub use schema::{Count, Field, FieldList, Length, Members, Schema, Source};
pub use size::PointerSize;
pub use steps::{Step, Steps};
pub use text::Text;
pub use types::{InType, OutType};
pub use uuid::Uuid;
pub use value::Value;
