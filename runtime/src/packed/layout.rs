//! Layouts of a table, and types of members.

use super::{Layouts, format};
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
    pub(super) table: Layouts<'a>,
    index: u16,
    /// Index of the first member, and number of members.
    pub(super) members: (u32, u16),
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

impl<'a> Layout<'a> {
    pub(crate) const fn at(table: Layouts<'a>, index: u16) -> Option<Self> {
        let Some(record) = format::Layout::nth(table.section_bytes::<format::Layout>(), index as usize) else { return None };
        let format::Layout { name, align, size, member_count, members, .. } = record;
        let (name, members) = (table.text(name), (members, member_count));
        Some(Self { name, size: size as usize, align: align as usize, table, index, members })
    }
}

impl<'a> Type<'a> {
    /// The named values or flags, if it has any.
    pub const fn values(&self) -> Option<Values<'a>> {
        if let Self::Values(values) = self { Some(*values) } else { None }
    }

    pub(crate) const fn at(table: Layouts<'a>, index: u16) -> Option<Self> {
        let Some(record) = format::Type::nth(table.section_bytes::<format::Type>(), index as usize) else { return None };
        Some(match record.kind {
            0 => Self::Unsigned,
            1 => Self::Signed,
            2 => Self::Pointer,
            3 => match format::Values::nth(table.section_bytes::<format::Values>(), record.of as usize) {
                Some(record) => Self::Values(Values { table, record }),
                None => return None,
            },
            4 => match Layout::at(table, record.of) {
                Some(layout) => Self::Layout(layout),
                None => return None,
            },
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
    pub const fn name(&self) -> &'a str {
        self.table.text(self.record.name)
    }

    /// Whether values are flags that can be combined.
    pub const fn flags(&self) -> bool {
        self.record.kind & 1 == 1
    }

    /// Whether the underlying type is signed.
    pub const fn signed(&self) -> bool {
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
