//! Anonymous structures and unions, which symbol files flatten, rebuilt from offsets alone.
//!
//! Members that share bytes are alternatives of a union. A member joins the alternative that ends where it begins; one that
//! shares its bytes with members inside an alternative opens a union there. Where several answers give the same
//! offsets symbols cannot tell them apart, so what is made here is marked in the spec.

use super::types::Fact;
use etw_layouts_codegen::spec::Kind;

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
pub fn structure(mut facts: Vec<Fact>) -> Vec<Item> {
    sort(&mut facts);
    let mut items = Vec::new();
    for cluster in clusters(facts) {
        let conflicts = cluster.iter().enumerate().any(|(i, one)| cluster[..i].iter().any(|other| one.conflicts(other)));
        match conflicts {
            false => items.extend(cluster.into_iter().map(Item::Member)),
            true => {
                let (alternatives, open) = union(cluster);
                items.push(Item::Group { kind: Kind::Union, items: alternatives, open });
            }
        }
    }
    items
}

/// Members of a union, and whether others would give the same offsets.
pub fn union(mut facts: Vec<Fact>) -> (Vec<Item>, bool) {
    sort(&mut facts);
    let mut alternatives: Vec<Vec<Fact>> = Vec::new();
    let start = facts.first().map_or(0, |fact| fact.extent().0);
    distribute(&mut alternatives, facts, start);
    alternatives.retain(|facts| !facts.is_empty());
    let open = open(&alternatives, start, |_| true).contains(&true);
    (alternatives.into_iter().map(alternative).collect(), open)
}

/// Of each alternative, whether a member of it that passes a test would as well follow what is in another.
pub fn open(alternatives: &[Vec<Fact>], start: u64, test: impl Fn(&Fact) -> bool) -> Vec<bool> {
    let follows = |fact: &Fact, others: &[Fact]| others.iter().any(|other| other.extent().1 <= fact.extent().0);
    let elsewhere =
        |own: usize, fact: &Fact| alternatives.iter().enumerate().any(|(i, others)| i != own && follows(fact, others));
    let one = |(i, own): (usize, &Vec<Fact>)| own.iter().any(|f| f.extent().0 != start && test(f) && elsewhere(i, f));
    alternatives.iter().enumerate().map(one).collect()
}

/// Gives members, which are in order, to the alternatives of a union, new ones among them. Of members in one place, those
/// choose first that are named like the rest of an alternative.
pub fn distribute(alternatives: &mut Vec<Vec<Fact>>, mut facts: Vec<Fact>, start: u64) {
    while let Some(extent) = facts.first().map(Fact::extent) {
        let joins = |fact: &Fact| joined(alternatives, fact, start).map(|i| (kin(&alternatives[i], fact), i));
        let here = facts.iter().enumerate().take_while(|(_, fact)| fact.extent() == extent);
        let choices = here.map(|(at, fact)| (joins(fact), std::cmp::Reverse(at)));
        let Some((choice, std::cmp::Reverse(at))) = choices.max() else { return };
        let fact = facts.remove(at);
        match choice {
            Some((_, index)) => alternatives[index].push(fact),
            None => alternatives.push(vec![fact]),
        }
    }
    settle(alternatives);
}

/// A bit field that nothing precedes goes where something does.
fn settle(alternatives: &mut [Vec<Fact>]) {
    let preceded = |facts: &[Fact], fact: &Fact| facts.iter().any(|other| other.shares_unit(fact) && other.precedes(fact));
    let count: usize = alternatives.iter().map(Vec::len).sum();
    for _ in 0..count {
        let lost = alternatives.iter().enumerate().find_map(|(from, facts)| {
            let begins = |fact: &Fact| fact.bits.is_none_or(|(position, _)| position == 0);
            let at = facts.iter().position(|fact| !begins(fact) && !preceded(facts, fact))?;
            let fits = |other: &Vec<Fact>| {
                let clean = !other.iter().any(|one| one.shares_unit(&facts[at]) && one.conflicts(&facts[at]));
                clean && preceded(other, &facts[at])
            };
            Some((from, at, alternatives.iter().position(fits)?))
        });
        let Some((from, at, to)) = lost else { return };
        let fact = alternatives[from].remove(at);
        alternatives[to].push(fact);
    }
}

/// How much a member is named like the most alike of some others.
fn kin(facts: &[Fact], fact: &Fact) -> usize {
    facts.iter().map(|other| common(&other.name, &fact.name)).max().unwrap_or(0)
}

/// An alternative of a union: a member, or a structure of several. Bit fields are always in a structure.
pub fn alternative(mut facts: Vec<Fact>) -> Item {
    match facts.pop() {
        Some(one) if facts.is_empty() && one.bits.is_none() => Item::Member(one),
        last => {
            facts.extend(last);
            Item::Group { kind: Kind::Struct, items: structure(facts), open: false }
        }
    }
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
        let nested = || all().filter(within).max_by_key(|i| (kin(i), *i));
        let apart = || all().filter(free).rfind(behind);
        if begins { None } else { chain.or_else(follow).or_else(nested).or_else(apart) }
    })
}

/// How many letters two names begin with in common: members of one alternative are often named alike.
fn common(one: &str, two: &str) -> usize {
    one.bytes().zip(two.bytes()).take_while(|(a, b)| a == b).count()
}

/// Runs of members that share bytes with each other.
fn clusters(facts: Vec<Fact>) -> Vec<Vec<Fact>> {
    let mut clusters: Vec<Vec<Fact>> = Vec::new();
    for fact in facts {
        match clusters.last_mut() {
            Some(last) if last.iter().any(|other| other.conflicts(&fact)) => last.push(fact),
            Some(last) if last.iter().any(|other| other.shares_unit(&fact)) => last.push(fact),
            _ => clusters.push(vec![fact]),
        }
    }
    clusters
}

/// By offset and bit; the widest first, so that what overlaps it follows.
fn sort(facts: &mut [Fact]) {
    facts.sort_by(|a, b| {
        let key = |fact: &Fact| (fact.extent().0, std::cmp::Reverse(fact.extent().1));
        key(a).cmp(&key(b)).then(a.name.cmp(&b.name))
    });
}
