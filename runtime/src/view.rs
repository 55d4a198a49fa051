//! Access to a structure in bytes, with the layout of a build that is known only at run time.

use crate::access::ones;
use crate::bytes;
use crate::error::{Error, ErrorKind};
use crate::packed::{Member, Type};
use crate::token::{Any, Kind, LayoutOf, MemberOf, Nested, Token, Tokens};
use crate::value::{self, Value};
use core::fmt;

/// A structure in bytes. It accepts tokens of the structure `S`. Without `S`, members are found by name.
///
/// Bytes can have any alignment. Pointers are returned as addresses, and are not followed.
pub struct View<'a, S = ()> {
    layout: LayoutOf<'a, S>,
    bytes: &'a [u8],
}

/// A mutable structure in bytes.
pub struct ViewMut<'a, S = ()> {
    layout: LayoutOf<'a, S>,
    bytes: &'a mut [u8],
}

impl<'a, S> View<'a, S> {
    /// The structure at the start of `bytes`.
    ///
    /// # Errors
    ///
    /// There are fewer bytes than the size of the structure.
    pub fn new(layout: impl Into<LayoutOf<'a, S>>, bytes: &'a [u8]) -> Result<Self, Error> {
        Self::at(layout, bytes, 0)
    }

    /// The structure at `offset` within `image`.
    ///
    /// # Errors
    ///
    /// There are fewer bytes after the offset than the size of the structure.
    pub fn at(layout: impl Into<LayoutOf<'a, S>>, image: &'a [u8], offset: usize) -> Result<Self, Error> {
        let layout = layout.into();
        Ok(Self { layout, bytes: bytes::slice(image, offset, layout.size)? })
    }

    /// Layout of the structure.
    pub fn layout(&self) -> LayoutOf<'a, S> {
        self.layout
    }

    /// The same structure with the tokens of `T`; `None` if it is a different structure.
    pub fn of<T: Tokens>(self) -> Option<View<'a, T>> {
        Some(View { layout: self.layout.layout().of()?, bytes: self.bytes })
    }

    /// Bytes of the structure.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The value of the member with a name.
    pub fn member(&self, name: &str) -> Option<Value<'a>> {
        Some(self.layout.locate(name)?.value(self.bytes))
    }

    /// The members with their values, in order of declaration.
    pub fn members(&self) -> impl Iterator<Item = (Member<'a>, Value<'a>)> + use<'a, S> {
        let bytes = self.bytes;
        self.layout.located().filter_map(move |found| Some((found.member()?, found.value(bytes))))
    }
}

impl<'a, S: Tokens> View<'a, S> {
    /// The value of a member; `None` if the layout lacks the member. It is searched for by its name: [`read`](Self::read) reads a member
    /// that was found before.
    #[inline]
    pub fn get<K: Kind>(&self, token: Token<S, K>) -> Option<K::Value<'a>> {
        K::of(self.layout.locate(token.name())?.value(self.bytes))
    }

    /// The value of a member that [`LayoutOf::resolved`] found in the layout of this view, without a search; `None` if the view has another
    /// layout, or the member another type.
    #[inline]
    pub fn read<K: Kind>(&self, member: MemberOf<'a, S, K>) -> Option<K::Value<'a>> {
        if member.layout == self.layout.layout() { K::of(member.found.value(self.bytes)) } else { None }
    }

    /// The value of a member as [`Value::unsigned`]; `None` if the layout lacks the member.
    #[inline]
    pub fn unsigned(&self, token: Token<S>) -> Option<u64> {
        self.get(token).map(|value| value.unsigned())
    }

    /// The value of a member as [`Value::signed`]; `None` if the layout lacks the member.
    #[inline]
    pub fn signed(&self, token: Token<S>) -> Option<i64> {
        self.get(token).map(|value| value.signed())
    }
}

impl<T: Tokens> Kind for Nested<T> {
    type Value<'a> = View<'a, T>;
    const STRUCTURE: Option<&'static str> = Some(T::NAME);

