//! Detection of members that share bytes.

use super::types::SymbolMember;
use etw_layouts_codegen::spec::Member;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Groups of members such that different groups share no bytes, each in the given order. A group of members that share bytes
/// includes the members that begin before its union can end: the size of a union is a multiple of its alignment.
pub fn unions(facts: &[SymbolMember]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..facts.len()).collect();
    order.sort_by_key(|&i| facts[i].unit());
    let mut all: Vec<Vec<usize>> = Vec::new();
    let (mut end, mut alignment, mut is_union) = (0_u64, 1, false);
    for i in order {
        let (start, own_end) = facts[i].unit();
        let reach = if is_union { end.next_multiple_of(alignment) } else { end };
        match all.last_mut().filter(|_| start < reach) {
            Some(union) => {
                // Bit fields of one unit need no union.
                is_union |= !facts[i].shares_unit(&facts[union[0]]);
                union.push(i);
            }
            None => {
                (end, alignment, is_union) = (0, 1, false);
                all.push(vec![i]);
            }
        }
        (end, alignment) = (end.max(own_end), alignment.max(8 * facts[i].least_alignment()));
    }
    all.iter_mut().for_each(|union| union.sort_unstable());
    all.sort_unstable();
    all
}

/// As [`unions`], but bit fields of one unit are grouped only if some share bits, or if another member overlaps the unit.
pub fn conflicts(facts: &[SymbolMember]) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = Vec::new();
    for run in unions(facts) {
        match run.iter().all(|&i| facts[i].shares_unit(&facts[run[0]])) && are_apart(facts, &run) {
            true => all.extend(run.into_iter().map(|i| vec![i])),
            false => all.push(run),
        }
    }
    all.sort_unstable();
    all
}

/// Whether two members cannot be consecutive.
pub fn any(facts: &[SymbolMember]) -> bool {
    conflicts(facts).len() < facts.len()
}

/// Whether no two bit fields share bits. If two share bits, all bit fields of their unit must be in the union: a bit field
/// outside of it would begin another unit.
fn are_apart(facts: &[SymbolMember], run: &[usize]) -> bool {
    let mut extents: Vec<_> = run.iter().map(|&i| facts[i].extent()).collect();
    extents.sort_unstable();
    extents.windows(2).all(|pair| pair[0].1 <= pair[1].0)
}

/// Groups of members that share bytes, or an anonymous group, in offset order, each with its child.
pub fn together(
    children: &[Member],
    facts: Vec<SymbolMember>,
    chosen: &[Option<usize>],
) -> Vec<(Option<usize>, Vec<SymbolMember>)> {
    let group = |i: usize| chosen[i].filter(|&c| children[c].name.is_none());
    // Members that moved into the range of another group leave their group.
    let mut of: Vec<Option<usize>> = (0..facts.len()).map(group).collect();
    let mut parts = conflicts(&facts);
    for part in &parts {
        let main = most(part.iter().filter_map(|&i| group(i)));
        part.iter().for_each(|&i| of[i] = of[i].filter(|_| group(i) == main));
    }
    let start = |part: &[usize]| part.iter().map(|&i| facts[i].extent().0).min();
    let mut ends: BTreeMap<usize, u64> = BTreeMap::new();
    for (fact, group) in facts.iter().zip(&of).filter_map(|(fact, group)| Some((fact, (*group)?))) {
        let end = ends.entry(group).or_default();
        *end = fact.extent().1.max(*end);
    }
    // A group includes the members between its first and its last one.
    parts.sort_by_key(|part| (start(part), part[0]));
    let mut joined: Vec<Vec<usize>> = Vec::new();
    let (mut open, mut last) = (BTreeSet::new(), 0);
    for part in parts {
        let own = part.iter().find_map(|&i| of[i]);
        let is_within = start(&part).is_some_and(|start| start < last) || own.is_some_and(|own| open.contains(&own));
        match joined.last_mut().filter(|_| is_within) {
            Some(all) => all.extend(part),
            None => {
                (open, last) = (BTreeSet::new(), 0);
                joined.push(part);
            }
        }
        open.extend(own);
        last = last.max(own.map_or(0, |own| ends[&own]));
    }
    let one = |mut part: Vec<usize>| {
        part.sort_unstable();
        let child = match part[..] {
            [one] if of[one].is_none() => chosen[one].filter(|&c| children[c].name.is_some()),
            _ => most(part.iter().filter_map(|&i| of[i])),
        };
        (child, part.iter().map(|&i| facts[i].clone()).collect())
    };
    joined.into_iter().map(one).collect()
}

/// The most frequent value; of several, the first.
fn most(list: impl Iterator<Item = usize>) -> Option<usize> {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    list.for_each(|one| *counts.entry(one).or_default() += 1);
    counts.into_iter().max_by_key(|(one, count)| (*count, Reverse(*one))).map(|(one, _)| one)
}
