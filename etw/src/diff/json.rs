//! Differences as JSON.

use crate::target::{Target, target};
use etw_layouts_codegen::axis::Axis;
use etw_layouts_project::diff::{Changes, Side, Verdict};
use serde::Serialize;
use std::collections::BTreeSet;

/// All differences, and the two sides.
#[derive(Serialize)]
pub struct Document<'a> {
    a: SideJson<'a>,
    b: SideJson<'a>,
    /// The number of structures and enumerations that were compared.
    compared: usize,
    /// The number of those that are known to be equal.
    equal: usize,
    /// The structures and enumerations of which it is unknown whether they differ. The lists of changes contain the differences between
    /// the layouts that are used for them.
    unknown: &'a BTreeSet<&'a str>,
    /// Those that differ or are unknown, with an inferred or uncertain layout.
    inferred: &'a BTreeSet<&'a str>,
    #[serde(flatten)]
    changes: &'a Changes,
}

#[derive(Serialize)]
struct SideJson<'a> {
    /// The target or the file, as text.
    label: &'a str,
    notes: &'a [String],
    /// The structures that were not compared, because public symbol files do not contain them.
    not_compared: &'a [String],
    /// The target; none for a file.
    #[serde(flatten)]
    target: Option<Target<'a>>,
}

/// The document of all differences.
pub fn json<'a>(axis: &'a Axis, a: &'a Side, b: &'a Side, changes: &'a Changes, verdict: &'a Verdict<'a>) -> Document<'a> {
    let side = |side: &'a Side| SideJson {
        label: &side.label,
        notes: &side.notes,
        not_compared: &side.not_compared,
        target: side.choice.as_ref().map(|choice| target(axis, choice)),
    };
    let Verdict { equal, differ, unknown, inferred } = verdict;
    let compared = equal.len() + differ.len() + unknown.len();
    Document { a: side(a), b: side(b), compared, equal: equal.len(), unknown, inferred, changes }
}
