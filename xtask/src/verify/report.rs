//! What a verification found, as text and as JSON.

use crate::Error;
use anstyle::{AnsiColor, Effects, Style};
use etw_layouts_symbols::compare::{Difference, Rule};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A verification.
pub struct Report {
    tables: Vec<Checked>,
    claims: Vec<Finding>,
    errata: Vec<String>,
    summary: Summary,
}

/// One table, compared.
pub struct Checked {
    pub source: String,
    pub build: String,
    pub arch: String,
    pub target: usize,
    pub note: Option<String>,
    pub structures: BTreeMap<String, Standing>,
}

/// How a structure compares with a table.
pub struct Standing {
    pub status: &'static str,
    pub equal: u64,
    pub accepted: BTreeMap<Rule, u64>,
    pub differences: Vec<Finding>,
}

/// A difference, and where the spec states its side of it.
#[derive(Serialize)]
pub struct Finding {
    pub member: String,
    pub what: String,
    pub spec: String,
    pub symbols: String,
    pub place: Option<String>,
}

/// The totals.
#[derive(Default, Serialize)]
pub struct Summary {
    pub tables: u64,
    pub verified: u64,
    pub not_verifiable: u64,
    pub not_verified: u64,
    pub differences: u64,
    pub errata: u64,
    #[serde(skip)]
    pub reasons: BTreeMap<String, u64>,
}

impl Standing {
    pub const UNSPECIFIED: &str = "unspecified";

    /// A type of ours that has no layout for the table's kernel.
    pub fn unspecified() -> Self {
        Self { status: Self::UNSPECIFIED, equal: 0, accepted: BTreeMap::new(), differences: Vec::new() }
    }
}

impl Finding {
    pub fn new(difference: &Difference, place: Option<String>) -> Self {
        let Difference { member, what, spec, symbols } = difference;
        Self { member: member.clone(), what: what.as_str().into(), spec: spec.clone(), symbols: symbols.clone(), place }
    }

    /// What the specs say of where symbol data confirms them, and what the shipped tables say.
    pub fn claim(spec: String, symbols: String, place: Option<String>) -> Self {
        Self { member: String::new(), what: "claim".into(), spec, symbols, place }
    }

    /// The finding in a line.
    pub fn line(&self) -> String {
        let place = self.place.as_deref().map(|place| format!("  {place}")).unwrap_or_default();
        let Self { member, what, spec, symbols, .. } = self;
        let space = if member.is_empty() { "" } else { " " };
        format!("{member}{space}{what}: the spec says {spec}, the symbols say {symbols}{place}")
    }
}

const RED: Style = AnsiColor::Red.on_default().effects(Effects::BOLD);
const GREEN: Style = AnsiColor::Green.on_default();

impl Report {
    pub fn new(tables: Vec<Checked>, claims: Vec<Finding>, errata: Vec<String>, mut summary: Summary) -> Self {
        let standings = tables.iter().flat_map(|table| table.structures.values());
        let count: usize = standings.map(|standing| standing.differences.len()).sum();
        summary.differences = (count + claims.len()) as u64;
        summary.errata = errata.len() as u64;
        Self { tables, claims, errata, summary }
    }

    /// Whether anything differs.
    pub fn differs(&self) -> bool {
        self.summary.differences > 0
    }

    /// The report to read. The errata are listed if `errata` is set.
    pub fn text(&self, errata: bool) -> String {
        let mut out = String::new();
        for table in &self.tables {
            table.text(&mut out);
        }
        for claim in &self.claims {
            let _ = writeln!(out, "{RED}claim{RED:#} {}", claim.line());
        }
        self.rules(&mut out);
        if errata && !self.errata.is_empty() {
            let _ = writeln!(out, "\nErrata of the documents, {}:", self.errata.len());
            for erratum in &self.errata {
                let _ = writeln!(out, "  {erratum}");
            }
        }
        self.totals(&mut out);
        out
    }

