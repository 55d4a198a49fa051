//! Descriptions of members and constants that only have a new name.

use etw_layouts_codegen::axis::TargetId;
use etw_layouts_codegen::spec::{Constant, Member, Shape};

/// Copies the descriptions of replaced members to new ones and says so, if they correspond one to one and have the same types: `old` are those
/// of one target, `new` those of another target in the same place, both in the order of the declaration.
pub fn members(old: &[&Member], at: TargetId, new: &mut [Member], target: TargetId) {
    if old.len() != new.len() || !old.iter().zip(&*new).all(|(old, new)| is_same(old, at, new, target)) {
        return;
    }
    for (old, new) in old.iter().zip(new).filter(|(old, new)| new.doc.is_empty() && !old.doc.is_empty()) {
        if let Some(name) = old.name.as_ref().filter(|name| !is_free(&name.value)) {
            new.doc = format!("{} Inferred from {}, in whose place it is.", old.doc, name.value);
            (new.values, new.leads_to) = (old.values.clone(), old.leads_to.clone());
        }
    }
}

/// Copies the description of the only constant with a value, among those that are gone, to a new one with this value.
pub fn constant(gone: &[(i64, Constant)], value: i64, new: &mut Constant) {
    let mut same = gone.iter().filter(|(other, old)| *other == value && !old.doc.is_empty());
    if let (Some((_, old)), None) = (same.next(), same.next()) {
        new.doc = format!("{} Inferred from {}, whose value it has.", old.doc, old.name.value);
    }
}

fn is_same(old: &Member, at: TargetId, new: &Member, target: TargetId) -> bool {
    let (Shape::Type(before), Shape::Type(after)) = (&old.shape, &new.shape) else { return false };
    let of = |bits: &Member, target| bits.bits.get(target).map(|piece| piece.value);
    before.get(at).map(|piece| &piece.value) == after.get(target).map(|piece| &piece.value) && of(old, at) == of(new, target)
}

/// Whether a name is that of unused space, whose description does not apply to a new use.
fn is_free(name: &str) -> bool {
    ["Spare", "Reserved", "Unused", "Padding"].iter().any(|word| name.contains(word))
}
