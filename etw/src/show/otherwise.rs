//! The layout of a neighbour, where it is not sure which of two a kernel has.

use crate::diff;
use crate::print::HEADING;
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::registry::Registry;
use etw_layouts_project::diff::{Changes, Side, changes, sides};
use etw_layouts_project::subject::Subject;

/// What is otherwise in the other layout that the kernel may have.
pub struct Otherwise {
    here: Side,
    there: String,
    /// The differences of the structure, or of the member.
    pub changes: Changes,
}

impl Otherwise {
    /// Nothing if there is no other layout.
    pub fn of(layouts: &Layouts, subject: &Subject) -> Option<Self> {
        let axis = &layouts.spec.axis;
        let [here, there] = [subject.choice.target(), subject.choice.other?].map(|target| axis.target_name(target));
        let [one, other] = sides(layouts, &Registry::default(), [&here, &there], Some(&subject.structure)).ok()?;
        let mut changes = changes(&one, &other);
        if let Some(member) = &subject.member {
            changes.of_member(member);
        }
        Some(Self { here: one, there, changes })
    }

    /// The differences to read.
    pub fn text(&self, subject: &Subject) -> String {
        let (there, text) = (&self.there, diff::of(&subject.structure, &self.here, &self.changes));
        match text.is_empty() {
            true => format!("\nIn {there} that is the same.\n"),
            false => format!("\n{HEADING}Otherwise in {there}{HEADING:#}\n{text}"),
        }
    }
}
