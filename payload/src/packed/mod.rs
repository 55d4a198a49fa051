//! Libraries of schemas: providers, events, fields and maps in one array of bytes, which is read without a copy.
//!
//! [`Library::find`] returns the variants of an event, and [`Variant::schema`] the [`Schema`](crate::Schema) of one. The crate `etw-layouts-schemas`
//! builds libraries. A corrupt library gives wrong names or missing events, and causes no panic.

mod bytes;
mod event;
mod field;
pub mod format;
mod key;
mod library;
mod map;
mod provider;

pub use event::{Events, Keywords, Name, Variant, VariantRef, Variants};
pub(crate) use field::FieldRecord;
pub use key::EventKey;
pub use library::{Library, LibraryError, Origin, Origins};
pub(crate) use map::MapRecord;
pub use provider::{Provider, Providers};
