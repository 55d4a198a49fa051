//! Counts the diagnostics of a file: the first hundred of each kind are printed, the others counted.

use super::{Escaped, Grouped};
use crate::object::object;
use etw_layouts_cli::Outcome;
use etw_layouts_etl::Diagnostic;
#[cfg(feature = "table")]
use etw_layouts_table::Part;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt::{self, Display};

/// The number of diagnostics of a kind to print.
const MOST: u64 = 100;

#[derive(Default)]
pub struct Tally {
    kinds: BTreeMap<&'static str, Counted>,
}

/// The diagnostics of a kind.
struct Counted {
    count: u64,
    /// The first message.
    message: String,
    /// Whether the kind is for information only. It does not count as a diagnostic.
    is_note: bool,
}

impl Tally {
    /// Counts a diagnostic. Returns `None` if it is not to be printed.
    pub fn add<'a>(&mut self, file: Option<&'a str>, diagnostic: &Diagnostic) -> Option<DiagnosticLine<'a>> {
        let is_printed = self.count(diagnostic.kind.name(), &diagnostic.kind, !diagnostic.is_damage());
        is_printed.then(|| DiagnosticLine::Found(file, diagnostic.clone()))
    }

    /// Counts a diagnostic of a kind. Returns whether it is to be printed.
    pub fn count(&mut self, kind: &'static str, message: &dyn Display, is_note: bool) -> bool {
        let counted = self.kinds.entry(kind).or_insert_with(|| Counted { count: 0, message: message.to_string(), is_note });
        counted.count += 1;
        counted.count <= MOST
    }

    /// Counts the diagnostics of a file that a part of its rows did not keep. The kept diagnostics are already counted.
    #[cfg(feature = "table")]
    pub fn add_rest(&mut self, file: usize, part: &Part) {
        for ((_, kind), count) in part.diagnostic_counts.range((file, "")..(file + 1, "")) {
            let is_kept = |(of, diagnostic): &&(usize, Diagnostic)| *of == file && diagnostic.kind.name() == *kind;
            let kept = part.diagnostics.iter().filter(is_kept).count() as u64;
            if let Some(counted) = self.kinds.get_mut(kind) {
                counted.count += count.saturating_sub(kept);
            }
        }
    }

    /// The counts of the diagnostics that were not printed.
    pub fn more<'a>(&self, file: Option<&'a str>) -> Vec<DiagnosticLine<'a>> {
        let more = self.kinds.iter().filter(|(_, counted)| counted.count > MOST);
        let line = |(kind, Counted { count, message, .. }): (&&'static str, &Counted)| DiagnosticLine::More {
            file,
            kind,
            message: message.clone(),
            more: count - MOST,
        };
        more.map(line).collect()
    }

    /// The number of diagnostics of each kind.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.kinds.iter().filter(|(_, counted)| !counted.is_note).map(|(kind, counted)| (*kind, counted.count))
    }

    /// The total number of diagnostics.
    pub fn total(&self) -> u64 {
        self.counts().map(|(_, count)| count).sum()
    }

    pub fn outcome(&self) -> Outcome {
        if self.total() > 0 { Outcome::Differs } else { Outcome::Good }
    }
}

/// A diagnostic, or the number of others of the same kind.
pub enum DiagnosticLine<'a> {
    Found(Option<&'a str>, Diagnostic),
    More {
        file: Option<&'a str>,
        kind: &'static str,
        /// The message of the first diagnostic of the kind.
        message: String,
        more: u64,
    },
}

impl Serialize for DiagnosticLine<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Found(file, diagnostic) => object! {
                #[serde(flatten)] file: file.map(|file| object! { file: file }),
                kind: diagnostic.kind.name(),
                // The line is for information only.
                #[serde(flatten)] is_note: (!diagnostic.is_damage()).then(|| object! { is_note: true }),
                buffer: diagnostic.buffer,
                buffer_offset: diagnostic.buffer_offset,
                offset: diagnostic.offset,
                message: diagnostic.kind.to_string(),
            }
            .serialize(serializer),
            Self::More { file, kind, message, more } => object! {
                #[serde(flatten)] file: file.map(|file| object! { file: file }),
                kind: kind,
                message: message,
                more: more,
            }
            .serialize(serializer),
        }
    }
}

impl Display for DiagnosticLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Found(file, _) | Self::More { file, .. }) = self;
        if let Some(file) = file {
            write!(f, "{}: ", Escaped(file))?;
        }
        match self {
            Self::Found(_, diagnostic) => {
                let Diagnostic { buffer, buffer_offset, offset, kind } = diagnostic;
                let note = if diagnostic.is_damage() { "" } else { "note: " };
                write!(f, "{note}buffer {buffer} at {buffer_offset:#x}, offset {offset:#x}: {kind}")
            }
            Self::More { message, more, .. } => write!(f, "{} more of the same kind; the first was: {message}", Grouped(*more)),
        }
    }
}
