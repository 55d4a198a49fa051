//! Assignment of a table's members to the members of a definition.
//!
//! The members of a definition are in declaration order at every target, so the members of one target must have ascending
//! offsets. Members of the table are assigned to members of the same name in this order, such that as much as possible of the
//! nearest target is kept. A member without an assignment is added where its offset requires.

use super::ascent::{NamedMembers, ascending};
use super::place::Place;
use super::renamed;
use super::shared::{self, together};
use super::types::{Names, SymbolMember};
use super::unions::{self, TOGETHER};
use etw_layouts_codegen::axis::{Arch, TargetId};
use etw_layouts_codegen::ctype::CType;
use etw_layouts_codegen::spec::{Kind, Member, Shape};
use etw_layouts_symbols::{Aggregate, AggregateKind, Rules, Type, TypeFacts, Types};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Input of an assignment.
pub struct Alignment<'a> {
    /// The targets that the table's members apply to.
    pub place: &'a Place,
    /// Architecture of these targets.
    pub arch: Arch,
    /// All targets with known members, nearest first.
    pub near: &'a [TargetId],
    /// The same build on another architecture, if it is on the axis.
    pub sibling: Option<TargetId>,
    /// The names of types.
    pub names: &'a Names<'a>,
    /// The comparison rules for the producer of the table.
    pub rules: Rules,
    /// All types of the table.
    pub types: &'a Types,
    /// The original members of the definition.
    pub before: &'a [Member],
    /// Whether the source of the definition itself is symbols.
    pub from_symbols: bool,
    /// Unnamed enumerations of the table, by their names in the spec.
    pub nameless: BTreeMap<String, TypeFacts>,
}

