//! Layouts as data: members, their types, and names of values.

use crate::token::{LayoutOf, Tokens};
use bytemuck::Pod;

/// A generated type with metadata.
pub trait Described: Pod {
    /// The structure to which the tokens of its layout belong.
    type Of: Tokens;
    /// Its layout.
    const LAYOUT: LayoutOf<Self::Of>;
}

/// A generated enumeration or flags type with metadata.
pub trait Named: Pod {
    /// Its named values.
    const VALUES: &'static Values;

    /// The number; unsigned for flags.
    fn number(self) -> i64;
}

/// A type that metadata can describe: integers, addresses, arrays of any length, and generated types.
pub trait Typed: Pod {
    /// Type of the bytes.
    const TYPE: Type;
    /// Size in bytes.
    const SIZE: usize = size_of::<Self>();
}

/// One layout of a structure. Two layouts are equal if all their contents are equal, even at different addresses.
#[derive(Debug)]
#[non_exhaustive]
pub struct Layout {
    /// Microsoft's name of the structure.
    pub name: &'static str,
    /// Size in bytes, tail padding included.
    pub size: usize,
    /// Alignment in bytes.
    pub align: usize,
    /// Members in order of declaration, including those of unnamed structures and unions.
    pub members: &'static [Member],
    /// Members of the structure in all its layouts.
    pub of: &'static Members,
    /// For each member of [`of`](Self::of), its index in [`members`](Self::members) plus 1; 0 if this layout lacks it.
    pub places: &'static [u16],
}

/// The members of a structure in all its layouts: the set that its tokens denote.
#[derive(Debug)]
#[non_exhaustive]
pub struct Members {
    /// Microsoft's name of the structure.
    pub name: &'static str,
    /// Names of the members.
    pub names: &'static [&'static str],
}

/// A member of a layout.
#[derive(Debug, PartialEq)]
#[non_exhaustive]
pub struct Member {
    /// Microsoft's name, or this project's if none is known.
    pub name: &'static str,
    /// Offset from the start of the structure, in bytes.
    pub offset: usize,
    /// Size in bytes; for a bit field that of its whole unit.
    pub size: usize,
    /// For a bit field, lowest bit within the unit, and number of bits.
    pub bits: Option<(u32, u32)>,
    /// Type in C.
    pub c: &'static str,
    /// Type of the bytes.
    pub ty: Type,
}

/// Type of a member's bytes.
#[derive(Debug, PartialEq)]
#[non_exhaustive]
pub enum Type {
    /// An unsigned integer.
    Unsigned,
    /// A signed integer.
    Signed,
    /// An address.
    Pointer,
    /// A named value, or a combination of flags.
    Values(&'static Values),
    /// A nested structure.
    Layout(&'static Layout),
    /// An array of a type and its element size in bytes.
    Array(&'static Type, usize),
}

/// Named values.
#[derive(Debug, PartialEq)]
#[non_exhaustive]
pub struct Values {
    /// Microsoft's name of the enumeration, or this project's for a set of macros.
    pub name: &'static str,
    /// Whether values are flags that can be combined.
    pub flags: bool,
    /// Whether the underlying type is signed.
    pub signed: bool,
    /// Names and values.
    pub constants: &'static [(&'static str, i64)],
}

/// For each of `N` members of a structure, its index in a layout plus 1; 0 if the layout lacks it. The layout has the members
/// `indices`.
#[doc(hidden)]
pub const fn places<const N: usize>(indices: &[u16]) -> [u16; N] {
    let mut places = [0; N];
    let mut i = 0;
    while i < indices.len() {
        places[indices[i] as usize] = i as u16 + 1;
        i += 1;
    }
    places
}

impl Layout {
    /// The member with a name, except members of named members.
    pub fn member(&self, name: &str) -> Option<&'static Member> {
        self.members.iter().find(|member| member.name == name)
    }

    /// Whether another layout has the same members at the same offsets.
    pub(super) fn has_offsets_of(&self, other: &Self) -> bool {
        let places = |layout: &'static [Member]| layout.iter().map(|member| (member.name, member.place()));
        places(self.members).eq(places(other.members))
    }
}

impl Member {
    /// Offset, size and bits.
    pub(super) const fn place(&self) -> (usize, usize, Option<(u32, u32)>) {
        (self.offset, self.size, self.bits)
    }
}

impl PartialEq for Layout {
    fn eq(&self, other: &Self) -> bool {
        let whole = |layout: &Self| (layout.name, layout.size, layout.align);
        // The compiler may duplicate a layout.
        core::ptr::eq(self, other) || (whole(self) == whole(other) && self.members == other.members)
    }
}
