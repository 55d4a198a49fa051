//! A library of schemas that owns its bytes.

use crate::model::{Count, DEPTH, Event, Field, Keyword, Length, Map, MapEntry, Name, Provider};
use etw_layouts_payload::packed::{self, LibraryError, Variant};
use etw_layouts_payload::{Count as PackedCount, Field as PackedField, Length as PackedLength, ValueMap};
use std::fmt;

/// A library of schemas: an array of bytes, which [`packed::Library`] reads.
#[derive(Clone, PartialEq, Eq)]
pub struct Library(pub(crate) Box<[u8]>);

impl Library {
    /// The library in bytes, such as those of a file.
    ///
    /// # Errors
    ///
    /// The bytes are not a library, or are in another format.
    pub fn from_bytes(bytes: impl Into<Box<[u8]>>) -> Result<Self, LibraryError> {
        let bytes = bytes.into();
        packed::Library::read(&bytes)?;
        Ok(Self(bytes))
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// A view of the library, for reading.
    #[inline]
    pub fn view(&self) -> packed::Library<'_> {
        packed::Library::read(&self.0).unwrap_or_default()
    }

    /// Its providers as plain data, sorted by GUID. An event with different descriptions is listed once for each of them.
    pub fn providers(&self) -> impl Iterator<Item = Provider> {
        self.view().providers().map(|provider| plain(provider, |_| true))
    }

    /// A provider as plain data, with the selected variants of its events.
    pub fn provider(provider: packed::Provider<'_>, is_wanted: impl Fn(&Variant<'_>) -> bool) -> Provider {
        plain(provider, is_wanted)
    }
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.view().fmt(f)
    }
}

fn plain(provider: packed::Provider<'_>, is_wanted: impl Fn(&Variant<'_>) -> bool) -> Provider {
    let mut maps = Maps::default();
    let keyword = |(mask, name): (Option<u64>, &str)| Keyword { mask, name: name.to_owned() };
    let variants = provider.events().flatten().filter(|variant| is_wanted(variant));
    let events = variants.map(|variant| event(variant, &mut maps)).collect();
    Provider {
        guid: provider.guid(),
        name: provider.name().to_owned(),
        keywords: provider.keywords().map(keyword).collect(),
        maps: maps.all,
        events,
        ..Provider::default()
    }
}

fn event<'a>(variant: Variant<'a>, maps: &mut Maps<'a>) -> Event {
    let name = |name: packed::Name<'_>| Name { value: name.value.map(Into::into), name: name.name.to_owned() };
    Event {
        id: if variant.key().is_classic() { 0 } else { variant.id() },
        version: variant.version(),
        channel: name(variant.channel()),
        level: name(variant.level()),
        opcode: name(variant.opcode()),
        task: name(variant.task()),
        keyword_mask: variant.keyword_mask(),
        keywords: variant.keywords().map(|(_, name)| name.to_owned()).collect(),
        symbol: variant.symbol().to_owned(),
        message: variant.message().to_owned(),
        is_classic: variant.key().is_classic(),
        fields: variant.schema().map(|schema| {
            let all: Vec<_> = schema.fields.iter().collect();
            fields(&all, &mut 0, usize::MAX, maps, 0)
        }),
    }
}

/// The next `count` fields from the position `at`. Afterwards, `at` is after these fields and their members.
fn fields<'a>(all: &[PackedField<'a>], at: &mut usize, count: usize, maps: &mut Maps<'a>, depth: usize) -> Vec<Field> {
    let mut found = Vec::new();
    let name = |index: u16| all.get(usize::from(index)).map_or_else(String::new, |field| field.name.to_owned());
    while let (true, Some(field)) = (found.len() < count, all.get(*at)) {
        *at += 1;
        let has_members = field.is_structure() && depth < DEPTH;
        found.push(Field {
            out_type: field.out_type,
            count: match field.count {
                PackedCount::Constant(count) => Count::Constant(count),
                PackedCount::Field(index) => Count::Field(name(index).into()),
                _ => Count::One,
            },
            length: match field.length {
                PackedLength::Constant(length) => Length::Constant(length),
                PackedLength::Field(index) => Length::Field(name(index).into()),
                _ => Length::Type,
            },
            map: field.map.map(|map| maps.index(map)),
            members: if has_members { fields(all, at, field.members.count.into(), maps, depth + 1) } else { Vec::new() },
            tags: field.tags,
            ..Field::new(field.name, field.in_type)
        });
    }
    found
}

/// Maps of a provider, in the order in which fields refer to them.
#[derive(Default)]
struct Maps<'a> {
    all: Vec<Map>,
    /// The same maps in the library.
    packed: Vec<ValueMap<'a>>,
}

impl<'a> Maps<'a> {
    fn index(&mut self, map: ValueMap<'a>) -> usize {
        if let Some(index) = self.packed.iter().position(|other| *other == map) {
            return index;
        }
        let entries = map.entries().map(|(value, name)| MapEntry { value, name: name.to_owned() }).collect();
        self.packed.push(map);
        self.all.push(Map { name: map.name().to_owned(), kind: map.kind(), entries });
        self.all.len() - 1
    }
}
