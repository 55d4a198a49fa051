//! Reconstruction of unnamed structures and unions, which symbol files flatten, such that the offsets are right.
//!
//! Members that share bytes are alternatives of a union; a member is added to the alternative that ends where it begins. Other
//! groups could give the same offsets, and symbols cannot distinguish them: reconstructed unions are marked in the spec.

use super::shared;
use super::types::SymbolMember;
use etw_layouts_codegen::spec::Kind;
use std::cmp::Reverse;

/// Note on a reconstructed union.
pub const TOGETHER: &str = "which members of a union belong together is inferred from their offsets";

/// A member, or an unnamed group of them.
pub enum Item {
    /// A named member.
    Member(SymbolMember),
    /// A group without a name.
    Group {
        /// Structure or union.
        kind: Kind,
        /// Contents of the group.
        items: Vec<Item>,
        /// Whether other groups would give the same offsets.
        is_open: bool,
    },
}

/// Groups the members of a structure, in offset order.
///
/// # Errors
///
/// Members overlap in too many ways.
pub fn structure(mut facts: Vec<SymbolMember>) -> Result<Vec<Item>, String> {
    facts.sort_by(|a, b| (a.extent().0, Reverse(a.extent().1), &a.name).cmp(&(b.extent().0, Reverse(b.extent().1), &b.name)));
    let mut items = Vec::new();
    for run in shared::unions(&facts) {
        let run: Vec<SymbolMember> = run.into_iter().map(|i| facts[i].clone()).collect();
        if shared::any(&run) {
            let (inner, is_open) = union(run)?;
            items.push(Item::Group { kind: Kind::Union, items: inner, is_open });
        } else {
            items.extend(run.into_iter().map(Item::Member));
        }
    }
    Ok(items)
}

/// Groups the members of a union. Returns whether other groups would give the same offsets.
///
/// # Errors
///
/// Members overlap in too many ways.
pub fn union(mut facts: Vec<SymbolMember>) -> Result<(Vec<Item>, bool), String> {
    facts.sort_by(|a, b| (a.extent().0, Reverse(a.extent().1), &a.name).cmp(&(b.extent().0, Reverse(b.extent().1), &b.name)));
    let start = facts.first().map_or(0, |fact| fact.extent().0);
    let mut alternatives = Vec::new();
    let is_open = distribute(&mut alternatives, facts, start)?.contains(&true);
    let items = alternatives.into_iter().map(alternative).collect::<Result<_, _>>()?;
    Ok((items, is_open))
}

/// An alternative of a union: a member, or a structure of several. Bit fields are always in a structure.
///
/// # Errors
///
/// Members overlap in too many ways.
pub fn alternative(facts: Vec<SymbolMember>) -> Result<Item, String> {
    match <[SymbolMember; 1]>::try_from(facts) {
        Ok([one]) if one.bits.is_none() => Ok(Item::Member(one)),
        Ok(one) => Ok(Item::Group { kind: Kind::Struct, items: structure(one.into())?, is_open: false }),
        Err(facts) => Ok(Item::Group { kind: Kind::Struct, items: structure(facts)?, is_open: false }),
    }
}

/// Maximum number of alternatives of a union, and of pairs of members compared for each member.
const MOST: usize = 1024;

/// Distributes members, in order, to the alternatives of a union that begins at a bit, adding alternatives. Returns for each
/// alternative whether one of its members could be in another one.
///
/// # Errors
///
/// Members overlap in too many ways.
pub fn distribute(alternatives: &mut Vec<Vec<SymbolMember>>, facts: Vec<SymbolMember>, start: u64) -> Result<Vec<bool>, String> {
    let mut open = vec![false; alternatives.len()];
    let mut work = MOST * (facts.len() + alternatives.len());
    // Members at the start of the union follow no other, and may precede known ones.
    let known = alternatives.len();
    for fact in facts {
        let tried = if fact.extent().0 == start { known } else { alternatives.len() };
        let pairs: usize = alternatives[..tried].iter().map(Vec::len).sum();
        work = work.checked_sub(pairs).ok_or("its members share bytes in too many ways; define it by hand")?;
        let suit = |(index, own): (usize, &Vec<SymbolMember>)| Some((suits(own, &fact)?, common_prefix(own, &fact), index));
        let suiting: Vec<_> = alternatives[..tried].iter().enumerate().filter_map(suit).collect();
        match suiting.iter().max() {
            Some(&(_, _, index)) => {
                open[index] |= suiting.len() > 1;
                alternatives[index].push(fact);
            }
            None => {
                alternatives.push(vec![fact]);
                open.push(false);
            }
        }
    }
    Ok(open)
}

/// Removes bit fields in the middle of a unit that follow no other bit field in an alternative.
pub fn lost(own: &mut Vec<SymbolMember>) -> Vec<SymbolMember> {
    let mut all = Vec::new();
    let is_lost = |own: &[SymbolMember], fact: &SymbolMember| {
        fact.bits.is_some_and(|(position, _)| position > 0)
            && !own.iter().any(|other| other.shares_unit(fact) && other.precedes(fact))
    };
    while let Some(at) = own.iter().position(|fact| is_lost(own, fact)) {
        all.push(own.remove(at));
    }
    all
}

/// Suitability of an alternative for a member: whether it is adjacent to a member, and whether it overlaps none. `None` if it can
/// neither follow nor precede the alternative's members.
fn suits(own: &[SymbolMember], fact: &SymbolMember) -> Option<(bool, bool)> {
    let is_free = !own.iter().any(|other| other.conflicts(fact));
    let first = own.iter().map(|other| other.extent().1).min()?;
    if first > fact.extent().0 {
        return own.iter().any(|other| fact.precedes(other)).then_some((true, true)).filter(|_| is_free);
    }
    // A bit field in the middle of its unit follows another one of the unit.
    let in_middle = fact.bits.is_some_and(|(position, _)| position > 0);
    if in_middle && !own.iter().any(|other| other.shares_unit(fact) && other.precedes(fact)) {
        return None;
    }
    let end = own.iter().map(|other| other.extent().1).max().unwrap_or(0);
    let is_padded = fact.bits.is_none() && end.checked_next_multiple_of(8 * fact.least_alignment()) == Some(fact.extent().0);
    Some((is_padded || own.iter().any(|other| other.precedes(fact)), is_free))
}

/// Length of the longest common prefix of a member's name with one of several others: members of an alternative often have
/// similar names.
fn common_prefix(facts: &[SymbolMember], fact: &SymbolMember) -> usize {
    let common = |other: &SymbolMember| other.name.bytes().zip(fact.name.bytes()).take_while(|(a, b)| a == b).count();
    facts.iter().map(common).max().unwrap_or(0)
}
