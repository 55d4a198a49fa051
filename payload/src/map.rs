//! Names of values.

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

/// Kind of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MapKind {
    /// A value has the name of the equal entry.
    Enumeration,
    /// A value has the names of all entries whose bits are set in it.
    Flags,
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

impl<'a> Map<'a> {
    /// The name of the entry that equals a value, if any.
    pub fn name(&self, value: u64) -> Option<&'a str> {
        self.entries.iter().find(|(entry, _)| *entry == value).map(|(_, name)| *name)
    }

    /// The names of the flags that are set, and the remaining bits without a name.
    pub fn names(&self, value: u64) -> (impl Iterator<Item = &'a str> + use<'a>, u64) {
        let take = |left: &mut u64, entry: u64| {
            let is_there = entry != 0 && *left & entry == entry;
            if is_there {
                *left &= !entry;
            }
            is_there
        };
        let (mut left, mut rest, entries) = (value, value, self.entries);
        for (entry, _) in entries {
            take(&mut rest, *entry);
        }
        (entries.iter().filter(move |(entry, _)| take(&mut left, *entry)).map(|(_, name)| *name), rest)
    }

    /// Writes the flags of a value, such as `FIRST|SECOND|0x40`.
    pub(crate) fn write(&self, value: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (names, rest) = self.names(value);
        let mut between = "";
        for name in names {
            write!(f, "{between}{name}")?;
            between = "|";
        }
        if rest != 0 { write!(f, "{between}{rest:#x}") } else { Ok(()) }
    }
}
