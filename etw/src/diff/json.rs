//! Differences as JSON.

use crate::object::object;
use crate::target::target;
use etw_layouts_codegen::axis::Axis;
use etw_layouts_project::diff::{Changes, Side, Verdict};
use serde::Serialize;

/// All differences, and the two sides.
pub fn json<'a>(
    axis: &'a Axis,
    a: &'a Side,
    b: &'a Side,
    changes: &'a Changes,
    verdict: &'a Verdict<'a>,
) -> impl Serialize + use<'a> {
    let side = |side: &'a Side| {
        object! {
            // The target or the file, as text.
            label: &side.label,
            notes: &side.notes,
            // The structures that were not compared, because public symbol files do not contain them.
            not_compared: &side.not_compared,
            // The target; none for a file.
            #[serde(flatten)] target: side.choice.as_ref().map(|choice| target(axis, choice)),
        }
    };
    let Verdict { equal, differ, unknown, inferred } = verdict;
    object! {
        a: side(a),
        b: side(b),
        // The number of compared structures and enumerations, and the number of equal ones.
        compared: equal.len() + differ.len() + unknown.len(),
        equal: equal.len(),
        // Those of which it is unknown whether they differ. The changes contain the differences between the layouts that are used for them.
        unknown: unknown,
        // Structures and enumerations that differ or are unknown, with an inferred or uncertain layout.
        inferred: inferred,
        #[serde(flatten)] changes: changes,
    }
}
