//! Counts the diagnostics of a file: one line is printed for each kind, or the first hundred of each kind and the number of others.

use super::{Escaped, Grouped};
use etw_layouts_cli::Outcome;
use etw_layouts_etl::{Diagnostic, DiagnosticKind};
#[cfg(feature = "table")]
use etw_layouts_table::Part;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::{self, Display};

/// The number of diagnostics of a kind to print.
const MAX_PRINTED: u64 = 100;

pub struct Tally {
    kinds: BTreeMap<&'static str, Counted>,
    /// Number of diagnostics of each kind to print when they are found.
    most: u64,
}

/// The diagnostics of a kind.
struct Counted {
    count: u64,
    /// The number of those that were printed, or counted in a line.
    printed: u64,
    /// The first message.
    message: String,
    /// The first diagnostic of a file.
    first: Option<Diagnostic>,
    /// Whether the kind is for information only. It does not count as a diagnostic.
    is_note: bool,
}

/// Prints the first hundred of each kind.
impl Default for Tally {
    fn default() -> Self {
        Self { kinds: BTreeMap::new(), most: MAX_PRINTED }
    }
}

impl Tally {
    /// Prints one line for each kind if not `is_detailed`; its place is that of the first diagnostic.
    pub fn new(is_detailed: bool) -> Self {
        Self { most: if is_detailed { MAX_PRINTED } else { 0 }, ..Self::default() }
    }

    /// Counts a diagnostic. Returns `None` if it is not to be printed now.
    pub fn add<'a>(&mut self, file: Option<&'a str>, diagnostic: &Diagnostic) -> Option<DiagnosticLine<'a>> {
        let (kind, is_note) = (diagnostic.kind.name(), !diagnostic.is_damage());
        let is_printed = self.count(kind, &diagnostic.kind, is_note);
        if let Some(counted) = self.kinds.get_mut(kind).filter(|counted| counted.count == 1) {
            counted.first = Some(diagnostic.clone());
        }
        is_printed.then(|| DiagnosticLine::found(file, diagnostic, 0))
    }

    /// Counts a diagnostic of a kind. Returns whether it is to be printed now.
    pub fn count(&mut self, kind: &'static str, message: &dyn Display, is_note: bool) -> bool {
        let new = || Counted { count: 0, printed: 0, message: message.to_string(), first: None, is_note };
        let counted = self.kinds.entry(kind).or_insert_with(new);
        counted.count += 1;
        let is_printed = counted.count <= self.most;
        counted.printed += u64::from(is_printed);
        is_printed
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

    /// The lines for the diagnostics that were not printed.
    pub fn more<'a>(&self, file: Option<&'a str>) -> Vec<DiagnosticLine<'a>> {
        let line = |(kind, counted): (&&'static str, &Counted)| {
            let more = counted.count - counted.printed;
            Some(match &counted.first {
                _ if more == 0 => return None,
                Some(first) if counted.printed == 0 => DiagnosticLine::found(file, first, more - 1),
                _ => DiagnosticLine::More { file, kind, message: counted.message.clone(), more },
            })
        };
        self.kinds.iter().filter_map(line).collect()
    }

    /// The same lines, which are now printed.
    pub fn take_more<'a>(&mut self, file: Option<&'a str>) -> Vec<DiagnosticLine<'a>> {
        let lines = self.more(file);
        self.kinds.values_mut().for_each(|counted| counted.printed = counted.count);
        lines
    }

    /// The number of diagnostics of each kind, and of payloads that are longer than their schemas.
    #[cfg(feature = "table")]
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let is_counted = |(kind, counted): &(&&'static str, &Counted)| !counted.is_note || **kind == DiagnosticKind::UNCOVERED;
        self.kinds.iter().filter(is_counted).map(|(kind, counted)| (*kind, counted.count))
    }

    /// The total number of diagnostics.
    pub fn total(&self) -> u64 {
        self.kinds.values().filter(|counted| !counted.is_note).map(|counted| counted.count).sum()
    }

    pub fn outcome(&self) -> Outcome {
        if self.total() > 0 { Outcome::Differs } else { Outcome::Good }
    }
}

/// Whether a diagnostic is damage of the file, and not of a payload.
pub fn is_of_file(diagnostic: &Diagnostic) -> bool {
    diagnostic.is_damage() && !matches!(diagnostic.kind, DiagnosticKind::Fields(_))
}

/// A diagnostic, or the number of others of the same kind.
#[derive(Serialize)]
#[serde(untagged)]
pub enum DiagnosticLine<'a> {
    Found {
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<&'a str>,
        kind: &'static str,
        /// Whether the line is for information only.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_note: bool,
        buffer: u32,
        buffer_offset: u64,
        offset: u32,
        message: String,
        /// The number of further diagnostics of the kind.
        #[serde(skip_serializing_if = "is_zero")]
        more: u64,
    },
    More {
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<&'a str>,
        kind: &'static str,
        /// The message of the first diagnostic of the kind.
        message: String,
        more: u64,
    },
}

impl<'a> DiagnosticLine<'a> {
    /// The line for a diagnostic and `more` further ones of the same kind.
    pub fn found(file: Option<&'a str>, diagnostic: &Diagnostic, more: u64) -> Self {
        let &Diagnostic { buffer, buffer_offset, offset, ref kind } = diagnostic;
        let (is_note, message) = (!diagnostic.is_damage(), kind.to_string());
        Self::Found { file, is_note, kind: kind.name(), buffer, buffer_offset, offset, message, more }
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Display for DiagnosticLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Found { file, .. } | Self::More { file, .. }) = self;
        if let Some(file) = file {
            write!(f, "{}: ", Escaped(file))?;
        }
        match self {
            Self::Found { is_note, buffer, buffer_offset, offset, message, more, .. } => {
                if *is_note {
                    f.write_str("note: ")?;
                }
                write!(f, "buffer {buffer} at {buffer_offset:#x}, offset {offset:#x}: {message}")?;
                if *more > 0 {
                    write!(f, "; {} more of the same kind", Grouped(*more))?;
                }
                Ok(())
            }
            Self::More { message, more, .. } => write!(f, "{} more of the same kind; the first was: {message}", Grouped(*more)),
        }
    }
}
