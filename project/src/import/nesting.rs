//! Anonymous structures and unions, which symbol files flatten, rebuilt from offsets alone.
//!
//! Members that share bytes are alternatives of a union. A member joins the alternative that ends where it begins; one that
//! shares its bytes with members inside an alternative opens a union there. Where several answers give the same
//! offsets symbols cannot tell them apart, so what is made here is marked in the spec.

use super::overlap::{self, Work};
use super::types::Fact;
use etw_layouts_codegen::spec::Kind;
use std::cmp::Reverse;
use std::collections::VecDeque;

/// A member, or an anonymous group of them.
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
        open: bool,
    },
}

/// Members of a structure, in the order of their offsets.
///
/// # Errors
///
/// Members that share bytes in too many ways.
pub fn structure(facts: Vec<Fact>, work: &mut Work) -> Result<Vec<Item>, String> {
    structure_in(facts, 0, work)
}

/// Members of a union, and whether others would give the same offsets.
///
/// # Errors
///
/// Members that share bytes in too many ways.
pub fn union(facts: Vec<Fact>, work: &mut Work) -> Result<(Vec<Item>, bool), String> {
    union_in(facts, 0, work)
}

/// An alternative of a union: a member, or a structure of several. Bit fields are always in a structure.
///
/// # Errors
///
/// Members that share bytes in too many ways.
pub fn alternative(facts: Vec<Fact>, work: &mut Work) -> Result<Item, String> {
    alternative_in(facts, 0, work)
}

/// How many unions within unions are rebuilt.
const DEPTH: usize = 16;

fn structure_in(mut facts: Vec<Fact>, depth: usize, work: &mut Work) -> Result<Vec<Item>, String> {
    sort(&mut facts);
    let mut items = Vec::new();
    for run in overlap::unions(&facts) {
        let run: Vec<Fact> = run.into_iter().map(|i| facts[i].clone()).collect();
        match overlap::any(&run) {
            false => items.extend(run.into_iter().map(Item::Member)),
            true => {
                let (items_in, open) = union_in(run, depth + 1, work)?;
                items.push(Item::Group { kind: Kind::Union, items: items_in, open });
            }
        }
    }
    Ok(items)
}

fn union_in(mut facts: Vec<Fact>, depth: usize, work: &mut Work) -> Result<(Vec<Item>, bool), String> {
    sort(&mut facts);
    let mut alternatives: Vec<Vec<Fact>> = Vec::new();
    let start = facts.first().map_or(0, |fact| fact.extent().0);
    distribute(&mut alternatives, facts.clone(), start, work)?;
    alternatives.retain(|facts| !facts.is_empty());
    if depth > DEPTH || alternatives.len() == 1 {
        alternatives = apart(facts, work)?;
    }
    let open = open(&alternatives, start, |_| true).contains(&true);
    let items = alternatives.into_iter().map(|facts| alternative_in(facts, depth, work));
    Ok((items.collect::<Result<_, _>>()?, open))
}

fn alternative_in(mut facts: Vec<Fact>, depth: usize, work: &mut Work) -> Result<Item, String> {
    Ok(match facts.pop() {
        Some(one) if facts.is_empty() && one.bits.is_none() => Item::Member(one),
        last => {
            facts.extend(last);
            Item::Group { kind: Kind::Struct, items: structure_in(facts, depth, work)?, open: false }
        }
    })
}

/// Alternatives whose members do not share bytes: each member goes to the first that has room.
fn apart(facts: Vec<Fact>, work: &mut Work) -> Result<Vec<Vec<Fact>>, String> {
    let mut alternatives: Vec<Vec<Fact>> = Vec::new();
    for (count, fact) in facts.into_iter().enumerate() {
        work.step(count)?;
        match alternatives.iter_mut().find(|others| !others.iter().any(|other| other.conflicts(&fact))) {
            Some(others) => others.push(fact),
            None => alternatives.push(vec![fact]),
        }
    }
    Ok(alternatives)
}

/// Of each alternative, whether a member of it that passes a test would as well follow what is in another.
pub fn open(alternatives: &[Vec<Fact>], start: u64, test: impl Fn(&Fact) -> bool) -> Vec<bool> {
    let first_end = |facts: &Vec<Fact>| facts.iter().map(|fact| fact.extent().1).min().unwrap_or(u64::MAX);
    let mut ends: Vec<(u64, usize)> = alternatives.iter().map(first_end).zip(0..).collect();
    ends.sort_unstable();
    let elsewhere =
        |own: usize, fact: &Fact| ends.iter().find(|(_, i)| *i != own).is_some_and(|(end, _)| *end <= fact.extent().0);
    let one = |(i, own): (usize, &Vec<Fact>)| own.iter().any(|f| f.extent().0 != start && test(f) && elsewhere(i, f));
    alternatives.iter().enumerate().map(one).collect()
}

