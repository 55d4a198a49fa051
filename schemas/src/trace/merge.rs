//! Joins providers that were read one event or one map at a time.

use crate::model::{Event, Field, Keyword, Provider};
use etw_layouts_payload::Uuid;
use std::collections::HashMap;

/// Maximum number of different events that are kept per identity.
const VARIANTS: usize = 8;

/// Providers by GUID. Each event, keyword and map is kept once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Merge {
    providers: Vec<Provider>,
    indices: HashMap<Uuid, usize>,
    keywords: HashMap<(usize, String), KeywordState>,
    maps: HashMap<(usize, String), usize>,
    events: HashMap<(usize, Identity), Vec<usize>>,
}

/// The identity of an event within its provider: whether it is classic, its ID or opcode, and its version.
type Identity = (bool, u32, u8);

/// The index of a keyword, and whether sources state different bits for it.
#[derive(Clone, Copy, Debug)]
struct KeywordState {
    index: usize,
    is_ambiguous: bool,
}

/// An event or map differs from an earlier one with the same identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Difference;

impl Merge {
    /// Adds the parts of a provider that do not exist yet. Of different events with the same identity, eight are kept; of different maps, the
    /// first.
    pub fn add(&mut self, provider: Provider) -> Result<(), Difference> {
        let at = *self.indices.entry(provider.guid).or_insert_with(|| {
            self.providers.push(Provider { guid: provider.guid, ..Provider::default() });
            self.providers.len() - 1
        });
        let Some(own) = self.providers.get_mut(at) else { return Ok(()) };
        let mut result = Ok(());
        if own.name.is_empty() {
            own.name = provider.name;
        }
        if own.message.is_empty() {
            own.message = provider.message;
        }
        for keyword in provider.keywords {
            merge_keyword(&mut self.keywords, own, at, keyword);
        }
        let mut maps = Vec::with_capacity(provider.maps.len());
        for map in provider.maps {
            let index = *self.maps.entry((at, map.name.clone())).or_insert(own.maps.len());
            maps.push(index);
            match own.maps.get_mut(index) {
                None => own.maps.push(map),
                Some(_) if map.entries.is_empty() => {}
                Some(own) if own.entries.is_empty() => *own = map,
                Some(own) if *own != map => result = Err(Difference),
                Some(_) => {}
            }
        }
        for mut event in provider.events {
            event.fields.iter_mut().flatten().for_each(|field| renumber(field, &maps));
            let variants = self.events.entry((at, identity(&event))).or_default();
            if variants.iter().any(|index| own.events.get(*index) == Some(&event)) {
                continue;
            }
            if !variants.is_empty() {
                result = Err(Difference);
            }
            if variants.len() < VARIANTS {
                variants.push(own.events.len());
                own.events.push(event);
            }
        }
        result
    }

    /// The providers in the order of their first parts.
    pub fn providers(&self) -> &[Provider] {
        &self.providers
    }

    /// The providers, by value.
    pub fn into_providers(self) -> Vec<Provider> {
        self.providers
    }
}

fn identity(event: &Event) -> Identity {
    let number = if event.is_classic { event.opcode.value.unwrap_or_default() } else { event.id.into() };
    (event.is_classic, number, event.version)
}

fn merge_keyword(states: &mut HashMap<(usize, String), KeywordState>, own: &mut Provider, at: usize, keyword: Keyword) {
    let new = KeywordState { index: own.keywords.len(), is_ambiguous: false };
    let state = states.entry((at, keyword.name.clone())).or_insert(new);
    let Some(known) = own.keywords.get_mut(state.index) else { return own.keywords.push(keyword) };
    match (known.mask, keyword.mask) {
        (Some(known), Some(mask)) if known != mask => state.is_ambiguous = true,
        (None, Some(_)) => known.mask = keyword.mask,
        _ => {}
    }
    if state.is_ambiguous {
        known.mask = None;
    }
}

/// Updates the index of the map in a field and its members. The recursion is bounded, because readers limit the nesting of fields.
fn renumber(field: &mut Field, maps: &[usize]) {
    field.map = field.map.and_then(|map| maps.get(map).copied());
    field.members.iter_mut().for_each(|member| renumber(member, maps));
}
