//! The value of a member, decoded with its metadata.

use crate::access::ones;
use crate::meta::{Described, Layout, Member, Named, Type, Values};
use crate::names;
use core::fmt::{self, Formatter};

/// The value of a member or an array element: bytes with their type.
#[derive(Clone, Copy)]
pub struct Value<'a> {
    pub(crate) ty: &'static Type,
    pub(crate) bits: Option<(u32, u32)>,
    pub(crate) bytes: &'a [u8],
}

impl<'a> Value<'a> {
    /// Bytes beyond the end are treated as missing; views ensure that there are enough.
    #[inline]
    pub(crate) fn of(member: &'static Member, bytes: &'a [u8]) -> Self {
        let bytes = bytes.get(member.offset..).and_then(|rest| rest.get(..member.size)).unwrap_or(&[]);
        Self { ty: &member.ty, bits: member.bits, bytes }
    }

    /// Type of the bytes.
    pub fn ty(&self) -> &'static Type {
        self.ty
    }

    /// The bytes; those of the whole unit for a bit field.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The first 8 bytes, or all if there are fewer, as an unsigned integer; for a bit field only its bits.
    #[inline]
    pub fn unsigned(&self) -> u64 {
        number(self.bytes, self.bits)
    }

    /// As [`unsigned`](Self::unsigned), with the highest bit as the sign.
    #[inline]
    pub fn signed(&self) -> i64 {
        let width = self.bits.map_or(self.bytes.len() as u32 * 8, |(_, width)| width);
        let unused = 64 - width.clamp(1, 64);
        (self.unsigned() << unused) as i64 >> unused
    }

    /// The number with its names.
    pub fn choice(&self) -> Choice {
        let values = self.values();
        Choice { value: values.map_or(self.signed(), |values| self.named(values)), values }
    }

    /// The number; signed if the type of the named values is signed.
    pub(crate) fn named(&self, values: &Values) -> i64 {
        match values.signed {
            true => self.signed(),
            false => self.unsigned() as i64,
        }
    }

    /// The named values or flags of its type; for nested members those of the C type.
    pub fn values(&self) -> Option<&'static Values> {
        match self.ty {
            Type::Values(values) => Some(values),
            _ => None,
        }
    }

    /// The elements of an array; empty for other types.
    pub fn elements(&self) -> impl ExactSizeIterator<Item = Value<'a>> + use<'a> {
        let (ty, size, bytes) = match self.ty {
            Type::Array(ty, size) => (*ty, *size, self.bytes),
            other => (other, 1, &[][..]),
        };
        bytes.chunks_exact(size.max(1)).map(move |bytes| Value { ty, bits: None, bytes })
    }
}

/// A number with its names as a named value or flags. Two values are equal if their numbers and the names of their types are equal,
/// even for different versions of an enumeration.
#[derive(Clone, Copy)]
pub struct Choice {
    /// The number; unsigned for flags.
    pub value: i64,
    values: Option<&'static Values>,
}

impl Choice {
    /// Microsoft's name of the value; for flags, the first name with all its bits set.
    pub fn name(&self) -> Option<&'static str> {
        self.names().next()
    }

    /// All Microsoft's names of the value; for flags, all names with all their bits set.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        let this = *self;
        let constants = self.values.map_or(&[][..], |values| values.constants);
        constants.iter().filter(move |(_, named)| this.has(*named)).map(|(name, _)| *name)
    }

    /// Whether this is the value with a name; for flags, whether all bits of that name are set.
    pub fn is(&self, name: &str) -> bool {
        self.names().any(|own| own == name)
    }

    /// Whether this is the given value; for flags, whether all its bits are set. `false` for a value of another type.
    pub fn contains<T: Named>(&self, value: T) -> bool {
        self.values.is_some_and(|values| values.name == T::VALUES.name) && self.has(value.number())
    }

    fn has(&self, value: i64) -> bool {
        match self.values {
            Some(values) if values.flags => value != 0 && self.value & value == value,
            _ => self.value == value,
        }
    }
}

impl PartialEq for Choice {
    fn eq(&self, other: &Self) -> bool {
        let name = |choice: &Self| choice.values.map(|values| values.name);
        self.value == other.value && name(self) == name(other)
    }
}

impl Eq for Choice {}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.ty {
            Type::Unsigned => self.unsigned().fmt(f),
            Type::Signed => self.signed().fmt(f),
            Type::Pointer => write!(f, "{:#x}", self.unsigned()),
            Type::Values(values) => names::print(f, values, self.named(values)),
            Type::Layout(layout) => layout.print(f, self.bytes),
            Type::Array(..) => f.debug_list().entries(self.elements()).finish(),
        }
    }
}

impl fmt::Debug for Choice {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.values {
            Some(values) => names::print(f, values, self.value),
            None => self.value.fmt(f),
        }
    }
}

/// Prints a generated type member by member.
pub fn print<T: Described>(f: &mut Formatter<'_>, value: &T) -> fmt::Result {
    T::LAYOUT.print(f, bytemuck::bytes_of(value))
}

impl Layout {
    /// The values of the members in bytes that begin with the structure.
    pub(crate) fn values<'a>(&'static self, bytes: &'a [u8]) -> impl ExactSizeIterator<Item = (&'static Member, Value<'a>)> {
        self.members.iter().map(move |member| (member, Value::of(member, bytes)))
    }

    /// Prints bytes that begin with the structure, member by member.
    pub(crate) fn print(&'static self, f: &mut Formatter<'_>, bytes: &[u8]) -> fmt::Result {
        let mut list = f.debug_struct(self.name);
        for (member, value) in self.values(bytes) {
            list.field(member.name, &value);
        }
        list.finish()
    }
}

/// The first 8 bytes, or all if there are fewer, as an unsigned integer; only its `bits`, if there are any.
#[inline]
pub(crate) fn number(bytes: &[u8], bits: Option<(u32, u32)>) -> u64 {
    let all = word(bytes);
    match bits {
        Some((position, width)) => all >> (position & 63) & ones(width),
        None => all,
    }
}

#[inline]
fn word(bytes: &[u8]) -> u64 {
    if let Ok(bytes) = bytes.try_into() {
        return u32::from_le_bytes(bytes).into();
    }
    if let Some(bytes) = bytes.first_chunk() {
        return u64::from_le_bytes(*bytes);
    }
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}
