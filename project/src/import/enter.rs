//! Transfer of the symbols of one build to the definitions.

use super::align::Alignment;
use super::place::Place;
use super::renamed;
use super::types::{Names, SymbolMember, definable, embraced, held, shown, spellable};
use crate::tables::BuildTable;
use etw_layouts_codegen::axis::{Axis, TargetId};
use etw_layouts_codegen::ctype::CType;
use etw_layouts_codegen::spec::{Aggregate, Body, Constant, Definition, Kind, Member, Piecewise, Provenance, Shape, Spec};
use etw_layouts_codegen::spec::{Values, ValuesKind};
use etw_layouts_symbols::{self as symbols, AggregateKind, Rules, TypeFacts};
use std::collections::{BTreeMap, BTreeSet};

/// The reason for a definition that is kept for a build whose symbols lack it.
pub const ABSENT: &str = "the symbols of this build do not contain the type";

/// A build that is added to a spec.
pub struct Entering<'a> {
    /// The spec to change, with the build on its axis.
    pub spec: &'a mut Spec,
    /// The target of the build.
    pub place: Place,
    /// Whether the spec already had the build.
    pub again: bool,
    /// The symbols of the build.
    pub table: &'a BuildTable,
    /// Types of the symbols, and embedded types that the symbols lack.
    pub embedded: &'a symbols::Types,
    /// Types in the symbols of both an older and a newer build of the architecture. Builds between have them too, and specs need
    /// not state that.
    pub around: &'a BTreeSet<String>,
}

