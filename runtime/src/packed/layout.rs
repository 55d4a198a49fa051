//! Layouts of a table, with their members.

use super::{Layouts, format, nth};
use crate::bytes;
use crate::error::Error;
use crate::token::{Kind, Token, Tokens};
use crate::value::{Choice, Value, number};
use core::fmt;

/// One layout of a structure.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Layout<'a> {
    /// Microsoft's name of the structure.
    pub name: &'a str,
    /// Size in bytes, tail padding included.
    pub size: usize,
    /// Alignment in bytes.
    pub align: usize,
    table: Layouts<'a>,
    index: u16,
    /// Index of the first member, and number of members.
    members: (u32, u16),
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
    pub(crate) table: Layouts<'a>,
    pub(crate) ty: u16,
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
    pub fn resolve<S: Tokens, K: Kind>(&self, token: Token<S, K>) -> Result<Member<'a>, Missing> {
        if self.name != S::NAME {
            return Err(Missing::Structure);
        }
        let member = self.member(token.name()).ok_or(Missing::Member)?;
        match (K::STRUCTURE, member.ty) {
            (None, _) => Ok(member),
            (Some(wanted), Type::Layout(layout)) if layout.name == wanted => Ok(member),
            _ => Err(Missing::Type),
        }
    }

    /// Whether another layout of the same table has the same members at the same offsets.
    pub(super) fn has_offsets_of(&self, other: &Self) -> bool {
        let places = |layout: &Self| layout.shapes().map(|(shape, offset)| (shape.name, place(shape, offset)));
        places(self).eq(places(other))
    }

    /// The value of the member with a name, in bytes that begin with the structure. Bytes beyond the end are treated as missing; views
    /// ensure that there are enough.
    pub(crate) fn value(&self, name: &str, bytes: &'a [u8]) -> Option<Value<'a>> {
        let name = self.table.name(name)?;
        self.shapes().find(|(shape, _)| shape.name == name).map(|(shape, offset)| self.value_of(shape, offset, bytes))
    }

    /// The members with their values, in bytes that begin with the structure.
    pub(crate) fn values<'b>(&self, bytes: &'b [u8]) -> impl Iterator<Item = (Member<'b>, Value<'b>)> + use<'a, 'b>
    where
        'a: 'b,
    {
        let this: Layout<'b> = *self;
        this.shapes().filter_map(move |(shape, offset)| {
            Some((Member::new(this.table, shape, offset)?, this.value_of(shape, offset, bytes)))
        })
    }

    fn value_of(&self, shape: format::Shape, offset: u32, bytes: &'a [u8]) -> Value<'a> {
        let (offset, size, bits) = place(shape, offset);
        let bytes = bytes.get(offset..).and_then(|rest| rest.get(..size)).unwrap_or(&[]);
        Value { table: self.table, ty: shape.ty, bits, bytes }
    }

    /// The table, and the index of the layout in it.
    pub(crate) const fn place(&self) -> (Layouts<'a>, u16) {
        (self.table, self.index)
    }

    pub(crate) fn at(table: Layouts<'a>, index: u16) -> Option<Self> {
        let record: format::Layout = table.record(index.into())?;
        let members = (record.members, record.member_count);
        let (size, align) = (record.size as usize, record.align.into());
        Some(Self { name: table.text(record.name), size, align, table, index, members })
    }

    fn shapes(&self) -> impl Iterator<Item = (format::Shape, u32)> + Clone + use<'a> {
        let (first, count) = self.members;
        let own = self.table.records::<format::Member>(first, count.into());
        let shapes = self.table.section_bytes::<format::Shape>();
        own.filter_map(move |member| Some((nth::<format::Shape>(shapes, member.shape.into())?, member.offset)))
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

    /// The value as a number with its names, in bytes that begin with the structure.
    ///
    /// # Errors
    ///
    /// The bytes end before the member does.
    pub fn choice(&self, structure: &[u8]) -> Result<Choice<'a>, Error> {
        Ok(Choice::of(bytes::slice(structure, self.offset, self.size)?, self.bits, self.ty.values()))
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
    /// The named values or flags, if it has any.
    pub fn values(&self) -> Option<Values<'a>> {
        if let Self::Values(values) = self { Some(*values) } else { None }
    }

    pub(crate) fn at(table: Layouts<'a>, index: u16) -> Option<Self> {
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
        f.debug_struct("Layout").field("name", &self.name).field("size", &self.size).finish_non_exhaustive()
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
