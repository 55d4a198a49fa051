//! Alignments and packing that explain where members are.

use super::align::remark;
use super::place::Place;
use super::types::{Fact, declared};
use super::write;
use etw_layouts_codegen::layouts::{Aggregate, Type};
use etw_layouts_codegen::spec::{Body, Kind, Member, Shape, Spec};
use etw_layouts_codegen::{laid_out, spec};
use etw_layouts_symbols::{TypeFacts, Types};
use std::collections::{BTreeMap, BTreeSet};

/// How often the layouts are computed anew: as often as a structure has gaps that no rule explains, and structures are embedded in each other.
const ROUNDS: usize = 64;

/// Aligns what was entered, or packs it, where its members are not where their types put them. What an explicit alignment cannot
/// say is left as it is, and does not pass the check of the whole.
pub fn explain(spec: &mut Spec, place: &Place, types: &Types, entered: &BTreeSet<String>) {
    let mut open = entered.clone();
    for _ in 0..ROUNDS {
        let layouts = laid_out(spec, place.target);
        let mut changed = BTreeSet::new();
        for name in &open {
            let (Some(TypeFacts::Aggregate(facts)), Some(layout)) = (types.get(name), layouts.get(name)) else { continue };
            let Some(definition) = spec.definitions.get_mut(name) else { continue };
            let is_new = definition.name.span == Default::default();
            let Body::Aggregate(aggregate) = &mut definition.body else { continue };
            let offsets = declared(facts);
            let gap = first_gap(place, &mut aggregate.members, layout, &offsets, 0);
            match gap {
                Gap::Aligned => _ = changed.insert(name.clone()),
                Gap::None if layout.extent.size < facts.size => {
                    if let Some(align) = raising(end(layout), facts.size).filter(|align| *align > layout.extent.align) {
                        place.set(&mut aggregate.align, align);
                        write::remark(&mut definition.comments, &format!("an alignment of {align} bytes is inferred from the size"));
                        changed.insert(name.clone());
                    }
                }
                Gap::None if layout.extent.size == facts.size => {}
                Gap::None | Gap::Packed => {
                    let pack = match aggregate.pack.get(place.target).map(|piece| piece.value) {
                        None => 4,
                        Some(pack) => pack / 2,
                    };
                    if is_new && pack > 0 {
                        place.set(&mut aggregate.pack, pack);
                        write::remark(&mut definition.comments, "the packing is inferred from members below their natural alignment");
                        changed.insert(name.clone());
                    }
                }
            }
        }
        // What embeds what has changed is elsewhere now.
        if changed.is_empty() {
            return;
        }
        open = entered.clone();
    }
}

/// What is the matter with the first member that is not where symbols have it.
enum Gap {
    /// All are.
    None,
    /// It was aligned.
    Aligned,
    /// It lies below its natural alignment.
    Packed,
}

/// Looks at the members of a layout, which are those of the spec that the target has, in order.
fn first_gap(place: &Place, members: &mut [Member], layout: &Aggregate, facts: &BTreeMap<Vec<&str>, u64>, base: u64) -> Gap {
    let active = members.iter_mut().filter(|member| member.scope.contains(place.target));
    let mut path = Vec::new();
    gap_in(place, active, layout, facts, base, &mut path)
}

fn gap_in<'m, 'f>(
    place: &Place,
    members: impl Iterator<Item = &'m mut Member>,
    layout: &'f Aggregate,
    facts: &BTreeMap<Vec<&str>, u64>,
    base: u64,
    path: &mut Vec<&'f str>,
) -> Gap {
    let _ = (Kind::Struct, &spec::Kind::Struct);
    for (member, field) in members.zip(&layout.fields) {
        let at = base + field.offset;
        let start = match (&field.name, &field.ty) {
            (None, Type::Inline(inner)) => first_of(inner, facts, path),
            (Some(name), _) => {
                path.push(name);
                let found = facts.get(path).copied();
                path.pop();
                found.map(|found| if path.is_empty() { found } else { found })
            }
            (None, _) => None,
        };
        if let Some(start) = start.filter(|start| *start != at && field.bits.is_none_or(|bits| bits.position == 0)) {
            let Some(align) = raising(at - base, start.wrapping_sub(base)).filter(|_| start > at && field.bits.is_none()) else {
                return Gap::Packed;
            };
            place.set(&mut member.align, align);
            remark(member, &format!("an alignment of {align} bytes is inferred from the gap before it"));
            return Gap::Aligned;
        }
        if let (Shape::Inline(_, members), Type::Inline(inner)) = (&mut member.shape, &field.ty) {
            let active = members.iter_mut().filter(|member| member.scope.contains(place.target));
            let gap = match &field.name {
                None => gap_in(place, active, inner, facts, at, path),
                Some(name) => {
                    path.push(name);
                    let gap = gap_in(place, active, inner, facts, 0, path);
                    path.pop();
                    gap
                }
            };
            if !matches!(gap, Gap::None) {
                return gap;
            }
        }
    }
    Gap::None
}

/// Where an unnamed group begins: at the first of its members.
fn first_of<'f>(group: &'f Aggregate, facts: &BTreeMap<Vec<&str>, u64>, path: &mut Vec<&'f str>) -> Option<u64> {
    let starts = group.flat().into_iter().filter_map(|flat| {
        let mut whole: Vec<&str> = path.clone();
        whole.push(flat.name);
        Some(facts.get(&whole)?.wrapping_sub(flat.offset))
    });
    starts.min()
}

/// Where the last member ends.
fn end(layout: &Aggregate) -> u64 {
    layout.fields.iter().map(|field| field.offset + field.size).max().unwrap_or(0)
}

/// The least alignment that raises an offset to another.
fn raising(from: u64, to: u64) -> Option<u64> {
    (1..=13).map(|bit| 1 << bit).find(|align| from.checked_next_multiple_of(*align) == Some(to))
}
