//! The differences as JSON.

use crate::target::{Target, target};
use etw_layouts_codegen::axis::Axis;
use etw_layouts_project::diff::{Changes, Side};
use serde::Serialize;
use std::collections::BTreeSet;

/// Everything that differs, and between what.
#[derive(Serialize)]
pub struct Document<'a> {
    a: SideJson<'a>,
    b: SideJson<'a>,
    /// How many structures and enumerations were compared.
    compared: usize,
    /// How many of them are equal.
    equal: usize,
    #[serde(flatten)]
    changes: &'a Changes,
}

#[derive(Serialize)]
struct SideJson<'a> {
    /// The target or the file, in words.
    label: &'a str,
    notes: &'a [String],
    /// Of a target.
    #[serde(flatten)]
    target: Option<Target<'a>>,
}

/// The document of what differs.
pub fn json<'a>(axis: &'a Axis, a: &'a Side, b: &'a Side, changes: &'a Changes) -> Document<'a> {
    let side = |side: &'a Side| SideJson {
        label: &side.label,
        notes: &side.notes,
        target: side.choice.as_ref().map(|choice| target(axis, choice)),
    };
    let all: BTreeSet<_> = a.types.keys().chain(b.types.keys()).collect();
    let differ: BTreeSet<_> = changes.lists().iter().flat_map(|(_, list)| *list).map(|entry| &entry.structure).collect();
    Document { a: side(a), b: side(b), compared: all.len(), equal: all.len() - differ.len(), changes }
}
