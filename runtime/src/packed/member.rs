//! Members of layouts, and the search for them.

use super::layout::{Element, Layout, Type};
use super::{Layouts, format};
use crate::bytes;
use crate::error::Error;
use crate::token::{Kind, Token, Tokens};
use crate::value::{Choice, Value, number};
use core::fmt;
use core::ops::Range;

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

/// Where a layout has a member, or an array an element.
#[derive(Clone, Copy)]
pub(crate) struct Located<'a> {
    pub(super) table: Layouts<'a>,
    /// Bytes from the start of the structure.
    pub(crate) offset: u32,
    pub(crate) shape: format::Shape,
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
        self.located().filter_map(|found| found.member())
    }

    /// The member with a name, except members of named members.
    pub fn member(&self, name: &str) -> Option<Member<'a>> {
        self.locate(name)?.member()
    }

    /// Where it has the member with a name, except members of named members.
    pub(crate) fn locate(&self, name: &str) -> Option<Located<'a>> {
        self.named(self.table.name(name)?, &mut 0)
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
        let places = |layout: &Self| layout.located().map(|found| (found.shape.name, found.place()));
        places(self).eq(places(other))
    }

    /// The member with a path, `A` or `A.B`. The search begins at the member with an index, which is then the one after the member found:
    /// members that are declared in order are found at once.
    pub(crate) const fn find(&self, path: &str, from: &mut usize) -> Option<Located<'a>> {
        let (mut first, mut rest) = split(path);
        let Some(name) = self.table.name(first) else { return None };
        let Some(mut found) = self.named(name, from) else { return None };
        let mut layout = *self;
        while let Some(path) = rest {
            (first, rest) = split(path);
            let Some(name) = self.table.name(first) else { return None };
            let base = found;
            let nested = base.layout();
            if let Some(nested) = nested {
                layout = nested;
            }
            let Some(inner) = layout.named(name, &mut 0) else { return None };
            found = inner;
            if nested.is_some() {
                let Some(offset) = base.offset.checked_add(inner.offset) else { return None };
                found.offset = offset;
            } else {
                // Bit fields of an unnamed union belong to the structure, as its whole value does.
                let end = base.offset as u64 + base.shape.size as u64;
                let is_within = inner.offset >= base.offset && inner.offset as u64 + inner.shape.size as u64 <= end;
                if inner.shape.bits == 0 || base.shape.bits > 0 || !is_within {
                    return None;
                }
            }
        }
        Some(found)
    }

    /// The member with the index of a name.
    const fn named(&self, name: u16, from: &mut usize) -> Option<Located<'a>> {
        let (sections, count) = (Sections::of(self.table), self.members.1 as usize);
        let (mut at, mut passed) = (*from, 0);
        while passed < count {
            if at >= count {
                at = 0;
            }
            let Some(found) = sections.nth(self, at) else { return None };
            at += 1;
            passed += 1;
            if found.shape.name == name {
                *from = at;
                return Some(found);
            }
        }
        None
    }

    /// The member with an index.
    pub(super) const fn nth(&self, index: usize) -> Option<Located<'a>> {
        if index < self.members.1 as usize { Sections::of(self.table).nth(self, index) } else { None }
    }

    /// The members in order of declaration.
    pub(crate) fn located(&self) -> impl Iterator<Item = Located<'a>> + Clone + use<'a> {
        let (this, sections) = (*self, Sections::of(self.table));
        (0..self.members.1.into()).filter_map(move |index| sections.nth(&this, index))
    }
}

/// The bytes of the sections of members, found once for a search. Constants search, too, so there are no iterators.
#[derive(Clone, Copy)]
struct Sections<'a> {
    members: &'a [u8],
    shapes: &'a [u8],
}

impl<'a> Sections<'a> {
    const fn of(table: Layouts<'a>) -> Self {
        Self { members: table.section_bytes::<format::Member>(), shapes: table.section_bytes::<format::Shape>() }
    }

    #[inline]
    const fn nth(&self, layout: &Layout<'a>, index: usize) -> Option<Located<'a>> {
        let member = format::Member::nth(self.members, (layout.members.0 as usize).saturating_add(index));
        let Some(format::Member { shape, offset }) = member else { return None };
        match format::Shape::nth(self.shapes, shape as usize) {
            Some(shape) => Some(Located { table: layout.table, offset, shape }),
            None => None,
        }
    }
}

impl<'a> Located<'a> {
    /// Its name.
    pub(crate) const fn name(&self) -> &'a str {
        self.table.text(self.shape.name)
    }

    /// Its type in C.
    pub(crate) const fn c(&self) -> &'a str {
        self.table.text(self.shape.c)
    }

    /// The type of its bytes.
    pub(crate) const fn ty(&self) -> Option<Type<'a>> {
        Type::at(self.table, self.shape.ty)
    }

    /// The layout, if it is a nested structure.
    pub(crate) const fn layout(&self) -> Option<Layout<'a>> {
        if let Some(Type::Layout(layout)) = self.ty() { Some(layout) } else { None }
    }

    /// The element of an array, at offset 0, and their number.
    pub(crate) const fn element(&self) -> Option<(Self, usize)> {
        let Some(Type::Array(Element { size: size @ 1.., ty, .. })) = self.ty() else { return None };
        let shape = format::Shape { ty, size: size as u32, ..self.shape };
        Some((Self { table: self.table, offset: 0, shape }, self.shape.size as usize / size))
    }

    /// The value, in bytes that begin with the structure. Bytes beyond the end are treated as missing; views ensure that there are enough.
    pub(crate) fn value<'b>(&self, bytes: &'b [u8]) -> Value<'b>
    where
        'a: 'b,
    {
        let (.., bits) = self.place();
        Value { table: self.table, ty: self.shape.ty, bits, bytes: bytes.get(self.range()).unwrap_or(&[]) }
    }

    pub(crate) fn member(&self) -> Option<Member<'a>> {
        let (offset, size, bits) = self.place();
        Some(Member { name: self.name(), offset, size, bits, c: self.c(), ty: self.ty()? })
    }

    pub(crate) fn range(&self) -> Range<usize> {
        let start = self.offset as usize;
        start..start.saturating_add(self.shape.size as usize)
    }

    /// Offset, size and bits.
    pub(super) fn place(&self) -> (usize, usize, Option<(u32, u32)>) {
        let format::Shape { bit, bits, size, .. } = self.shape;
        (self.offset as usize, size as usize, (bits > 0).then(|| (bit.into(), bits.into())))
    }
}

impl<'a> Member<'a> {
    /// Its bytes, from the start of the structure; those of the whole unit for a bit field.
    pub const fn range(&self) -> Range<usize> {
        self.offset..self.offset.saturating_add(self.size)
    }

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
}

/// The part of a path before its first point, and the part after it.
const fn split(path: &str) -> (&str, Option<&str>) {
    let bytes = path.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        if bytes[i] == b'.' {
            let (first, rest) = path.split_at(i);
            return (first, Some(rest.split_at(1).1));
        }
        i += 1;
    }
    (path, None)
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
