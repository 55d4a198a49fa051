//! What one kernel's symbols say, put into the definitions.

use super::fit::Fit;
use super::overlap::Work;
use super::tree::{Definition, Node, Now, Subject, Words, insert};
use super::types::{Fact, Names, definable, embraced, held, shown, spelled};
use crate::tables::Table;
use etw_layouts_codegen::axis::Axis;
use etw_layouts_codegen::spec::{Kind, Spec};
use etw_layouts_symbols::{self as symbols, AggregateKind, Rules};
use std::collections::{BTreeMap, BTreeSet};

/// Why a definition that a kernel's symbols do not hold is kept for it.
pub const ABSENT: &str = "the kernel's symbols do not hold the type";

/// A kernel that is entered into definitions.
pub struct Entering<'a> {
    /// The scalars, typedefs and axis, the kernel on it.
    pub spec: &'a Spec,
    /// The kernel's target.
    pub target: usize,
    /// Whether the definitions spoke of it before.
    pub again: bool,
    /// What its symbols say.
    pub table: &'a Table,
    /// Their types, and those that they embed and the symbols lack.
    pub embedded: &'a symbols::Types,
    /// The definitions, by name.
    pub definitions: BTreeMap<String, Definition>,
}

/// What became of the definitions.
#[derive(Default)]
pub struct Entered {
    /// The kernel's symbols hold them.
    pub held: BTreeSet<String>,
    /// The kernel does not have them any more.
    pub gone: BTreeSet<String>,
    /// They are kept as they are, without symbols that say so, for this reason.
    pub unconfirmed: BTreeMap<String, String>,
}

impl<'a> Entering<'a> {
    /// Gives every member of the table to an entry, new ones where none suits.
    ///
    /// # Errors
    ///
    /// What cannot be written as a spec.
    pub fn run(&mut self) -> Result<Entered, String> {
        let own = self.again.then_some(self.target);
        let near: Vec<_> = own.into_iter().chain(near(&self.spec.axis, self.target)).collect();
        let nearest = near.first().copied();
        let before: BTreeSet<String> = match nearest.filter(|_| !self.definitions.is_empty()) {
            Some(nearest) => {
                let has = |definition: &&Definition| definition.root.active(nearest) || definition.root.active(self.target);
                self.definitions.values().filter(has).map(|definition| definition.root.name.clone()).collect()
            }
            None => self.table.types.keys().filter(|name| definable(name).is_ok()).cloned().collect(),
        };
        let types = &self.table.types;
        let held = before.iter().filter(|name| types.contains_key(*name)).count();
        // What no public symbols hold says nothing of how whole these are.
        let expected = |name: &&String| types.contains_key(*name) || self.unverifiable(name, nearest).is_none();
        let all = before.iter().filter(expected).count();
        if held * 2 < all {
            let source = &self.table.source;
            return Err(format!("{source} holds {held} of {all} types; import takes the public symbols of a kernel, whole"));
        }
        // What comes back has a definition that the nearest kernel does not have.
        let back = self.definitions.keys().filter(|name| types.contains_key(*name));
        let all = before.iter().chain(back).cloned().collect();
        let (mut entered, nameless) = self.enter(embraced(types, all), &near)?;
        self.enter_nameless(nameless, &near, &mut entered)?;
        if let Some(nearest) = nearest {
            self.absent(before.difference(&entered.held).cloned().collect(), nearest, &mut entered);
        }
        Ok(entered)
    }

    /// Gives the members of some structures, and of what these embed, to entries, where the kernel does not have the structure yet.
    ///
    /// # Errors
    ///
    /// What cannot be written as a spec.
    pub fn fill(&mut self, names: &BTreeSet<String>) -> Result<Entered, String> {
        let near = near(&self.spec.axis, self.target);
        let target = self.target;
        let lacks = |all: &BTreeMap<String, Definition>, name: &String| all.get(name).is_none_or(|d| !d.root.active(target));
        let mut all = embraced(&self.table.types, names.iter().cloned().collect());
        all.retain(|name| lacks(&self.definitions, name));
        let (mut entered, mut nameless) = self.enter(all, &near)?;
        nameless.retain(|name, _| lacks(&self.definitions, name));
        self.enter_nameless(nameless, &near, &mut entered)?;
        Ok(entered)
    }

    /// Gives the members of structures that the table holds to entries. Tells which enumerations it has without their names.
    fn enter(&mut self, names: BTreeSet<String>, near: &[usize]) -> Result<(Entered, symbols::Types), String> {
        let mut entered = Entered::default();
        let known = self.names();
        let mut nameless = BTreeMap::new();
        for name in names {
            let Some(facts) = self.table.types.get(&name) else { continue };
            definable(&name).and_then(|()| spellable(facts)).map_err(|error| format!("{}: {error}", shown(&name)))?;
            self.definition(&name, facts, near, &known, &mut nameless)?;
            entered.held.insert(name);
        }
        Ok((entered, nameless))
    }

