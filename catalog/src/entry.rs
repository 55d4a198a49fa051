//! A provider as the catalogue knows it.

use crate::source::Mask;
use etw_layouts_schemas::Provider;

/// A provider as the catalogue knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// The provider. Its events are in the order of ID and version; an event whose sources disagree about its fields is there once for each
    /// statement. A structure without members is one whose members no source states.
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
