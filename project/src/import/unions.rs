//! Unnamed structures and unions, which symbol files flatten, declared so that the offsets are right.
//!
//! Members that share bytes are alternatives of a union; a member joins the alternative that ends where it begins. Others would give the
//! same offsets, and symbols cannot tell them apart: what is made here is marked in the spec.

use super::shared;
use super::types::Fact;
use etw_layouts_codegen::spec::Kind;
use std::cmp::Reverse;

/// What is said of a union that was declared here.
pub const TOGETHER: &str = "which members of a union belong together is inferred from their offsets";

/// A member, or an unnamed group of them.
pub enum Item {
    /// A named member.
    Member(Fact),
    /// A group without a name.
    Group {
        /// Structure or union.
        kind: Kind,
        /// What is in it.
        items: Vec<Item>,
        /// Whether other groups would give the same offsets.
        is_open: bool,
    },
}

/// Members of a structure, in the order of their offsets.
///
/// # Errors
///
/// Members that share bytes in too many ways.
pub fn structure(mut facts: Vec<Fact>) -> Result<Vec<Item>, String> {
    facts.sort_by(|a, b| (a.extent().0, Reverse(a.extent().1), &a.name).cmp(&(b.extent().0, Reverse(b.extent().1), &b.name)));
    let mut items = Vec::new();
    for run in shared::unions(&facts) {
        let run: Vec<Fact> = run.into_iter().map(|i| facts[i].clone()).collect();
        if shared::any(&run) {
            let (inner, is_open) = union(run)?;
            items.push(Item::Group { kind: Kind::Union, items: inner, is_open });
        } else {
            items.extend(run.into_iter().map(Item::Member));
        }
    }
    Ok(items)
}

/// Members of a union, and whether others would give the same offsets.
///
/// # Errors
///
/// Members that share bytes in too many ways.
pub fn union(mut facts: Vec<Fact>) -> Result<(Vec<Item>, bool), String> {
    facts.sort_by(|a, b| (a.extent().0, Reverse(a.extent().1), &a.name).cmp(&(b.extent().0, Reverse(b.extent().1), &b.name)));
    let start = facts.first().map_or(0, |fact| fact.extent().0);
    let mut alternatives = Vec::new();
    let is_open = distribute(&mut alternatives, facts, start)?;
    let items = alternatives.into_iter().map(alternative).collect::<Result<_, _>>()?;
    Ok((items, is_open))
}

/// An alternative of a union: a member, or a structure of several. Bit fields are always in a structure.
///
/// # Errors
///
/// Members that share bytes in too many ways.
pub fn alternative(facts: Vec<Fact>) -> Result<Item, String> {
    match <[Fact; 1]>::try_from(facts) {
        Ok([one]) if one.bits.is_none() => Ok(Item::Member(one)),
        Ok(one) => Ok(Item::Group { kind: Kind::Struct, items: structure(one.into())?, is_open: false }),
        Err(facts) => Ok(Item::Group { kind: Kind::Struct, items: structure(facts)?, is_open: false }),
    }
}

/// How many alternatives a union has at the most, and how many pairs of members are compared for each member.
const MOST: usize = 1024;

/// Gives members, which are in order, to the alternatives of a union that begins at a bit, new ones among them. Whether they could have gone
/// elsewhere.
///
/// # Errors
///
/// Members that share bytes in too many ways.
pub fn distribute(alternatives: &mut Vec<Vec<Fact>>, facts: Vec<Fact>, start: u64) -> Result<bool, String> {
    let mut is_open = false;
    let mut work = MOST * (1 + facts.len() + alternatives.len());
    for fact in facts {
        let mut joined: Vec<(usize, (bool, bool, usize, usize))> = Vec::new();
        if fact.extent().0 != start {
            let pairs: usize = alternatives.iter().map(Vec::len).sum();
            work = work.checked_sub(pairs).ok_or("its members share bytes in more ways than can be tried; enter it by hand")?;
            for (index, own) in alternatives.iter().enumerate() {
                joined.extend(suits(own, &fact).map(|(free, touches)| (index, (touches, free, kin(own, &fact), index))));
            }
        }
        match joined.iter().max_by_key(|(_, rank)| *rank) {
            Some(&(index, _)) => {
                is_open |= joined.len() > 1;
                alternatives[index].push(fact);
            }
            None => alternatives.push(vec![fact]),
        }
    }
    Ok(is_open)
}

/// Whether a member can follow what is in an alternative; then whether it shares no bytes with that, and whether it begins where something in
/// it ends, or where its alignment puts it behind that.
fn suits(own: &[Fact], fact: &Fact) -> Option<(bool, bool)> {
    let first = own.iter().map(|other| other.extent().1).min()?;
    // A bit field amid its unit follows another of the unit.
    let amid = fact.bits.is_some_and(|(position, _)| position > 0);
    if first > fact.extent().0 || amid && !own.iter().any(|other| other.shares_unit(fact) && other.precedes(fact)) {
        return None;
    }
    let is_free = !own.iter().any(|other| other.conflicts(fact));
    let end = own.iter().map(|other| other.extent().1).max().unwrap_or(0);
    let is_padded = fact.bits.is_none() && end.checked_next_multiple_of(8 * fact.least_alignment()) == Some(fact.extent().0);
    Some((is_free, is_padded || own.iter().any(|other| other.precedes(fact))))
}

/// How many letters a member's name begins with in common with one of some others: members of one alternative are often called alike.
fn kin(facts: &[Fact], fact: &Fact) -> usize {
    let common = |other: &Fact| other.name.bytes().zip(fact.name.bytes()).take_while(|(a, b)| a == b).count();
    facts.iter().map(common).max().unwrap_or(0)
}
