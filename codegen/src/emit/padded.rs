//! The members of a structure with the padding between them, for readers that do not align members as the Microsoft compiler
//! does.

use crate::layouts::{Aggregate, Field, Type};
use crate::spec::Kind;
use std::collections::BTreeSet;

/// An item in a structure or union.
pub(super) enum Item<'a> {
    /// A member.
    Field(&'a Field),
    /// A number of padding bytes.
    Bytes(u64),
    /// Bits of padding within a unit.
    Bits {
        /// Bytes of the unit.
        size: u64,
        /// Number of bits.
        width: u64,
    },
}

/// The members in order, with all padding, including that of a bit-field unit and at the end. Bit fields of width 0 are omitted,
/// and the rest of the unit that they end is padded.
pub(super) fn padded(aggregate: &Aggregate) -> Vec<Item<'_>> {
    let mut items = Vec::new();
    let mut end = 0;
    // Offset, size, and first unused bit.
    let mut unit: Option<(u64, u64, u64)> = None;
    let is_struct = aggregate.kind == Kind::Struct;
    for field in &aggregate.fields {
        if field.bits.is_some_and(|bits| bits.width == 0) {
            continue;
        }
        if is_struct {
            let goes_on = |&(offset, _, next): &(u64, u64, u64)| {
                offset == field.offset && field.bits.is_some_and(|bits| bits.position == next)
            };
            if !unit.as_ref().is_some_and(goes_on) {
                fill(unit.take(), &mut items);
            }
            if field.offset > end {
                items.push(Item::Bytes(field.offset - end));
            }
            unit = field.bits.map(|bits| (field.offset, field.size, bits.position + bits.width));
        }
        items.push(Item::Field(field));
        end = end.max(field.offset + field.size);
    }
    fill(unit, &mut items);
    if end < aggregate.extent.size {
        items.push(Item::Bytes(aggregate.extent.size - if is_struct { end } else { 0 }));
    }
    items
}

fn fill(unit: Option<(u64, u64, u64)>, items: &mut Vec<Item>) {
    if let Some((_, size, next)) = unit.filter(|(_, size, next)| *next < size * 8) {
        items.push(Item::Bits { size, width: size * 8 - next });
    }
}

/// Names that no member of a structure has, at any depth.
pub(super) struct FreeNames<'a> {
    pub(super) taken: BTreeSet<&'a str>,
    count: usize,
}

impl<'a> FreeNames<'a> {
    pub(super) fn of(aggregate: &'a Aggregate) -> Self {
        let mut taken = BTreeSet::new();
        names(aggregate, &mut taken);
        Self { taken, count: 0 }
    }

    /// A new name that begins with a word.
    pub(super) fn next(&mut self, word: &str) -> String {
        loop {
            self.count += 1;
            let name = format!("{word}{}", self.count);
            if !self.taken.contains(name.as_str()) {
                return name;
            }
        }
    }
}

fn names<'a>(aggregate: &'a Aggregate, taken: &mut BTreeSet<&'a str>) {
    for field in &aggregate.fields {
        taken.extend(field.name.as_deref());
        if let Type::Inline(inner) = &field.ty {
            names(inner, taken);
        }
    }
}
