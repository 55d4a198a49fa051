//! Enumerations and flags: names of their values, and their text form.

use bytemuck::Pod;
use core::fmt::{self, Formatter};

/// A generated enumeration or flags type.
pub trait Named: Pod {
    /// Microsoft's name of the enumeration, or this project's for a set of macros.
    const NAME: &'static str;
    /// Whether values are flags that can be combined.
    const IS_FLAGS: bool;
    /// Names and values.
    const CONSTANTS: &'static [(&'static str, i64)];

    /// The number; unsigned for flags.
    fn number(self) -> i64;
}

/// Prints a generated value.
pub fn print_named<T: Named>(f: &mut Formatter<'_>, value: T) -> fmt::Result {
    print(f, T::NAME, T::IS_FLAGS, T::CONSTANTS.iter().copied(), value.number())
}

/// Prints a value by name, flags by all their names.
pub(crate) fn print<'n>(
    f: &mut Formatter<'_>,
    name: &str,
    is_flags: bool,
    constants: impl Iterator<Item = (&'n str, i64)>,
    value: i64,
) -> fmt::Result {
    if is_flags { flags(f, constants, value) } else { self::value(f, name, constants, value) }
}

/// Prints a value by its name, or as a number.
fn value<'n>(f: &mut Formatter<'_>, name: &str, mut constants: impl Iterator<Item = (&'n str, i64)>, value: i64) -> fmt::Result {
    match constants.find(|(_, v)| *v == value) {
        Some((name, _)) => f.write_str(name),
        None if value < 0 => write!(f, "{name}({value})"),
        None => write!(f, "{name}({value:#x})"),
    }
}

/// Prints the names of the set bits, and the rest as a number.
fn flags<'n>(f: &mut Formatter<'_>, constants: impl Iterator<Item = (&'n str, i64)>, value: i64) -> fmt::Result {
    let mut rest = value;
    let mut first = true;
    let mut gap = |f: &mut Formatter<'_>| match core::mem::take(&mut first) {
        true => Ok(()),
        false => f.write_str(" | "),
    };
    for (name, bits) in constants {
        if bits != 0 && rest & bits == bits {
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
