//! A provider of a library, and its events.

use super::bytes::{bounded, record, u32_at};
use super::event::{Keywords, Variants};
use super::format::{KEY, PROVIDER};
use super::key::EventKey;
use super::library::Library;
use core::fmt;
use uuid::Uuid;

/// A provider.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Provider<'a> {
    library: Library<'a>,
    bytes: &'a [u8; PROVIDER],
    /// Its offset.
    at: u32,
}

/// The providers of a library.
#[derive(Clone, Debug)]
pub struct Providers<'a> {
    library: Library<'a>,
    next: u32,
    count: u32,
}

/// The events of a provider, sorted by ID and version.
#[derive(Clone, Debug)]
pub struct Events<'a> {
    provider: Provider<'a>,
    next: u32,
    count: u32,
}

impl<'a> Provider<'a> {
    /// The provider at an offset.
    #[inline]
    pub(super) fn at(library: Library<'a>, at: u32) -> Option<Self> {
        Some(Self { library, bytes: record(library.bytes(), at, 0)?, at })
    }

    /// The provider with an index.
    pub(super) fn with_index(library: Library<'a>, index: u32) -> Option<Self> {
        Self::at(library, index.checked_mul(PROVIDER as u32)?.checked_add(library.providers_start())?)
    }

    /// Its offset.
    pub(super) fn place(self) -> u32 {
        self.at
    }

    /// Its GUID.
    pub fn guid(self) -> Uuid {
        self.bytes.first_chunk().map_or(Uuid::nil(), |bytes| Uuid::from_bytes(*bytes))
    }

    /// Its name; empty if no source has one.
    pub fn name(self) -> &'a str {
        self.library.string(u32_at(self.bytes, 16))
    }

    /// Its keywords.
    pub fn keywords(self) -> Keywords<'a> {
        Keywords::new(self.library, u32_at(self.bytes, 28), u32_at(self.bytes, 32))
    }

    /// Its events.
    pub fn events(self) -> Events<'a> {
        Events { provider: self, next: 0, count: self.key_count() }
    }

    /// The variants of an event; none if the provider does not have it.
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
        Variants::new(self.library, self, EventKey::of_number(u32_at(bytes, 0)), u32_at(bytes, 4))
    }

    fn key(self, index: u32) -> Option<&'a [u8; KEY]> {
        record(self.library.bytes(), u32_at(self.bytes, 20), index)
    }

    fn key_count(self) -> u32 {
        bounded(self.library.bytes(), u32_at(self.bytes, 20), u32_at(self.bytes, 24), KEY)
    }
}

impl fmt::Debug for Provider<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provider").field("guid", &self.guid()).field("name", &self.name()).finish_non_exhaustive()
    }
}

impl<'a> Providers<'a> {
    pub(super) fn new(library: Library<'a>, count: u32) -> Self {
        Self { library, next: 0, count }
    }
}

impl<'a> Iterator for Providers<'a> {
    type Item = Provider<'a>;

    fn next(&mut self) -> Option<Provider<'a>> {
        let index = Some(self.next).filter(|next| *next < self.count)?;
        self.next += 1;
        Provider::with_index(self.library, index)
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