    /// Enters enumerations that the table has without their names: it cannot confirm them.
    fn enter_nameless(&mut self, nameless: symbols::Types, near: &[usize], entered: &mut Entered) -> Result<(), String> {
        let known = self.names();
        for (name, facts) in nameless {
            if entered.held.insert(name.clone()) {
                self.definition(&name, &facts, near, &known, &mut BTreeMap::new())?;
                let reason = self.reason(&name, near.first().copied());
                if let Some(now) = self.definitions.get_mut(&name).and_then(|definition| definition.root.now.as_mut()) {
                    now.unverifiable = Some(reason);
                }
            }
        }
        Ok(())
    }

    /// What types are called in specs and symbols.
    fn names(&self) -> Names<'a> {
        let is_enum = |definition: &&Definition| definition.subject == Subject::Enumeration;
        let ours = self.definitions.values().filter(is_enum).map(|definition| definition.root.name.clone());
        let theirs = self.table.types.iter().filter(|(_, facts)| matches!(facts, symbols::TypeFacts::Enumeration(_)));
        Names { spec: self.spec, enumerations: ours.chain(theirs.map(|(name, _)| name.clone())).collect() }
    }

    fn definition(
        &mut self,
        name: &str,
        facts: &symbols::TypeFacts,
        near: &[usize],
        names: &Names,
        nameless: &mut BTreeMap<String, symbols::TypeFacts>,
    ) -> Result<(), String> {
        let (target, table) = (self.target, self.table);
        let mut definition = self.definitions.remove(name).unwrap_or_else(|| blank(name, facts));
        // Of a new one only those kernels tell anything that it has been entered for.
        let entered: Vec<usize>;
        let near = match definition.path.is_empty() {
            true => {
                entered = near.iter().copied().filter(|&t| definition.root.active(t)).collect();
                &entered
            }
            false => near,
        };
        let reference = near.iter().copied().find(|&t| definition.root.active(t));
        // What aligns a type on one architecture need not on another.
        let alike = reference.filter(|&t| self.spec.axis.targets[t].arch == table.arch);
        let inherited = |key: &str| u64::try_from(definition.root.number_at(key, alike?)?).ok();
        let mut now = Now { align: inherited("align"), pack: inherited("pack"), ..Now::default() };
        match (definition.subject, facts) {
            (Subject::Aggregate(kind), symbols::TypeFacts::Aggregate(aggregate)) => {
                if kind != kind_of(aggregate.kind) {
                    return Err(other_kind(name, aggregate.kind.as_str()));
                }
                now.size = Some(aggregate.size);
                let axis = &self.spec.axis;
                let at = axis.targets[target];
                let sibling = |&t: &usize| axis.targets[t].kernel == at.kernel && axis.targets[t].arch != at.arch;
                let mut fit = Fit {
                    target,
                    arch: table.arch,
                    near,
                    sibling: near.iter().copied().find(sibling),
                    names,
                    rules: Rules::for_producer(&table.producer),
                    types: self.embedded,
                    spellings: spellings(&definition.root),
                    words: reference.map(|t| words(&definition.root, t)).unwrap_or_default(),
                    work: Work::of(aggregate.members.len()),
                    nameless: BTreeMap::new(),
                };
                let facts = Fact::list(aggregate, self.embedded, table.arch).map_err(|e| format!("{name}: {e}"))?;
                fit.members(kind, &mut definition.root.children, facts).map_err(|e| format!("{name}: {e}"))?;
                nameless.extend(fit.nameless);
            }
            (Subject::Enumeration, symbols::TypeFacts::Enumeration(enumeration)) => {
                let rules = Rules::for_producer(&table.producer);
                now.ty = Some(integer(&definition.root, enumeration, target, names)?);
                constants(&mut definition.root, enumeration, near, rules);
            }
            (_, symbols::TypeFacts::Aggregate(aggregate)) => return Err(other_kind(name, aggregate.kind.as_str())),
            (_, symbols::TypeFacts::Enumeration(_)) => return Err(other_kind(name, "enum")),
        }
        definition.root.now = Some(now);
        self.definitions.insert(name.to_owned(), definition);
        Ok(())
    }

    /// Types that the nearest kernel has and this table lacks. A type that others held goes when none does any more; one of
    /// its own is kept as it was, but not as confirmed.
    fn absent(&mut self, names: BTreeSet<String>, nearest: usize, entered: &mut Entered) {
        let part = self.held_by_value(|_, node| node.type_at(nearest).filter(|_| node.active(nearest)));
        let mut pending: BTreeSet<String> = names.iter().filter(|name| !part.contains(*name)).cloned().collect();
        let mut left: BTreeSet<String> = names.difference(&pending).cloned().collect();
        loop {
            for name in std::mem::take(&mut pending) {
                let reason = self.reason(&name, Some(nearest));
                let Some(definition) = self.definitions.get_mut(&name) else { continue };
                if !definition.root.active(self.target) || has_gap(&definition.root, self.target) {
                    copy(&mut definition.root, nearest);
                    if let Some(now) = &mut definition.root.now {
                        now.unverifiable = Some(reason.clone());
                    }
                }
                entered.unconfirmed.insert(name, reason);
            }
            let target = self.target;
            let held = self.held_by_value(|definition, node| match (&definition.root.now, &node.now) {
                (_, Some(now)) => now.ty.as_deref(),
                (Some(_), None) => None,
                (None, None) => node.type_at(target).filter(|_| node.active(target) && !left.contains(&definition.root.name)),
            });
            pending = left.intersection(&held).cloned().collect();
            left = left.difference(&pending).cloned().collect();
            if pending.is_empty() {
                entered.gone = left;
                return;
            }
        }
    }

    /// The types that members hold by value, where each has the type that `of` tells.
    fn held_by_value<'d>(&'d self, of: impl Fn(&Definition, &'d Node) -> Option<&'d str>) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for definition in self.definitions.values() {
            definition.root.walk(&mut |node| found.extend(of(definition, node).and_then(held)));
        }
        found
    }

    fn reason(&self, name: &str, nearest: Option<usize>) -> String {
        self.unverifiable(name, nearest).unwrap_or(ABSENT).to_owned()
    }

    /// Why the symbols of the nearest kernel cannot hold a type, if the spec says so.
    fn unverifiable(&self, name: &str, nearest: Option<usize>) -> Option<&str> {
        self.definitions.get(name)?.root.keys.get("unverifiable")?.at(nearest?)?.text()
    }
}

