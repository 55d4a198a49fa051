//! A member's value, read by its description.

use crate::access::ones;
use crate::meta::{Layout, Member, Type, Values};
use crate::view::View;

/// The value of a member, or of an element of an array: bytes, and what they mean.
#[derive(Clone, Copy)]
pub struct Value<'a> {
    pub(crate) ty: &'static Type,
    pub(crate) bits: Option<(u32, u32)>,
    pub(crate) bytes: &'a [u8],
}

impl<'a> Value<'a> {
    /// Bytes that are too few are none: a view has seen to it that they are not.
    #[inline]
    pub(crate) fn of(member: &'static Member, bytes: &'a [u8]) -> Self {
        let bytes = bytes.get(member.offset..).and_then(|rest| rest.get(..member.size)).unwrap_or(&[]);
        Self { ty: &member.ty, bits: member.bits, bytes }
    }

    /// What the bytes mean.
    pub fn ty(&self) -> &'static Type {
        self.ty
    }

    /// The bytes; those of the whole unit for a bit field.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The first 8 bytes, or all if there are fewer, as an integer without sign; only its bits for a bit field.
    #[inline]
    pub fn unsigned(&self) -> u64 {
        let all = word(self.bytes);
        match self.bits {
            Some((position, width)) => all >> (position & 63) & ones(width),
            None => all,
        }
    }

    /// [`unsigned`](Self::unsigned), the highest bit as the sign.
    #[inline]
    pub fn signed(&self) -> i64 {
        let width = self.bits.map_or(self.bytes.len() as u32 * 8, |(_, width)| width);
        let unused = 64 - width.clamp(1, 64);
        (self.unsigned() << unused) as i64 >> unused
    }

    /// The number, with a sign if the type of the values has one.
    pub(crate) fn named(&self, values: &Values) -> i64 {
        match values.signed {
            true => self.signed(),
            false => self.unsigned() as i64,
        }
    }

    /// The named values or flags that it is of; of those of the C type, where members tell.
    pub fn values(&self) -> Option<&'static Values> {
        match self.ty {
            Type::Values(values) => Some(values),
            _ => None,
        }
    }

    /// The structure that it is.
    pub fn view(&self) -> Option<View<'a>> {
        match self.ty {
            Type::Layout(layout) => View::new(layout, self.bytes).ok(),
            _ => None,
        }
    }

    /// The elements of the array that it is; none if it is no array.
    pub fn elements(&self) -> impl ExactSizeIterator<Item = Value<'a>> + use<'a> {
        let (ty, size, bytes) = match self.ty {
            Type::Array(ty, size) => (*ty, *size, self.bytes),
            other => (other, 1, &[][..]),
        };
        bytes.chunks_exact(size.max(1)).map(move |bytes| Value { ty, bits: None, bytes })
    }
}

/// Named values and flags: the number, and what it can be called.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// The number; of flags, without sign.
    pub value: i64,
    values: Option<&'static Values>,
}

impl Choice {
    pub(crate) fn of(value: Value<'_>) -> Self {
        let values = value.values();
        Self { value: values.map_or(value.signed(), |values| value.named(values)), values }
    }

    /// Microsoft's name of the value; for flags, of the first that is set whole.
    pub fn name(&self) -> Option<&'static str> {
        let values = self.values?;
        let is = |named: i64| match values.flags {
            true => named != 0 && self.value & named == named,
            false => self.value == named,
        };
        values.constants.iter().find(|(_, named)| is(*named)).map(|(name, _)| *name)
    }
}

impl PartialEq for Values {
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self, other)
    }
}

impl Eq for Values {}

impl core::fmt::Debug for Choice {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.values {
            Some(values) if values.flags => crate::debug::flags(f, values, self.value),
            Some(values) => crate::debug::value(f, values, self.value),
            None => self.value.fmt(f),
        }
    }
}

impl Layout {
    /// The value of each member in bytes that begin with the structure.
    pub(crate) fn values<'a>(&'static self, bytes: &'a [u8]) -> impl ExactSizeIterator<Item = (&'static Member, Value<'a>)> {
        self.members.iter().map(move |member| (member, Value::of(member, bytes)))
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
