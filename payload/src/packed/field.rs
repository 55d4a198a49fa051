//! Fields in the bytes of a library.

use super::bytes::{record, u16_at, u32_at};
use super::format::{COUNT_CONSTANT, COUNT_FIELD, FIELD, IS_SIZE, LENGTH_CONSTANT, LENGTH_FIELD, NONE};
use super::library::Library;
use crate::map::ValueMap;
use crate::name::FieldName;
use crate::schema::{Count, Field, Length, Members};
use crate::types::{InType, OutType};
use crate::value::Value;

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

    /// The records of a list; empty if the library ends within them.
    #[inline]
    pub(crate) fn all(library: Library<'a>, first: u32, count: u16) -> &'a [u8] {
        library.bytes().get(first as usize..).and_then(|bytes| bytes.get(..usize::from(count) * FIELD)).unwrap_or_default()
    }

    /// Splits off the first record.
    #[inline]
    pub(crate) fn split(library: Library<'a>, records: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (bytes, behind) = records.split_first_chunk()?;
        Some((Self { library, bytes }, behind))
    }

    /// Whether the field has one value, no length in another field, and is not the count or length of other fields.
    #[inline]
    pub(crate) fn is_plain(self) -> bool {
        self.bytes[22] & (COUNT_CONSTANT | COUNT_FIELD | LENGTH_FIELD | IS_SIZE) == 0
    }

    /// Whether the value is the count or length of other fields.
    #[inline]
    pub(crate) fn is_size(self) -> bool {
        self.bytes[22] & IS_SIZE != 0
    }

    /// Number of values.
    #[inline]
    pub(crate) fn count(self) -> Count<'a> {
        match self.bytes[22] & (COUNT_CONSTANT | COUNT_FIELD) {
            0 => Count::One,
            COUNT_CONSTANT => Count::Constant(u16_at(self.bytes, 16)),
            _ => Count::Field(u16_at(self.bytes, 16)),
        }
    }

    /// Length of a value.
    #[inline]
    pub(crate) fn length(self) -> Length {
        match self.bytes[22] & (LENGTH_CONSTANT | LENGTH_FIELD) {
            0 => Length::Type,
            LENGTH_CONSTANT => Length::Constant(u16_at(self.bytes, 18)),
            _ => Length::Field(u16_at(self.bytes, 18)),
        }
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

    /// A value of the field.
    #[inline]
    pub(crate) fn value(self, bytes: &'a [u8]) -> Value<'a> {
        let has_length = self.bytes[22] & (LENGTH_CONSTANT | LENGTH_FIELD) != 0;
        Value { name: self.name(), in_type: self.in_type(), out_type: self.out_type(), map: self.map(), bytes, has_length }
    }

    /// The field.
    pub(crate) fn field(self) -> Field<'a> {
        let field = Field::new(self.name().text(), self.in_type());
        Field {
            out_type: self.out_type(),
            count: self.count(),
            length: self.length(),
            map: self.map(),
            members: Members { first: None, count: u16_at(self.bytes, 20) },
            is_size: self.is_size(),
            tags: u32_at(self.bytes, 8),
            ..field
        }
    }
}
