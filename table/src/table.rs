//! Tables and their batches.

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::SchemaRef;
use etw_layouts_etl::{Event, Schemas, names};
use std::borrow::Cow;

/// A table.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Table {
    /// The kind of its rows.
    pub kind: Kind,
    /// Its columns.
    pub schema: SchemaRef,
    /// The first 128 bits of the SHA-256 of its names and its columns, the same in every run. It distinguishes tables of the same event, because
    /// traces can state fields for it that no other source knows.
    pub layout: u128,
}

/// The kind of rows in a table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// Events of all kinds.
    Events,
    /// Call stacks.
    Stacks,
    /// Traces.
    Traces,
    /// Sums of events by keys.
    Sums,
    /// Events of one name, in all versions.
    Event {
        /// Name of the provider, or its GUID.
        provider: String,
        /// Name of the event, or its identifier. If several events of the provider have a name, the name and the identifier: `NAME_26`.
        event: String,
    },
}

/// Rows of a table.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Batch {
    /// The table.
    pub table: std::sync::Arc<Table>,
    /// The rows.
    pub rows: RecordBatch,
    /// Within a generation, the dictionaries of a batch begin with the names of the previous batch.
    pub generation: u32,
}

impl Batch {
    /// Approximate memory, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.rows.columns().iter().map(memory).sum()
    }
}

/// Approximate memory for a column, in bytes. An array also needs memory that Arrow does not count: for the counts of references.
pub(crate) fn memory(column: &ArrayRef) -> usize {
    64 + column.get_array_memory_size()
}

/// Names of the provider and the event. Without a name, the provider is a GUID or a group, and the event is its identifier.
pub(crate) fn names_of<'a>(event: &Event<'a>, schemas: &'a Schemas) -> (Cow<'a, str>, Cow<'a, str>) {
    if let Some((provider, name)) = names::event_of(event, schemas) {
        return (provider.into(), name.into());
    }
    let provider = match (names::provider_of(event, schemas), event.provider(), event.hook()) {
        (Some(name), ..) => name.into(),
        (None, Some(guid), _) => guid.to_string().into(),
        (None, None, Some(hook)) => format!("group {:#04x}", hook >> 8).into(),
        (None, None, None) => event.header_type().name().into(),
    };
    let name = match (event.hook(), event.id(), event.opcode()) {
        (Some(hook), ..) => names::hook(hook).map_or_else(|| format!("{:#04x}", hook & 0xFF).into(), Cow::from),
        (None, Some(id), _) => id.to_string().into(),
        (None, None, Some(opcode)) => format!("opcode {opcode}").into(),
        (None, None, None) => "".into(),
    };
    (provider, name)
}
