//! A value of a field.

use crate::data::Data;
use crate::map::{MapKind, ValueMap};
use crate::schema::{Field, Length};
use crate::text::Text;
use crate::types::{InType, OutType};
use core::fmt;

/// A value: the bytes of a payload, and what its field says of them. Its text is that of its [`data`](Self::data), or the name that the
/// field's map gives it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Value<'a> {
    /// The name of the field.
    pub name: &'a str,
    /// How the value is encoded. Bytes of a serializer of the provider's are [`InType::BINARY`].
    pub in_type: InType,
    /// How it is shown.
    pub out_type: OutType,
    /// Names of the field's values.
    pub map: Option<ValueMap<'a>>,
    /// The bytes in the payload, without a length or pointers before them and without a terminator behind them.
    pub bytes: &'a [u8],
    /// Whether a string is in room for one, and ends before its first zero.
    pub(crate) is_room: bool,
}

impl<'a> Value<'a> {
    #[inline(always)]
    pub(crate) fn new(field: &Field<'a>, bytes: &'a [u8]) -> Self {
        let Field { name, in_type, out_type, map, .. } = *field;
        Self { name, in_type, out_type, map, bytes, is_room: field.length != Length::Type }
    }

    /// Bytes of a serializer of the provider's.
    pub(crate) fn custom(field: &Field<'a>, bytes: &'a [u8]) -> Self {
        Self { in_type: InType::BINARY, out_type: OutType::NULL, ..Self::new(field, bytes) }
    }

    /// What the bytes mean.
    #[inline(always)]
    pub fn data(&self) -> Data<'a> {
        Data::of(self)
    }

    /// The number in the bytes, without a sign, if they are one of 8, 16, 32 or 64 bits. Of a port, the number it means.
    #[inline]
    pub fn number(&self) -> Option<u64> {
        let is_number = matches!(self.bytes.len(), 1 | 2 | 4 | 8) && crate::data::is_number(self.in_type);
        let port = self.out_type == OutType::PORT && self.bytes.len() == 2;
        is_number.then(|| if port { number(self.bytes).swap_bytes() >> 48 } else { number(self.bytes) })
    }

    /// The text, if it is one.
    pub fn text(&self) -> Option<Text<'a>> {
        match self.data() {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The name that the field's map gives the value as a whole.
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

/// The number in bytes, of which at most eight count.
#[inline]
pub(crate) fn number(bytes: &[u8]) -> u64 {
    match *bytes {
        [a] => a.into(),
        [a, b] => u16::from_le_bytes([a, b]).into(),
        [a, b, c, d] => u32::from_le_bytes([a, b, c, d]).into(),
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => bytes.iter().take(8).rev().fold(0, |number, byte| number << 8 | u64::from(*byte)),
    }
}
