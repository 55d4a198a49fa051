//! What the symbols of imported kernels say, put into the definitions.

use super::fit::Fit;
use super::tree::{Definition, Node, Now, Subject, Words};
use super::types::{Fact, Names, held, holds};
use crate::tables::Table;
use etw_layouts_codegen::axis::{Axis, TargetSet};
use etw_layouts_codegen::spec::{Kind, Spec};
use etw_layouts_symbols::{self as symbols, AggregateKind, Rules};
use std::collections::{BTreeMap, BTreeSet};

/// Why a definition that a kernel's symbols do not hold is kept for it.
const ABSENT: &str = "the kernel's symbols do not hold the type";

/// The definitions of a spec set, and the kernels that they are completed for.
pub struct Derivation<'a> {
    /// The scalars, typedefs and axis.
    pub spec: &'a Spec,
    /// The definitions, by name.
    pub definitions: BTreeMap<String, Definition>,
    /// The tables by target.
    pub tables: &'a BTreeMap<usize, &'a Table>,
    /// Types to specify even though no neighbour has them.
    pub added: &'a [String],
    /// Files that were edited by hand since an import.
    pub by_hand: &'a BTreeSet<String>,
    /// The targets that are taken as they are in those files.
    pub kept: &'a TargetSet,
}

impl Derivation<'_> {
    /// Completes the definitions for every table. Tables come in the order of their targets, whatever the order of the files:
    /// each takes what is nearest to it as its model.
    ///
    /// # Errors
    ///
    /// What cannot be written as a spec.
    pub fn run(&mut self) -> Result<(), String> {
        let mut known = self.spec.axis.all();
        known = known.difference(&super::pieces::set(self.tables.keys().copied()));
        for (&target, table) in self.tables {
            let axis = &self.spec.axis;
            let name = axis.target_name(target);
            // What a hand wrote of a later target is a model too.
            let by_hand = near(axis, target, &known.union(&self.kept.difference(&super::pieces::set([target]))));
            self.table(target, table, &near(axis, target, &known), &by_hand).map_err(|e| format!("{name}: {e}"))?;
            known.insert(target);
        }
        Ok(())
    }

    fn table(&mut self, target: usize, table: &Table, near: &[usize], by_hand: &[usize]) -> Result<(), String> {
        let nearest = near.first().copied();
        let mut types = self.definitions.iter().filter(|(_, d)| d.subject != Subject::Macros).peekable();
        let before: BTreeSet<String> = match nearest.filter(|_| types.peek().is_some()) {
            Some(nearest) => types.filter(|(_, d)| d.root.active(nearest)).map(|(name, _)| name.clone()).collect(),
            None => table.types.keys().cloned().collect(),
        };
        let held = before.iter().filter(|name| table.types.contains_key(*name)).count();
        if held * 2 < before.len() {
            let (source, all) = (&table.source, before.len());
            return Err(format!("{source} holds {held} of {all} types; import takes the public symbols of a kernel, whole"));
        }
        let mut pending: Vec<String> = before.iter().chain(self.added).cloned().collect();
        let mut done = BTreeSet::new();
        let mut nameless = BTreeMap::new();
        while let Some(name) = pending.pop() {
            let Some(facts) = table.types.get(&name).filter(|_| done.insert(name.clone())) else { continue };
            if let symbols::Definition::Aggregate(aggregate) = facts {
                aggregate.members.iter().for_each(|member| holds(&member.ty, &mut pending));
            }
            let as_it_is = self.definitions.get(&name).is_some_and(|d| self.by_hand.contains(&d.path));
            if !(as_it_is && self.kept.contains(target)) {
                let near = if as_it_is { by_hand } else { near };
                self.definition(&name, facts, target, table, near, &mut nameless)?;
            }
        }
        for (name, facts) in nameless {
            if !done.contains(&name) {
                self.definition(&name, &facts, target, table, near, &mut BTreeMap::new())?;
                self.unconfirmed(&name, target, nearest);
                done.insert(name);
            }
        }
        if let Some(nearest) = nearest {
            self.absent(before.difference(&done).cloned().collect(), target, nearest);
        }
        Ok(())
    }

    fn definition(
        &mut self,
        name: &str,
        facts: &symbols::Definition,
        target: usize,
        table: &Table,
        near: &[usize],
        nameless: &mut BTreeMap<String, symbols::Definition>,
    ) -> Result<(), String> {
        let is_enum = |definition: &&Definition| definition.subject == Subject::Enumeration;
        let mut enumerations: BTreeSet<String> = self.definitions.values().filter(is_enum).map(|d| d.root.name.clone()).collect();
        let theirs = table.types.iter().filter(|(_, d)| matches!(d, symbols::Definition::Enumeration(_)));
        enumerations.extend(theirs.map(|(name, _)| name.clone()));
        let mut definition = self.definitions.remove(name).unwrap_or_else(|| blank(name, facts));
        let names = Names { spec: self.spec, enumerations };
        let reference = near.iter().copied().find(|&t| definition.root.active(t));
        let inherited = |key: &str| -> Option<u64> {
            let root = &definition.root;
            let now = |now: &Now| if key == "align" { now.align } else { now.pack };
            match root.now.get(&reference?) {
                Some(at) => now(at),
                None => root.keys.get(key)?.at(reference?)?.number().and_then(|n| u64::try_from(n).ok()),
            }
        };
        let mut now = Now { align: inherited("align"), pack: inherited("pack"), ..Now::default() };
        match (definition.subject, facts) {
            (Subject::Aggregate(kind), symbols::Definition::Aggregate(aggregate)) => {
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
                    names: &names,
                    rules: Rules::for_producer(&table.producer),
                    types: &table.types,
                    spellings: spellings(&definition.root),
                    words: reference.map(|t| words(&definition.root, t)).unwrap_or_default(),
                    nameless: BTreeMap::new(),
                };
                let facts = Fact::list(aggregate, &table.types, table.arch).map_err(|e| format!("{name}: {e}"))?;
                fit.members(kind, &mut definition.root.children, facts).map_err(|e| format!("{name}: {e}"))?;
                nameless.extend(fit.nameless);
            }
            (Subject::Enumeration, symbols::Definition::Enumeration(enumeration)) => {
                let rules = Rules::for_producer(&table.producer);
                now.ty = Some(integer(&definition.root, enumeration, target, &names)?);
                constants(&mut definition.root, enumeration, target, near, rules);
            }
            (_, symbols::Definition::Aggregate(aggregate)) => return Err(other_kind(name, aggregate.kind.as_str())),
            (_, symbols::Definition::Enumeration(_)) => return Err(other_kind(name, "enum")),
        }
        definition.root.now.insert(target, now);
        self.definitions.insert(name.to_owned(), definition);
        Ok(())
    }

    /// Types that the nearest kernel has and this table lacks. A type that others held goes when none does any more; one of
    /// its own is kept as it was, but not as confirmed.
    fn absent(&mut self, names: BTreeSet<String>, target: usize, nearest: usize) {
        let held_at = |definitions: &BTreeMap<String, Definition>, target: usize| -> BTreeSet<String> {
            let mut found = BTreeSet::new();
            for definition in definitions.values().filter(|d| d.root.active(target)) {
                definition.root.walk(&mut |node| {
                    let ty = node.active(target).then(|| node.type_at(target)).flatten();
                    found.extend(ty.and_then(held));
                });
            }
            found
        };
        let part = held_at(&self.definitions, nearest);
        let mut pending: BTreeSet<String> = names.iter().filter(|name| !part.contains(*name)).cloned().collect();
        let mut left: BTreeSet<String> = names.difference(&pending).cloned().collect();
        loop {
            for name in std::mem::take(&mut pending) {
                if let Some(definition) = self.definitions.get_mut(&name).filter(|d| !d.root.base.contains(target)) {
                    copy(&mut definition.root, target, nearest);
                }
                self.unconfirmed(&name, target, Some(nearest));
            }
            let held = held_at(&self.definitions, target);
            pending = left.intersection(&held).cloned().collect();
            left = left.difference(&pending).cloned().collect();
            if pending.is_empty() {
                return;
            }
        }
    }

    fn unconfirmed(&mut self, name: &str, target: usize, nearest: Option<usize>) {
        let Some(definition) = self.definitions.get_mut(name) else { return };
        let reason = nearest.and_then(|nearest| match definition.root.now.get(&nearest) {
            Some(now) => now.unverifiable.clone(),
            None => definition.root.keys.get("unverifiable")?.at(nearest)?.text().map(str::to_owned),
        });
        if let Some(now) = definition.root.now.get_mut(&target) {
            now.unverifiable = Some(reason.unwrap_or_else(|| ABSENT.into()));
        }
    }
}

