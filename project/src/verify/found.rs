//! The report of a verification.

use super::mismatch::Mismatch;
use super::variables::Variables;
use crate::events;
use crate::tables::BuildTable;
use etw_layouts_codegen::Asked;
use etw_layouts_codegen::axis::{Axis, TargetId};
use etw_layouts_codegen::registry::Registry;
use etw_layouts_symbols::compare::Rule;
use etw_layouts_symbols::compare::Status;
use etw_layouts_symbols::{ImageFile, Pdb};
use serde::Serialize;
use std::collections::BTreeMap;

/// A verification.
pub struct Report {
    /// Each table, compared.
    pub tables: Vec<Checked>,
    /// Each image, compared by the offsets that it shows.
    pub images: Vec<Checked>,
    /// Files of other machines, which were passed over.
    pub skipped: Vec<String>,
    /// Statements of the specs about evidence in symbol data that contradict the facts.
    pub claims: Vec<Mismatch>,
    /// The errata of published references.
    pub errata: Vec<String>,
    /// The totals.
    pub summary: Summary,
    /// The kernels that the project's facts are of.
    pub registry: Registry,
    /// Events, if the specs were verified against the project's facts.
    pub events: events::Report,
}

/// All that was compared.
#[derive(Default)]
pub struct All {
    /// Tables.
    pub tables: Vec<Checked>,
    /// The facts from images.
    pub of_images: Vec<BuildTable>,
    /// Images, compared.
    pub images: Vec<Checked>,
    /// How many images are of an architecture that the axis does not have.
    pub left_out: usize,
    /// Files of other machines, which were passed over.
    pub skipped: Vec<String>,
    /// The kernels that all of these are of.
    pub registry: Registry,
}

/// One table, or the facts from one image, compared.
pub struct Checked {
    /// The symbol file.
    pub source: String,
    /// The build that it is of.
    pub build: String,
    /// The architecture.
    pub arch: String,
    /// The symbol file, if known.
    pub pdb: Option<Pdb>,
    /// The kernel's image, if known.
    pub image: Option<ImageFile>,
    /// The build, and the target whose layouts it was compared with.
    pub asked: Asked,
    /// By name.
    pub structures: BTreeMap<String, Comparison>,
    /// Where it says that global variables are.
    pub variables: Variables,
    /// The targets whose layouts it has, if it is labelled as another kernel's: see [`label`](super::label).
    pub facts_of: Vec<TargetId>,
    /// The kernel that the facts know its program database as, if it is labelled as another one.
    pub pdb_of: Option<String>,
}

/// How a structure compares with a table.
pub struct Comparison {
    /// The outcome.
    pub outcome: Outcome,
    /// How many facts agree.
    pub equal: u64,
    /// How many a rule for converted tables had to accept.
    pub accepted: BTreeMap<Rule, u64>,
    /// What differs.
    pub differences: Vec<Mismatch>,
}

/// The outcome of a comparison with a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The specs have a layout of the structure.
    Compared(Status),
    /// The table has the structure, but the specs have no layout of it for the table's target.
    Unspecified,
}

/// The totals.
#[derive(Default, Serialize)]
pub struct Summary {
    /// Tables that were compared: the symbols of a kernel each.
    pub tables: u64,
    /// The kernels that they are of. Of some there are several tables.
    pub kernels: u64,
    /// Images that were compared. They verify no structure.
    pub images: u64,
    /// Images that were not, being of an architecture that the specs do not have.
    pub skipped_images: u64,
    /// Facts that a table confirms.
    pub verified: u64,
    /// Facts that no public symbols can confirm.
    pub unverifiable: u64,
    /// Facts of which no table was read yet, or which a rule had to accept.
    pub not_verified: u64,
    /// Tables that are labelled as another kernel's. They confirm nothing, and are counted nowhere else.
    pub mislabelled: u64,
    /// What differs.
    pub differences: u64,
    /// Errata of the documents.
    pub errata: u64,
    /// Why facts cannot be confirmed, and how many.
    pub reasons: BTreeMap<String, u64>,
}

impl Checked {
    pub(super) fn new(table: &BuildTable, asked: Asked, structures: BTreeMap<String, Comparison>) -> Checked {
        Checked {
            source: table.source.clone(),
            build: format!("{:#}", table.build),
            arch: table.arch.to_string(),
            pdb: table.pdb.clone(),
            image: table.image.clone(),
            asked,
            structures,
            variables: Variables::default(),
            facts_of: Vec::new(),
            pdb_of: None,
        }
    }

    /// Whether this is a table of a build that has the layouts of that target, and not one that only uses them in place of its own.
    pub fn is_of(&self, axis: &Axis, target: TargetId) -> bool {
        self.asked.target == target && self.asked.is_of_build(axis)
    }

    /// Whether anything differs from the layouts that it was compared with.
    pub fn differs(&self) -> bool {
        self.structures.values().any(|structure| !structure.differences.is_empty())
    }

    /// Whether it is of another kernel than its label says.
    pub fn is_labelled_wrongly(&self) -> bool {
        !self.facts_of.is_empty() || self.pdb_of.is_some()
    }
}

impl Comparison {
    /// A type of ours that has no layout for the table's kernel.
    pub fn unspecified() -> Self {
        Self { outcome: Outcome::Unspecified, equal: 0, accepted: BTreeMap::new(), differences: Vec::new() }
    }
}

impl Outcome {
    /// `equal`, `differs`, `absent` or `unspecified`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Compared(status) => status.as_str(),
            Self::Unspecified => "unspecified",
        }
    }
}

impl Report {
    /// A report, its differences counted.
    pub fn new(registry: Registry, all: All, claims: Vec<Mismatch>, errata: Vec<String>, mut summary: Summary) -> Self {
        let All { tables, images, left_out, skipped, .. } = all;
        let (wrong, right): (Vec<_>, Vec<_>) = tables.iter().chain(&images).partition(|table| table.is_labelled_wrongly());
        let structures = right.iter().flat_map(|table| table.structures.values());
        let variables: usize = right.iter().map(|table| table.variables.differences.len()).sum();
        let count = variables + structures.map(|compared| compared.differences.len()).sum::<usize>();
        (summary.differences, summary.mislabelled) = ((count + claims.len()) as u64, wrong.len() as u64);
        (summary.images, summary.skipped_images) = (images.len() as u64, left_out as u64);
        summary.errata = errata.len() as u64;
        let events = events::Report::default();
        Self { tables, images, skipped, claims, errata, summary, registry, events }
    }

    /// Whether anything differs, or is labelled wrongly.
    pub fn differs(&self) -> bool {
        self.summary.differences > 0 || self.summary.mislabelled > 0 || self.events.differs()
    }
}
