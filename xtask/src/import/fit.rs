//! A table's members, fitted to the entries of a definition.
//!
//! The entries are in the order of the declaration at every target, so those that a target has must have ascending offsets.
//! Of all ways to give the table's members entries of their names in such an order, the one is taken that keeps most of what
//! the nearest target has. A member without an entry gets a new one where its offset puts it; one that overlaps an anonymous
//! group becomes part of that; several that overlap become a group that [`nesting`] makes.

use super::nesting::{self, Item};
use super::tree::{Node, Now, Words};
use super::types::{Fact, Names};
use etw_layouts_codegen::axis::Arch;
use etw_layouts_codegen::spec::Kind;
use etw_layouts_symbols::{AggregateKind, Definition, Rules, Type, Types};
use std::collections::{BTreeMap, BTreeSet};

/// What a rebuilt union leaves open.
pub const TOGETHER: &str = "which members of a union belong together is inferred from their offsets";

/// What is fitted, and to what.
pub struct Fit<'a> {
    /// The target.
    pub target: usize,
    /// Its architecture.
    pub arch: Arch,
    /// All targets whose entries are known, the nearest first.
    pub near: &'a [usize],
    /// The same kernel on the other architecture, if its entries are known.
    pub sibling: Option<usize>,
    /// The names of types.
    pub names: &'a Names<'a>,
    /// How faithful the table is.
    pub rules: Rules,
    /// All types of the table.
    pub types: &'a Types,
    /// Spellings by member, of entries before any was changed.
    pub spellings: BTreeMap<String, Vec<String>>,
    /// Types and words by member, of the entries that the nearest target has.
    pub words: BTreeMap<String, (Option<String>, Words)>,
    /// Enumerations that the table has without their names, by the names that the spec has for them.
    pub nameless: BTreeMap<String, Definition>,
}

