//! Values printed from metadata, so that generated types need no derived `Debug`.

use crate::meta::{Layout, Member, Type, Values};
use core::fmt::{self, Debug, Formatter};

/// Prints the bytes of a type, member by member.
pub fn layout(f: &mut Formatter<'_>, layout: &Layout, bytes: &[u8]) -> fmt::Result {
    let mut list = f.debug_struct(layout.name);
    for member in layout.members {
        list.field(member.name, &Value::of(member, bytes));
    }
    list.finish()
}

/// A value that prints by its type.
struct Value<'a> {
    ty: &'a Type,
    bits: Option<(u32, u32)>,
    bytes: &'a [u8],
}

impl<'a> Value<'a> {
    fn of(member: &'a Member, bytes: &'a [u8]) -> Self {
        let bytes = bytes.get(member.offset..member.offset + member.size).unwrap_or(&[]);
        Self { ty: &member.ty, bits: member.bits, bytes }
    }

    fn unsigned(&self) -> u64 {
        let mut bytes = [0; 8];
        let length = self.bytes.len().min(8);
        bytes[..length].copy_from_slice(&self.bytes[..length]);
        let all = u64::from_le_bytes(bytes);
        match self.bits {
            Some((position, width)) => all >> position & u64::MAX.checked_shr(64 - width.min(64)).unwrap_or(0),
            None => all,
        }
    }

    fn signed(&self) -> i64 {
        let width = self.bits.map_or(self.bytes.len() as u32 * 8, |(_, width)| width);
        let unused = 64 - width.clamp(1, 64);
        (self.unsigned() << unused) as i64 >> unused
    }
}

impl Debug for Value<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.ty {
            Type::Unsigned => self.unsigned().fmt(f),
            Type::Signed => self.signed().fmt(f),
            Type::Pointer => write!(f, "{:#x}", self.unsigned()),
            Type::Values(values) if values.flags => flags(f, values, self.unsigned() as i64),
            Type::Values(values) => value(f, values, self.signed()),
            Type::Layout(layout) => self::layout(f, layout, self.bytes),
            Type::Array(ty, size) => {
                let elements = self.bytes.chunks((*size).max(1));
                f.debug_list().entries(elements.map(|bytes| Value { ty, bits: None, bytes })).finish()
            }
        }
    }
}

/// Prints a value by its name, or as a number.
pub fn value(f: &mut Formatter<'_>, values: &Values, value: i64) -> fmt::Result {
    match values.constants.iter().find(|(_, v)| *v == value) {
        Some((name, _)) => f.write_str(name),
        None => write!(f, "{}({value:#x})", values.name),
    }
}

/// Prints the names of the bits that are set, and the rest as a number.
pub fn flags(f: &mut Formatter<'_>, values: &Values, value: i64) -> fmt::Result {
    let mut rest = value;
    let mut first = true;
    let mut gap = |f: &mut Formatter<'_>| match core::mem::take(&mut first) {
        true => Ok(()),
        false => f.write_str(" | "),
    };
    for (name, bits) in values.constants {
        if *bits != 0 && rest & bits == *bits {
            gap(f)?;
            f.write_str(name)?;
            rest &= !bits;
        }
    }
    if rest != 0 || value == 0 {
        gap(f)?;
        write!(f, "{rest:#x}")?;
    }
    Ok(())
}
