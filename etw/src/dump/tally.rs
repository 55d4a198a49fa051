//! Findings of one dump: the first hundred of a kind are told, the others counted.

use crate::etl::output::{Escaped, Grouped, Output};
use etw_layouts_cli::Outcome;
use etw_layouts_dump::Finding;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::{self, Display};

/// How many findings of a kind are told.
const MOST: u64 = 100;

/// A finding, or how many more like it there are.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Told<'a> {
    Found {
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<&'a str>,
        kind: &'static str,
        offset: u64,
        what: String,
    },
    More {
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<&'a str>,
        kind: &'static str,
        more: u64,
    },
}

/// What is to be told of findings.
pub fn told<'a>(file: Option<&'a str>, findings: &[Finding]) -> Vec<Told<'a>> {
    let mut kinds: BTreeMap<&'static str, u64> = BTreeMap::new();
    let mut told = Vec::new();
    for Finding { offset, what } in findings {
        let kind = what.kind();
        let count = kinds.entry(kind).or_default();
        *count += 1;
        if *count <= MOST {
            told.push(Told::Found { file, kind, offset: *offset, what: what.to_string() });
        }
    }
    let more = kinds.into_iter().filter(|(_, count)| *count > MOST);
    told.extend(more.map(|(kind, count)| Told::More { file, kind, more: count - MOST }));
    told
}

/// Tells of findings on the standard error.
pub fn aside(file: &str, findings: &[Finding], out: &Output) {
    told(Some(file), findings).iter().for_each(|told| out.aside(told));
}

/// Whether there are none.
pub fn outcome(findings: &[Finding]) -> Outcome {
    if findings.is_empty() { Outcome::Good } else { Outcome::Differs }
}

impl Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Found { file, .. } | Self::More { file, .. }) = self;
        if let Some(file) = file {
            write!(f, "{}: ", Escaped(file))?;
        }
        match self {
            Self::Found { offset, what, .. } => write!(f, "at {offset:#x}: {what}"),
            Self::More { kind, more, .. } => write!(f, "and {} more of the kind {kind}", Grouped(*more)),
        }
    }
}
