//! Counts the diagnostics of a dump: the first hundred of each kind are printed, the others counted.

use super::Wrong;
use crate::output::tally::{self as etl, Tally};
use crate::output::{Escaped, Output};
use etw_layouts_cli::Outcome;
use serde::Serialize;
use std::fmt::{self, Display};

/// A diagnostic, or the number of others of the same kind.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Told<'a> {
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
    More(etl::Told<'a>),
}

/// The diagnostics to print: all, or the first hundred of each kind.
pub fn told<'a>(file: Option<&'a str>, diagnostics: &[Wrong], all: bool) -> Vec<Told<'a>> {
    let mut tally = Tally::default();
    let mut told = Vec::new();
    for wrong in diagnostics {
        let (kind, message) = match wrong {
            Wrong::Dump(diagnostic) => (diagnostic.kind.name(), diagnostic.kind.to_string()),
            Wrong::Memory(finding) => (finding.kind.name(), finding.kind.to_string()),
        };
        if !all && !tally.count(kind, &message, true) {
            continue;
        }
        told.push(match wrong {
            Wrong::Dump(diagnostic) => Told::Found { file, kind, offset: diagnostic.offset, message },
            Wrong::Memory(finding) => Told::InMemory {
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
    told.extend(tally.more(file).into_iter().map(Told::More));
    told
}

/// Prints diagnostics to standard error.
pub fn aside(file: &str, diagnostics: &[Wrong], out: &Output) {
    told(Some(file), diagnostics, false).iter().for_each(|told| out.aside(told));
}

/// `Good` if there are no diagnostics.
pub fn outcome(diagnostics: &[Wrong]) -> Outcome {
    if diagnostics.is_empty() { Outcome::Good } else { Outcome::Differs }
}

impl Display for Told<'_> {
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
