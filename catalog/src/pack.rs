//! The catalogue as a library of schemas.

use crate::entry::Entry;
use crate::source::{Mask, SOURCES};
use etw_layouts_payload::Source;
use etw_layouts_schemas::{Event, Library, LibraryBuilder, Provider};

/// Packs entries. The origins are [`SOURCES`], in the same order. If some sources list an event without fields, it has a variant without fields.
pub fn pack(entries: Vec<Entry>) -> Library {
    let mut builder = LibraryBuilder::default();
    for source in SOURCES {
        builder.origin(Source::Catalogue, source.release, Some(source.build).filter(|build| *build != 0));
    }
    for Entry { provider, sources } in entries {
        let mut packed = Provider { events: Vec::new(), ..provider };
        let mut masks: Vec<u32> = Vec::new();
        let mut events = provider.events.into_iter().zip(sources).peekable();
        // Sources that state fields of the current event, so far.
        let mut stated = Mask::default();
        while let Some((event, sources)) = events.next() {
            let same = |next: &Event| (next.id, next.version) == (event.id, event.version);
            let is_last = !events.peek().is_some_and(|(next, _)| same(next));
            let without = Event { fields: None, ..event.clone() };
            if event.fields.is_some() {
                packed.events.push(event);
                masks.push(sources.fields.0.into());
                stated = stated.union(sources.fields);
            }
            if is_last {
                let others = sources.listed.without(stated);
                if !others.is_empty() {
                    packed.events.push(without);
                    masks.push(others.0.into());
                }
                stated = Mask::default();
            }
        }
        builder.add_masked(&packed, &masks);
    }
    builder.build()
}
