//! A verification report as JSON.

use super::text::uses;
use crate::object::object;
use crate::target::confidence;
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::registry::Registry;
use etw_layouts_project::Choice;
use etw_layouts_project::verify::{Checked, Report};
use serde::Serialize;
use std::collections::BTreeMap;

/// The complete report of a verification.
pub fn json<'a>(layouts: &Layouts, report: &'a Report) -> impl Serialize + use<'a> {
    let registry = &report.registry;
    let rules = uses(report).into_iter();
    let rules = rules.map(|(rule, uses)| object! { rule: rule.as_str(), description: rule.description(), uses: uses });
    object! {
        tables: report.tables.iter().map(|checked| table(layouts, registry, checked)).collect::<Vec<_>>(),
        // Images, which show the offsets of some members only.
        images: report.images.iter().map(|checked| image(layouts, registry, checked)).collect::<Vec<_>>(),
        // Files for other architectures.
        skipped_files: &report.skipped,
        unverified_claims: &report.claims,
        // The rules for converted tables that were used.
        rules: rules.collect::<Vec<_>>(),
        errata: &report.errata,
        // Event specs, verified against each source.
        events: &report.events,
        summary: &report.summary,
    }
}

fn table<'a>(layouts: &Layouts, registry: &Registry, table: &'a Checked) -> impl Serialize + use<'a> {
    let (axis, choice) = (&layouts.spec.axis, Choice::of(layouts, registry, table.asked.clone(), None));
    object! {
        source: &table.source,
        build: &table.build,
        arch: &table.arch,
        // The target whose layouts were verified against the table.
        target: axis.target_name(choice.target()),
        // The confidence in these layouts, without the evidence of this table.
        #[serde(flatten)] confidence: confidence(axis, &choice),
        note: choice.note(axis),
        // If the label is wrong: the targets with the layouts of the table, and the target of its PDB according to the facts.
        facts_of: table.facts_of.iter().map(|&target| axis.target_name(target)).collect::<Vec<_>>(),
        pdb_of: &table.pdb_of,
        structures: structures(table),
        // Its addresses of global variables, verified against the facts of the same PDB.
        variables: &table.variables,
    }
}

fn image<'a>(layouts: &Layouts, registry: &Registry, checked: &'a Checked) -> impl Serialize + use<'a> {
    let file = checked.image.as_ref();
    let (axis, choice) = (&layouts.spec.axis, Choice::of(layouts, registry, checked.asked.clone(), None));
    object! {
        source: &checked.source,
        // None if the table names only build and architecture.
        file: file.map(|file| &file.name),
        time_stamp: file.map(|file| file.time_stamp),
        size: file.map(|file| file.size),
        build: &checked.build,
        arch: &checked.arch,
        // The target with the layouts of the image. If there is none, the target that it was compared with.
        target: axis.target_name(choice.target()),
        #[serde(flatten)] confidence: confidence(axis, &choice),
        structures: structures(checked),
        variables: &checked.variables,
    }
}

fn structures(checked: &Checked) -> Vec<impl Serialize> {
    let structures = checked.structures.iter().map(|(name, compared)| {
        let accepted: BTreeMap<_, _> = compared.accepted.iter().map(|(rule, count)| (rule.as_str(), count)).collect();
        object! {
            name: name,
            status: compared.outcome.as_str(),
            // The number of facts that agree, and of those that agree only by a rule for converted tables, by rule.
            equal: compared.equal,
            #[serde(flatten)] accepted: (!accepted.is_empty()).then(|| object! { accepted: accepted }),
            differences: &compared.differences,
        }
    });
    structures.collect()
}