/// Whether what an entry says has a hole at a target that the entry is of: its ranges end at kernels around it.
fn has_gap(root: &Node, target: usize) -> bool {
    let mut found = false;
    root.walk(&mut |node| {
        let mut stated = ["type", "value"].iter().filter_map(|key| node.keys.get(*key));
        found |= node.active(target) && stated.any(|pieces| pieces.at(target).is_none());
    });
    found
}

/// Whether specs can have every name of a type.
pub fn spellable(facts: &symbols::TypeFacts) -> Result<(), String> {
    match facts {
        symbols::TypeFacts::Enumeration(enumeration) => enumeration.constants.iter().try_for_each(|(name, _)| spelled(name)),
        symbols::TypeFacts::Aggregate(aggregate) => aggregate.members.iter().try_for_each(|member| {
            spelled(&member.name)?;
            match &member.ty {
                symbols::Type::Unnamed(facts) => spellable(facts),
                _ => Ok(()),
            }
        }),
    }
}

/// The other targets, the nearest first: of the same architecture the one before, then the same kernel on the other
/// architecture, then by distance.
pub fn near(axis: &Axis, target: usize) -> Vec<usize> {
    let at = axis.targets[target];
    let mut list: Vec<usize> = (0..axis.targets.len()).filter(|&other| other != target).collect();
    let before = list.iter().rev().find(|&&t| axis.targets[t].arch == at.arch && t < target).copied();
    list.sort_by_key(|&t| {
        let other = axis.targets[t];
        let distance = other.kernel.abs_diff(at.kernel);
        (Some(t) != before, before.is_none() && other.arch != at.arch, distance, other.arch != at.arch, other.kernel > at.kernel)
    });
    list
}

fn other_kind(name: &str, kind: &str) -> String {
    format!(
        "`{name}` is a {kind} in symbols. A spec has one kind at all versions, so the language must grow first: `spec::Body` in codegen"
    )
}

fn blank(name: &str, facts: &symbols::TypeFacts) -> Definition {
    let subject = match facts {
        symbols::TypeFacts::Aggregate(aggregate) => Subject::Aggregate(kind_of(aggregate.kind)),
        symbols::TypeFacts::Enumeration(_) => Subject::Enumeration,
    };
    let root = Node { name: name.to_owned(), ..Node::default() };
    Definition { path: String::new(), text: String::new(), subject, root }
}

fn kind_of(kind: AggregateKind) -> Kind {
    match kind {
        AggregateKind::Struct => Kind::Struct,
        AggregateKind::Union => Kind::Union,
    }
}

