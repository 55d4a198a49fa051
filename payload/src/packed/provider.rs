//! A provider of a library, and its events.

use super::bytes::{bounded, record, u32_at};
use super::format::PROVIDER;
use super::library::Library;
use core::fmt;
use uuid::Uuid;

/// A provider.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Provider<'a> {
    pub(super) library: Library<'a>,
    pub(super) bytes: &'a [u8; PROVIDER],
    /// Offset of the provider.
    at: u32,
}

/// The providers of a library.
#[derive(Clone, Debug)]
pub struct Providers<'a> {
    library: Library<'a>,
    next: u32,
    count: u32,
}

impl<'a> Library<'a> {
    /// The provider with a GUID.
    pub fn provider(self, guid: Uuid) -> Option<Provider<'a>> {
        let buckets = u32_at(self.bytes(), 32) as usize;
        let bucket = buckets.checked_add(4 * usize::from(guid.as_bytes()[0]))?;
        let (start, end) = (u32_at(self.bytes(), bucket), u32_at(self.bytes(), bucket.checked_add(4)?));
        let (mut low, mut high) = (start, end.min(self.provider_count()));
        while low < high {
            let middle = low + (high - low) / 2;
            let provider = Provider::with_index(self, middle)?;
            match provider.guid().cmp(&guid) {
                core::cmp::Ordering::Less => low = middle + 1,
                core::cmp::Ordering::Equal => return Some(provider),
                core::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// All providers, sorted by GUID.
    pub fn providers(self) -> Providers<'a> {
        Providers { library: self, next: 0, count: self.provider_count() }
    }

    fn providers_start(self) -> u32 {
        u32_at(self.bytes(), 24)
    }

    fn provider_count(self) -> u32 {
        bounded(self.bytes(), self.providers_start(), u32_at(self.bytes(), 28), PROVIDER)
    }
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

    /// Offset of the provider.
    pub(super) fn place(self) -> u32 {
        self.at
    }

    /// The GUID of the provider.
    pub fn guid(self) -> Uuid {
        self.bytes.first_chunk().map_or(Uuid::nil(), |bytes| Uuid::from_bytes(*bytes))
    }

    /// The name of the provider; empty if no source has one.
    pub fn name(self) -> &'a str {
        self.library.string(u32_at(self.bytes, 16))
    }
}

impl fmt::Debug for Provider<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provider").field("guid", &self.guid()).field("name", &self.name()).finish_non_exhaustive()
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