impl Entering<'_> {
    /// Assigns every member of the table to a definition, adding new members where necessary. Returns the definitions in the
    /// table.
    ///
    /// # Errors
    ///
    /// The members cannot be expressed in a spec.
    pub fn run(&mut self) -> Result<BTreeSet<String>, String> {
        let target = self.place.target;
        let own = self.again.then_some(target);
        let near: Vec<_> = own.into_iter().chain(near(&self.spec.axis, target)).collect();
        let nearest = near.first().copied();
        let types = &self.table.types;
        let before: BTreeSet<String> = match nearest.filter(|_| self.definitions().next().is_some()) {
            Some(nearest) => {
                let has = |definition: &&Definition| definition.scope.contains(nearest) || definition.scope.contains(target);
                self.definitions().filter(has).map(|definition| definition.name.value.clone()).collect()
            }
            None => types.keys().filter(|name| definable(name).is_ok()).cloned().collect(),
        };
        let held = before.iter().filter(|name| types.contains_key(*name)).count();
        // A missing type does not indicate incomplete symbols if public symbols never contain it.
        let expected = |name: &&String| types.contains_key(*name) || self.unverifiable(name, nearest).is_none();
        let all = before.iter().filter(expected).count();
        if held * 2 < all {
            return Err(incomplete(self.table, held, all));
        }
        // The specs define the type, but the nearest build lacks it.
        let back = self.definitions().map(|definition| &definition.name.value).filter(|name| types.contains_key(*name));
        let all = before.iter().chain(back).cloned().collect();
        let inherited = self.definitions().map(|definition| (definition.name.value.clone(), definition.clone())).collect();
        let held = self.enter(embraced(types, all), &near, false)?;
        if let Some(nearest) = nearest {
            self.absent(before.difference(&held).cloned().collect(), nearest, &inherited);
        }
        Ok(held)
    }

    /// Assigns the members of structures, and of types that they embed, to definitions, if the specs lack them for the build.
    ///
    /// # Errors
    ///
    /// The members cannot be expressed in a spec.
    pub fn fill(&mut self, names: &BTreeSet<String>) -> Result<BTreeSet<String>, String> {
        let near = near(&self.spec.axis, self.place.target);
        let mut all = embraced(&self.table.types, names.iter().cloned().collect());
        all.retain(|name| self.lacks(name));
        self.enter(all, &near, true)
    }

    /// The definitions that symbols can verify: all except macros.
    fn definitions(&self) -> impl Iterator<Item = &Definition> {
        self.spec.definitions.values().filter(|definition| is_type(definition))
    }

    fn lacks(&self, name: &str) -> bool {
        self.spec.definitions.get(name).is_none_or(|definition| !definition.scope.contains(self.place.target))
    }

    /// Assigns the members of structures in the table to definitions. Enumerations that have no name in the table are kept, as it
    /// cannot verify them.
    fn enter(&mut self, names: BTreeSet<String>, near: &[TargetId], only_new: bool) -> Result<BTreeSet<String>, String> {
        let mut held = BTreeSet::new();
        let mut nameless = BTreeMap::new();
        for name in names {
            let Some(facts) = self.table.types.get(&name) else { continue };
            self.definition(&name, facts, near, &mut nameless)?;
            held.insert(name);
        }
        for (name, facts) in std::mem::take(&mut nameless) {
            if !held.contains(&name) && (!only_new || self.lacks(&name)) {
                let reason = self.unverifiable(&name, near.first().copied()).unwrap_or(ABSENT).to_owned();
                self.definition(&name, &facts, near, &mut nameless)?;
                let Some(definition) = self.spec.definitions.get_mut(&name) else { continue };
                self.place.set(&mut definition.unverifiable, reason);
                held.insert(name);
            }
        }
        Ok(held)
    }

    fn definition(
        &mut self,
        name: &str,
        facts: &TypeFacts,
        near: &[TargetId],
        nameless: &mut BTreeMap<String, TypeFacts>,
    ) -> Result<(), String> {
        definable(name).and_then(|()| spellable(facts)).map_err(|error| format!("{}: {error}", shown(name)))?;
        let known = self.spec.definitions.get(name);
        let mut definition = known.cloned().unwrap_or_else(|| blank(name, facts));
        // For a new definition, only the builds for which it was added are relevant.
        let is_new = definition.name.span == Default::default();
        let near: Vec<_> = near.iter().copied().filter(|&t| !is_new || definition.scope.contains(t)).collect();
        let spec = &*self.spec;
        let rules = Rules::for_producer(&self.table.producer);
        let arch = self.table.arch;
        let names = Names { spec, enumerations: self.enumerations() };
        let place = &self.place;
        let at = spec.axis.targets[place.target];
        let nearest = near.iter().copied().find(|&t| definition.scope.contains(t));
        place.inherit(&mut definition.source, nearest);
        let from_symbols = definition.source.get(place.target).is_some_and(|piece| piece.value == Provenance::Symbols);
        match (&mut definition.body, facts) {
            (Body::Aggregate(aggregate), TypeFacts::Aggregate(theirs)) => {
                if aggregate.kind != kind_of(theirs.kind) {
                    return Err(other_kind(name, theirs.kind.as_str()));
                }
                // Types can have different alignment on different architectures.
                let same_arch = nearest.filter(|&t| spec.axis.targets[t].arch == arch);
                let inherited = |value: &Piecewise<u64>| Some(value.get(same_arch?)?.value);
                let (align, pack) = (inherited(&aggregate.align), inherited(&aggregate.pack));
                place.set(&mut aggregate.align, align);
                place.set(&mut aggregate.pack, pack);
                place.assert(&mut aggregate.size, Some(theirs.size));
                let sibling =
                    |&t: &TargetId| spec.axis.targets[t].revision == at.revision && spec.axis.targets[t].arch != at.arch;
                let before = aggregate.members.clone();
                let mut alignment = Alignment {
                    place,
                    arch,
                    near: &near,
                    sibling: near.iter().copied().find(sibling),
                    names: &names,
                    rules,
                    types: self.embedded,
                    before: &before,
                    from_symbols: from_symbols || is_new,
                    nameless: BTreeMap::new(),
                };
                let facts = SymbolMember::list(theirs, self.embedded, arch).map_err(|e| format!("{name}: {e}"))?;
                alignment.members(aggregate.kind, &mut aggregate.members, facts).map_err(|e| format!("{name}: {e}"))?;
                nameless.extend(alignment.nameless);
            }
            (Body::Values(values), TypeFacts::Enumeration(theirs)) if values.kind == ValuesKind::Enum => {
                let stated = (!is_new || !definition.scope.is_empty()).then_some(values.ty.value.as_str());
                values.ty.value = integer(name, stated, theirs, place.target, &names)?;
                constants(place, values, theirs, nearest, rules);
            }
            (_, TypeFacts::Aggregate(theirs)) => return Err(other_kind(name, theirs.kind.as_str())),
            (_, TypeFacts::Enumeration(_)) => return Err(other_kind(name, "enum")),
        }
        self.place.put(&mut definition.scope);
        self.place.set(&mut definition.unverifiable, None);
        if is_new {
            self.place.set(&mut definition.source, Provenance::Symbols);
        }
        self.spec.definitions.insert(name.to_owned(), definition);
        Ok(())
    }

    /// Names of enumerations in the spec and in the table.
    fn enumerations(&self) -> BTreeSet<String> {
        let is_enum = |definition: &&Definition| matches!(definition.body, Body::Values(_));
        let ours = self.definitions().filter(is_enum).map(|definition| definition.name.value.clone());
        let theirs = self.table.types.iter().filter(|(_, facts)| matches!(facts, TypeFacts::Enumeration(_)));
        ours.chain(theirs.map(|(name, _)| name.clone())).collect()
    }

    /// Handles types of the nearest build that this table lacks. A type that was embedded is removed if nothing embeds it or points
    /// to it any more. Any other type is kept, but is not verified: symbols omit types that are only pointed to.
    fn absent(&mut self, names: BTreeSet<String>, nearest: TargetId, inherited: &BTreeMap<String, Definition>) {
        let target = self.place.target;
        let part = named_by(inherited.values(), nearest, held_at);
        let mut pending: BTreeSet<String> = names.iter().filter(|name| !part.contains(*name)).cloned().collect();
        let mut left: BTreeSet<String> = names.difference(&pending).cloned().collect();
        loop {
            for name in std::mem::take(&mut pending) {
                let reason = self.unverifiable(&name, Some(nearest)).unwrap_or(ABSENT).to_owned();
                let Some(definition) = self.spec.definitions.get_mut(&name) else { continue };
                if !definition.scope.contains(target) || has_gap(definition, target) {
                    self.place.copy(definition, nearest);
                    self.place.inherit(&mut definition.source, Some(nearest));
                }
                if !self.around.contains(&name) {
                    self.place.set(&mut definition.unverifiable, reason);
                }
            }
            let others = self.spec.definitions.values().filter(|definition| !left.contains(&definition.name.value));
            let held = named_by(others, target, referenced_at);
            pending = left.intersection(&held).cloned().collect();
            left = left.difference(&pending).cloned().collect();
            if pending.is_empty() {
                break;
            }
        }
        for name in left {
            if let Some(definition) = self.spec.definitions.get_mut(&name) {
                let place = &self.place;
                definition.layout_sets(&mut |set| place.take(set));
            }
        }
    }

    /// The reason why symbols of a build cannot contain a type, if the spec states one.
    fn unverifiable(&self, name: &str, target: Option<TargetId>) -> Option<&str> {
        Some(&self.spec.definitions.get(name)?.unverifiable.get(target?)?.value)
    }
}

