//! A verification report as JSON.

use super::text::uses;
use crate::target::{Confidence, confidence};
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::registry::Registry;
use etw_layouts_project::Choice;
use etw_layouts_project::events;
use etw_layouts_project::verify::{Checked, Mismatch, Report, Summary, Variables};
use serde::Serialize;
use std::collections::BTreeMap;

/// The complete report of a verification.
#[derive(Serialize)]
pub struct Document<'a> {
    tables: Vec<Table<'a>>,
    /// Images, which show the offsets of some members only.
    images: Vec<Image<'a>>,
    /// Files for other architectures, which were skipped.
    skipped_files: &'a [String],
    unverified_claims: &'a [Mismatch],
    /// The rules for converted tables that were used.
    rules: Vec<Rule>,
    errata: &'a [String],
    /// Event specs, verified against each source.
    events: &'a events::Report,
    summary: &'a Summary,
}

#[derive(Serialize)]
struct Table<'a> {
    source: &'a str,
    build: &'a str,
    arch: &'a str,
    /// The target whose layouts were verified against the table.
    target: String,
    /// The confidence in these layouts, without the evidence of this table.
    #[serde(flatten)]
    confidence: Confidence,
    note: Option<String>,
    /// If the label is wrong: the targets with the layouts of the table.
    facts_of: Vec<String>,
    /// If the label is wrong: the target of its PDB according to the facts.
    pdb_of: Option<&'a str>,
    structures: Vec<Structure<'a>>,
    /// Its addresses of global variables, verified against the facts of the same PDB.
    variables: &'a Variables,
}

#[derive(Serialize)]
struct Image<'a> {
    source: &'a str,
    /// File, time stamp and size; null if the table names only build and architecture.
    file: Option<&'a str>,
    time_stamp: Option<u32>,
    size: Option<u32>,
    build: &'a str,
    arch: &'a str,
    /// The target with the layouts of the image. If there is none, the target that it was compared with.
    target: String,
    /// The confidence in these layouts for the build of the image.
    #[serde(flatten)]
    confidence: Confidence,
    structures: Vec<Structure<'a>>,
    /// Addresses of global variables in it, verified against the facts of the kernel's PDB.
    variables: &'a Variables,
}

#[derive(Serialize)]
struct Structure<'a> {
    name: &'a str,
    status: &'static str,
    /// The number of facts that agree.
    equal: u64,
    /// The number of facts that agree only by a rule for converted tables, by rule.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    accepted: BTreeMap<&'static str, u64>,
    differences: &'a [Mismatch],
}

#[derive(Serialize)]
struct Rule {
    rule: &'static str,
    description: &'static str,
    uses: u64,
}

/// The document of a verification report.
pub fn json<'a>(layouts: &Layouts, report: &'a Report) -> Document<'a> {
    let registry = &report.registry;
    let rules = uses(report).into_iter();
    let rules = rules.map(|(rule, uses)| Rule { rule: rule.as_str(), description: rule.description(), uses });
    Document {
        tables: report.tables.iter().map(|checked| table(layouts, registry, checked)).collect(),
        images: report.images.iter().map(|checked| image(layouts, registry, checked)).collect(),
        skipped_files: &report.skipped,
        unverified_claims: &report.claims,
        rules: rules.collect(),
        errata: &report.errata,
        events: &report.events,
        summary: &report.summary,
    }
}

fn image<'a>(layouts: &Layouts, registry: &Registry, checked: &'a Checked) -> Image<'a> {
    let file = checked.image.as_ref();
    let (axis, choice) = (&layouts.spec.axis, Choice::of(layouts, registry, checked.asked.clone(), None));
    Image {
        source: &checked.source,
        file: file.map(|file| file.name.as_str()),
        time_stamp: file.map(|file| file.time_stamp),
        size: file.map(|file| file.size),
        build: &checked.build,
        arch: &checked.arch,
        target: axis.target_name(choice.target()),
        confidence: confidence(axis, &choice),
        structures: structures(checked),
        variables: &checked.variables,
    }
}

fn structures(checked: &Checked) -> Vec<Structure<'_>> {
    let structures = checked.structures.iter().map(|(name, compared)| Structure {
        name,
        status: compared.outcome.as_str(),
        equal: compared.equal,
        accepted: compared.accepted.iter().map(|(rule, count)| (rule.as_str(), *count)).collect(),
        differences: &compared.differences,
    });
    structures.collect()
}

fn table<'a>(layouts: &Layouts, registry: &Registry, table: &'a Checked) -> Table<'a> {
    let (axis, choice) = (&layouts.spec.axis, Choice::of(layouts, registry, table.asked.clone(), None));
    Table {
        source: &table.source,
        build: &table.build,
        arch: &table.arch,
        target: axis.target_name(choice.target()),
        confidence: confidence(axis, &choice),
        note: choice.note(axis),
        facts_of: table.facts_of.iter().map(|&target| axis.target_name(target)).collect(),
        pdb_of: table.pdb_of.as_deref(),
        structures: structures(table),
        variables: &table.variables,
    }
}