impl Fit<'_> {
    /// Fits members to the entries of a structure or union.
    ///
    /// # Errors
    ///
    /// What cannot be written as a spec.
    pub fn members(&mut self, kind: Kind, children: &mut Vec<Node>, facts: Vec<Fact>) -> Result<(), String> {
        match kind {
            Kind::Struct => self.structure(children, facts),
            Kind::Union => self.union(children, facts),
        }
    }

    fn structure(&mut self, children: &mut Vec<Node>, mut facts: Vec<Fact>) -> Result<(), String> {
        facts.sort_by(|a, b| (a.extent(), &a.name).cmp(&(b.extent(), &b.name)));
        let chosen = self.ordered(children, &facts);
        let mut last = None;
        let mut unplaced = Vec::new();
        for (child, facts) in components(children, facts, &chosen) {
            match child {
                Some(index) => {
                    self.activate(&mut children[index], facts)?;
                    last = Some(index);
                }
                None => unplaced.push((last, facts)),
            }
        }
        let mut new: Vec<(Option<usize>, Node)> = Vec::new();
        for (last, facts) in unplaced {
            let after = self.behind_replaced(children, last);
            for item in nesting::structure(facts) {
                new.push((after, self.fresh(item)?));
            }
        }
        for (after, node) in new.into_iter().rev() {
            children.insert(after.map_or(0, |index| index + 1), node);
        }
        Ok(())
    }

    fn union(&mut self, children: &mut Vec<Node>, mut facts: Vec<Fact>) -> Result<(), String> {
        facts.sort_by(|a, b| (a.extent().0, b.extent().1, &a.name).cmp(&(b.extent().0, a.extent().1, &b.name)));
        let start = facts.first().map_or(0, |fact| fact.extent().0);
        let mut of_child: BTreeMap<usize, Vec<Fact>> = BTreeMap::new();
        let mut rest = Vec::new();
        for fact in facts {
            let fits = |child: &Node| child.name.is_empty() || fact.extent().0 == start;
            let weighed = children.iter().enumerate().filter(|(_, child)| fits(child));
            let best = weighed.filter_map(|(i, child)| Some((self.weight(child, &fact)?, std::cmp::Reverse(i)))).max();
            match best {
                Some((_, std::cmp::Reverse(index))) => of_child.entry(index).or_default().push(fact),
                None => rest.push(fact),
            }
        }
        // A member that follows one of the others makes a structure of the two.
        let plain = |i: &usize| children[*i].group.is_none() && of_child[i].len() == 1;
        let open = |i: &usize| children[*i].group == Some(Kind::Struct) && children[*i].name.is_empty();
        let leaves = of_child.keys().copied().filter(plain);
        let known: Vec<usize> = leaves.chain(of_child.keys().copied().filter(open)).collect();
        let mut alternatives: Vec<Vec<Fact>> = known.iter().map(|i| of_child[i].clone()).collect();
        let added: BTreeSet<String> = rest.iter().map(|fact| fact.name.clone()).collect();
        nesting::distribute(&mut alternatives, rest, start);
        let open = nesting::open(&alternatives, start, |fact| added.contains(&fact.name));
        let mut new = Vec::new();
        for (i, (facts, open)) in alternatives.into_iter().zip(open).enumerate() {
            match known.get(i) {
                Some(&index) if children[index].group.is_none() && facts.len() > 1 => {
                    of_child.remove(&index);
                    new.push((facts, open));
                }
                Some(&index) => {
                    if open {
                        children[index].remark(TOGETHER);
                    }
                    of_child.insert(index, facts);
                }
                None if facts.is_empty() => {}
                None => new.push((facts, open)),
            }
        }
        let last = of_child.keys().copied().max();
        for (index, facts) in of_child {
            self.activate(&mut children[index], facts)?;
        }
        let after = self.behind_replaced(children, last);
        let at = after.map_or(0, |index| index + 1);
        for (i, (facts, open)) in new.into_iter().enumerate() {
            let mut node = self.fresh(nesting::alternative(facts))?;
            if open {
                node.remark(TOGETHER);
            }
            children.insert(at + i, node);
        }
        Ok(())
    }

    /// For each member the child that it belongs to, so that children ascend and the weights are greatest.
    fn ordered(&self, children: &[Node], facts: &[Fact]) -> Vec<Option<usize>> {
        struct Step {
            fact: usize,
            child: usize,
            total: i64,
            before: Option<usize>,
        }
        let mut steps: Vec<Step> = Vec::new();
        for (i, fact) in facts.iter().enumerate() {
            let known = steps.len();
            for (c, child) in children.iter().enumerate() {
                let Some(weight) = self.weight(child, fact) else { continue };
                let group = child.name.is_empty();
                let follows = |step: &Step| step.child < c || (group && step.child == c);
                let best = steps[..known].iter().enumerate().filter(|(_, step)| follows(step)).max_by_key(|(_, step)| step.total);
                let (before, sum) = best.map_or((None, 0), |(at, step)| (Some(at), step.total));
                steps.push(Step { fact: i, child: c, total: sum + weight, before });
            }
        }
        let mut chosen = vec![None; facts.len()];
        let mut at = steps.iter().enumerate().max_by_key(|(_, step)| step.total).map(|(i, _)| i);
        while let Some(i) = at {
            chosen[steps[i].fact] = Some(steps[i].child);
            at = steps[i].before;
        }
        chosen
    }

    /// How well a member suits an entry, or a group that has such an entry.
    fn weight(&self, node: &Node, fact: &Fact) -> Option<i64> {
        if node.name.is_empty() && node.group.is_some() {
            return node.children.iter().filter_map(|child| self.weight(child, fact)).max();
        }
        let nearest = (node.name == fact.name).then(|| self.near.iter().position(|&t| node.active(t)))??;
        let reference = self.near[nearest];
        if node.group.is_some() != matches!(fact.ty, Type::Unnamed(_)) && !self.enumeration(node, fact) {
            return None;
        }
        if node.number_at("bits", reference).is_some() != fact.bits.is_some() {
            return None;
        }
        let agrees = node.group.is_some() || self.known_type(node, fact).is_some();
        let place = i64::try_from(nearest.min(99)).unwrap_or(99);
        match (nearest, agrees) {
            (0, _) => Some(1000 + i64::from(agrees)),
            _ if self.sibling.is_some_and(|t| node.active(t)) => Some(500 + i64::from(agrees)),
            (_, true) => Some(200 - place),
            (_, false) => None,
        }
    }

    fn enumeration(&self, node: &Node, fact: &Fact) -> bool {
        let unnamed = matches!(&fact.ty, Type::Unnamed(inner) if matches!(**inner, Definition::Enumeration(_)));
        unnamed && node.group.is_none() && self.known_type(node, fact).is_some()
    }

    /// A spelling that an entry has at some target and that is the member's type, of the nearest.
    fn known_type(&self, node: &Node, fact: &Fact) -> Option<String> {
        let at_targets = self.near.iter().filter(|&&t| node.active(t)).filter_map(|&t| node.type_at(t));
        let mut tried: Vec<&str> = Vec::new();
        for text in at_targets {
            if !tried.contains(&text) {
                if self.names.agree(text, self.target, &fact.ty, self.rules) {
                    return Some(text.to_owned());
                }
                tried.push(text);
            }
        }
        None
    }

    fn activate(&mut self, node: &mut Node, facts: Vec<Fact>) -> Result<(), String> {
        let Some(offset) = facts.iter().map(|fact| fact.offset).min() else { return Ok(()) };
        let reference = self.near.iter().copied().find(|&t| node.active(t));
        let align = reference.and_then(|t| self.alignment(node, t));
        let mut now = Now { offset: Some(offset), align, ..Now::default() };
        match (node.group, &facts[..]) {
            (Some(kind), _) if node.name.is_empty() => self.members(kind, &mut node.children, facts)?,
            (group, [fact]) => {
                now.mask = fact.bits.map(mask);
                now.bits = fact.bits.map(|(_, width)| width);
                match (group, content(&fact.ty)) {
                    (Some(kind), Some(inner)) => {
                        let inner = Fact::list(inner, self.types, self.arch)?;
                        self.members(kind, &mut node.children, inner)?;
                    }
                    _ => now.ty = Some(self.spelled(Some(node), fact, &mut Vec::new())?),
                }
            }
            _ => return Err(format!("`{}` is there several times", node.name)),
        }
        node.now.insert(self.target, now);
        Ok(())
    }

    fn alignment(&self, node: &Node, target: usize) -> Option<u64> {
        match node.now.get(&target) {
            Some(now) => now.align,
            None => node.keys.get("align")?.at(target)?.number().and_then(|n| u64::try_from(n).ok()),
        }
    }

    fn fresh(&mut self, item: Item) -> Result<Node, String> {
        let mut node = Node::default();
        let mut now = Now::default();
        match item {
            Item::Group { kind, items, open } => {
                node.group = Some(kind);
                for item in items {
                    node.children.push(self.fresh(item)?);
                }
                now.offset = node.children.iter().filter_map(|child| child.now.get(&self.target)?.offset).min();
                if kind == Kind::Union && open {
                    node.remark(TOGETHER);
                }
            }
            Item::Member(fact) => {
                node.name = fact.name.clone();
                now = Now { offset: Some(fact.offset), bits: fact.bits.map(|(_, width)| width), ..now };
                if let Some(inner) = content(&fact.ty) {
                    let (kind, items, open) = self.unnamed(inner)?;
                    node.group = Some(kind);
                    if open {
                        node.remark(TOGETHER);
                    }
                    for item in items {
                        node.children.push(self.fresh(item)?);
                    }
                } else {
                    now.ty = Some(self.spelled(None, &fact, &mut node.notes)?);
                }
                // A member that only moved is what it was.
                if let Some((_, words)) = self.words.get(&fact.name).filter(|(ty, _)| *ty == now.ty) {
                    node.words = words.clone();
                }
            }
        }
        node.now.insert(self.target, now);
        Ok(node)
    }

    fn unnamed(&self, aggregate: &etw_layouts_symbols::Aggregate) -> Result<(Kind, Vec<Item>, bool), String> {
        let facts = Fact::list(aggregate, self.types, self.arch)?;
        let together = facts.iter().enumerate().any(|(i, one)| facts[..i].iter().any(|two| one.conflicts(two)));
        // A converted table guesses the kind, and guesses wrong where it shows.
        let union = match self.rules {
            Rules::Faithful => aggregate.kind == AggregateKind::Union,
            Rules::Converted => together && facts.iter().all(|fact| fact.offset == 0),
        };
        Ok(match union {
            true => {
                let (items, open) = nesting::union(facts);
                (Kind::Union, items, open)
            }
            false => (Kind::Struct, nesting::structure(facts), false),
        })
    }

    /// The spelling of a member's type: its entry's, or that of another of its name, or the symbols' own.
    fn spelled(&mut self, node: Option<&Node>, fact: &Fact, notes: &mut Vec<String>) -> Result<String, String> {
        let agrees = |text: &&String| self.names.agree(text, self.target, &fact.ty, self.rules);
        let known = node.and_then(|node| self.known_type(node, fact));
        let known = known.or_else(|| self.spellings.get(&fact.name)?.iter().find(agrees).cloned());
        let text = match known {
            Some(text) => text,
            None => {
                let spelled = self.names.spell(&fact.ty, self.rules).map_err(|e| format!("`{}`: {e}", fact.name))?;
                notes.extend(spelled.1.map(str::to_owned));
                spelled.0
            }
        };
        if let (Some(name), Type::Unnamed(inner)) = (super::types::held(&text), &fact.ty) {
            self.nameless.insert(name, (**inner).clone());
        }
        Ok(text)
    }

    /// Behind an entry and those after it that the nearest target has and this one has not: what is new replaces them.
    fn behind_replaced(&self, children: &[Node], last: Option<usize>) -> Option<usize> {
        let start = last.map_or(0, |index| index + 1);
        let replaced = |child: &Node| self.near.first().is_some_and(|&t| child.active(t)) || child.place.is_none();
        let gone = children[start.min(children.len())..].iter().take_while(|child| !child.active(self.target));
        let count = gone.enumerate().filter(|(_, child)| replaced(child)).last().map_or(0, |(i, _)| i + 1);
        (start + count).checked_sub(1)
    }
}

