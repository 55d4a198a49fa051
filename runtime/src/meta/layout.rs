//! A layout as data: members, what their bytes mean, and the names of values.

use crate::token::{LayoutOf, Tokens};
use bytemuck::Pod;

/// A generated type, described.
pub trait Described: Pod {
    /// The structure whose tokens its layout takes.
    type Of: Tokens;
    /// Its layout.
    const LAYOUT: LayoutOf<Self::Of>;
}

/// A generated enumeration or set of values, described.
pub trait Named: Pod {
    /// Its values.
    const VALUES: &'static Values;

    /// The number; of flags, without sign.
    fn number(self) -> i64;
}

/// A type whose bytes mean something to metadata: integers, addresses, arrays of any length, and what is generated.
pub trait Typed: Pod {
    /// What they mean.
    const TYPE: Type;
    /// How many they are.
    const SIZE: usize = size_of::<Self>();
}

/// One layout of a structure. Two are equal if they are in all that they state, not only if they are at one address.
#[derive(Debug)]
#[non_exhaustive]
pub struct Layout {
    /// Microsoft's name of the structure.
    pub name: &'static str,
    /// Bytes, tail padding included.
    pub size: usize,
    /// Alignment in bytes.
    pub align: usize,
    /// The members in the order of the declaration, those of unnamed structures and unions among them.
    pub members: &'static [Member],
    /// The members of the structure in all its layouts.
    pub of: &'static Members,
    /// For each of those, its place in [`members`](Self::members), counted from 1; 0 if this layout does not have it.
    pub places: &'static [u16],
}

/// The members that a structure has in any layout: what its tokens stand for.
#[derive(Debug)]
#[non_exhaustive]
pub struct Members {
    /// Microsoft's name of the structure.
    pub name: &'static str,
    /// Their names.
    pub names: &'static [&'static str],
}

/// A member of a layout.
#[derive(Debug, PartialEq)]
#[non_exhaustive]
pub struct Member {
    /// Microsoft's name, or ours where none is known.
    pub name: &'static str,
    /// Bytes from the start of the structure.
    pub offset: usize,
    /// Bytes; those of the whole unit for a bit field.
    pub size: usize,
    /// Lowest bit within the unit, and number of bits, of a bit field.
    pub bits: Option<(u32, u32)>,
    /// The type as C spells it.
    pub c: &'static str,
    /// What the bytes mean.
    pub ty: Type,
}

/// What the bytes of a member mean.
#[derive(Debug, PartialEq)]
pub enum Type {
    /// An integer without sign.
    Unsigned,
    /// An integer with sign.
    Signed,
    /// An address.
    Pointer,
    /// One of named values, or a set of named bits.
    Values(&'static Values),
    /// A structure of its own.
    Layout(&'static Layout),
    /// Elements of a type and a size in bytes.
    Array(&'static Type, usize),
}

/// Named values.
#[derive(Debug, PartialEq)]
#[non_exhaustive]
pub struct Values {
    /// Microsoft's name of the enumeration, or ours of a set of macros.
    pub name: &'static str,
    /// Whether they are bits that combine.
    pub flags: bool,
    /// Whether the type that holds them is signed.
    pub signed: bool,
    /// Names and values.
    pub constants: &'static [(&'static str, i64)],
}

/// For each of `N` members of a structure, its place in a layout, counted from 1; 0 if the layout does not have it. The layout has
/// the members `indices`.
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
    /// The member of that name, among those that are not members of named members.
    pub fn member(&self, name: &str) -> Option<&'static Member> {
        self.members.iter().find(|member| member.name == name)
    }
}

impl PartialEq for Layout {
    fn eq(&self, other: &Self) -> bool {
        let whole = |layout: &Self| (layout.name, layout.size, layout.align);
        // The compiler may place one layout twice.
        core::ptr::eq(self, other) || (whole(self) == whole(other) && self.members == other.members)
    }
}
