//! Types of declared members. Constants compare them too, so that a wrong declaration does not compile.

use super::layout::Type;
use super::member::Located;
use crate::check::Message;
use core::fmt;

/// The type that a program declares for a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wanted {
    /// An integer of this many bytes, or a bit field that fits into them.
    Integer {
        /// Size in bytes.
        size: u8,
        /// Whether it is signed.
        signed: bool,
    },
    /// An integer or bit field of any width.
    AnyInteger {
        /// Whether it is signed.
        signed: bool,
    },
    /// A bit, or an integer of one byte.
    Bool,
    /// An integer or bit field with the values of this enumeration.
    Values {
        /// Name of the enumeration or of the set of flags.
        name: &'static str,
        /// Size in bytes.
        size: u8,
    },
    /// An address; if a name is given, one that does not point to another structure.
    Pointer(Option<&'static str>),
    /// The structure with this name.
    Structure(&'static str),
    /// An array.
    Array(&'static Wanted, usize),
}

/// The type that a layout has for a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shape {
    /// An integer of this many bytes; of a bit field, its unit.
    Integer {
        /// Size in bytes.
        size: usize,
        /// Number of bits of a bit field.
        bits: Option<u32>,
        /// Whether it is signed.
        signed: bool,
    },
    /// An address of this many bytes.
    Pointer(usize),
    /// A structure of this many bytes.
    Structure(usize),
    /// An array.
    Array {
        /// Number of elements.
        count: usize,
        /// Size of an element, in bytes.
        size: usize,
    },
}

impl Located<'_> {
    /// Whether the member has the declared type.
    pub(crate) const fn fits(&self, wanted: &Wanted) -> bool {
        let Some(ty) = self.ty() else { return false };
        match *wanted {
            Wanted::Integer { size, signed } => match integer(&ty) {
                Some(is_signed) => is_signed == signed && self.has_width(size),
                // The structures of 64-bit integers, which older declarations use for the same values.
                None if size != 8 || self.shape.size != 8 => false,
                None if signed => self.is_structure("LARGE_INTEGER"),
                None => self.is_structure("ULARGE_INTEGER"),
            },
            Wanted::AnyInteger { signed } => matches!(integer(&ty), Some(is_signed) if is_signed == signed),
            Wanted::Bool => integer(&ty).is_some() && (self.shape.bits == 1 || self.shape.bits == 0 && self.shape.size == 1),
            Wanted::Values { name, size } => {
                let has_values = match ty.values() {
                    Some(values) => is_same(values.name(), name),
                    None => integer(&ty).is_some(),
                };
                has_values && self.has_width(size)
            }
            Wanted::Pointer(to) => {
                matches!(ty, Type::Pointer)
                    && match to {
                        Some(to) => self.can_point_to(to),
                        None => true,
                    }
            }
            Wanted::Structure(name) => self.is_structure(name),
            Wanted::Array(wanted, count) => match self.element() {
                Some((element, actual)) => actual == count && element.fits(wanted),
                None => false,
            },
        }
    }

    /// The type for error messages.
    pub(crate) const fn declarable(&self) -> Option<Shape> {
        let Some(ty) = self.ty() else { return None };
        let size = self.shape.size as usize;
        Some(match (ty, integer(&ty), self.element()) {
            (_, Some(signed), _) => {
                let bits = if self.shape.bits > 0 { Some(self.shape.bits as u32) } else { None };
                Shape::Integer { size, bits, signed }
            }
            (Type::Pointer, ..) => Shape::Pointer(size),
            (_, _, Some((element, count))) => Shape::Array { count, size: element.shape.size as usize },
            _ => Shape::Structure(size),
        })
    }

    /// Whether it is the structure with a name.
    pub(super) const fn is_structure(&self, name: &str) -> bool {
        match self.layout() {
            Some(layout) => is_same(layout.name, name),
            None => false,
        }
    }

    const fn has_width(&self, size: u8) -> bool {
        match self.shape.bits {
            0 => self.shape.size == size as u32,
            bits => bits as u32 <= size as u32 * 8,
        }
    }

    /// Whether the type in C is not a pointer to another structure of the table.
    const fn can_point_to(&self, name: &str) -> bool {
        let Some((c, [b' ', b'*'])) = self.c().as_bytes().split_last_chunk() else { return true };
        match core::str::from_utf8(c) {
            Ok(c) => is_same(c, name) || self.table.find_structure(c).is_none(),
            Err(_) => true,
        }
    }
}

/// Whether it is signed, if it is an integer.
const fn integer(ty: &Type<'_>) -> Option<bool> {
    match ty {
        Type::Unsigned => Some(false),
        Type::Signed => Some(true),
        Type::Values(values) => Some(values.signed()),
        _ => None,
    }
}

const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

impl Wanted {
    /// Adds the type to a message.
    pub(super) const fn describe(&self, message: Message) -> Message {
        match *self {
            Self::Integer { size, signed } => message.text(sign(signed)).text(" of ").decimal(size as usize).text(" bytes"),
            Self::AnyInteger { signed } => message.text(sign(signed)),
            Self::Bool => message.text("a bit or a byte"),
            Self::Values { name, size } => {
                message.text("an integer of ").decimal(size as usize).text(" bytes with the values of ").text(name)
            }
            Self::Pointer(None) => message.text("a pointer"),
            Self::Pointer(Some(to)) => message.text("a pointer to ").text(to),
            Self::Structure(name) => message.text("the structure ").text(name),
            Self::Array(wanted, count) => wanted.describe(message.text("an array of ").decimal(count).text(", each ")),
        }
    }
}

const fn sign(signed: bool) -> &'static str {
    if signed { "a signed integer" } else { "an unsigned integer" }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.describe(Message::of(&[])).as_str())
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer { bits: Some(bits), signed, .. } => write!(f, "{} of {bits} bits", sign(*signed)),
            Self::Integer { size, signed, .. } => write!(f, "{} of {size} bytes", sign(*signed)),
            Self::Pointer(size) => write!(f, "a pointer of {size} bytes"),
            Self::Structure(size) => write!(f, "a structure of {size} bytes"),
            Self::Array { count, size } => write!(f, "an array of {count}, each of {size} bytes"),
        }
    }
}