/// Every spelling that members of a name have.
fn spellings(root: &Node) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    root.walk(&mut |node| {
        let stated = node.keys.get("type").into_iter().flat_map(|entry| entry.values());
        for text in stated.filter_map(|value| value.text()) {
            let list = found.entry(node.name.clone()).or_default();
            if !list.iter().any(|known| known == text) {
                list.push(text.to_owned());
            }
        }
    });
    found
}

/// The type and the words of every member that a target has.
fn words(root: &Node, target: usize) -> BTreeMap<String, (Option<String>, Words)> {
    let mut found = BTreeMap::new();
    root.walk(&mut |node| {
        if node.active(target) && !node.words.is_empty() {
            found.insert(node.name.clone(), (node.type_at(target).map(str::to_owned), node.words.clone()));
        }
    });
    found
}

fn integer(root: &Node, enumeration: &symbols::Enumeration, target: usize, names: &Names) -> Result<String, String> {
    let wanted = match (enumeration.size, enumeration.signed) {
        (1, false) => "UCHAR",
        (1, true) => "CHAR",
        (2, false) => "USHORT",
        (2, true) => "SHORT",
        (4, false) => "ULONG",
        (4, true) => "LONG",
        (8, false) => "ULONGLONG",
        (8, true) => "LONGLONG",
        _ => return Err(format!("`{}` has values of {} bytes", root.name, enumeration.size)),
    };
    let stated = root.keys.get("type").and_then(|entry| entry.at(target)).and_then(|value| value.text());
    let fits = |text: &&str| {
        names.integer(text, target).is_some_and(|i| (i.size(), i.is_signed()) == (enumeration.size, enumeration.signed))
    };
    match stated {
        None => Ok(wanted.to_owned()),
        Some(text) if fits(&text) => Ok(text.to_owned()),
        Some(text) => {
            let name = &root.name;
            let help = format!("make it a typedef in scalars.toml that is {text} before and {wanted} from this kernel on");
            Err(format!(
                "`{name}` is held by {wanted} in symbols, not by {text}; its spec has one `type` for all versions. By hand, {help}, with a row for the kernel in windows.toml, and import again"
            ))
        }
    }
}

fn constants(root: &mut Node, enumeration: &symbols::Enumeration, near: &[usize], rules: Rules) {
    let stated: BTreeMap<&str, i64> = enumeration.constants.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let mut placed: BTreeSet<&str> = BTreeSet::new();
    let nearest = near.iter().copied().find(|&t| root.active(t));
    let all: BTreeSet<i64> = stated.values().copied().collect();
    for node in &mut root.children {
        let here = nearest.filter(|&t| node.active(t));
        let value = match stated.get_key_value(node.name.as_str()) {
            Some((name, value)) if placed.insert(name) => Some(*value),
            Some(_) => None,
            // Of names that share a value, a converted table keeps one.
            None => {
                here.and_then(|t| node.number_at("value", t)).filter(|value| rules == Rules::Converted && all.contains(value))
            }
        };
        if value.is_some() {
            node.now = Some(Now { value, ..Now::default() });
        }
    }
    let mut new: Vec<(i64, &str)> = stated.iter().filter(|(name, _)| !placed.contains(*name)).map(|(n, v)| (*v, *n)).collect();
    new.sort();
    // Each goes behind the last that has no greater value.
    let value = |node: &Node| node.now.as_ref().and_then(|now| now.value);
    let mut values: Vec<(i64, usize)> = root.children.iter().zip(1..).filter_map(|(node, at)| Some((value(node)?, at))).collect();
    values.sort();
    let mut known = values.into_iter().peekable();
    let (mut at, mut nodes) = (0, BTreeMap::<usize, Vec<Node>>::new());
    for (value, name) in new {
        while let Some((_, behind)) = known.next_if(|(other, _)| *other <= value) {
            at = at.max(behind);
        }
        let now = Now { value: Some(value), ..Now::default() };
        nodes.entry(at).or_default().push(Node { name: name.to_owned(), now: Some(now), ..Node::default() });
    }
    insert(&mut root.children, nodes);
}

/// Gives the kernel what another has. Offsets and sizes follow from the layout.
pub fn copy(node: &mut Node, from: usize) {
    if !node.active(from) {
        return;
    }
    let text = |key: &str| node.keys.get(key)?.at(from)?.text().map(str::to_owned);
    let unsigned = |key: &str| u64::try_from(node.number_at(key, from)?).ok();
    let (bits, align, pack) = (unsigned("bits"), unsigned("align"), unsigned("pack"));
    let (ty, value, unverifiable) = (text("type"), node.number_at("value", from), text("unverifiable"));
    node.now = Some(Now { ty, bits, align, pack, value, unverifiable, ..Now::default() });
    node.children.iter_mut().for_each(|child| copy(child, from));
}
