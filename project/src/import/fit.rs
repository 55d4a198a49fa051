//! A table's members, fitted to the entries of a definition.
//!
//! The entries are in the order of the declaration at every target, so those that a target has must have ascending offsets.
//! Of all ways to give the table's members entries of their names in such an order, the one is taken that keeps most of what
//! the nearest target has. A member without an entry gets a new one where its offset puts it; one that overlaps an anonymous
//! group becomes part of that; several that overlap become a group that [`nesting`] makes.

use super::ascent::{Ascent, Named};
use super::nesting::{self, Item};
use super::overlap::{self, Work, together};
use super::tree::{Node, Now, Words, insert};
use super::types::{Fact, Names};
use etw_layouts_codegen::axis::Arch;
use etw_layouts_codegen::spec::Kind;
use etw_layouts_symbols::{Aggregate, AggregateKind, Rules, Type, TypeFacts, Types};
use std::cmp::Reverse;
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
    /// The same kernel on the other architecture, if it is on the axis.
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
    /// How long to look.
    pub work: Work,
    /// Enumerations that the table has without their names, by the names that the spec has for them.
    pub nameless: BTreeMap<String, TypeFacts>,
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
        for (child, facts) in together(children, facts, &chosen) {
            match child {
                Some(index) => {
                    self.activate(&mut children[index], facts)?;
                    last = Some(index);
                }
                None => unplaced.push((last, facts)),
            }
        }
        let mut new: BTreeMap<usize, Vec<Node>> = BTreeMap::new();
        for (last, facts) in unplaced {
            let at = self.behind_replaced(children, last);
            for item in nesting::structure(facts, &mut self.work)? {
                let node = self.fresh(item)?;
                new.entry(at).or_default().push(node);
            }
        }
        insert(children, new);
        Ok(())
    }

    fn union(&mut self, children: &mut Vec<Node>, mut facts: Vec<Fact>) -> Result<(), String> {
        facts.sort_by(|a, b| (a.extent().0, b.extent().1, &a.name).cmp(&(b.extent().0, a.extent().1, &b.name)));
        let start = facts.first().map_or(0, |fact| fact.extent().0);
        let mut of_child: BTreeMap<usize, Vec<Fact>> = BTreeMap::new();
        let mut rest = Vec::new();
        let named = Named::of(children);
        for fact in facts {
            let fits = |(i, _): &&(usize, &Node)| children[*i].name.is_empty() || fact.extent().0 == start;
            let candidates = named.get(&fact.name).iter().filter(fits);
            let best = candidates.filter_map(|&(i, node)| Some((self.weight(node, &fact)?, Reverse(i)))).max();
            match best {
                Some((_, Reverse(index))) => of_child.entry(index).or_default().push(fact),
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
        nesting::distribute(&mut alternatives, rest, start, &mut self.work)?;
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
        let at = self.behind_replaced(children, last);
        let mut nodes = Vec::new();
        for (facts, open) in new {
            let item = nesting::alternative(facts, &mut self.work)?;
            let mut node = self.fresh(item)?;
            if open {
                node.remark(TOGETHER);
            }
            nodes.push(node);
        }
        insert(children, [(at, nodes)].into());
        Ok(())
    }

    /// For each member the child that it belongs to, so that children ascend and the weights are greatest.
    fn ordered(&self, children: &[Node], facts: &[Fact]) -> Vec<Option<usize>> {
        let named = Named::of(children);
        let mut ascent = Ascent::over(children.len());
        for (i, fact) in facts.iter().enumerate() {
            let suits = |&(c, node): &(usize, &Node)| Some((c, self.weight(node, fact)?, children[c].name.is_empty()));
            ascent.step(i, named.get(&fact.name).iter().filter_map(suits));
        }
        ascent.highest(facts.len())
    }

    /// How well a member suits an entry of its name.
    fn weight(&self, node: &Node, fact: &Fact) -> Option<i64> {
        let nearest = self.near.iter().position(|&t| node.active(t))?;
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
        let unnamed = matches!(&fact.ty, Type::Unnamed(inner) if matches!(**inner, TypeFacts::Enumeration(_)));
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
        let arch = |t: usize| self.names.spec.axis.targets[t].arch;
        let reference = self.near.iter().copied().find(|&t| node.active(t)).filter(|&t| arch(t) == self.arch);
        let align = reference.and_then(|t| u64::try_from(node.number_at("align", t)?).ok());
        let size = facts.iter().map(|fact| fact.offset + fact.size).max().map(|end| end - offset);
        let mut now = Now { offset: Some(offset), size, align, ..Now::default() };
        match (node.group, &facts[..]) {
            (Some(kind), _) if node.name.is_empty() => self.members(kind, &mut node.children, facts)?,
            (group, [fact]) => {
                now.mask = fact.bits.map(mask);
                now.bits = fact.bits.map(|(_, width)| width);
                match (group, content(&fact.ty)) {
                    (Some(kind), Some(inner)) => {
                        let inner = Fact::list(inner, self.types, self.arch)?;
                        self.work.more(inner.len());
                        self.members(kind, &mut node.children, inner)?;
                    }
                    _ => now.ty = Some(self.spelled(Some(node), fact, &mut Vec::new())?),
                }
            }
            _ => return Err(format!("`{}` is there several times", node.name)),
        }
        node.now = Some(now);
        Ok(())
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
                now.offset = node.children.iter().filter_map(|child| child.now.as_ref()?.offset).min();
                if kind == Kind::Union && open {
                    node.remark(TOGETHER);
                }
            }
            Item::Member(fact) => {
                node.name = fact.name.clone();
                now = Now { offset: Some(fact.offset), size: Some(fact.size), bits: fact.bits.map(|(_, width)| width), ..now };
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
        node.now = Some(now);
        Ok(node)
    }

    fn unnamed(&mut self, aggregate: &Aggregate) -> Result<(Kind, Vec<Item>, bool), String> {
        let facts = Fact::list(aggregate, self.types, self.arch)?;
        self.work.more(facts.len());
        // A converted table guesses the kind, and guesses wrong where it shows.
        let union = match self.rules {
            Rules::Faithful => aggregate.kind == AggregateKind::Union,
            Rules::Converted => overlap::any(&facts) && facts.iter().all(|fact| fact.offset == 0),
        };
        Ok(match union {
            true => {
                let (items, open) = nesting::union(facts, &mut self.work)?;
                (Kind::Union, items, open)
            }
            false => (Kind::Struct, nesting::structure(facts, &mut self.work)?, false),
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

    /// The index behind an entry and those after it that the nearest target has and this one has not: what is new replaces them.
    fn behind_replaced(&self, children: &[Node], last: Option<usize>) -> usize {
        let start = last.map_or(0, |index| index + 1);
        let replaced = |child: &Node| self.near.first().is_some_and(|&t| child.active(t)) || child.place.is_none();
        let gone = children[start.min(children.len())..].iter().take_while(|child| child.now.is_none());
        let count = gone.enumerate().filter(|(_, child)| replaced(child)).last().map_or(0, |(i, _)| i + 1);
        start + count
    }
}

/// The mask of a bit field's position and width.
fn mask((position, width): (u64, u64)) -> u64 {
    let ones = if width == 0 { 0 } else { u64::MAX >> (64 - width.min(64)) };
    ones.checked_shl(u32::try_from(position).unwrap_or(64)).unwrap_or(0)
}

fn content(ty: &Type) -> Option<&Aggregate> {
    match ty {
        Type::Unnamed(definition) => match &**definition {
            TypeFacts::Aggregate(aggregate) => Some(aggregate),
            TypeFacts::Enumeration(_) => None,
        },
        _ => None,
    }
}