/// The known targets, the nearest first: of the same architecture the one before, then the same kernel on the other
/// architecture, then by distance.
fn near(axis: &Axis, target: usize, known: &TargetSet) -> Vec<usize> {
    let at = axis.targets[target];
    let mut list: Vec<usize> = known.iter().collect();
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

fn blank(name: &str, facts: &symbols::Definition) -> Definition {
    let subject = match facts {
        symbols::Definition::Aggregate(aggregate) => Subject::Aggregate(kind_of(aggregate.kind)),
        symbols::Definition::Enumeration(_) => Subject::Enumeration,
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
        let texts = stated.filter_map(|value| value.text()).chain(node.now.values().filter_map(|now| now.ty.as_deref()));
        for text in texts {
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

fn constants(root: &mut Node, enumeration: &symbols::Enumeration, target: usize, near: &[usize], rules: Rules) {
    let stated: BTreeMap<&str, i64> = enumeration.constants.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let mut placed: BTreeSet<&str> = BTreeSet::new();
    let nearest = near.iter().copied().find(|&t| root.active(t));
    for node in &mut root.children {
        let here = nearest.filter(|&t| node.active(t));
        let value = match stated.get_key_value(node.name.as_str()) {
            Some((name, value)) if placed.insert(name) => Some(*value),
            Some(_) => None,
            // Of names that share a value, a converted table keeps one.
            None => here
                .and_then(|t| node.number_at("value", t))
                .filter(|value| rules == Rules::Converted && stated.values().any(|other| other == value)),
        };
        if value.is_some() {
            node.now.insert(target, Now { value, ..Now::default() });
        }
    }
    let mut new: Vec<(i64, &str)> = stated.iter().filter(|(name, _)| !placed.contains(*name)).map(|(n, v)| (*v, *n)).collect();
    new.sort();
    for (value, name) in new {
        let before = |node: &Node| node.now.get(&target).and_then(|now| now.value).is_some_and(|other| other <= value);
        let at = root.children.iter().rposition(before).map_or(0, |index| index + 1);
        let mut node = Node { name: name.to_owned(), ..Node::default() };
        node.now.insert(target, Now { value: Some(value), ..Now::default() });
        root.children.insert(at, node);
    }
}

/// Gives a target what another has. Offsets and sizes follow from the layout.
fn copy(node: &mut Node, target: usize, from: usize) {
    if !node.active(from) {
        return;
    }
    let unsigned = |n: Option<i64>| n.and_then(|n| u64::try_from(n).ok());
    let now = match node.now.get(&from) {
        Some(now) => Now { copied: true, ..now.clone() },
        None => {
            let at = |key: &str| node.keys.get(key).and_then(|entry| entry.at(from));
            let number = |key: &str| at(key).and_then(|value| value.number());
            Now {
                ty: node.type_at(from).map(str::to_owned),
                bits: unsigned(number("bits")),
                align: unsigned(number("align")),
                pack: unsigned(number("pack")),
                value: number("value"),
                unverifiable: at("unverifiable").and_then(|value| value.text()).map(str::to_owned),
                copied: true,
                ..Now::default()
            }
        }
    };
    node.now.insert(target, now);
    node.children.iter_mut().for_each(|child| copy(child, target, from));
}
