//! Counts the diagnostics of a dump: the first hundred of each kind are printed, the others counted.

use super::DumpDiagnostic;
use crate::output::tally::{self as etl, Tally};
use crate::output::{Escaped, Output};
use etw_layouts_cli::Outcome;
use serde::Serialize;
use std::fmt::{self, Display};

/// A diagnostic, or the number of others of the same kind.
#[derive(Serialize)]
#[serde(untagged)]
pub enum DumpDiagnosticLine<'a> {
    Found {
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<&'a str>,
        kind: &'static str,
        offset: u64,
        message: String,
    },
    /// A finding in memory.
    InMemory {
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<&'a str>,
        kind: &'static str,
        weight: String,
        structure: &'static str,
        member: &'static str,
        address: String,
        message: String,
    },
    More(etl::DiagnosticLine<'a>),
}

/// The diagnostics to print: all, or the first hundred of each kind.
pub fn lines<'a>(file: Option<&'a str>, diagnostics: &[DumpDiagnostic], all: bool) -> Vec<DumpDiagnosticLine<'a>> {
    let mut tally = Tally::default();
    let mut lines = Vec::new();
    for wrong in diagnostics {
        let (kind, message) = match wrong {
            DumpDiagnostic::Dump(diagnostic) => (diagnostic.kind.name(), diagnostic.kind.to_string()),
            DumpDiagnostic::Memory(finding) => (finding.kind.name(), finding.kind.to_string()),
        };
        if !all && !tally.count(kind, &message, false) {
            continue;
        }
        lines.push(match wrong {
            DumpDiagnostic::Dump(diagnostic) => DumpDiagnosticLine::Found { file, kind, offset: diagnostic.offset, message },
            DumpDiagnostic::Memory(finding) => DumpDiagnosticLine::InMemory {
                file,
                kind,
                weight: format!("{:?}", finding.weight()).to_lowercase(),
                structure: finding.place.structure,
                member: finding.place.member,
                address: finding.place.address.to_string(),
                message,
            },
        });
    }
    lines.extend(tally.more(file).into_iter().map(DumpDiagnosticLine::More));
    lines
}

/// Prints diagnostics to standard error.
pub fn aside(file: &str, diagnostics: &[DumpDiagnostic], out: &Output) {
    lines(Some(file), diagnostics, false).iter().for_each(|line| out.aside(line));
}

/// `Good` if there are no diagnostics.
pub fn outcome(diagnostics: &[DumpDiagnostic]) -> Outcome {
    if diagnostics.is_empty() { Outcome::Good } else { Outcome::Differs }
}

impl Display for DumpDiagnosticLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Found { file: Some(file), .. } | Self::InMemory { file: Some(file), .. } = self {
            write!(f, "{}: ", Escaped(file))?;
        }
        match self {
            Self::Found { offset, message, .. } => write!(f, "at {offset:#x}: {}", Escaped(message)),
            Self::InMemory { weight, structure, member, address, message, .. } => {
                write!(f, "{weight}: {structure}")?;
                if !member.is_empty() {
                    write!(f, ".{member}")?;
                }
                write!(f, " at {address}: {}", Escaped(message))
            }
            Self::More(more) => more.fmt(f),
        }
    }
}
