//! Inference of alignment and packing from offsets.

use super::align::remark;
use super::place::Place;
use super::texts;
use etw_layouts_codegen::laid_out;
use etw_layouts_codegen::layouts::{Aggregate, Type};
use etw_layouts_codegen::spec::{Body, Member, Shape, Spec};
use etw_layouts_symbols::{self as symbols, TypeFacts, Types};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of layout computations, which depends on unexplained gaps and on the depth of embedded structures.
const ROUNDS: usize = 64;

/// Adds alignment or packing where members are not at the offsets that their types give, and the sizes of new definitions. Anything that
/// explicit alignment cannot express is left, and fails the final verification.
pub fn explain(spec: &mut Spec, place: &Place, types: &Types, entered: &BTreeSet<String>) {
    for _ in 0..ROUNDS {
        let layouts = laid_out(spec, place.target);
        let mut is_changed = false;
        for name in entered {
            let (Some(TypeFacts::Aggregate(facts)), Some(layout)) = (types.get(name), layouts.get(name)) else { continue };
            let Some(definition) = spec.definitions.get_mut(name) else { continue };
            let is_new = definition.name.span == Default::default();
            let Body::Aggregate(aggregate) = &mut definition.body else { continue };
            if is_new {
                place.set(&mut aggregate.size, Some(facts.size).filter(|size| *size == layout.extent.size));
            }
            let mut known = Offsets::new();
            offsets(facts, &mut Vec::new(), &mut known);
            match first_gap(place, &mut aggregate.members, layout, &known, 0, &mut Vec::new()) {
                Gap::Aligned => is_changed = true,
                Gap::None if layout.extent.size < facts.size => {
                    if let Some(align) = raising(end(layout), facts.size) {
                        place.set(&mut aggregate.align, align);
                        texts::remark(
                            &mut definition.comments,
                            &format!("an alignment of {align} bytes is inferred from the size"),
                        );
                        is_changed = true;
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
                        texts::remark(
                            &mut definition.comments,
                            "the packing is inferred from members below their natural alignment",
                        );
                        is_changed = true;
                    }
                }
            }
        }
        if !is_changed {
            return;
        }
    }
}

/// Explanation of the first member with a wrong offset.
enum Gap {
    /// All offsets are right.
    None,
    /// Alignment was added.
    Aligned,
    /// The member is below its natural alignment.
    Packed,
}

/// Examines members of the target against those of a layout, in order; `base` is the offset of the first one.
fn first_gap<'l>(
    place: &Place,
    members: &mut [Member],
    layout: &'l Aggregate,
    facts: &Offsets,
    base: u64,
    path: &mut Vec<&'l str>,
) -> Gap {
    let active = members.iter_mut().filter(|member| member.scope.contains(place.target));
    for (member, field) in active.zip(&layout.fields) {
        let start = match (&field.name, &field.ty) {
            (None, Type::Inline(inner)) => first_of(inner, facts, path),
            (Some(name), _) => offset(facts, path, name),
            (None, _) => None,
        };
        let begins = field.bits.is_none_or(|bits| bits.position == 0);
        if let Some(start) = start.map(|start| start.wrapping_sub(base)).filter(|start| *start != field.offset && begins) {
            let align = raising(field.offset, start).filter(|_| field.bits.is_none());
            let Some(align) = align else { return Gap::Packed };
            place.set(&mut member.align, align);
            remark(member, &format!("an alignment of {align} bytes is inferred from the gap before it"));
            return Gap::Aligned;
        }
        if let (Shape::Inline(_, members), Type::Inline(inner)) = (&mut member.shape, &field.ty) {
            // Members of a named member have offsets relative to it.
            let base = if field.name.is_some() { 0 } else { base + field.offset };
            path.extend(field.name.as_deref());
            let gap = first_gap(place, members, inner, facts, base, path);
            path.truncate(path.len() - usize::from(field.name.is_some()));
            if !matches!(gap, Gap::None) {
                return gap;
            }
        }
    }
    Gap::None
}

/// Offset of a member in the symbols.
fn offset(facts: &Offsets, path: &[&str], name: &str) -> Option<u64> {
    let path: Vec<String> = path.iter().chain([&name]).map(|part| (*part).to_owned()).collect();
    facts.get(&path).copied()
}

/// Start of an unnamed group, derived from its first member.
fn first_of(group: &Aggregate, facts: &Offsets, path: &[&str]) -> Option<u64> {
    group.flat().into_iter().filter_map(|flat| Some(offset(facts, path, flat.name)?.wrapping_sub(flat.offset))).min()
}

/// Offsets of members by path.
type Offsets = BTreeMap<Vec<String>, u64>;

fn offsets(facts: &symbols::Aggregate, path: &mut Vec<String>, found: &mut Offsets) {
    for member in &facts.members {
        path.push(member.name.clone());
        found.insert(path.clone(), member.offset);
        if let symbols::Type::Unnamed(inner) = &member.ty
            && let TypeFacts::Aggregate(inner) = &**inner
        {
            offsets(inner, path, found);
        }
        path.pop();
    }
}

/// End of the last member.
fn end(layout: &Aggregate) -> u64 {
    layout.fields.iter().map(|field| field.offset + field.size).max().unwrap_or(0)
}

/// The least alignment that raises one offset to another.
fn raising(from: u64, to: u64) -> Option<u64> {
    (1..=13).map(|bit| 1 << bit).find(|align| from.checked_next_multiple_of(*align) == Some(to))
}
