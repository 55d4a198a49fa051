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
    /// The comparison of each table.
    pub tables: Vec<Checked>,
    /// The comparison of each image, by the offsets that it shows.
    pub images: Vec<Checked>,
    /// Skipped files, which are for other machines.
    pub skipped: Vec<String>,
    /// Statements of the specs about evidence in symbol data that contradict the facts.
    pub claims: Vec<Mismatch>,
    /// The errata of published references.
    pub errata: Vec<String>,
    /// The totals.
    pub summary: Summary,
    /// The examined builds of the project's facts.
    pub registry: Registry,
    /// The verification of events, if the specs were verified against the project's facts.
    pub events: events::Report,
}

/// All comparisons of a verification.
#[derive(Default)]
pub struct All {
    /// Comparisons of tables.
    pub tables: Vec<Checked>,
    /// The facts from images.
    pub of_images: Vec<BuildTable>,
    /// Comparisons of images.
    pub images: Vec<Checked>,
    /// Number of images for an architecture that the axis does not have.
    pub left_out: usize,
    /// Skipped files, which are for other machines.
    pub skipped: Vec<String>,
    /// The builds of all tables and images.
    pub registry: Registry,
}

/// The comparison of one table, or of the facts from one image.
pub struct Checked {
    /// The symbol file.
    pub source: String,
    /// The build of the table or image.
    pub build: String,
    /// The architecture.
    pub arch: String,
    /// The symbol file, if known.
    pub pdb: Option<Pdb>,
    /// The kernel's image, if known.
    pub image: Option<ImageFile>,
    /// The build, and the target whose layouts it was compared with.
    pub asked: Asked,
    /// The comparison of each structure, by name.
    pub structures: BTreeMap<String, Comparison>,
    /// The comparison of the addresses of global variables.
    pub variables: Variables,
    /// The targets with the layouts of this table, if its label names another build: see [`label`](super::label).
    pub facts_of: Vec<TargetId>,
    /// The build that the facts state for the PDB, if the label names another build.
    pub pdb_of: Option<String>,
}

/// The comparison of a structure with a table.
pub struct Comparison {
    /// The outcome.
    pub outcome: Outcome,
    /// Number of facts that agree.
    pub equal: u64,
    /// Number of facts that each rule for converted tables accepted.
    pub accepted: BTreeMap<Rule, u64>,
    /// The differences.
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
    /// Tables that were compared. A table has the symbols of one build.
    pub tables: u64,
    /// The builds of these tables. A build can have several tables.
    pub kernels: u64,
    /// Images that were compared. They verify no complete structure.
    pub images: u64,
    /// Images that were skipped, because the specs do not have their architecture.
    pub skipped_images: u64,
    /// Facts that a table verifies.
    pub verified: u64,
    /// Facts that no public symbols can verify.
    pub unverifiable: u64,
    /// Facts that no table verifies yet, or that only a rule accepts.
    pub not_verified: u64,
    /// Tables with a wrong label. They verify nothing, and are not included in other counts.
    pub mislabelled: u64,
    /// Differences.
    pub differences: u64,
    /// Errata of published references.
    pub errata: u64,
    /// The number of unverifiable facts, by reason.
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

    /// Whether the table is of a build that has the layouts of a target, and does not only use them in place of its own.
    pub fn is_of(&self, axis: &Axis, target: TargetId) -> bool {
        self.asked.target == target && self.asked.is_of_build(axis)
    }

    /// Whether anything differs from the layouts of the comparison.
    pub fn differs(&self) -> bool {
        self.structures.values().any(|structure| !structure.differences.is_empty())
    }

    /// Whether the label names another build than that of the table.
    pub fn is_labelled_wrongly(&self) -> bool {
        !self.facts_of.is_empty() || self.pdb_of.is_some()
    }
}

impl Comparison {
    /// The comparison of a specified type that has no layout for the build of the table.
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
    /// Creates a report, and counts its differences.
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
