//! Counts the diagnostics of a dump: the first hundred of each kind are printed, the others counted.

use super::DumpDiagnostic;
use crate::object::object;
use crate::output::tally::{DiagnosticLine, Tally};
use crate::output::{Escaped, Output};
use etw_layouts_cli::Outcome;
use serde::{Serialize, Serializer};
use std::fmt::{self, Display};

/// A diagnostic, or the number of others of the same kind. It has the name of a file where several are read.
pub enum DumpDiagnosticLine<'a> {
    Found(Option<&'a str>, &'a DumpDiagnostic),
    More(DiagnosticLine<'a>),
}

/// The diagnostics to print: all, or the first hundred of each kind.
pub fn lines<'a>(file: Option<&'a str>, diagnostics: &'a [DumpDiagnostic], all: bool) -> Vec<DumpDiagnosticLine<'a>> {
    let mut tally = Tally::default();
    let mut is_printed = |wrong: &&DumpDiagnostic| match wrong {
        _ if all => true,
        DumpDiagnostic::Dump(diagnostic) => tally.count(diagnostic.kind.name(), &diagnostic.kind, false),
        DumpDiagnostic::Memory(finding) => tally.count(finding.kind.name(), &finding.kind, false),
    };
    let printed = diagnostics.iter().filter(&mut is_printed);
    let mut lines: Vec<_> = printed.map(|wrong| DumpDiagnosticLine::Found(file, wrong)).collect();
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

impl Serialize for DumpDiagnosticLine<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Found(file, DumpDiagnostic::Dump(diagnostic)) => {
                let kind = &diagnostic.kind;
                let file = file.map(|file| object! { file: file });
                object! { #[serde(flatten)] file: file, kind: kind.name(), offset: diagnostic.offset, message: kind.to_string() }
                    .serialize(serializer)
            }
            Self::Found(file, DumpDiagnostic::Memory(finding)) => object! {
                #[serde(flatten)] file: file.map(|file| object! { file: file }),
                kind: finding.kind.name(),
                weight: format!("{:?}", finding.weight()).to_lowercase(),
                structure: finding.place.structure,
                member: finding.place.member,
                address: finding.place.address.to_string(),
                message: finding.kind.to_string(),
            }
            .serialize(serializer),
            Self::More(more) => more.serialize(serializer),
        }
    }
}

impl Display for DumpDiagnosticLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Found(Some(file), _) = self {
            write!(f, "{}: ", Escaped(file))?;
        }
        match self {
            Self::Found(_, DumpDiagnostic::Dump(diagnostic)) => {
                write!(f, "at {:#x}: {}", diagnostic.offset, Escaped(&diagnostic.kind.to_string()))
            }
            Self::Found(_, DumpDiagnostic::Memory(finding)) => {
                let (place, weight) = (&finding.place, format!("{:?}", finding.weight()).to_lowercase());
                let dot = if place.member.is_empty() { "" } else { "." };
                let message = finding.kind.to_string();
                write!(f, "{weight}: {}{dot}{} at {}: {}", place.structure, place.member, place.address, Escaped(&message))
            }
            Self::More(more) => more.fmt(f),
        }
    }
}
