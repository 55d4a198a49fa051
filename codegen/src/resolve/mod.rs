//! From [`Spec`] to [`Layouts`]: computes every type at every target, and verifies all assertions.

mod resolver;
mod types;

use crate::alike::first_alike;
use crate::assertions;
use crate::axis::{PerTarget, TargetId};
use crate::diagnostic::{Diagnostic, Errors};
use crate::layouts::*;
use crate::problems::Problems;
use crate::read::{Reading, read_again, read_all};
use crate::source::Sources;
use crate::spec::Spec;
use resolver::Resolved;
use std::collections::BTreeMap;

/// Reads a spec set and computes its layouts, with the errors of both in one run.
///
/// # Errors
///
/// As [`read`](crate::read()) and [`resolve`].
pub fn compile(sources: Sources) -> Result<Layouts, Errors> {
    compiled(read_all(sources))
}

/// Computes the layouts of a spec set after a change of one file. `spec` was read without errors before the change. The file has to be
/// one of a structure or of values.
///
/// # Errors
///
/// As [`compile`].
pub fn recompile(spec: Spec, file: usize, text: String) -> Result<Layouts, Errors> {
    compiled(read_again(spec, file, text))
}

pub(crate) fn compiled(reading: Reading) -> Result<Layouts, Errors> {
    let Reading { spec, mut errors, sound } = reading;
    if !sound {
        return Err(Errors::new(spec.sources, errors));
    }
    let (layouts, problems) = resolve_all(spec);
    errors.extend(problems);
    match errors.is_empty() {
        true => Ok(layouts),
        false => Err(Errors::new(layouts.spec.sources, errors)),
    }
}

/// Computes the layouts of a spec set.
///
/// # Errors
///
/// All contradictions between facts, and all types whose layout cannot be computed, each with the affected targets.
pub fn resolve(spec: Spec) -> Result<Layouts, Errors> {
    match resolve_all(spec) {
        (layouts, problems) if problems.is_empty() => Ok(layouts),
        (layouts, problems) => Err(Errors::new(layouts.spec.sources, problems)),
    }
}

/// The structures and unions of one target whose layout can be computed. Errors are ignored.
pub fn laid_out(spec: &Spec, target: TargetId) -> BTreeMap<String, Aggregate> {
    let mut problems = Problems::default();
    let targets = core::iter::once(target);
    let Resolved { layouts, by_target, .. } = resolver::of(spec, &Default::default(), &mut problems, targets);
    let aggregate = |(name, id): (String, LayoutId)| match &layouts[id].form {
        Form::Aggregate(aggregate) => Some((name, aggregate.clone())),
        Form::Enumeration(_) => None,
    };
    by_target.into_iter().flatten().filter_map(aggregate).collect()
}

fn resolve_all(spec: Spec) -> (Layouts, Vec<Diagnostic>) {
    let mut problems = Problems::default();
    let alike = first_alike(&spec);
    let Resolved { layouts, by_target, globals } = sorted(resolver::of(&spec, &alike, &mut problems, spec.axis.targets.ids()));
    assertions::check(&spec, &alike, &layouts, &by_target, &mut problems);
    complete(&spec, &by_target, &mut problems);
    let list = problems.into_list(&spec.axis);
    (Layouts { spec, layouts, by_target, globals }, list)
}

/// Reports definitions that have no layout, unless another error is the cause.
fn complete(spec: &Spec, by_target: &PerTarget<BTreeMap<String, LayoutId>>, problems: &mut Problems) {
    if !problems.is_empty() || !spec.broken.is_empty() {
        return;
    }
    for (target, types) in by_target.iter() {
        let expected = spec.definitions.iter().filter(|(_, d)| d.scope.contains(target));
        for (name, definition) in expected.filter(|(name, _)| !types.contains_key(*name)) {
            let title = format!("type `{name}` has no layout");
            problems.add(target, definition.name.span, &title, "defined here", "complete its members for these targets");
        }
    }
}

/// Sorts the layouts by name, then by first target, and renumbers them.
fn sorted(resolved: Resolved) -> Resolved {
    let Resolved { layouts, mut by_target, mut globals } = resolved;
    let mut order: Vec<_> = (0..layouts.len()).collect();
    order.sort_by_key(|&id| (&layouts[id].name, layouts[id].targets.iter().next()));
    let mut new = vec![0; layouts.len()];
    for (index, &id) in order.iter().enumerate() {
        new[id] = index;
    }
    let mut slots: Vec<_> = layouts.into_iter().map(Some).collect();
    let mut layouts: Vec<Layout> = order.iter().filter_map(|&id| slots[id].take()).collect();
    for layout in &mut layouts {
        if let Form::Aggregate(aggregate) = &mut layout.form {
            aggregate.fields.iter_mut().for_each(|field| renumber(&mut field.ty, &new));
        }
    }
    for id in by_target.values_mut().flat_map(BTreeMap::values_mut) {
        *id = new[*id];
    }
    globals.values_mut().flat_map(BTreeMap::values_mut).for_each(|ty| renumber(ty, &new));
    Resolved { layouts, by_target, globals }
}

fn renumber(ty: &mut Type, new: &[LayoutId]) {
    match ty {
        Type::Array { of, .. } => renumber(of, new),
        Type::Layout(id) => *id = new[*id],
        Type::Inline(inner) => inner.fields.iter_mut().for_each(|field| renumber(&mut field.ty, new)),
        _ => {}
    }
}
