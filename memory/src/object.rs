//! A structure in memory. Parts of it can be missing.

use crate::address::Address;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;
use etw_layouts::members::LARGE_INTEGER;
use etw_layouts::runtime::packed::{Member, Type};
use etw_layouts::runtime::token::{Kind, Nested, Tokens};
use etw_layouts::runtime::{Choice, LayoutOf, Token, Value, View};

/// A structure at an address, in the layout of its kernel, with the members that could be read. It accepts
/// tokens of the structure `S`.
pub struct Object<S = ()> {
    address: Address,
    layout: LayoutOf<'static, S>,
    /// Bytes of the structure; zeros where memory could not be read.
    bytes: Vec<u8>,
    /// Ranges of bytes that could not be read, in order.
    holes: Vec<Range<usize>>,
}

impl<S> Object<S> {
    pub(crate) fn new(address: Address, layout: LayoutOf<'static, S>, bytes: Vec<u8>, holes: Vec<Range<usize>>) -> Self {
        debug_assert_eq!(bytes.len(), layout.size);
        Self { address, layout, bytes, holes }
    }

    /// Address of the structure.
    pub fn address(&self) -> Address {
        self.address
    }

    /// Layout of the structure.
    pub fn layout(&self) -> LayoutOf<'static, S> {
        self.layout
    }

    /// The value of the member with a name, as from [`get`](Self::get).
    pub fn member(&self, name: &str) -> Option<Value<'_>> {
        let member = self.layout.member(name)?;
        if self.has(member.range()) { self.view()?.member(name) } else { None }
    }

    /// Whether the whole structure could be read.
    pub fn is_whole(&self) -> bool {
        self.holes.is_empty()
    }

    /// The members that could not be read.
    pub fn missing(&self) -> impl Iterator<Item = Member<'static>> + '_ {
        self.layout.members().filter(|member| !self.has(member.range()))
    }

    /// The members that could be read, with their values.
    pub fn members(&self) -> impl Iterator<Item = (Member<'_>, Value<'_>)> {
        let values = self.view().into_iter().flat_map(|view| view.members());
        values.filter(|(member, _)| self.has(member.range()))
    }

    /// The same structure with the tokens of `T`; `None` if it is a different structure.
    pub fn of<T: Tokens>(self) -> Option<Object<T>> {
        let Self { address, layout, bytes, holes } = self;
        Some(Object { address, layout: layout.layout().of()?, bytes, holes })
    }

    fn view(&self) -> Option<View<'_, S>> {
        View::new(self.layout, &self.bytes).ok()
    }

    fn has(&self, bytes: Range<usize>) -> bool {
        !self.holes.iter().any(|hole| hole.start < bytes.end && bytes.start < hole.end)
    }
}

impl<S: Tokens> Object<S> {
    /// The value of a member; `None` if the layout lacks the member, or any of its bytes could not be read.
    pub fn get<K: Kind>(&self, token: Token<S, K>) -> Option<K::Value<'_>> {
        let member = self.layout.resolved(token)?;
        if self.has(member.range()) { self.view()?.read(member) } else { None }
    }

    /// The value of a member as [`Value::unsigned`], under the same conditions.
    pub fn unsigned(&self, token: Token<S>) -> Option<u64> {
        self.get(token).map(|value| value.unsigned())
    }

    /// The value of a member as [`Value::signed`], under the same conditions.
    pub fn signed(&self, token: Token<S>) -> Option<i64> {
        self.get(token).map(|value| value.signed())
    }

    /// A nested structure, with the members that could be read.
    pub fn inner<T: Tokens>(&self, token: Token<S, Nested<T>>) -> Option<Object<T>> {
        self.part(token)?.of()
    }

    /// A nested structure of any type.
    pub(crate) fn part<K>(&self, token: Token<S, K>) -> Option<Object> {
        let member = self.layout.find(token)?;
        let Type::Layout(layout) = member.ty else { return None };
        let place = member.offset..member.offset.checked_add(layout.size)?;
        let bytes = self.bytes.get(place.clone())?.to_vec();
        let holes = self.holes.iter().map(|hole| hole.start.max(place.start)..hole.end.min(place.end));
        let holes = holes.filter(|hole| !hole.is_empty()).map(|hole| hole.start - place.start..hole.end - place.start);
        Some(Object::new(self.address.plus(member.offset as u64)?, layout.into(), bytes, holes.collect()))
    }

    /// The number of a member with its names, under the same conditions.
    pub fn choice(&self, token: Token<S>) -> Option<Choice<'static>> {
        self.layout.find(token).filter(|member| self.has(member.range()))?.choice(&self.bytes).ok()
    }

    /// The address of a member; `None` if the layout lacks it.
    pub fn place<K>(&self, token: Token<S, K>) -> Option<Address> {
        self.address.plus(self.layout.find(token)?.offset as u64)
    }

    /// The value of a LARGE_INTEGER member.
    pub fn quad(&self, token: Token<S, Nested<LARGE_INTEGER::Type>>) -> Option<i64> {
        self.get(token)?.signed(LARGE_INTEGER::QUAD_PART)
    }

    /// Names of the set flags of a member: from its named values, otherwise from the bit fields at its offset. Empty if the layout
    /// lacks the member.
    pub fn set_bits<K>(&self, unit: Token<S, K>) -> Vec<&'static str> {
        let Some(unit) = self.layout.find(unit) else { return Vec::new() };
        if let Type::Values(values) = unit.ty {
            let set = self.member(unit.name).map_or(0, |value| value.signed());
            return values.constants().filter(|(_, flag)| set & flag == *flag).map(|(name, _)| name).collect();
        }
        let fields = self.layout.members().filter(|member| member.bits.is_some() && member.offset == unit.offset);
        let is_set = |member: &Member| self.has(member.range()) && member.unsigned(&self.bytes).is_ok_and(|bits| bits != 0);
        fields.filter(is_set).map(|member| member.name).collect()
    }
}

impl<S> Clone for Object<S> {
    fn clone(&self) -> Self {
        let (bytes, holes) = (self.bytes.clone(), self.holes.clone());
        Self { address: self.address, layout: self.layout, bytes, holes }
    }
}

impl<S> fmt::Debug for Object<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, layout, bytes, holes } = self;
        f.debug_struct("Object")
            .field("address", address)
            .field("layout", layout)
            .field("bytes", bytes)
            .field("holes", holes)
            .finish()
    }
}