    fn rules(&self, out: &mut String) {
        let mut uses: BTreeMap<Rule, u64> = BTreeMap::new();
        for (rule, count) in self.tables.iter().flat_map(|t| t.structures.values()).flat_map(|s| &s.accepted) {
            *uses.entry(*rule).or_default() += count;
        }
        if !uses.is_empty() {
            let _ = writeln!(out, "\nRules for tables that were converted from another form, and their uses:");
        }
        for (rule, count) in uses {
            let _ = writeln!(out, "  {count:6}  {}: {}", rule.as_str(), rule.description());
        }
    }

    fn totals(&self, out: &mut String) {
        let Summary { tables, verified, not_verifiable, not_verified, differences, errata, .. } = self.summary;
        let _ = writeln!(
            out,
            "\n{tables} tables. A fact is a size, an offset, a type, a bit range or a constant, at one kernel and architecture."
        );
        let _ = writeln!(out, "{verified:8} facts verified");
        let _ = writeln!(out, "{not_verifiable:8} facts that no public symbols can verify:");
        for (reason, count) in &self.summary.reasons {
            let _ = writeln!(out, "{:8}   {count:6}  {reason}", "");
        }
        let _ =
            writeln!(out, "{not_verified:8} facts not verified yet: no table of theirs was read, or a rule had to accept them");
        let _ = writeln!(out, "{errata:8} errata");
        let style = if differences > 0 { RED } else { GREEN };
        let _ = writeln!(out, "{style}{differences:8} differences{style:#}");
    }

    /// The report as one JSON document.
    ///
    /// # Errors
    ///
    /// None that the data can cause.
    pub fn json(&self) -> Result<String, Error> {
        #[derive(Serialize)]
        struct Document<'a> {
            tables: Vec<TableJson<'a>>,
            claims: &'a [Finding],
            summary: &'a Summary,
        }
        #[derive(Serialize)]
        struct TableJson<'a> {
            source: &'a str,
            build: &'a str,
            arch: &'a str,
            note: Option<&'a str>,
            structures: Vec<StructureJson<'a>>,
        }
        #[derive(Serialize)]
        struct StructureJson<'a> {
            name: &'a str,
            status: &'a str,
            differences: &'a [Finding],
        }
        let tables = self.tables.iter().map(|table| TableJson {
            source: &table.source,
            build: &table.build,
            arch: &table.arch,
            note: table.note.as_deref(),
            structures: table
                .structures
                .iter()
                .map(|(name, standing)| StructureJson { name, status: standing.status, differences: &standing.differences })
                .collect(),
        });
        let document = Document { tables: tables.collect(), claims: &self.claims, summary: &self.summary };
        Ok(serde_json::to_string_pretty(&document)?)
    }
}

impl Checked {
    fn text(&self, out: &mut String) {
        let of = |status: &str| -> Vec<&str> {
            let of_status = self.structures.iter().filter(|(_, s)| s.status == status);
            of_status.map(|(name, _)| name.as_str()).collect()
        };
        let (equal, differs) = (of("equal"), of("differs"));
        let (style, word) = match (differs.is_empty(), equal.is_empty()) {
            (false, _) => (RED, "differs"),
            (true, false) => (GREEN, "equal"),
            (true, true) => (Style::new(), "absent"),
        };
        let facts: u64 = self.structures.values().map(|s| s.equal).sum();
        let _ = writeln!(
            out,
            "{style}{word:8}{style:#}{}-{}: {} structures equal, {facts} facts  ({})",
            self.build,
            self.arch,
            equal.len(),
            self.source
        );
        if let Some(note) = &self.note {
            let _ = writeln!(out, "        note: {note}");
        }
        for (name, standing) in self.structures.iter().filter(|(_, s)| !s.differences.is_empty()) {
            for finding in &standing.differences {
                let _ = writeln!(out, "        {name} {}", finding.line());
            }
        }
        for (what, names) in [("not in the table", of("absent")), ("not in the specs for this kernel", of("unspecified"))] {
            if !names.is_empty() {
                let _ = writeln!(out, "        {what}: {}", names.join(", "));
            }
        }
    }
}
