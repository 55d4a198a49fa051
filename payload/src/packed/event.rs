//! The variants of an event: its descriptions by different sources.

use super::bytes::{bounded, record, u8_at, u16_at, u32_at, u64_at};
use super::format::{CHANNEL, DESCRIPTION, INDEX, KEY, KEYWORD, LEVEL, MASK, OPCODE, TASK, VARIANT, VARIANTS};
use super::key::EventKey;
use super::library::{Library, Origin};
use super::provider::Provider;
use crate::schema::{FieldList, Schema, Source};
use core::fmt;
use uuid::Uuid;

/// A description of an event by one or more sources of a library.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Variant<'a> {
    library: Library<'a>,
    provider: Provider<'a>,
    bytes: &'a [u8; VARIANT],
    /// Offset of the variant.
    at: u32,
    key: EventKey,
}

/// The place of a variant in its library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VariantRef {
    provider: u32,
    variant: u32,
    key: EventKey,
}

/// The variants of an event, in the order in which they were added to the library.
#[derive(Clone, Copy, Debug)]
pub struct Variants<'a> {
    /// The next variant; `None` after the last one.
    first: Option<Variant<'a>>,
    /// Maximum number of variants after it.
    left: usize,
}

/// The events of a provider, sorted by ID and version.
#[derive(Clone, Debug)]
pub struct Events<'a> {
    provider: Provider<'a>,
    next: u32,
    count: u32,
}

/// A task, opcode, level or channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name<'a> {
    /// The number in the event descriptor; `None` if the sources have only the name.
    pub value: Option<u16>,
    /// The name; empty if the sources have only the number.
    pub name: &'a str,
}

/// Keywords: masks, if the sources have them, and names.
#[derive(Clone, Debug)]
pub struct Keywords<'a> {
    library: Library<'a>,
    first: u32,
    next: u32,
    count: u32,
}

impl<'a> Library<'a> {
    /// The variants of an event; empty if the library does not contain the event.
    #[inline]
    pub fn find(self, provider: Uuid, key: EventKey) -> Variants<'a> {
        self.provider(provider).map_or(Variants::NONE, |provider| provider.find(key))
    }
}

impl<'a> Provider<'a> {
    /// The keywords of the provider.
    pub fn keywords(self) -> Keywords<'a> {
        Keywords::new(self.library, u32_at(self.bytes, 28), u32_at(self.bytes, 32))
    }

    /// The events of the provider.
    pub fn events(self) -> Events<'a> {
        Events { provider: self, next: 0, count: self.key_count() }
    }

    /// The variants of an event; empty if the provider does not have the event.
    pub fn find(self, key: EventKey) -> Variants<'a> {
        let wanted = key.number();
        let (mut low, mut high) = (0, self.key_count());
        while low < high {
            let middle = low + (high - low) / 2;
            let Some(bytes) = self.key(middle) else { return Variants::NONE };
            match u32_at(bytes, 0).cmp(&wanted) {
                core::cmp::Ordering::Less => low = middle + 1,
                core::cmp::Ordering::Equal => return self.variants(bytes),
                core::cmp::Ordering::Greater => high = middle,
            }
        }
        Variants::NONE
    }

    fn variants(self, bytes: &[u8; KEY]) -> Variants<'a> {
        Variants::new(self.library, self, EventKey::from_number(u32_at(bytes, 0)), u32_at(bytes, 4))
    }

    fn key(self, index: u32) -> Option<&'a [u8; KEY]> {
        record(self.library.bytes(), u32_at(self.bytes, 20), index)
    }

    fn key_count(self) -> u32 {
        bounded(self.library.bytes(), u32_at(self.bytes, 20), u32_at(self.bytes, 24), KEY)
    }
}

