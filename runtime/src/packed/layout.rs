//! Layouts of a table, with their members.

use super::{Layouts, format};
use crate::bytes;
use crate::error::Error;
use crate::token::{Kind, Token, Tokens};
use crate::value::number;
use core::fmt;

/// One layout of a structure.
#[derive(Clone, Copy)]
pub struct Layout<'a> {
    table: Layouts<'a>,
    index: u16,
    record: format::Layout,
}

/// A member of a layout.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Member<'a> {
    /// Microsoft's name, or this project's if none is known.
    pub name: &'a str,
    /// Offset from the start of the structure, in bytes.
    pub offset: usize,
    /// Size in bytes; for a bit field that of its whole unit.
    pub size: usize,
    /// For a bit field, lowest bit within the unit, and number of bits.
    pub bits: Option<(u32, u32)>,
    /// Type in C.
    pub c: &'a str,
    /// Type of the bytes.
    pub ty: Type<'a>,
}

/// Type of a member's bytes.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Type<'a> {
    /// An unsigned integer.
    Unsigned,
    /// A signed integer.
    Signed,
    /// An address.
    Pointer,
    /// A named value, or a combination of flags.
    Values(Values<'a>),
    /// A nested structure.
    Layout(Layout<'a>),
    /// An array.
    Array(Element<'a>),
}

/// The element of an array.
#[derive(Clone, Copy)]
pub struct Element<'a> {
    /// Size in bytes.
    pub size: usize,
    table: Layouts<'a>,
    ty: u16,
}

/// Named values.
#[derive(Clone, Copy)]
pub struct Values<'a> {
    table: Layouts<'a>,
    record: format::Values,
}

/// The reason why a layout does not have the member of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Missing {
    /// The layout is that of another structure.
    Structure,
    /// The layout lacks the member.
    Member,
    /// The member is not the structure that the token expects.
    Type,
}

impl<'a> Layout<'a> {
    /// Microsoft's name of the structure.
    pub fn name(&self) -> &'a str {
        self.table.text(self.record.name)
    }

    /// Size in bytes, tail padding included.
    pub fn size(&self) -> usize {
        self.record.size as usize
    }

    /// Alignment in bytes.
    pub fn align(&self) -> usize {
        self.record.align.into()
    }

    /// Members in order of declaration, including those of unnamed structures and unions.
    pub fn members(&self) -> impl Iterator<Item = Member<'a>> + Clone + use<'a> {
        let table = self.table;
        self.shapes().filter_map(move |(shape, offset)| Member::new(table, shape, offset))
    }

    /// The member with a name, except members of named members.
    pub fn member(&self, name: &str) -> Option<Member<'a>> {
        let name = self.table.name(name)?;
        let (shape, offset) = self.shapes().find(|(shape, _)| shape.name == name)?;
        Member::new(self.table, shape, offset)
    }

    /// The member of a token, by the names of its structure and of the member.
    ///
    /// # Errors
    ///
    /// The layout is that of another structure, it lacks the member, or the member is not the structure that the token expects.
    pub fn find<S: Tokens, K: Kind>(&self, token: Token<S, K>) -> Result<Member<'a>, Missing> {
        if self.name() != S::MEMBERS.name {
            return Err(Missing::Structure);
        }
        let member = self.member(token.name()).ok_or(Missing::Member)?;
        match (K::STRUCTURE, member.ty) {
            (None, _) => Ok(member),
            (Some(wanted), Type::Layout(layout)) if layout.name() == wanted.name => Ok(member),
            _ => Err(Missing::Type),
        }
    }

    /// Whether another layout of the same table has the same members at the same offsets.
    pub(super) fn has_offsets_of(&self, other: &Self) -> bool {
        let places = |layout: &Self| layout.shapes().map(|(shape, offset)| (shape.name, place(shape, offset)));
        places(self).eq(places(other))
    }

    pub(super) fn at(table: Layouts<'a>, index: u16) -> Option<Self> {
        Some(Self { table, index, record: table.record(index.into())? })
    }

    fn shapes(&self) -> impl Iterator<Item = (format::Shape, u32)> + Clone + use<'a> {
        let table = self.table;
        let own = table.records::<format::Member>(self.record.members, self.record.member_count.into());
        own.filter_map(move |member| Some((table.record::<format::Shape>(member.shape.into())?, member.offset)))
    }
}

