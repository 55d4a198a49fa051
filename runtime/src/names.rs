//! Text form of named values and flags.

use crate::meta::{Named, Values};
use core::fmt::{self, Formatter};

/// Prints a generated value.
pub fn print_named<T: Named>(f: &mut Formatter<'_>, value: T) -> fmt::Result {
    print(f, T::VALUES, value.number())
}

/// Prints a value by name, flags by all their names.
pub(crate) fn print(f: &mut Formatter<'_>, values: &Values, value: i64) -> fmt::Result {
    if values.flags { self::flags(f, values, value) } else { self::value(f, values, value) }
}

/// Prints a value by its name, or as a number.
fn value(f: &mut Formatter<'_>, values: &Values, value: i64) -> fmt::Result {
    match values.constants.iter().find(|(_, v)| *v == value) {
        Some((name, _)) => f.write_str(name),
        None if value < 0 => write!(f, "{}({value})", values.name),
        None => write!(f, "{}({value:#x})", values.name),
    }
}

/// Prints the names of the set bits, and the rest as a number.
fn flags(f: &mut Formatter<'_>, values: &Values, value: i64) -> fmt::Result {
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
