//! Maps in the bytes of a library.

use super::bytes::{bounded, record, string, u32_at, u64_at};
use super::format::{ENTRY, MAP};
use crate::map::MapKind;

/// An enumeration or flags in the bytes of a library.
#[derive(Clone, Copy)]
pub(crate) struct MapRecord<'a> {
    library: &'a [u8],
    name: u32,
    kind: MapKind,
    entries: u32,
    count: u32,
}

impl<'a> MapRecord<'a> {
    /// The map at an offset; an empty one if there is none.
    pub(crate) fn at(library: &'a [u8], at: u32) -> Self {
        let bytes = record::<MAP>(library, at, 0).unwrap_or(&[0; MAP]);
        let entries = u32_at(bytes, 8);
        Self {
            library,
            name: u32_at(bytes, 0),
            kind: if u32_at(bytes, 4) == 0 { MapKind::Enumeration } else { MapKind::Flags },
            entries,
            count: bounded(library, entries, u32_at(bytes, 12), ENTRY),
        }
    }

    pub(crate) fn name(self) -> &'a str {
        string(self.library, self.name).unwrap_or_default()
    }

    pub(crate) fn kind(self) -> MapKind {
        self.kind
    }

    pub(crate) fn len(self) -> usize {
        self.count as usize
    }

    /// An entry: a value and its name.
    pub(crate) fn entry(self, index: usize) -> Option<(u64, &'a str)> {
        let index = u32::try_from(index).ok().filter(|index| *index < self.count)?;
        let bytes = record::<ENTRY>(self.library, self.entries, index)?;
        Some((u64_at(bytes, 0), string(self.library, u32_at(bytes, 8))?))
    }

    /// The name of the entry with exactly this value.
    pub(crate) fn value_name(self, value: u64) -> Option<&'a str> {
        if self.kind == MapKind::Flags {
            return (0..self.len())
                .filter_map(|index| self.entry(index))
                .find(|(entry, _)| *entry == value)
                .map(|(_, name)| name);
        }
        let entry = |index| record::<ENTRY>(self.library, self.entries, index).map_or(u64::MAX, |bytes| u64_at(bytes, 0));
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            if entry(middle) < value { low = middle + 1 } else { high = middle }
        }
        self.entry(low as usize).filter(|(entry, _)| *entry == value).map(|(_, name)| name)
    }
}