impl<'a> Member<'a> {
    /// The value as an unsigned integer, in bytes that begin with the structure: the first 8 bytes, or all if there are fewer; for a bit
    /// field only its bits.
    ///
    /// # Errors
    ///
    /// The bytes end before the member does.
    #[inline]
    pub fn unsigned(&self, structure: &[u8]) -> Result<u64, Error> {
        Ok(number(bytes::slice(structure, self.offset, self.size)?, self.bits))
    }

    /// Offset, size and bits.
    pub(super) const fn place(&self) -> (usize, usize, Option<(u32, u32)>) {
        (self.offset, self.size, self.bits)
    }

    fn new(table: Layouts<'a>, shape: format::Shape, offset: u32) -> Option<Self> {
        let (offset, size, bits) = place(shape, offset);
        let (name, c) = (table.text(shape.name), table.text(shape.c));
        Some(Self { name, offset, size, bits, c, ty: Type::at(table, shape.ty)? })
    }
}

fn place(shape: format::Shape, offset: u32) -> (usize, usize, Option<(u32, u32)>) {
    let bits = (shape.bits > 0).then(|| (shape.bit.into(), shape.bits.into()));
    (offset as usize, shape.size as usize, bits)
}

impl<'a> Type<'a> {
    fn at(table: Layouts<'a>, index: u16) -> Option<Self> {
        let record = table.record::<format::Type>(index.into())?;
        Some(match record.kind {
            0 => Self::Unsigned,
            1 => Self::Signed,
            2 => Self::Pointer,
            3 => Self::Values(Values { table, record: table.record(record.of.into())? }),
            4 => Self::Layout(Layout::at(table, record.of)?),
            5 => Self::Array(Element { size: record.element as usize, table, ty: record.of }),
            _ => return None,
        })
    }
}

impl<'a> Element<'a> {
    /// Its type.
    pub fn ty(&self) -> Type<'a> {
        Type::at(self.table, self.ty).unwrap_or(Type::Unsigned)
    }
}

impl<'a> Values<'a> {
    /// Microsoft's name of the enumeration, or this project's for a set of macros.
    pub fn name(&self) -> &'a str {
        self.table.text(self.record.name)
    }

    /// Whether values are flags that can be combined.
    pub fn flags(&self) -> bool {
        self.record.kind & 1 == 1
    }

    /// Whether the underlying type is signed.
    pub fn signed(&self) -> bool {
        self.record.kind & 2 == 2
    }

    /// Names and values.
    pub fn constants(&self) -> impl Iterator<Item = (&'a str, i64)> + use<'a> {
        let table = self.table;
        let own = table.records::<format::Constant>(self.record.constants, self.record.constant_count.into());
        own.map(move |constant| (table.text(constant.name), constant.value))
    }
}

/// Layouts of one table are equal if they are the same one: a table has each distinct layout once.
impl PartialEq for Layout<'_> {
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self.table.bytes, other.table.bytes) && self.index == other.index
    }
}

impl Eq for Layout<'_> {}

impl fmt::Debug for Layout<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Layout").field("name", &self.name()).field("size", &self.size()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Element<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Element").field("size", &self.size).field("ty", &self.ty()).finish()
    }
}

impl fmt::Debug for Values<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Values").field(&self.name()).finish()
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Structure => "the layout is that of another structure",
            Self::Member => "the layout has no such member",
            Self::Type => "the member has another type in this layout",
        })
    }
}

impl core::error::Error for Missing {}