/// Whether symbols can contain a definition: any except macros.
pub fn is_type(definition: &Definition) -> bool {
    !matches!(&definition.body, Body::Values(values) if values.kind != ValuesKind::Enum)
}

/// The error for a table with less than half of the types.
pub fn incomplete(table: &BuildTable, held: usize, all: usize) -> String {
    let source = &table.source;
    format!("{source}: incomplete symbols: contains {held} of {all} types; import the complete public symbols of a kernel")
}

/// Limits the sizes of new definitions to documented targets, as the sizes of other definitions are, if any of these has a size.
pub fn limit_sizes(spec: &mut Spec) {
    let Spec { axis, definitions, .. } = spec;
    for definition in definitions.values_mut().filter(|definition| definition.name.span == Default::default()) {
        let Body::Aggregate(aggregate) = &mut definition.body else { continue };
        let is_documented = |target: &TargetId| axis.documented.contains(*target) && aggregate.size.get(*target).is_some();
        if definition.scope.iter().any(|target| is_documented(&target)) {
            for target in definition.scope.difference(&axis.documented).iter() {
                aggregate.size.set(target, None);
            }
        }
    }
}

/// Collects the types that members embed at a target.
pub fn held_at(members: &[Member], target: TargetId, found: &mut impl Extend<String>) {
    types_at(members, target, &mut |ty| found.extend(held(ty)));
}