impl Alignment<'_> {
    /// Assigns members to those of a structure or union.
    ///
    /// # Errors
    ///
    /// The members cannot be expressed in a spec.
    pub fn members(&mut self, kind: Kind, children: &mut Vec<Member>, facts: Vec<SymbolMember>) -> Result<(), String> {
        match kind {
            Kind::Struct => self.structure(children, facts),
            Kind::Union => self.union(children, facts),
        }
    }

    fn structure(&mut self, children: &mut Vec<Member>, mut facts: Vec<SymbolMember>) -> Result<(), String> {
        facts.sort_by(|a, b| (a.extent(), &a.name).cmp(&(b.extent(), &b.name)));
        let chosen = self.ordered(children, &facts);
        let mut of_child: BTreeMap<usize, Vec<SymbolMember>> = BTreeMap::new();
        let mut last = None;
        let mut unplaced: BTreeMap<Option<usize>, Vec<Member>> = BTreeMap::new();
        for (child, facts) in together(children, facts, &chosen) {
            match child.or_else(|| group_of(children, &facts, last)) {
                Some(index) => {
                    of_child.insert(index, facts);
                    last = Some(index);
                }
                None => {
                    for item in unions::structure(facts)? {
                        unplaced.entry(last).or_default().push(self.fresh(item)?);
                    }
                }
            }
        }
        let kept: BTreeSet<usize> = of_child.keys().copied().collect();
        let mut new = BTreeMap::new();
        for (last, mut members) in unplaced {
            let replaced = self.replaced(children, &kept, last);
            let at = replaced.last().or(last.as_ref()).map_or(0, |index| index + 1);
            self.describe(replaced.iter().map(|&index| &children[index]), &mut members);
            new.insert(at, members);
        }
        self.activate_all(children, of_child, new)
    }

    fn union(&mut self, children: &mut Vec<Member>, mut facts: Vec<SymbolMember>) -> Result<(), String> {
        facts.sort_by(|a, b| (a.extent().0, b.extent().1, &a.name).cmp(&(b.extent().0, a.extent().1, &b.name)));
        let start = facts.first().map_or(0, |fact| fact.extent().0);
        let mut of_child: BTreeMap<usize, Vec<SymbolMember>> = BTreeMap::new();
        let mut rest = Vec::new();
        let named = NamedMembers::of(children);
        for fact in facts {
            let fits = |(i, _): &&(usize, &Member)| children[*i].name.is_none() || fact.extent().0 == start;
            let candidates = named.get(&fact.name).iter().filter(fits);
            let best = candidates.filter_map(|&(i, member)| Some((self.weight(member, &fact)?, Reverse(i)))).max();
            match best {
                Some((_, Reverse(index))) => of_child.entry(index).or_default().push(fact),
                None => rest.push(fact),
            }
        }
        // A member that follows another one forms a structure with it.
        let is_structure = |i: usize| matches!(children[i].shape, Shape::Inline(Kind::Struct, _)) && children[i].name.is_none();
        let is_plain = |i: usize| matches!(children[i].shape, Shape::Type(_));
        let known: Vec<usize> = of_child.keys().copied().filter(|&i| is_plain(i) || is_structure(i)).collect();
        let mut alternatives: Vec<Vec<SymbolMember>> = known.iter().map(|i| of_child[i].clone()).collect();
        rest.extend(alternatives.iter_mut().flat_map(unions::lost));
        rest.sort_by_key(|fact| (fact.extent().0, Reverse(fact.extent().1)));
        let open = unions::distribute(&mut alternatives, rest, start)?;
        let mut new = Vec::new();
        let mut remarked = Vec::new();
        for (i, (facts, is_open)) in alternatives.into_iter().zip(open).enumerate() {
            match known.get(i) {
                Some(index) if facts.is_empty() => _ = of_child.remove(index),
                Some(&index) if is_plain(index) && facts.len() > 1 => {
                    of_child.remove(&index);
                    new.push((facts, is_open));
                }
                Some(&index) => {
                    of_child.insert(index, facts);
                    remarked.extend(is_open.then_some(index));
                }
                None => new.push((facts, is_open)),
            }
        }
        remarked.into_iter().for_each(|index| remark(&mut children[index], TOGETHER));
        let kept: BTreeSet<usize> = of_child.keys().copied().collect();
        let last = kept.last().copied();
        let at = self.replaced(children, &kept, last).last().copied().or(last).map_or(0, |index| index + 1);
        let mut members = Vec::new();
        for (facts, is_open) in new {
            let mut member = self.fresh(unions::alternative(facts)?)?;
            if is_open {
                remark(&mut member, TOGETHER);
            }
            members.push(member);
        }
        let is_gone = |(index, child): &(usize, &Member)| !kept.contains(index) && self.is_in_nearest(child);
        self.describe(children.iter().enumerate().filter(is_gone).map(|(_, child)| child), &mut members);
        self.activate_all(children, of_child, [(at, members)].into())
    }

    /// Activates the children that got members at the target, and adds new ones.
    fn activate_all(
        &mut self,
        children: &mut Vec<Member>,
        mut of_child: BTreeMap<usize, Vec<SymbolMember>>,
        mut new: BTreeMap<usize, Vec<Member>>,
    ) -> Result<(), String> {
        for (index, mut child) in std::mem::take(children).into_iter().enumerate() {
            children.extend(new.remove(&index).into_iter().flatten());
            match of_child.remove(&index) {
                Some(facts) => self.activate(&mut child, facts)?,
                None => self.place.absent(&mut child),
            }
            children.push(child);
        }
        children.extend(new.into_values().flatten());
        Ok(())
    }

    /// The child of each member, such that the children are in ascending order and the sum of weights is maximal.
    fn ordered(&self, children: &[Member], facts: &[SymbolMember]) -> Vec<Option<usize>> {
        let named = NamedMembers::of(children);
        ascending(facts.iter().map(|fact| {
            let suits = |&(c, member): &(usize, &Member)| Some((c, self.weight(member, fact)?, children[c].name.is_none()));
            named.get(&fact.name).iter().filter_map(suits).collect()
        }))
    }

    /// Similarity of a table's member to a member of the same name in the definition.
    fn weight(&self, member: &Member, fact: &SymbolMember) -> Option<i64> {
        let nearest = self.near.iter().position(|&t| member.scope.contains(t))?;
        let reference = self.near[nearest];
        let is_group = matches!(member.shape, Shape::Inline(..));
        if is_group != matches!(fact.ty, Type::Unnamed(_)) && !self.is_nameless(member, fact) {
            return None;
        }
        if member.bits.get(reference).is_some() != fact.bits.is_some() {
            return None;
        }
        let agrees = is_group || self.known_type(member, fact).is_some();
        let distance = i64::try_from(nearest.min(99)).unwrap_or(99);
        match (nearest, agrees) {
            (0, _) => Some(1000 + i64::from(agrees)),
            _ if self.sibling.is_some_and(|t| member.scope.contains(t)) => Some(500 + i64::from(agrees)),
            (_, true) => Some(200 - distance),
            (_, false) => None,
        }
    }

    /// Whether the table has an unnamed enumeration where the definition has a named one.
    fn is_nameless(&self, member: &Member, fact: &SymbolMember) -> bool {
        let unnamed = matches!(&fact.ty, Type::Unnamed(inner) if matches!(**inner, TypeFacts::Enumeration(_)));
        unnamed && self.known_type(member, fact).is_some()
    }

    /// The type of a member in the definition that agrees with the table, if there is one at any target. If several agree, the
    /// one at the nearest target.
    fn known_type(&self, member: &Member, fact: &SymbolMember) -> Option<CType> {
        let Shape::Type(types) = &member.shape else { return None };
        let at_targets = self.near.iter().filter(|&&t| member.scope.contains(t)).filter_map(|&t| types.get(t));
        let mut tried: Vec<&CType> = Vec::new();
        for piece in at_targets {
            if !tried.contains(&&piece.value) {
                if self.names.agree(&piece.value, self.place.target, &fact.ty, self.rules) {
                    return Some(piece.value.clone());
                }
                tried.push(&piece.value);
            }
        }
        None
    }

    /// Activates a member at the target, with the facts of the table.
    fn activate(&mut self, member: &mut Member, facts: Vec<SymbolMember>) -> Result<(), String> {
        let Some(offset) = facts.iter().map(|fact| fact.offset).min() else { return Ok(()) };
        // Members can have different alignment on different architectures.
        let arch = |t: TargetId| self.names.spec.axis.targets[t].arch;
        let nearest = self.near.iter().copied().find(|&t| member.scope.contains(t));
        let reference = nearest.filter(|&t| arch(t) == self.arch);
        let align = reference.and_then(|t| Some(member.align.get(t)?.value));
        let known = match &facts[..] {
            [fact] => Some(self.spelled(Some(member), fact)?),
            _ => None,
        };
        match (&mut member.shape, &facts[..]) {
            (Shape::Inline(kind, children), _) if member.name.is_none() => self.members(*kind, children, facts)?,
            (shape, [fact]) => {
                match (shape, content(&fact.ty)) {
                    (Shape::Inline(kind, children), Some(inner)) => {
                        let inner = SymbolMember::list(inner, self.types, self.arch)?;
                        self.members(*kind, children, inner)?;
                    }
                    (Shape::Type(types), _) => {
                        let Some((ty, note)) = known else { return Err(format!("`{}` has no type", fact.name)) };
                        self.place.set(types, ty);
                        note.into_iter().for_each(|note| remark(member, note));
                    }
                    (Shape::Inline(..), None) => return Err(format!("`{}` is not a structure in the symbols", fact.name)),
                }
                self.place.set(&mut member.bits, fact.bits.map(|(_, width)| width));
                self.place.assert(&mut member.mask, fact.bits.map(mask));
            }
            _ => return Err(format!("duplicate member `{}`", facts[0].name)),
        }
        self.place.assert(&mut member.offset, Some(offset));
        self.place.set(&mut member.align, align);
        self.place.inherit(&mut member.source, nearest);
        self.place.put(&mut member.scope);
        Ok(())
    }

    /// A new member, or a new group of members.
    fn fresh(&mut self, item: unions::Item) -> Result<Member, String> {
        let mut member = match item {
            unions::Item::Group { kind, items, is_open } => {
                let children = items.into_iter().map(|item| self.fresh(item)).collect::<Result<Vec<_>, _>>()?;
                let mut member = Member::new(None, Shape::Inline(kind, children));
                if is_open {
                    remark(&mut member, TOGETHER);
                }
                member
            }
            unions::Item::Member(fact) => self.fresh_member(&fact)?,
        };
        self.place.put(&mut member.scope);
        Ok(member)
    }

    fn fresh_member(&mut self, fact: &SymbolMember) -> Result<Member, String> {
        let name = Some(fact.name.clone());
        let mut member = match content(&fact.ty) {
            Some(inner) => {
                let (kind, items, is_open) = self.unnamed(inner)?;
                let children = items.into_iter().map(|item| self.fresh(item)).collect::<Result<Vec<_>, _>>()?;
                let mut member = Member::new(name, Shape::Inline(kind, children));
                if is_open {
                    remark(&mut member, TOGETHER);
                }
                member
            }
            None => {
                let (ty, note) = self.spelled(None, fact)?;
                let mut types = Default::default();
                self.place.set(&mut types, Some(ty.clone()));
                let mut member = Member::new(name, Shape::Type(types));
                // A member that only moved keeps its properties.
                let is_same = |old: &&Member, t: TargetId| {
                    old.scope.contains(t)
                        && matches!(&old.shape, Shape::Type(types) if types.get(t).is_some_and(|p| p.value == ty))
                };
                if let Some(&nearest) = self.near.first()
                    && let Some(old) = named(self.before, &fact.name).into_iter().find(|old| is_same(old, nearest))
                {
                    (member.doc, member.values, member.leads_to) = (old.doc.clone(), old.values.clone(), old.leads_to.clone());
                }
                note.into_iter().for_each(|note| remark(&mut member, note));
                member
            }
        };
        self.place.set(&mut member.bits, fact.bits.map(|(_, width)| width));
        if !self.from_symbols {
            self.place.set(&mut member.source, Some(etw_layouts_codegen::spec::Provenance::Symbols));
        }
        Ok(member)
    }

    fn unnamed(&mut self, aggregate: &Aggregate) -> Result<(Kind, Vec<unions::Item>, bool), String> {
        let facts = SymbolMember::list(aggregate, self.types, self.arch)?;
        // A converted table only guesses the kind, sometimes wrongly.
        let union = match self.rules {
            Rules::Faithful => aggregate.kind == AggregateKind::Union,
            Rules::Converted => shared::any(&facts) && facts.iter().all(|fact| fact.offset == 0),
        };
        Ok(match union {
            true => {
                let (items, is_open) = unions::union(facts)?;
                (Kind::Union, items, is_open)
            }
            false => (Kind::Struct, unions::structure(facts)?, false),
        })
    }

    /// The type of a member: that of the definition, another with the same name, or that of the symbols; and a note about open
    /// questions.
    fn spelled(&mut self, member: Option<&Member>, fact: &SymbolMember) -> Result<(CType, Option<&'static str>), String> {
        let known = member.and_then(|member| self.known_type(member, fact));
        let known = known.or_else(|| {
            let agrees = |ty: &&CType| self.names.agree(ty, self.place.target, &fact.ty, self.rules);
            let types = named(self.before, &fact.name).into_iter().filter_map(|member| match &member.shape {
                Shape::Type(types) => Some(types.0.iter().map(|piece| &piece.value)),
                Shape::Inline(..) => None,
            });
            types.flatten().find(agrees).cloned()
        });
        let spelled = match known {
            Some(ty) => (ty, None),
            None if content(&fact.ty).is_some() => (CType::Name { name: String::new(), volatile: false }, None),
            None => self.names.spell(&fact.ty, self.rules).map_err(|e| format!("`{}`: {e}", fact.name))?,
        };
        if let (Some(name), Type::Unnamed(inner)) = (super::types::held(&spelled.0), &fact.ty)
            && content(&fact.ty).is_none()
        {
            self.nameless.insert(name, (**inner).clone());
        }
        Ok(spelled)
    }

    /// The children after another one that only the nearest target has: new members replace them.
    fn replaced(&self, children: &[Member], kept: &BTreeSet<usize>, last: Option<usize>) -> Vec<usize> {
        let start = last.map_or(0, |index| index + 1);
        let gone = (start..children.len()).take_while(|index| !kept.contains(index));
        gone.filter(|&index| self.is_in_nearest(&children[index])).collect()
    }

    fn is_in_nearest(&self, member: &Member) -> bool {
        self.near.first().is_some_and(|&target| member.scope.contains(target))
    }

    /// Keeps the descriptions of replaced members in new ones, if all of them only have new names.
    fn describe<'m>(&self, replaced: impl Iterator<Item = &'m Member>, new: &mut [Member]) {
        if let Some(&nearest) = self.near.first() {
            renamed::members(&replaced.collect::<Vec<_>>(), nearest, new, self.place.target);
        }
    }
}

/// The first unnamed group after a child that contains all of several members at other targets.
fn group_of(children: &[Member], facts: &[SymbolMember], last: Option<usize>) -> Option<usize> {
    let start = last.map_or(0, |last| last + 1);
    let has = |child: &Member| {
        let named = NamedMembers::of(std::slice::from_ref(child));
        child.name.is_none() && facts.iter().all(|fact| !named.get(&fact.name).is_empty())
    };
    children[start..].iter().position(has).filter(|_| facts.len() > 1).map(|index| start + index)
}

/// Adds a note about a member once.
pub fn remark(member: &mut Member, note: &str) {
    super::texts::remark(&mut member.comments, note);
}

/// The members with a name, at any target.
fn named<'m>(members: &'m [Member], name: &str) -> Vec<&'m Member> {
    let one = |member: &'m Member| {
        let own = member.name.as_ref().filter(|own| own.value == name).map(|_| member);
        let inner = if let Shape::Inline(_, inner) = &member.shape { named(inner, name) } else { Vec::new() };
        own.into_iter().chain(inner)
    };
    members.iter().flat_map(one).collect()
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
