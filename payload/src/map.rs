//! Names of values.

use crate::packed::{Library, MapRecord};
use core::fmt;

/// An enumeration or flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Map<'a> {
    /// Name of the enumeration or flags.
    pub name: &'a str,
    /// Whether the entries are values or flags.
    pub kind: MapKind,
    /// Values with their names. Flags are matched in order: list combinations before their single bits.
    pub entries: &'a [(u64, &'a str)],
}

/// The map of a field: a table, or a part of a library.
// Not an enumeration: `Option` would store `None` in its tag, and the fast path of tables would have to read the tag.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ValueMap<'a> {
    table: &'a Map<'a>,
    library: Library<'a>,
    /// Offset of the map in the library; 0 for a table.
    at: u32,
}

/// The kind of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MapKind {
    /// A value has the name of the equal entry.
    Enumeration,
    /// A value has the name of each entry with all bits set in the value.
    Flags,
}

impl fmt::Debug for ValueMap<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.entries()).finish()
    }
}

impl<'a> Map<'a> {
    /// An enumeration.
    pub const fn enumeration(name: &'a str, entries: &'a [(u64, &'a str)]) -> Self {
        Self { name, kind: MapKind::Enumeration, entries }
    }

    /// Flags.
    pub const fn flags(name: &'a str, entries: &'a [(u64, &'a str)]) -> Self {
        Self { name, kind: MapKind::Flags, entries }
    }
}

impl<'a> ValueMap<'a> {
    /// A table.
    pub const fn table(table: &'a Map<'a>) -> Self {
        Self { table, library: Library::EMPTY, at: 0 }
    }

    /// The map at an offset of a library.
    pub(crate) fn packed(library: Library<'a>, at: u32) -> Self {
        const NO_TABLE: &Map<'_> = &Map::enumeration("", &[]);
        Self { table: NO_TABLE, library, at }
    }

    fn record(&self) -> Option<MapRecord<'a>> {
        (self.at != 0).then(|| MapRecord::at(self.library.bytes(), self.at))
    }

    /// The name of the map.
    pub fn name(&self) -> &'a str {
        self.record().map_or(self.table.name, MapRecord::name)
    }

    /// Whether the entries are values or flags.
    pub fn kind(&self) -> MapKind {
        self.record().map_or(self.table.kind, MapRecord::kind)
    }

    /// Values with their names.
    pub fn entries(&self) -> impl Iterator<Item = (u64, &'a str)> + Clone + use<'a> {
        let packed = self.record().into_iter().flat_map(|map| (0..map.len()).map_while(move |index| map.entry(index)));
        self.table.entries.iter().copied().chain(packed)
    }

    /// The name of the entry with exactly this value, if any.
    pub fn value_name(&self, value: u64) -> Option<&'a str> {
        match self.record() {
            None => self.table.entries.iter().find(|(entry, _)| *entry == value).map(|(_, name)| *name),
            Some(map) => map.value_name(value),
        }
    }

    /// The names of the flags that are set, and the remaining bits without a name.
    pub fn flag_names(&self, value: u64) -> (impl Iterator<Item = &'a str> + use<'a>, u64) {
        let take = |left: &mut u64, entry: u64| {
            let is_there = entry != 0 && *left & entry == entry;
            if is_there {
                *left &= !entry;
            }
            is_there
        };
        let (mut left, mut rest, entries) = (value, value, self.entries());
        for (entry, _) in entries.clone() {
            take(&mut rest, entry);
        }
        (entries.filter(move |(entry, _)| take(&mut left, *entry)).map(|(_, name)| name), rest)
    }

    /// Writes the flags of a value, such as `FIRST|SECOND|0x40`.
    pub(crate) fn write(&self, value: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (names, rest) = self.flag_names(value);
        let mut between = "";
        for name in names {
            write!(f, "{between}{name}")?;
            between = "|";
        }
        if rest != 0 { write!(f, "{between}{rest:#x}") } else { Ok(()) }
    }
}
