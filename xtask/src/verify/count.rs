//! How many facts are verified, how many cannot be, how many are not yet.

use super::ours;
use super::report::{Checked, Summary};
use etw_layouts_codegen::layouts::{Layouts, WhyNot};
use etw_layouts_codegen::spec::Body;
use etw_layouts_symbols::{Rules, compare};
use std::collections::BTreeMap;

/// Counts the facts of all targets: of each structure its size, of each member offset, type and bits, each constant. With
/// `macros`, those of macros too, which are no structure's.
pub fn summary(layouts: &Layouts, names: &[&str], macros: bool, checked: &[Checked]) -> Summary {
    let mut summary = Summary { tables: checked.len() as u64, ..Summary::default() };
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    for target in 0..layouts.by_target.len() {
        let ours = ours::types(layouts, target, names);
        // What our own facts are is counted by comparing them with themselves.
        for own in compare(&ours, &ours, Rules::Faithful) {
            let of_target = checked.iter().filter(|c| c.target == target && c.note.is_none());
            let tables = of_target.filter_map(|c| c.structures.get(&own.name));
            let verified = tables.map(|standing| standing.equal).max().unwrap_or(0).min(own.equal);
            summary.verified += verified;
            match layouts.why_not(&own.name, target) {
                Some(WhyNot::Cannot(reason)) if verified == 0 => {
                    summary.not_verifiable += own.equal;
                    *reasons.entry(reason.to_owned()).or_default() += own.equal;
                }
                _ => summary.not_verified += own.equal - verified,
            }
        }
    }
    // Macros are the same for all targets, and none of them is in any symbol file.
    for definition in layouts.spec.definitions.values().filter(|d| macros && ours::is_macros(layouts, &d.name.value)) {
        if let Body::Values(values) = &definition.body {
            let facts: usize = values.constants.iter().map(|constant| constant.value.0.len()).sum();
            summary.not_verifiable += facts as u64;
            let reason = definition.unverifiable.0.first().map_or("macros leave no trace in symbol files", |piece| &piece.value);
            *reasons.entry(reason.to_owned()).or_default() += facts as u64;
        }
    }
    summary.reasons = reasons;
    summary
}
