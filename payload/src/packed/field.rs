//! Fields in the bytes of a library.

use super::bytes::{record, string, u8_at, u16_at, u32_at};
use super::format::{COUNT_CONSTANT, COUNT_FIELD, FIELD, IS_SIZE, LENGTH_CONSTANT, LENGTH_FIELD, NONE};
use super::library::Library;
use crate::map::ValueMap;
use crate::schema::{Count, Field, Length, Members};
use crate::types::{InType, OutType};
use core::fmt;

/// The name of a field. In a library, it is read when it is needed: whoever visits all values seldom needs all names.
#[derive(Clone, Copy)]
pub(crate) enum FieldName<'a> {
    Text(&'a str),
    /// The library, and the offset of the name.
    Packed(Library<'a>, u32),
}

impl<'a> FieldName<'a> {
    /// The name; empty if the library is corrupt.
    #[inline]
    pub(crate) fn text(self) -> &'a str {
        match self {
            Self::Text(name) => name,
            Self::Packed(library, at) => string(library.bytes(), at).unwrap_or_default(),
        }
    }
}

impl PartialEq for FieldName<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl fmt::Debug for FieldName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(f)
    }
}

/// The record of a field.
#[derive(Clone, Copy)]
pub(crate) struct FieldRecord<'a> {
    library: Library<'a>,
    bytes: &'a [u8; FIELD],
}

impl<'a> FieldRecord<'a> {
    /// The field with an index in a list that begins at an offset.
    pub(crate) fn at(library: Library<'a>, first: u32, index: u32) -> Option<Self> {
        Some(Self { library, bytes: record(library.bytes(), first, index)? })
    }

    /// The records of a list; none if the library ends within them.
    #[inline]
    pub(crate) fn all(library: Library<'a>, first: u32, count: u16) -> &'a [u8] {
        library.bytes().get(first as usize..).and_then(|bytes| bytes.get(..usize::from(count) * FIELD)).unwrap_or_default()
    }

    /// Splits the first record off others.
    #[inline]
    pub(crate) fn split(library: Library<'a>, records: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (bytes, behind) = records.split_first_chunk()?;
        Some((Self { library, bytes }, behind))
    }

    /// Whether it is one value, whose number no other field needs.
    #[inline]
    pub(crate) fn is_plain(self) -> bool {
        self.bytes[22] & (COUNT_CONSTANT | COUNT_FIELD | LENGTH_FIELD | IS_SIZE) == 0
    }

    #[inline]
    pub(crate) fn in_type(self) -> InType {
        InType(u16_at(self.bytes, 12))
    }

    #[inline]
    pub(crate) fn out_type(self) -> OutType {
        OutType(u16_at(self.bytes, 14))
    }

    #[inline]
    pub(crate) fn name(self) -> FieldName<'a> {
        FieldName::Packed(self.library, u32_at(self.bytes, 0))
    }

    #[inline]
    pub(crate) fn map(self) -> Option<ValueMap<'a>> {
        match u32_at(self.bytes, 4) {
            NONE => None,
            at => Some(ValueMap::packed(self.library, at)),
        }
    }

    /// The constant length, if it has one.
    #[inline]
    pub(crate) fn constant_length(self) -> Option<u16> {
        (self.bytes[22] & LENGTH_CONSTANT != 0).then(|| u16_at(self.bytes, 18))
    }

    /// The field.
    pub(crate) fn field(self) -> Field<'a> {
        let flags = u8_at(self.bytes, 22);
        let (count, length) = (u16_at(self.bytes, 16), u16_at(self.bytes, 18));
        let field = Field::new(self.name().text(), self.in_type());
        Field {
            out_type: self.out_type(),
            count: match flags & (COUNT_CONSTANT | COUNT_FIELD) {
                0 => Count::One,
                COUNT_CONSTANT => Count::Constant(count),
                _ => Count::Field(count),
            },
            length: match flags & (LENGTH_CONSTANT | LENGTH_FIELD) {
                0 => Length::Type,
                LENGTH_CONSTANT => Length::Constant(length),
                _ => Length::Field(length),
            },
            map: self.map(),
            members: Members { first: None, count: u16_at(self.bytes, 20) },
            is_size: flags & IS_SIZE != 0,
            tags: u32_at(self.bytes, 8),
            ..field
        }
    }
}
