//! The schemas of all versions of an event.

use super::{Schemas, event_key, in_specs};
use crate::event::Event;
use crate::wire::EVENT_HEADER_FLAG;
use etw_layouts::events;
use etw_layouts_payload::Schema;
use etw_layouts_payload::packed::Variant;
use std::cmp::Reverse;

impl Schemas {
    /// The schemas of the event in all its versions, by all sources but the event itself: the newest version first, and those of one version in the order
    /// of the sources. Events of other IDs with the same name have other schemas, except for kernel events.
    pub fn versions(&self, event: &Event<'_>) -> Vec<Schema<'_>> {
        let is_text = event.flags().is_some_and(|flags| flags.contains(EVENT_HEADER_FLAG::EVENT_HEADER_FLAG_STRING_ONLY));
        if is_text || event.trace_logging().is_some() {
            return Vec::new();
        }
        let mut schemas: Vec<_> = self.variants(event).filter_map(Variant::schema).collect();
        if let Some(found) = in_specs(event) {
            let own = (found.schema.provider, found.schema.event);
            schemas.extend(events::all().map(|(.., schema)| *schema).filter(|schema| (schema.provider, schema.event) == own));
        }
        schemas.sort_by_key(|schema| Reverse(schema.version));
        schemas
    }

    /// Whether a library has another event of the provider with the same name.
    pub fn has_namesake(&self, event: &Event<'_>) -> bool {
        let Some(own) = self.variant(event).filter(|own| !own.name().is_empty()) else { return false };
        let key = own.key();
        let is_other = |other: Variant<'_>| {
            (other.id(), other.key().is_classic()) != (key.id(), key.is_classic()) && other.name() == own.name()
        };
        let providers = self.libraries().filter_map(|library| library.provider(own.provider().guid()));
        providers.flat_map(|provider| provider.events()).flatten().any(is_other)
    }

    /// The variants of an event in all libraries, in all versions.
    fn variants(&self, event: &Event<'_>) -> impl Iterator<Item = Variant<'_>> {
        let key = event_key(event);
        let providers = self.libraries().filter_map(move |library| library.provider(key?.0));
        let is_own = move |variant: &Variant<'_>| {
            key.is_some_and(|(_, key)| (key.id(), key.is_classic()) == (variant.id(), variant.key().is_classic()))
        };
        providers.flat_map(|provider| provider.events()).flatten().filter(is_own)
    }
}