/// Collects the types that members embed or point to at a target.
fn referenced_at(members: &[Member], target: TargetId, found: &mut BTreeSet<String>) {
    types_at(members, target, &mut |ty| found.extend(ty.names().into_iter().map(str::to_owned)));
}

/// Calls `visit` for the type of each member at a target.
fn types_at(members: &[Member], target: TargetId, visit: &mut impl FnMut(&CType)) {
    for member in members.iter().filter(|member| member.scope.contains(target)) {
        match &member.shape {
            Shape::Type(types) => types.get(target).iter().for_each(|piece| visit(&piece.value)),
            Shape::Inline(_, members) => types_at(members, target, visit),
        }
    }
}

/// The types that `collect` finds in the members of structures at a target.
fn named_by<'d>(
    definitions: impl Iterator<Item = &'d Definition>,
    target: TargetId,
    collect: fn(&[Member], TargetId, &mut BTreeSet<String>),
) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for definition in definitions.filter(|definition| definition.scope.contains(target)) {
        if let Body::Aggregate(aggregate) = &definition.body {
            collect(&aggregate.members, target, &mut found);
        }
    }
    found
}

/// Whether a type or value is missing at a target in the scope of a definition, because ranges end at the builds around it.
fn has_gap(definition: &Definition, target: TargetId) -> bool {
    fn hole(members: &[Member], target: TargetId) -> bool {
        members.iter().filter(|member| member.scope.contains(target)).any(|member| match &member.shape {
            Shape::Type(types) => types.get(target).is_none(),
            Shape::Inline(_, members) => hole(members, target),
        })
    }
    match &definition.body {
        Body::Aggregate(aggregate) => hole(&aggregate.members, target),
        Body::Values(values) => {
            values.constants.iter().any(|constant| constant.scope.contains(target) && constant.value.get(target).is_none())
        }
    }
}

/// The other targets, nearest first: the previous one of the same architecture, then the same build on another architecture, then
/// by distance.
pub fn near(axis: &Axis, target: TargetId) -> Vec<TargetId> {
    let at = axis.targets[target];
    let mut list: Vec<_> = axis.targets.ids().filter(|&other| other != target).collect();
    let before = axis.targets.ids().take_while(|&t| t != target).filter(|&t| axis.targets[t].arch == at.arch).last();
    // Targets with equal keys keep the order of the axis: the older one comes first.
    list.sort_by_key(|&t| {
        let other = axis.targets[t];
        let distance = other.revision.abs_diff(at.revision);
        (Some(t) != before, before.is_none() && other.arch != at.arch, distance, other.arch != at.arch)
    });
    list
}

fn other_kind(name: &str, kind: &str) -> String {
    format!(
        "`{name}` is a {kind} in the symbols, but a spec has the same kind in all versions; the spec language has no way to express this change"
    )
}

fn blank(name: &str, facts: &TypeFacts) -> Definition {
    let body = match facts {
        TypeFacts::Aggregate(aggregate) => Body::Aggregate(Aggregate {
            kind: kind_of(aggregate.kind),
            size: Piecewise::default(),
            align: Piecewise::default(),
            pack: Piecewise::default(),
            members: Vec::new(),
        }),
        TypeFacts::Enumeration(_) => {
            Body::Values(Values { kind: ValuesKind::Enum, ty: String::new().into(), constants: Vec::new() })
        }
    };
    Definition::new(name.to_owned(), body)
}

