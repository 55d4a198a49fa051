//! A verification as JSON.

use super::text::uses;
use crate::target::{Confidence, confidence};
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::registry::Registry;
use etw_layouts_project::Choice;
use etw_layouts_project::verify::{Checked, Finding, Report, Summary, Variables};
use serde::Serialize;
use std::collections::BTreeMap;

/// Everything that a verification found.
#[derive(Serialize)]
pub struct Document<'a> {
    tables: Vec<Table<'a>>,
    /// What images tell: the offsets of some members, and nothing else of their kernels.
    images: Vec<Image<'a>>,
    /// Files of other machines, which were passed over.
    skipped: &'a [String],
    claims: &'a [Finding],
    /// Those that converted tables had to be read by.
    rules: Vec<Rule>,
    errata: &'a [String],
    summary: &'a Summary,
}

#[derive(Serialize)]
struct Table<'a> {
    source: &'a str,
    build: &'a str,
    arch: &'a str,
    /// The target whose layouts it was held against.
    target: String,
    /// How sure they were for the kernel of the table before it was read.
    #[serde(flatten)]
    confidence: Confidence,
    note: Option<String>,
    /// The targets whose layouts it has, if it is labelled as another kernel's; else none.
    facts_of: Vec<String>,
    /// The kernel that the facts know its PDB as, if it is labelled as another one.
    pdb_of: Option<&'a str>,
    structures: Vec<Structure<'a>>,
    /// Where it says that global variables are, held against the facts of the same PDB.
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
    /// The target with whose layouts it agrees, or else that which was taken for it.
    target: String,
    /// How sure its layouts are for the kernel of the image.
    #[serde(flatten)]
    confidence: Confidence,
    structures: Vec<Structure<'a>>,
    /// Addresses of global variables in it, verified against the facts of the kernel's PDB.
    variables: &'a Variables,
}

#[derive(Serialize)]
struct Structure<'a> {
    name: &'a str,
    status: &'a str,
    /// How many facts agree.
    equal: u64,
    /// How many each rule had to accept.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    accepted: BTreeMap<&'static str, u64>,
    differences: &'a [Finding],
}

#[derive(Serialize)]
struct Rule {
    rule: &'static str,
    description: &'static str,
    uses: u64,
}

/// The document of a verification.
pub fn json<'a>(layouts: &Layouts, report: &'a Report) -> Document<'a> {
    let registry = &report.registry;
    let rules = uses(report).into_iter();
    let rules = rules.map(|(rule, uses)| Rule { rule: rule.as_str(), description: rule.description(), uses });
    Document {
        tables: report.tables.iter().map(|checked| table(layouts, registry, checked)).collect(),
        images: report.images.iter().map(|checked| image(layouts, registry, checked)).collect(),
        skipped: &report.skipped,
        claims: &report.claims,
        rules: rules.collect(),
        errata: &report.errata,
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
        status: compared.status,
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
