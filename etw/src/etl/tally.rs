//! Findings of one file: the first hundred of a kind are told, the others counted.

use super::output::{Escaped, Grouped};
use etw_layouts_cli::Outcome;
use etw_layouts_etl::Finding;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::{self, Display};

/// How many findings of a kind are told.
const MOST: u64 = 100;

#[derive(Default)]
pub struct Tally {
    /// How many of a kind there are, and what the first one says.
    kinds: BTreeMap<&'static str, (u64, String)>,
    /// Whether one of them is damage.
    is_damaged: bool,
}

impl Tally {
    /// Counts a finding; `None` if it is not to be told.
    pub fn add<'a>(&mut self, file: Option<&'a str>, finding: &Finding) -> Option<Told<'a>> {
        let kind = finding.what.kind();
        let &Finding { buffer, buffer_offset, offset, .. } = finding;
        let is_told = self.count(kind, &finding.what, finding.is_damage());
        is_told.then(|| Told::Found { file, kind, buffer, buffer_offset, offset, what: finding.what.to_string() })
    }

    /// Counts a finding of a kind, and says whether it is to be told.
    pub fn count(&mut self, kind: &'static str, what: &dyn Display, is_damage: bool) -> bool {
        self.is_damaged |= is_damage;
        let (count, _) = self.kinds.entry(kind).or_insert_with(|| (0, what.to_string()));
        *count += 1;
        *count <= MOST
    }

    /// What is to be told of all that were only counted.
    pub fn more<'a>(&self, file: Option<&'a str>) -> Vec<Told<'a>> {
        let more = self.kinds.iter().filter(|(_, (count, _))| *count > MOST);
        more.map(|(kind, (count, what))| Told::More { file, kind, what: what.clone(), more: count - MOST }).collect()
    }

    /// How many there were.
    pub fn total(&self) -> u64 {
        self.kinds.values().map(|(count, _)| count).sum()
    }

    pub fn outcome(&self) -> Outcome {
        if self.is_damaged { Outcome::Differs } else { Outcome::Good }
    }
}

/// A finding, or how many more like it there are.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Told<'a> {
    Found {
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<&'a str>,
        kind: &'static str,
        buffer: u32,
        buffer_offset: u64,
        offset: u32,
        what: String,
    },
    More {
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<&'a str>,
        kind: &'static str,
        /// What the first of them says.
        what: String,
        more: u64,
    },
}

impl Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Found { file, .. } | Self::More { file, .. }) = self;
        if let Some(file) = file {
            write!(f, "{}: ", Escaped(file))?;
        }
        match self {
            Self::Found { buffer, buffer_offset, offset, what, .. } => {
                write!(f, "buffer {buffer} at {buffer_offset:#x}, {offset:#x} within: {what}")
            }
            Self::More { what, more, .. } => write!(f, "and {} more like it: {what}", Grouped(*more)),
        }
    }
}
