//! Counts of facts: verified, unverifiable, and not yet verified.

use super::found::{Checked, Summary};
use super::ours;
use etw_layouts_codegen::layouts::{LayoutId, Layouts};
use etw_layouts_codegen::spec::Body;
use etw_layouts_symbols::{Rules, compare};
use std::collections::{BTreeMap, BTreeSet};

/// Counts the facts of all targets: the size of each structure, the offset, type and bits of each member, and each constant. With
/// `macros`, also the values of macros.
pub fn summary(layouts: &Layouts, names: &[&str], macros: bool, checked: &[Checked]) -> Summary {
    let checked: Vec<_> = checked.iter().filter(|table| !table.is_labelled_wrongly()).collect();
    let kernels: BTreeSet<_> = checked.iter().map(|table| (&table.build, &table.arch)).collect();
    let (tables, kernels) = (checked.len() as u64, kernels.len() as u64);
    let mut summary = Summary { tables, kernels, ..Summary::default() };
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    let facts = facts(layouts, names);
    for (target, types) in layouts.by_target.iter() {
        let of_target: Vec<_> = checked.iter().filter(|c| c.is_of(&layouts.spec.axis, target)).collect();
        for (name, id) in types {
            let Some(&facts) = facts.get(id) else { continue };
            let tables = of_target.iter().filter_map(|c| c.structures.get(name));
            let verified = tables.map(|compared| compared.equal).max().unwrap_or(0).min(facts);
            summary.verified += verified;
            match layouts.unverifiable(name, target) {
                Some(reason) if verified == 0 => {
                    summary.unverifiable += facts;
                    *reasons.entry(reason.to_owned()).or_default() += facts;
                }
                _ => summary.not_verified += facts - verified,
            }
        }
    }
    // Macros are the same for all targets, and are in no symbol file.
    for definition in layouts.spec.definitions.values().filter(|d| macros && ours::is_macros(layouts, &d.name.value)) {
        if let Body::Values(values) = &definition.body {
            let facts: usize = values.constants.iter().map(|constant| constant.value.0.len()).sum();
            summary.unverifiable += facts as u64;
            let reason = definition.unverifiable.0.first().map_or("macros are not in symbol files", |piece| &piece.value);
            *reasons.entry(reason.to_owned()).or_default() += facts as u64;
        }
    }
    summary.reasons = reasons;
    summary
}

/// The number of facts in each layout of these names: those that agree if the layout is compared with itself.
fn facts(layouts: &Layouts, names: &[&str]) -> BTreeMap<LayoutId, u64> {
    let mut facts = BTreeMap::new();
    for (target, types) in layouts.by_target.iter() {
        let id = |name: &str| types.get(name).copied();
        let new: Vec<_> = names.iter().copied().filter(|name| id(name).is_some_and(|id| !facts.contains_key(&id))).collect();
        let ours = ours::types(layouts, target, &new);
        let counted = compare(&ours, &ours, Rules::Faithful);
        facts.extend(counted.into_iter().filter_map(|own| Some((types.get(&own.name).copied()?, own.equal))));
    }
    facts
}
