//! Values printed from metadata, so that generated types need no derived `Debug`.

use crate::meta::{Layout, Type, Values};
use crate::value::Value;
use core::fmt::{self, Debug, Formatter};

/// Prints the bytes of a type, member by member.
pub fn layout(f: &mut Formatter<'_>, layout: &'static Layout, bytes: &[u8]) -> fmt::Result {
    let mut list = f.debug_struct(layout.name);
    for (member, value) in layout.values(bytes) {
        list.field(member.name, &value);
    }
    list.finish()
}

impl Debug for Value<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.ty {
            Type::Unsigned => self.unsigned().fmt(f),
            Type::Signed => self.signed().fmt(f),
            Type::Pointer => write!(f, "{:#x}", self.unsigned()),
            Type::Values(values) if values.flags => flags(f, values, self.named(values)),
            Type::Values(values) => value(f, values, self.named(values)),
            Type::Layout(layout) => self::layout(f, layout, self.bytes),
            Type::Array(..) => f.debug_list().entries(self.elements()).finish(),
        }
    }
}

/// Prints a value by its name, or as a number.
pub fn value(f: &mut Formatter<'_>, values: &Values, value: i64) -> fmt::Result {
    match values.constants.iter().find(|(_, v)| *v == value) {
        Some((name, _)) => f.write_str(name),
        None if value < 0 => write!(f, "{}({value})", values.name),
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
