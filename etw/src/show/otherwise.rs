//! The nearest known builds of a build that has not been examined, and the differences between their layouts.

use crate::diff;
use crate::print::HEADING;
use etw_layouts_codegen::emit::types;
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::registry::Registry;
use etw_layouts_project::diff::{Changes, Side, changes, sides};
use etw_layouts_project::subject::Subject;
use etw_layouts_project::{Choice, Confidence, Reason};

/// The differences from the other layout that the build may have.
pub struct Otherwise {
    here: Side,
    there: String,
    /// The embedded types with different layouts.
    embedded: Vec<String>,
    /// The differences of the structure, or of the member.
    pub changes: Changes,
}

impl Otherwise {
    /// None if there is no other layout.
    pub fn of(layouts: &Layouts, subject: &Subject) -> Option<Self> {
        let axis = &layouts.spec.axis;
        let targets = [subject.choice.target(), subject.choice.other?];
        let [here, there] = targets.map(|target| axis.target_name(target));
        let [one, other] = sides(layouts, &Registry::default(), [&here, &there], Some(&subject.structure)).ok()?;
        let mut changes = changes(&one, &other);
        if let Some(member) = &subject.member {
            changes.of_member(member);
        }
        let is_other = |name: &String| {
            let [one, other] = targets.map(|target| layouts.by_target[target].get(name));
            *name != subject.structure && one != other
        };
        let all = types(layouts, targets[0], Some(&subject.structure)).into_iter().map(|layout| layout.name.clone());
        Some(Self { here: one, there, embedded: all.filter(is_other).collect(), changes })
    }

    /// The statement that both candidates agree about the subject, and what else differs; `None` if they do not agree.
    pub fn agreement(&self, layouts: &Layouts, subject: &Subject) -> Option<String> {
        let Subject { structure, choice, .. } = subject;
        let [Some(older), Some(newer)] = choice.confidence.neighbours() else { return None };
        if !self.changes.is_empty() {
            return None;
        }
        let both = format!("in both nearest known builds, {older} and {newer}");
        let what = match (&subject.member, subject.members(layouts).first()) {
            (Some(member), Some(first)) => {
                format!("{structure}.{member} is at offset {:#x} {both}; other members differ", first.offset)
            }
            (Some(member), None) => format!("{structure}.{member} is the same {both}"),
            (None, _) if self.embedded.is_empty() => format!("{structure} has the same layout {both}"),
            (None, _) => {
                let embedded = self.embedded.join(", ");
                format!("the members of {structure} have the same offsets {both}; embedded types differ: {embedded}")
            }
        };
        Some(format!("{}: {what}", choice.asked.name))
    }

    /// The differences as text.
    pub fn text(&self, subject: &Subject) -> String {
        let (there, text) = (&self.there, diff::of(&subject.structure, &self.here, &self.changes));
        format!("{HEADING}Differences from {there}:{HEADING:#}\n{text}")
    }
}

/// The nearest known builds of a build that has not been examined, each with the confidence in its layout.
pub fn nearest(layouts: &Layouts, registry: &Registry, subject: &Subject) -> Option<String> {
    let Subject { structure, choice, .. } = subject;
    let axis = &layouts.spec.axis;
    let own = axis.targets[choice.target()].arch;
    let arch = match choice.confidence {
        Confidence::Inferred(Reason::Architecture { arch, .. }) => arch,
        Confidence::Inferred(_) | Confidence::Uncertain { .. } => own,
        _ => return None,
    };
    let [older, newer] = choice.confidence.neighbours();
    let before = || axis.along(own).map(|(build, _)| build).filter(|build| *build < choice.asked.build).last();
    let after = || axis.along(own).map(|(build, _)| build).find(|build| *build > choice.asked.build);
    let mut builds: Vec<_> = [older.or_else(before), newer.or_else(after)].into_iter().flatten().collect();
    builds.dedup();
    let known = builds.iter().filter_map(|&build| {
        let asked = axis.kernel(build, arch).ok()?;
        let confidence = match layouts.by_target[asked.target].contains_key(structure) {
            true => Choice::of(layouts, registry, asked, Some(structure)).confidence.word(),
            false => "without this structure",
        };
        Some(format!("{build:#}-{arch}, {confidence}"))
    });
    let known: Vec<String> = known.collect();
    let noun = if known.len() == 1 { "build" } else { "builds" };
    Some(format!("Nearest known {noun}: {}.", known.join("; ")))
}