fn kind_of(kind: AggregateKind) -> Kind {
    match kind {
        AggregateKind::Struct => Kind::Struct,
        AggregateKind::Union => Kind::Union,
    }
}

fn integer(
    name: &str,
    stated: Option<&str>,
    enumeration: &symbols::Enumeration,
    target: TargetId,
    names: &Names,
) -> Result<String, String> {
    let wanted = match (enumeration.size, enumeration.signed) {
        (1, false) => "UCHAR",
        (1, true) => "CHAR",
        (2, false) => "USHORT",
        (2, true) => "SHORT",
        (4, false) => "ULONG",
        (4, true) => "LONG",
        (8, false) => "ULONGLONG",
        (8, true) => "LONGLONG",
        (size, _) => return Err(format!("`{name}`: unsupported size of values: {size} bytes")),
    };
    let fits = |text: &&str| {
        names.integer(text, target).is_some_and(|i| (i.size(), i.is_signed()) == (enumeration.size, enumeration.signed))
    };
    match stated {
        None => Ok(wanted.to_owned()),
        Some(text) if fits(&text) => Ok(text.to_owned()),
        Some(text) => {
            let help = format!("define its type as a typedef in scalars.toml: {text} before and {wanted} from this build on");
            Err(format!(
                "`{name}` has the type {wanted} in the symbols, not {text}, but its spec has one `type` for all versions; {help}, add the build to windows.toml, and import again"
            ))
        }
    }
}

/// Assigns the constants of the table to the target.
fn constants(place: &Place, values: &mut Values, theirs: &symbols::Enumeration, nearest: Option<TargetId>, rules: Rules) {
    let stated: BTreeMap<&str, i64> = theirs.constants.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let mut placed: BTreeSet<&str> = BTreeSet::new();
    let all: BTreeSet<i64> = stated.values().copied().collect();
    // A new constant is inserted after the last one with a value that is not greater.
    let mut known: Vec<(i64, usize)> = Vec::new();
    let mut gone: Vec<(i64, Constant)> = Vec::new();
    for (index, constant) in values.constants.iter_mut().enumerate() {
        let here = nearest.filter(|&t| constant.scope.contains(t));
        let value = match stated.get_key_value(constant.name.value.as_str()) {
            Some((name, value)) if placed.insert(name) => Some(*value),
            Some(_) => None,
            // A converted table has only one of several names with the same value.
            None => {
                let value = here.and_then(|t| Some(constant.value.get(t)?.value));
                value.filter(|value| rules == Rules::Converted && all.contains(value))
            }
        };
        match value {
            Some(value) => {
                place.set(&mut constant.value, value);
                place.put(&mut constant.scope);
                known.push((value, index + 1));
            }
            None => {
                gone.extend(here.and_then(|t| Some((constant.value.get(t)?.value, constant.clone()))));
                place.take(&mut constant.scope);
            }
        }
    }
    let mut new: Vec<(i64, &str)> = stated.iter().filter(|(name, _)| !placed.contains(*name)).map(|(n, v)| (*v, *n)).collect();
    new.sort();
    known.sort();
    let (mut known, mut at) = (known.into_iter().peekable(), 0);
    let mut fresh: BTreeMap<usize, Vec<Constant>> = BTreeMap::new();
    for (value, name) in new {
        while let Some((_, behind)) = known.next_if(|(other, _)| *other <= value) {
            at = at.max(behind);
        }
        let mut constant = Constant::new(name.to_owned());
        place.set(&mut constant.value, value);
        place.put(&mut constant.scope);
        renamed::constant(&gone, value, &mut constant);
        fresh.entry(at).or_default().push(constant);
    }
    for (index, constant) in std::mem::take(&mut values.constants).into_iter().enumerate() {
        values.constants.extend(fresh.remove(&index).into_iter().flatten());
        values.constants.push(constant);
    }
    values.constants.extend(fresh.into_values().flatten());
}
