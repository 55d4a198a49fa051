//! Builds a library from providers: equal strings, maps, lists of fields and descriptions are stored once.

use crate::interned::{Interned, Lists, index};
use crate::model::{Event, Field, Keyword, Length, Map, Name, Provider};
use crate::records::{Fields, Strings};
use etw_layouts_payload::packed::EventKey;
use etw_layouts_payload::packed::format::{CHANNEL, INDEX, LEVEL, MASK, OPCODE, TASK, VARIANTS};
use etw_layouts_payload::{InType, MapKind, OutType, Source, Uuid};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Builds a library. Equal input gives equal bytes.
#[derive(Debug, Default)]
pub struct LibraryBuilder {
    pub(crate) origins: Vec<(u32, u32, u32)>,
    pub(crate) providers: BTreeMap<Uuid, ProviderRecord>,
    pub(crate) strings: Strings,
    pub(crate) descriptions: Interned<Description>,
    pub(crate) keywords: Lists<(Option<u64>, u32)>,
    pub(crate) fields: Fields,
    pub(crate) maps: Interned<MapRecord>,
    pub(crate) entries: Lists<(u64, u32)>,
}

/// A provider and its events by their keys.
#[derive(Debug, Default)]
pub(crate) struct ProviderRecord {
    pub name: u32,
    pub keywords: Interned<(Option<u64>, u32)>,
    pub events: BTreeMap<EventKey, Vec<Variant>>,
}

/// A description of an event, with its sources. Strings are stored as relative offsets, other parts as indices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Variant {
    pub origins: u32,
    pub description: u32,
    pub symbol: u32,
    pub message: u32,
    /// Index of the first field, and number of fields.
    pub fields: Option<(u32, u16)>,
}

/// The properties that many events share.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Description {
    pub task: u16,
    pub opcode: u8,
    pub level: u8,
    pub channel: u8,
    pub flags: u8,
    pub mask: u64,
    /// Names of task, opcode, level, channel and event.
    pub names: [u32; 5],
    pub keywords: (u32, u32),
}

/// A map with its list of entries.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MapRecord {
    pub name: u32,
    pub is_flags: bool,
    pub entries: (u32, u32),
}

impl LibraryBuilder {
    /// Adds a source: a file of this name, or a version of Windows with its build number. Returns its index.
    pub fn origin(&mut self, source: Source, name: &str, build: Option<u32>) -> u32 {
        let kind = source.number().unwrap_or_default();
        let name = self.strings.add(name);
        self.origins.push((kind, name, build.unwrap_or_default()));
        index(self.origins.len() - 1)
    }

    /// Adds a provider as described by the source with the index `origin`. Providers with the same GUID and equal events are merged.
    /// Different events with one key become variants, in the order of the calls; variants after the 64th are dropped. Fields after one of
    /// unknown extent are dropped: after a structure without members, or binary data without a length (stored as such a structure).
    pub fn add(&mut self, provider: &Provider, origin: u32) {
        let origins = if origin < INDEX.trailing_zeros() { 1 << origin } else { origin | INDEX };
        self.add_each(provider, |_| origins);
    }

    /// Adds a provider with its own sources for each event: `masks` has a bit mask for each event, with bit 0 for the source with index 0,
    /// for at most 31 sources. Events with mask 0 are dropped; otherwise as [`add`](Self::add).
    pub fn add_masked(&mut self, provider: &Provider, masks: &[u32]) {
        self.add_each(provider, |event| masks.get(event).map_or(0, |mask| mask & !INDEX));
    }

    fn add_each(&mut self, provider: &Provider, origins: impl Fn(usize) -> u32) {
        let maps: Vec<_> = provider.maps.iter().map(|map| self.map(map)).collect();
        let name = self.strings.add(&provider.name);
        let keywords: Vec<_> = provider.keywords.iter().map(|Keyword { mask, name }| (*mask, self.strings.add(name))).collect();
        let record = self.providers.entry(provider.guid).or_default();
        if record.name == 0 {
            record.name = name;
        }
        for keyword in keywords {
            record.keywords.add(keyword);
        }
        for (place, event) in provider.events.iter().enumerate() {
            let origins = origins(place);
            if origins != 0 {
                let variant = self.variant(event, &maps, origins);
                let opcode = event.opcode.value.unwrap_or_default() as u8;
                let key = match event.is_classic {
                    true => EventKey::from_opcode(opcode, event.version),
                    false => EventKey::from_id(event.id, event.version),
                };
                let record = self.providers.entry(provider.guid).or_default();
                add_variant(record.events.entry(key).or_default(), variant);
            }
        }
    }

