//! A provider of a library, and its events.

use super::bytes::{bounded, record, u32_at};
use super::event::{Keywords, Variants};
use super::format::{KEY, PROVIDER};
use super::library::Library;
use core::fmt;
use uuid::Uuid;

/// A provider.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Provider<'a> {
    library: Library<'a>,
    bytes: &'a [u8; PROVIDER],
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
    pub(super) fn new(library: Library<'a>, bytes: &'a [u8; PROVIDER]) -> Self {
        Self { library, bytes }
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
    pub fn find(self, id: u16, version: u8) -> Variants<'a> {
        let wanted = key(id, version);
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
        let key = u32_at(bytes, 0);
        Variants::new(self.library, self, (key >> 8) as u16, key as u8, u32_at(bytes, 4))
    }

    fn key(self, index: u32) -> Option<&'a [u8; KEY]> {
        record(self.library.bytes(), u32_at(self.bytes, 20), index)
    }

    fn key_count(self) -> u32 {
        bounded(self.library.bytes(), u32_at(self.bytes, 20), u32_at(self.bytes, 24), KEY)
    }
}

/// The key of an event within its provider.
pub(crate) const fn key(id: u16, version: u8) -> u32 {
    (id as u32) << 8 | version as u32
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
        let bytes = record(self.library.bytes(), self.library.providers_start(), index)?;
        Some(Provider::new(self.library, bytes))
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
