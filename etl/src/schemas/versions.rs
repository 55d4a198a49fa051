//! The schemas of all versions of an event.

use super::{Schemas, event_key, in_specs};
use crate::event::Event;
use crate::wire::EVENT_HEADER_FLAG;
use etw_layouts::events;
use etw_layouts_payload::packed::{EventKey, Variant};
use etw_layouts_payload::{Schema, Uuid};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

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

    /// The names that several events of a provider have in the libraries.
    pub fn shared_names(&self, provider: Uuid) -> HashSet<&str> {
        let (mut first, mut shared) = (HashMap::new(), HashSet::new());
        let providers = self.libraries().filter_map(|library| library.provider(provider));
        for variant in providers.flat_map(|provider| provider.events()).flatten() {
            let id = (variant.id(), variant.key().is_classic());
            if *first.entry(variant.name()).or_insert(id) != id {
                shared.insert(variant.name());
            }
        }
        shared
    }

    /// The variants of an event in all libraries, in all versions.
    fn variants(&self, event: &Event<'_>) -> impl Iterator<Item = Variant<'_>> {
        let of = |provider: Uuid, key: EventKey| {
            let new = if key.is_classic() { |id, version| EventKey::from_opcode(id as u8, version) } else { EventKey::from_id };
            let providers = self.libraries().filter_map(move |library| library.provider(provider));
            providers.flat_map(move |provider| (0..=u8::MAX).flat_map(move |version| provider.find(new(key.id(), version))))
        };
        event_key(event).into_iter().flat_map(move |(provider, key)| of(provider, key))
    }
}
