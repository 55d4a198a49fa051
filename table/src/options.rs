//! Options of tables.

use etw_layouts_trace::Order;

/// The shape of tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// One table of all events.
    #[default]
    Narrow,
    /// A table for each provider and event, with the fields of all versions as columns.
    Typed,
}

/// The form of payloads in the narrow shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Payload {
    /// Fields as JSON. If a payload is not decoded to its end, also its bytes.
    #[default]
    Json,
    /// The bytes of all payloads.
    Binary,
    /// No payloads.
    None,
}

/// Options of tables.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// The shape of tables.
    pub shape: Shape,
    /// The order of rows.
    pub order: Order,
    /// The form of payloads in the narrow shape.
    pub payload: Payload,
}

/// Maximum number of rows of a batch.
pub(crate) const ROWS: usize = 1 << 16;
/// Size of texts and payloads at which a batch ends, in bytes.
pub(crate) const BYTES: usize = 16 << 20;
