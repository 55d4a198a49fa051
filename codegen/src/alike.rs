//! Finds targets at which a type must have the same layout, so that it is computed only once for all of them.

use crate::axis::{PerTarget, TargetId, TargetSet};
use crate::ctype::CType;
use crate::spec::*;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// For each definition and target, the first target with the same facts about the definition and all types that it uses.
pub(crate) type Alike<'s> = HashMap<&'s str, PerTarget<TargetId>>;

pub(crate) fn first_alike(spec: &Spec) -> Alike<'_> {
    let mut finder = Finder { spec, basic: PerTarget::default(), found: HashMap::new() };
    finder.basic = finder.basic();
    for name in spec.definitions.keys() {
        finder.definition(name, 0);
    }
    finder.found
}

/// The recursion limit; deeper types are not compared.
const DEEPEST: usize = 64;

struct Finder<'s> {
    spec: &'s Spec,
    /// The first target with the same architecture and typedefs, which every type can use.
    basic: PerTarget<TargetId>,
    found: Alike<'s>,
}

impl<'s> Finder<'s> {
    fn basic(&self) -> PerTarget<TargetId> {
        let axis = &self.spec.axis;
        let Some(oldest) = axis.targets.ids().next() else { return PerTarget::default() };
        let mut first = axis.targets.ids().map(|_| oldest).collect();
        refine(&mut first, |target| axis.targets[target].arch);
        let pieces = self.spec.typedefs.values().flat_map(|typedef| &typedef.0);
        refine_by(&mut first, pieces.map(|piece| &piece.targets).collect());
        first
    }

    fn definition(&mut self, name: &'s str, depth: usize) {
        let Some(definition) = self.spec.definitions.get(name) else { return };
        if self.found.contains_key(name) {
            return;
        }
        // Begin with a separate entry for each target, which is also the result for recursive types.
        self.found.insert(name, self.basic.ids().collect());
        if depth == DEEPEST {
            return;
        }
        let mut facts = Facts::default();
        facts.definition(definition);
        let mut first = self.basic.clone();
        refine_by(&mut first, facts.scopes);
        let typedefs =
            |name| self.spec.typedefs.get(name).into_iter().flat_map(|typedef| typedef.0.iter().map(|p| p.value.base()));
        let mut uses: Vec<&str> = facts.uses;
        let mut known: HashSet<&str> = uses.iter().copied().collect();
        let mut next = 0;
        while let Some(&name) = uses.get(next) {
            uses.extend(typedefs(name).filter(|base| known.insert(base)));
            next += 1;
        }
        for used in uses {
            self.definition(used, depth + 1);
            if let Some(of) = self.found.get(used) {
                refine(&mut first, |target| of[target]);
            }
        }
        self.found.insert(name, first);
    }
}

/// The statements of a definition.
#[derive(Default)]
struct Facts<'s> {
    scopes: Vec<&'s TargetSet>,
    uses: Vec<&'s str>,
}

impl<'s> Facts<'s> {
    fn definition(&mut self, definition: &'s Definition) {
        self.scopes.push(&definition.scope);
        self.pieces(&definition.source);
        self.errata(&definition.errata);
        match &definition.body {
            Body::Aggregate(aggregate) => {
                [&aggregate.size, &aggregate.align, &aggregate.pack].into_iter().for_each(|pieces| self.pieces(pieces));
                self.members(&aggregate.members);
            }
            Body::Values(values) => {
                self.uses.push(&values.ty.value);
                for constant in &values.constants {
                    self.scopes.push(&constant.scope);
                    self.pieces(&constant.value);
                    self.errata(&constant.errata);
                }
            }
        }
        self.uses.sort_unstable();
        self.uses.dedup();
    }

    fn members(&mut self, members: &'s [Member]) {
        for member in members {
            self.scopes.push(&member.scope);
            self.pieces(&member.source);
            self.errata(&member.errata);
            [&member.bits, &member.mask, &member.offset, &member.align].into_iter().for_each(|pieces| self.pieces(pieces));
            self.uses.extend(member.values.as_ref().map(|values| values.value.as_str()));
            match &member.shape {
                Shape::Inline(_, members) => self.members(members),
                Shape::Type(types) => {
                    self.pieces(types);
                    self.uses.extend(types.0.iter().filter(|piece| !is_pointer(&piece.value)).map(|piece| piece.value.base()));
                }
            }
        }
    }

    fn errata(&mut self, errata: &'s [Erratum]) {
        self.scopes.extend(errata.iter().flat_map(|erratum| [&erratum.scope, &erratum.checked]));
    }

    fn pieces<T>(&mut self, pieces: &'s Piecewise<T>) {
        self.scopes.extend(pieces.0.iter().map(|piece| &piece.targets));
    }
}

/// Whether a type is a pointer, or an array of them: its layout does not depend on the type behind the pointer. A pointer to an
/// array does not count, because the layout of the array is computed too.
fn is_pointer(ty: &CType) -> bool {
    match ty {
        CType::Pointer { to, .. } => !matches!(**to, CType::Array { .. }),
        CType::Array { of, .. } => is_pointer(of),
        CType::Name { .. } | CType::Function { .. } => false,
    }
}

fn refine_by(first: &mut PerTarget<TargetId>, mut scopes: Vec<&TargetSet>) {
    scopes.sort_unstable();
    scopes.dedup();
    for scopes in scopes.chunks(64) {
        refine(first, |target| scopes.iter().fold(0u64, |bits, scope| bits << 1 | u64::from(scope.contains(target))));
    }
}

/// Separates targets that differ in a key.
fn refine<K: Hash + Eq>(first: &mut PerTarget<TargetId>, key: impl Fn(TargetId) -> K) {
    let mut known = HashMap::new();
    for target in first.ids() {
        first[target] = *known.entry((first[target], key(target))).or_insert(target);
    }
}