    #[inline]
    fn of(value: Value<'_>) -> Option<View<'_, T>> {
        value.view()?.of()
    }
}

impl<'a, S> ViewMut<'a, S> {
    /// The structure at the start of `bytes`.
    ///
    /// # Errors
    ///
    /// There are fewer bytes than the size of the structure.
    pub fn new(layout: impl Into<LayoutOf<'a, S>>, bytes: &'a mut [u8]) -> Result<Self, Error> {
        Self::at(layout, bytes, 0)
    }

    /// The structure at `offset` within `image`.
    ///
    /// # Errors
    ///
    /// There are fewer bytes after the offset than the size of the structure.
    pub fn at(layout: impl Into<LayoutOf<'a, S>>, image: &'a mut [u8], offset: usize) -> Result<Self, Error> {
        let layout = layout.into();
        Ok(Self { layout, bytes: bytes::slice_mut(image, offset, layout.size)? })
    }

    /// A read-only view of the same structure.
    pub fn view(&self) -> View<'_, S> {
        View { layout: self.layout, bytes: self.bytes }
    }
}

impl<'a, S: Tokens> ViewMut<'a, S> {
    /// Replaces the value of a member that is a number, an address or a named value; for a bit field, only its bits.
    ///
    /// # Errors
    ///
    /// The layout lacks the member, the member is not a number, or the value does not fit into it. Then nothing is written.
    pub fn set(&mut self, token: Token<S, Any>, value: impl Into<i128>) -> Result<(), Error> {
        let member = self.find(token)?;
        let failed = |reason| Error { offset: member.offset, size: member.size, reason };
        let unit = member.size as u32 * 8;
        let (position, width) = member.bits.unwrap_or((0, unit));
        let (least, most) = match member.ty {
            Type::Layout(_) | Type::Array(..) => return Err(failed(ErrorKind::NoNumber)),
            _ if unit > 64 || position + width > unit || width == 0 => return Err(failed(ErrorKind::Wide)),
            Type::Unsigned | Type::Pointer => (0, ones(width).into()),
            Type::Signed => (-(1 << (width - 1)), i128::from(ones(width - 1))),
            // Flags are unsigned; named values can be signed.
            Type::Values(_) => (-(1 << (width - 1)), ones(width).into()),
        };
        let value: i128 = value.into();
        if !(least..=most).contains(&value) {
            return Err(failed(ErrorKind::Wide));
        }
        let place = bytes::slice_mut(self.bytes, member.offset, member.size)?;
        let mut all = [0; 8];
        all[..place.len()].copy_from_slice(place);
        let others = u64::from_le_bytes(all) & !(ones(width) << position);
        let all = others | (value as u64 & ones(width)) << position;
        place.copy_from_slice(&all.to_le_bytes()[..member.size]);
        Ok(())
    }

    /// The mutable bytes of a member; for a bit field those of its whole unit.
    ///
    /// # Errors
    ///
    /// The layout lacks the member.
    pub fn bytes<K>(&mut self, token: Token<S, K>) -> Result<&mut [u8], Error> {
        let member = self.find(token)?;
        bytes::slice_mut(self.bytes, member.offset, member.size)
    }

    fn find<K>(&self, token: Token<S, K>) -> Result<Member<'a>, Error> {
        self.layout.find(token).ok_or(Error { offset: 0, size: self.layout.size, reason: ErrorKind::Absent })
    }
}

impl<'a> Value<'a> {
    /// The nested structure, if the value is one.
    pub fn view(&self) -> Option<View<'a>> {
        match self.ty() {
            Type::Layout(layout) => View::new(layout, self.bytes()).ok(),
            _ => None,
        }
    }
}

impl<S> Clone for View<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for View<'_, S> {}

impl<S> fmt::Debug for View<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        value::print(f, self.layout.layout(), self.bytes)
    }
}

impl<S> fmt::Debug for ViewMut<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.view().fmt(f)
    }
}
