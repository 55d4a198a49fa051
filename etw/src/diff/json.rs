//! Differences as JSON.

use crate::target::{Target, target};
use etw_layouts_codegen::axis::Axis;
use etw_layouts_project::diff::{Changes, Side, unknown};
use serde::Serialize;
use std::collections::BTreeSet;

/// All differences, and the two sides.
#[derive(Serialize)]
pub struct Document<'a> {
    a: SideJson<'a>,
    b: SideJson<'a>,
    /// The number of structures and enumerations that were compared.
    compared: usize,
    /// The number of those that are equal.
    equal: usize,
    /// The structures of which it is unknown whether they differ, because a build is only partly verified.
    unknown: BTreeSet<&'a str>,
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
pub fn json<'a>(axis: &'a Axis, a: &'a Side, b: &'a Side, changes: &'a Changes) -> Document<'a> {
    let side = |side: &'a Side| SideJson {
        label: &side.label,
        notes: &side.notes,
        not_compared: &side.not_compared,
        target: side.choice.as_ref().map(|choice| target(axis, choice)),
    };
    let all: BTreeSet<_> = a.types.keys().chain(b.types.keys()).collect();
    let differ: BTreeSet<_> = changes.lists().iter().flat_map(|(_, list)| *list).map(|entry| &entry.structure).collect();
    let unknown = unknown(a, b, changes);
    Document { a: side(a), b: side(b), compared: all.len(), equal: all.len() - differ.len() - unknown.len(), unknown, changes }
}