    fn variant(&mut self, event: &Event, maps: &[u32], origins: u32) -> Variant {
        let keywords: Vec<_> = event.keywords.iter().map(|name| (None, self.strings.add(name))).collect();
        // An event without a task is named by its symbol. The symbol is not a shared property.
        let name = if event.task.name.is_empty() { None } else { event.display_name() };
        let names = [&event.task, &event.opcode, &event.level, &event.channel].map(|name| self.strings.add(&name.name));
        let [task, opcode, level, channel] = names;
        let mut flags = if event.keyword_mask.is_some() { MASK } else { 0 };
        let mut value = |name: &Name, flag, largest: u32| match name.value {
            Some(value) if value <= largest => {
                flags |= flag;
                value
            }
            _ => 0,
        };
        let (task_value, opcode_value) = (value(&event.task, TASK, 0xFFFF), value(&event.opcode, OPCODE, 0xFF));
        let (level_value, channel_value) = (value(&event.level, LEVEL, 0xFF), value(&event.channel, CHANNEL, 0xFF));
        let description = Description {
            task: task_value as u16,
            opcode: opcode_value as u8,
            level: level_value as u8,
            channel: channel_value as u8,
            flags,
            mask: event.keyword_mask.unwrap_or_default(),
            names: [task, opcode, level, channel, name.map_or(0, |name| self.strings.add(&name))],
            keywords: self.keywords.add(keywords),
        };
        Variant {
            origins,
            description: self.descriptions.add(description),
            symbol: self.strings.add(&event.symbol),
            message: self.strings.add(&event.message),
            fields: event.fields.as_ref().and_then(|fields| self.fields.add(&up_to_unknown(fields), maps, &mut self.strings)),
        }
    }

    fn map(&mut self, map: &Map) -> u32 {
        let mut entries: Vec<_> = map.entries.iter().map(|entry| (entry.value, self.strings.add(&entry.name))).collect();
        let is_flags = map.kind == MapKind::Flags;
        if !is_flags {
            // Readers use binary search in enumerations. The sort is stable: of equal values, the first remains the first.
            entries.sort_by_key(|(value, _)| *value);
        }
        let record = MapRecord { name: self.strings.add(&map.name), is_flags, entries: self.entries.add(entries) };
        self.maps.add(record)
    }
}

/// The fields up to the first one of unknown extent, which is then a structure without members. The places of the fields after it are unknown.
fn up_to_unknown(fields: &[Field]) -> Cow<'_, [Field]> {
    let Some(unknown) = fields.iter().enumerate().position(|(at, field)| is_unknown(field, at + 1 == fields.len())) else {
        return Cow::Borrowed(fields);
    };
    let mut known = fields[..unknown].to_vec();
    known.push(Field { count: fields[unknown].count.clone(), ..Field::new(&fields[unknown].name, InType::STRUCT) });
    Cow::Owned(known)
}

/// Whether the extent of a field is unknown. Binary data without a length can be the last field: it then extends to the end of the payload.
fn is_unknown(field: &Field, is_last: bool) -> bool {
    let last = field.members.len().checked_sub(1);
    match field.in_type {
        InType::STRUCT if last.is_none() => true,
        InType::STRUCT => field.members.iter().enumerate().any(|(at, member)| is_unknown(member, is_last && Some(at) == last)),
        InType::BINARY => field.length == Length::Type && field.out_type != OutType::IPV6 && !is_last,
        _ => false,
    }
}

/// Adds a variant. If an equal one exists, only its sources are added to that one.
fn add_variant(variants: &mut Vec<Variant>, variant: Variant) {
    let same = |other: &Variant| Variant { origins: variant.origins, ..other.clone() } == variant;
    match variants.iter().position(same) {
        Some(place) if (variants[place].origins | variant.origins) & INDEX == 0 => variants[place].origins |= variant.origins,
        None if variants.len() < VARIANTS => variants.push(variant),
        _ => {}
    }
}
