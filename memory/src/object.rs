//! A structure in memory, of which a part may be missing.

use crate::address::Address;
use alloc::vec::Vec;
use core::ops::Range;
use etw_layouts::members::LARGE_INTEGER;
use etw_layouts::runtime::meta::{Layout, Member, Type};
use etw_layouts::runtime::token::{Kind, Nested};
use etw_layouts::runtime::{Token, Value, View};

/// A structure at an address, by the layout of its kernel: those of its members that could be read.
#[derive(Clone, Debug)]
pub struct Object {
    address: Address,
    layout: &'static Layout,
    /// As many as the layout has; zeroes where there was nothing to read.
    bytes: Vec<u8>,
    /// What of them could not be read, in order.
    holes: Vec<Range<usize>>,
}

impl Object {
    pub(crate) fn new(address: Address, layout: &'static Layout, bytes: Vec<u8>, holes: Vec<Range<usize>>) -> Self {
        debug_assert_eq!(bytes.len(), layout.size);
        Self { address, layout, bytes, holes }
    }

    /// Where it is.
    pub fn address(&self) -> Address {
        self.address
    }

    /// Its layout.
    pub fn layout(&self) -> &'static Layout {
        self.layout
    }

    /// The value of a member; `None` if the layout has no such member, or if not all of its bytes could be read.
    pub fn get<K: Kind>(&self, token: Token<K>) -> Option<K::Value<'_>> {
        let member = self.layout.find(token)?;
        if self.has(member) { self.view()?.get(token) } else { None }
    }

    /// The value of the member of that name, as [`get`](Self::get).
    pub fn member(&self, name: &str) -> Option<Value<'_>> {
        let member = self.layout.member(name)?;
        if self.has(member) { self.view()?.member(name) } else { None }
    }

    /// A structure in it, with those of its members that could be read.
    pub fn inner(&self, token: Token<Nested>) -> Option<Self> {
        let member = self.layout.find(token)?;
        let Type::Layout(layout) = member.ty else { return None };
        let place = member.offset..member.offset.checked_add(layout.size)?;
        let bytes = self.bytes.get(place.clone())?.to_vec();
        let holes = self.holes.iter().map(|hole| hole.start.max(place.start)..hole.end.min(place.end));
        let holes = holes.filter(|hole| !hole.is_empty()).map(|hole| hole.start - place.start..hole.end - place.start);
        Some(Self::new(self.address.plus(member.offset as u64)?, layout, bytes, holes.collect()))
    }

    /// The address of a member; `None` if the layout does not have it.
    pub fn place<K>(&self, token: Token<K>) -> Option<Address> {
        self.address.plus(self.layout.find(token)?.offset as u64)
    }

    /// The value of a LARGE_INTEGER.
    pub fn quad(&self, token: Token<Nested>) -> Option<i64> {
        self.get(token)?.get(LARGE_INTEGER::QUAD_PART)
    }

    /// Whether all of it could be read.
    pub fn is_whole(&self) -> bool {
        self.holes.is_empty()
    }

    /// The members that could not be read.
    pub fn missing(&self) -> impl Iterator<Item = &'static Member> + '_ {
        self.layout.members.iter().filter(|member| !self.has(member))
    }

    /// Every member that could be read, with its value.
    pub fn members(&self) -> impl Iterator<Item = (&'static Member, Value<'_>)> {
        let values = self.view().into_iter().flat_map(|view| view.members());
        values.filter(|(member, _)| self.has(member))
    }

    /// Names of the flags of a member that are set: of its named values, or where it has none, of the bit fields in its place. The member
    /// itself may be absent from these.
    pub fn set_bits<K>(&self, unit: Token<K>) -> Vec<&'static str> {
        let Some(unit) = self.layout.find(unit) else { return Vec::new() };
        if let Type::Values(values) = unit.ty {
            let set = self.member(unit.name).map_or(0, |value| value.signed());
            return values.constants.iter().filter(|(_, flag)| set & flag == *flag).map(|(name, _)| *name).collect();
        }
        let alike = self.members().filter(|(member, _)| member.bits.is_some() && member.offset == unit.offset);
        alike.filter(|(_, value)| value.unsigned() != 0).map(|(member, _)| member.name).collect()
    }

    fn view(&self) -> Option<View<'_>> {
        View::new(self.layout, &self.bytes).ok()
    }

    fn has(&self, member: &Member) -> bool {
        let (start, end) = (member.offset, member.offset.saturating_add(member.size));
        !self.holes.iter().any(|hole| hole.start < end && start < hole.end)
    }
}
