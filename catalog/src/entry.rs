//! A provider of the catalogue.

use crate::source::Mask;
use etw_layouts_schemas::Provider;

/// A provider of the catalogue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// The provider. Its events are sorted by ID and version. If sources disagree about the fields of an event, it is listed once for each
    /// statement. A structure has no members if no source states them.
    pub provider: Provider,
    /// Sources of each event of `provider`, in the same order.
    pub sources: Vec<Sources>,
}

/// Sources of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// Sources that list the event, with fields or without.
    pub listed: Mask,
    /// Sources that state these fields.
    pub fields: Mask,
}