impl<'a> Variant<'a> {
    /// The schema; `None` if the sources do not state the fields.
    #[inline]
    pub fn schema(self) -> Option<Schema<'a>> {
        if u8_at(self.bytes, 22) == 0 {
            return None;
        }
        Some(Schema {
            provider: self.provider.name(),
            event: self.name(),
            version: self.version(),
            tags: 0,
            source: self.source(),
            fields: FieldList::Packed { library: self.library, first: u32_at(self.bytes, 16), count: u16_at(self.bytes, 20) },
        })
    }

    /// The place of the variant in its library.
    pub fn place(self) -> VariantRef {
        VariantRef { provider: self.provider.place(), variant: self.at, key: self.key }
    }

    /// The variant at a place of a library.
    #[inline]
    pub fn at(library: Library<'a>, place: VariantRef) -> Option<Self> {
        let VariantRef { provider, variant: at, key } = place;
        let provider = Provider::at(library, provider)?;
        Some(Self { library, provider, bytes: record(library.bytes(), at, 0)?, at, key })
    }

    /// The provider of the event.
    pub fn provider(self) -> Provider<'a> {
        self.provider
    }

    /// The key of the event within the provider.
    pub fn key(self) -> EventKey {
        self.key
    }

    /// The event ID; for a classic event, the opcode.
    pub fn id(self) -> u16 {
        self.key.id()
    }

    /// The version of the event.
    pub fn version(self) -> u8 {
        self.key.version()
    }

    /// The name in output, without the provider: `Task/Opcode`, `Task`, or the symbol; empty if there is none.
    pub fn name(self) -> &'a str {
        match self.string(32) {
            "" => self.symbol(),
            name => name,
        }
    }

    /// The task.
    pub fn task(self) -> Name<'a> {
        self.named(TASK, u16_at(self.description(), 0), 16)
    }

    /// The opcode.
    pub fn opcode(self) -> Name<'a> {
        self.named(OPCODE, u8_at(self.description(), 2).into(), 20)
    }

    /// The level.
    pub fn level(self) -> Name<'a> {
        self.named(LEVEL, u8_at(self.description(), 3).into(), 24)
    }

    /// The channel.
    pub fn channel(self) -> Name<'a> {
        self.named(CHANNEL, u8_at(self.description(), 4).into(), 28)
    }

    /// The keyword mask; `None` if the sources have only names.
    pub fn keyword_mask(self) -> Option<u64> {
        (u8_at(self.description(), 5) & MASK != 0).then(|| u64_at(self.description(), 8))
    }

    /// The keywords of the event.
    pub fn keywords(self) -> Keywords<'a> {
        Keywords::new(self.library, u32_at(self.description(), 36), u16_at(self.description(), 6).into())
    }

    /// The symbol in the manifest, or the name of an EventSource event; empty if there is none.
    pub fn symbol(self) -> &'a str {
        self.library.string(u32_at(self.bytes, 8))
    }

    /// The message with insertions `%1`, `%2`; empty if the sources have none.
    pub fn message(self) -> &'a str {
        self.library.string(u32_at(self.bytes, 12))
    }

    /// Whether the source with an index has this variant.
    pub fn is_from(self, index: u32) -> bool {
        match u32_at(self.bytes, 0) {
            origins if origins & INDEX != 0 => origins & !INDEX == index,
            origins => index < INDEX.trailing_zeros() && origins & 1 << index != 0,
        }
    }

    /// The sources with this variant. In a library with more than 31 sources, a variant can have only its first source.
    pub fn origins(self) -> impl Iterator<Item = Origin<'a>> + use<'a> {
        self.origin_indices().filter_map(move |index| self.library.origin(index))
    }

    /// The first source with this variant.
    pub fn origin(self) -> Option<Origin<'a>> {
        self.library.origin(self.origin_indices().next()?)
    }

    fn origin_indices(self) -> impl Iterator<Item = u32> + use<'a> {
        let origins = u32_at(self.bytes, 0);
        let range = if origins & INDEX != 0 { origins & !INDEX..=origins & !INDEX } else { 0..=30 };
        range.filter(move |index| self.is_from(*index))
    }

    fn source(self) -> Source {
        let first = match u32_at(self.bytes, 0) {
            origins if origins & INDEX != 0 => origins & !INDEX,
            origins => origins.trailing_zeros(),
        };
        self.library.source(first).unwrap_or(Source::Manifest)
    }

    fn named(self, flag: u8, value: u16, name: usize) -> Name<'a> {
        let value = (u8_at(self.description(), 5) & flag != 0).then_some(value);
        Name { value, name: self.string(name) }
    }

    /// The string at the offset that is in the description.
    fn string(self, at: usize) -> &'a str {
        self.library.string(u32_at(self.description(), at))
    }

    fn description(self) -> &'a [u8; DESCRIPTION] {
        record(self.library.bytes(), u32_at(self.bytes, 4), 0).unwrap_or(&[0; DESCRIPTION])
    }
}

impl fmt::Debug for Variant<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Variant({} {} version {} {})", self.provider.name(), self.id(), self.version(), self.name())
    }
}

impl<'a> Variants<'a> {
    pub(super) const NONE: Self = Self { first: None, left: 0 };

    pub(super) fn new(library: Library<'a>, provider: Provider<'a>, key: EventKey, at: u32) -> Self {
        let first = record(library.bytes(), at, 0).map(|bytes| Variant { library, provider, bytes, at, key });
        Self { first, left: VARIANTS - 1 }
    }

    /// The next variant.
    pub fn first(&self) -> Option<Variant<'a>> {
        self.first
    }
}

impl<'a> Iterator for Variants<'a> {
    type Item = Variant<'a>;

    fn next(&mut self) -> Option<Variant<'a>> {
        let variant = self.first?;
        *self = match u8_at(variant.bytes, 23).min(u8::from(self.left > 0)) {
            0 => Self::NONE,
            _ => {
                let Variant { library, provider, at, key, .. } = variant;
                let left = self.left - 1;
                at.checked_add(VARIANT as u32).map_or(Self::NONE, |at| Self { left, ..Self::new(library, provider, key, at) })
            }
        };
        Some(variant)
    }
}

impl<'a> Keywords<'a> {
    pub(super) fn new(library: Library<'a>, first: u32, count: u32) -> Self {
        Self { library, first, next: 0, count: bounded(library.bytes(), first, count, KEYWORD) }
    }
}

impl<'a> Iterator for Keywords<'a> {
    type Item = (Option<u64>, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let index = Some(self.next).filter(|next| *next < self.count)?;
        self.next += 1;
        let bytes = record::<KEYWORD>(self.library.bytes(), self.first, index)?;
        Some(((u32_at(bytes, 12) != 0).then(|| u64_at(bytes, 0)), self.library.string(u32_at(bytes, 8))))
    }
}

impl<'a> Iterator for Events<'a> {
    type Item = Variants<'a>;

    fn next(&mut self) -> Option<Variants<'a>> {
        let index = Some(self.next).filter(|next| *next < self.count)?;
        self.next += 1;
        Some(self.provider.variants(self.provider.key(index)?))
    }
}