/// Gives members, which are in order, to the alternatives of a union, new ones among them. Of members in one place, those
/// choose first that are named like the rest of an alternative.
///
/// # Errors
///
/// Members that share bytes in too many ways.
pub fn distribute(alternatives: &mut Vec<Vec<Fact>>, facts: Vec<Fact>, start: u64, work: &mut Work) -> Result<(), String> {
    let mut facts = VecDeque::from(facts);
    let mut placed: usize = alternatives.iter().map(Vec::len).sum();
    while let Some(extent) = facts.front().map(Fact::extent) {
        let here = facts.iter().take_while(|fact| fact.extent() == extent).count();
        let mut choice = None;
        let mut without: Vec<&Fact> = Vec::new();
        for (at, fact) in facts.iter().enumerate().take(here) {
            // Where there is no alternative for one, there is none for others like it.
            work.step(1)?;
            if without.iter().any(|other| other.lies_as(fact)) {
                continue;
            }
            work.step(placed)?;
            match joined(alternatives, fact, start) {
                Some(index) => choice = choice.max(Some((kin(&alternatives[index], fact), index, Reverse(at)))),
                None => without.push(fact),
            }
        }
        match choice {
            Some((_, index, Reverse(at))) => {
                alternatives[index].extend(facts.remove(at));
                placed += 1;
            }
            // What begins an alternative leaves no room for others in its place, unless it takes none.
            None => {
                let begin = if extent.0 < extent.1 { here } else { 1 };
                alternatives.extend(facts.drain(..begin).map(|fact| vec![fact]));
                placed += begin;
            }
        }
    }
    settle(alternatives, work)
}

/// A bit field that nothing precedes goes where something does.
fn settle(alternatives: &mut [Vec<Fact>], work: &mut Work) -> Result<(), String> {
    let preceded = |facts: &[Fact], fact: &Fact| facts.iter().any(|other| other.shares_unit(fact) && other.precedes(fact));
    let count: usize = alternatives.iter().map(Vec::len).sum();
    let pairs = |facts: &Vec<Fact>| facts.len() * facts.iter().filter(|fact| fact.bits.is_some()).count();
    for _ in 0..count {
        work.step(count + alternatives.iter().map(pairs).sum::<usize>())?;
        let lost = alternatives.iter().enumerate().find_map(|(from, facts)| {
            let begins = |fact: &Fact| fact.bits.is_none_or(|(position, _)| position == 0);
            let at = facts.iter().position(|fact| !begins(fact) && !preceded(facts, fact))?;
            let fits = |other: &Vec<Fact>| {
                let clean = !other.iter().any(|one| one.shares_unit(&facts[at]) && one.conflicts(&facts[at]));
                clean && preceded(other, &facts[at])
            };
            Some((from, at, alternatives.iter().position(fits)?))
        });
        let Some((from, at, to)) = lost else { break };
        let fact = alternatives[from].remove(at);
        alternatives[to].push(fact);
    }
    Ok(())
}

/// How much a member is named like the most alike of some others.
fn kin(facts: &[Fact], fact: &Fact) -> usize {
    facts.iter().map(|other| common(&other.name, &fact.name)).max().unwrap_or(0)
}

/// The alternative of a union that a member belongs to; none if it begins one.
fn joined(alternatives: &[Vec<Fact>], fact: &Fact, start: u64) -> Option<usize> {
    let free = |i: &usize| !alternatives[*i].iter().any(|other| other.conflicts(fact));
    let touches = |i: &usize| {
        let near = |other: &Fact| usize::from(other.precedes(fact)) + usize::from(fact.precedes(other));
        alternatives[*i].iter().map(near).sum::<usize>()
    };
    let all = || 0..alternatives.len();
    let kin = |i: &usize| kin(&alternatives[*i], fact);
    let beside = all().filter(|i| free(i) && touches(i) > 0).max_by_key(|i| (touches(i), kin(i), *i));
    let begins = fact.extent().0 == start;
    // Bit fields of one unit follow one another without a gap, and others of the unit may stand beside them in a union.
    let unit = |i: &usize| -> Vec<&Fact> { alternatives[*i].iter().filter(|other| fact.shares_unit(other)).collect() };
    let chained = |i: &usize| unit(i).iter().any(|other| other.precedes(fact));
    let clean = |i: &usize| !unit(i).iter().any(|other| other.conflicts(fact));
    let open = |i: &usize| {
        unit(i).iter().filter(|other| other.precedes(fact)).count()
            > unit(i).iter().filter(|other| other.extent().0 == fact.extent().0).count()
    };
    let behind = |i: &usize| alternatives[*i].iter().any(|other| other.extent().1 <= fact.extent().0);
    let within = |i: &usize| alternatives[*i].iter().any(|other| other.offset == fact.offset) && behind(i);
    beside.or_else(|| {
        let chain = all().filter(chained).max_by_key(|i| (clean(i), open(i), kin(i), touches(i), *i));
        let follow = || all().filter(|i| alternatives[*i].iter().any(|other| other.precedes(fact))).max_by_key(|i| (kin(i), *i));
        // Its own alignment may leave a gap before it.
        let end = |i: &usize| alternatives[*i].iter().map(|other| other.extent().1).max().unwrap_or(0);
        let padded = |i: &usize| end(i).checked_next_multiple_of(8 * fact.least_alignment()) == Some(fact.extent().0);
        let aligned = || all().filter(|i| fact.bits.is_none() && padded(i)).max_by_key(|i| (kin(i), *i));
        let nested = || all().filter(within).max_by_key(|i| (kin(i), *i));
        let apart = || all().filter(free).rfind(behind);
        if begins { None } else { chain.or_else(follow).or_else(aligned).or_else(nested).or_else(apart) }
    })
}

/// How many letters two names begin with in common: members of one alternative are often named alike.
fn common(one: &str, two: &str) -> usize {
    one.bytes().zip(two.bytes()).take_while(|(a, b)| a == b).count()
}

/// By offset and bit; the widest first, so that what overlaps it follows.
fn sort(facts: &mut [Fact]) {
    facts.sort_by(|a, b| {
        let key = |fact: &Fact| (fact.extent().0, std::cmp::Reverse(fact.extent().1));
        key(a).cmp(&key(b)).then(a.name.cmp(&b.name))
    });
}
