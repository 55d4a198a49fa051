//! A structure in bytes, by the layout of a build that is known only at run time.

use crate::access::ones;
use crate::bytes;
use crate::error::{Error, Reason};
use crate::meta::{Layout, Member, Members, Type};
use crate::token::{Integer, Kind, Nested, Token};
use crate::value::Value;
use core::fmt;

/// A structure in bytes.
///
/// Bytes may be at any address. Pointers in them stay addresses: what they point to is for the caller to find.
#[derive(Clone, Copy)]
pub struct View<'a> {
    layout: &'static Layout,
    bytes: &'a [u8],
}

/// A structure in bytes, to change.
pub struct ViewMut<'a> {
    layout: &'static Layout,
    bytes: &'a mut [u8],
}

impl<'a> View<'a> {
    /// No structure, of no bytes.
    const EMPTY: View<'static> =
        View { layout: &Layout { name: "", size: 0, align: 1, members: &[], of: Members::NONE, places: &[] }, bytes: &[] };

    /// The structure at the front of `bytes`.
    ///
    /// # Errors
    ///
    /// There are fewer bytes than it has.
    pub fn new(layout: &'static Layout, bytes: &'a [u8]) -> Result<Self, Error> {
        Self::at(layout, bytes, 0)
    }

    /// The structure at `offset` of an image.
    ///
    /// # Errors
    ///
    /// There are fewer bytes from there on than it has.
    pub fn at(layout: &'static Layout, image: &'a [u8], offset: usize) -> Result<Self, Error> {
        Ok(Self { layout, bytes: bytes::slice(image, offset, layout.size)? })
    }

    /// The layout.
    pub fn layout(&self) -> &'static Layout {
        self.layout
    }

    /// The structure's own bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The value of a member; `None` if the layout has no such member, or if the token is one of another structure.
    #[inline]
    pub fn get<K: Kind>(&self, token: Token<K>) -> Option<K::Value<'a>> {
        self.layout.find(token).map(|member| K::value(Value::of(member, self.bytes)))
    }

    /// The value of the member of that name.
    pub fn member(&self, name: &str) -> Option<Value<'a>> {
        self.layout.member(name).map(|member| Value::of(member, self.bytes))
    }

    /// Every member with its value, in the order of the declaration.
    pub fn members(&self) -> impl ExactSizeIterator<Item = (&'static Member, Value<'a>)> + use<'a> {
        self.layout.values(self.bytes)
    }
}

impl<'a> ViewMut<'a> {
    /// The structure at the front of `bytes`.
    ///
    /// # Errors
    ///
    /// There are fewer bytes than it has.
    pub fn new(layout: &'static Layout, bytes: &'a mut [u8]) -> Result<Self, Error> {
        Self::at(layout, bytes, 0)
    }

    /// The structure at `offset` of an image.
    ///
    /// # Errors
    ///
    /// There are fewer bytes from there on than it has.
    pub fn at(layout: &'static Layout, image: &'a mut [u8], offset: usize) -> Result<Self, Error> {
        Ok(Self { layout, bytes: bytes::slice_mut(image, offset, layout.size)? })
    }

    /// The same structure, to read.
    pub fn view(&self) -> View<'_> {
        View { layout: self.layout, bytes: self.bytes }
    }

    /// Replaces the value of a member; for a bit field, its bits alone.
    ///
    /// # Errors
    ///
    /// The layout has no such member, or the value does not fit into it. Then nothing is written.
    pub fn set<K: Integer>(&mut self, token: Token<K>, value: K::Number) -> Result<(), Error> {
        let absent = Error { offset: 0, size: self.layout.size, reason: Reason::Absent };
        let member = self.layout.find(token).ok_or(absent)?;
        let failed = |reason| Error { offset: member.offset, size: member.size, reason };
        let unit = member.size as u32 * 8;
        let (position, width) = member.bits.unwrap_or((0, unit));
        if unit > 64 || position + width > unit || !K::fits(value, width) {
            return Err(failed(Reason::Wide));
        }
        let place = bytes::slice_mut(self.bytes, member.offset, member.size)?;
        let mut all = [0; 8];
        all[..place.len()].copy_from_slice(place);
        let others = u64::from_le_bytes(all) & !(ones(width) << position);
        let all = others | (K::bits(value) & ones(width)) << position;
        place.copy_from_slice(&all.to_le_bytes()[..member.size]);
        Ok(())
    }

    /// The bytes of a member, to change; those of the whole unit for a bit field.
    ///
    /// # Errors
    ///
    /// The layout has no such member.
    pub fn bytes<K: Kind>(&mut self, token: Token<K>) -> Result<&mut [u8], Error> {
        let absent = Error { offset: 0, size: self.layout.size, reason: Reason::Absent };
        let member = self.layout.find(token).ok_or(absent)?;
        bytes::slice_mut(self.bytes, member.offset, member.size)
    }
}

impl<'a> Value<'a> {
    /// The structure that it is.
    pub fn view(&self) -> Option<View<'a>> {
        match self.ty() {
            Type::Layout(layout) => View::new(layout, self.bytes()).ok(),
            _ => None,
        }
    }
}

impl Kind for Nested {
    type Value<'a> = View<'a>;

    #[inline]
    fn value(value: Value<'_>) -> View<'_> {
        value.view().unwrap_or(View::EMPTY)
    }
}

impl fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.layout.print(f, self.bytes)
    }
}

impl fmt::Debug for ViewMut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.view().fmt(f)
    }
}
