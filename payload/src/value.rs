//! Values of fields.

use crate::data::{Data, is_number, number};
use crate::map::{MapKind, ValueMap};
use crate::name::FieldName;
use crate::schema::{Field, Length};
use crate::text::Text;
use crate::types::{InType, OutType};
use core::fmt;

/// A value: its bytes in the payload, and the properties of its field. It displays as its [`data`](Self::data), or as its name in the map of
/// the field.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Value<'a> {
    pub(crate) name: FieldName<'a>,
    /// Encoding of the value. Bytes in a serialization format of the provider have the type [`InType::BINARY`].
    pub in_type: InType,
    /// Display format of the value.
    pub out_type: OutType,
    /// Names of values.
    pub map: Option<ValueMap<'a>>,
    /// The bytes in the payload, without a preceding length or pointers, and without a terminator.
    pub bytes: &'a [u8],
    /// Whether the field states a length. Zeros at the end are then no part of a string.
    pub(crate) has_length: bool,
}

impl<'a> Value<'a> {
    #[inline(always)]
    pub(crate) fn new(field: &Field<'a>, bytes: &'a [u8]) -> Self {
        let Field { name, in_type, out_type, map, .. } = *field;
        Self { name: FieldName::Text(name), in_type, out_type, map, bytes, has_length: field.length != Length::Type }
    }

    /// The same value with names of values.
    #[must_use]
    pub fn with_map(self, map: Option<ValueMap<'a>>) -> Self {
        Self { map, ..self }
    }

    /// Name of the field.
    #[inline]
    pub fn name(&self) -> &'a str {
        self.name.text()
    }

    /// Bytes in a serialization format of the provider.
    pub(crate) fn custom(field: &Field<'a>, bytes: &'a [u8]) -> Self {
        Self { in_type: InType::BINARY, out_type: OutType::NULL, ..Self::new(field, bytes) }
    }

    /// Decodes the bytes.
    #[inline(always)]
    pub fn data(&self) -> Data<'a> {
        Data::of((self.in_type, self.out_type), self.bytes, self.has_length)
    }

    /// The integer as unsigned, if the value is one of 8, 16, 32 or 64 bits. A port is converted from network byte order.
    #[inline]
    pub fn number(&self) -> Option<u64> {
        let is_integer = matches!(self.bytes.len(), 1 | 2 | 4 | 8) && is_number(self.in_type);
        let port = self.out_type == OutType::PORT && self.bytes.len() == 2;
        is_integer.then(|| if port { number(self.bytes).swap_bytes() >> 48 } else { number(self.bytes) })
    }

    /// The text, if the value is one.
    pub fn text(&self) -> Option<Text<'a>> {
        match self.data() {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The name of the value in the map of the field; `None` for a combination of flags without its own name.
    pub fn value_name(&self) -> Option<&'a str> {
        self.map?.value_name(self.number()?)
    }
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Some(map), Some(number)) = (self.map, self.number()) else { return self.data().fmt(f) };
        match (self.out_type, map.value_name(number)) {
            (OutType::NTSTATUS | OutType::HRESULT | OutType::WIN32ERROR, Some(name)) => write!(f, "{} {name}", self.data()),
            (_, Some(name)) => f.write_str(name),
            _ if map.kind() == MapKind::Flags && number != 0 => map.write(number, f),
            _ => self.data().fmt(f),
        }
    }
}