/// The mask of a bit field's position and width.
fn mask((position, width): (u64, u64)) -> u64 {
    let ones = if width == 0 { 0 } else { u64::MAX >> (64 - width.min(64)) };
    ones.checked_shl(u32::try_from(position).unwrap_or(64)).unwrap_or(0)
}

fn content(ty: &Type) -> Option<&etw_layouts_symbols::Aggregate> {
    match ty {
        Type::Unnamed(definition) => match &**definition {
            Definition::Aggregate(aggregate) => Some(aggregate),
            Definition::Enumeration(_) => None,
        },
        _ => None,
    }
}

/// Members that share bytes, or an anonymous group, in the order of their offsets, each with the child that they belong to.
fn components(children: &[Node], facts: Vec<Fact>, chosen: &[Option<usize>]) -> Vec<(Option<usize>, Vec<Fact>)> {
    let group = |i: usize| chosen[i].filter(|&c| children[c].name.is_empty());
    let mut sets = Sets::new(facts.len());
    for i in 0..facts.len() {
        (0..i).filter(|&j| facts[i].conflicts(&facts[j])).for_each(|j| sets.join(i, j));
    }
    // Those of a group that have gone where another group is are no longer of it.
    let parts = sets.parts();
    let mut of: Vec<Option<usize>> = (0..facts.len()).map(group).collect();
    for part in &parts {
        let main = most(part.iter().filter_map(|&i| group(i)));
        part.iter().filter(|&&i| group(i) != main).for_each(|&i| of[i] = None);
    }
    let mut extents: BTreeMap<usize, (u64, u64, usize)> = BTreeMap::new();
    for (i, group) in of.iter().enumerate().filter_map(|(i, group)| Some((i, (*group)?))) {
        let (start, end) = facts[i].extent();
        let extent = extents.entry(group).or_insert((start, end, i));
        *extent = (extent.0.min(start), extent.1.max(end), extent.2);
        sets.join(i, extent.2);
    }
    for (i, fact) in facts.iter().enumerate().filter(|(i, _)| of[*i].is_none()) {
        let (start, end) = fact.extent();
        let around = extents.values().find(|(first, last, _)| *first <= start && end <= *last);
        around.into_iter().for_each(|(_, _, one)| sets.join(i, *one));
    }
    let part = |part: Vec<usize>| {
        let child = match part[..] {
            [one] if of[one].is_none() => chosen[one].filter(|&c| !children[c].name.is_empty()),
            _ => most(part.iter().filter_map(|&i| of[i])),
        };
        (child, part.iter().map(|&i| facts[i].clone()).collect())
    };
    sets.parts().into_iter().map(part).collect()
}

/// What is there most often; of several, the first.
fn most(list: impl Iterator<Item = usize>) -> Option<usize> {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    list.for_each(|one| *counts.entry(one).or_default() += 1);
    counts.into_iter().max_by_key(|(one, count)| (*count, std::cmp::Reverse(*one))).map(|(one, _)| one)
}

/// Disjoint sets of numbers, each known by its least.
struct Sets(Vec<usize>);

impl Sets {
    fn new(count: usize) -> Self {
        Self((0..count).collect())
    }

    fn least(&self, mut one: usize) -> usize {
        while self.0[one] != one {
            one = self.0[one];
        }
        one
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.least(one), self.least(other));
        self.0[one.max(other)] = one.min(other);
    }

    fn parts(&self) -> Vec<Vec<usize>> {
        let mut parts: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        (0..self.0.len()).for_each(|one| parts.entry(self.least(one)).or_default().push(one));
        parts.into_values().collect()
    }
}
