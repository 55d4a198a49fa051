//! The nearest known builds of a build that has not been examined, and the differences between their layouts.

use crate::print::HEADING;
use crate::{Error, diff};
use etw_layouts_codegen::axis::TargetId;
use etw_layouts_codegen::emit::types;
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::registry::Registry;
use etw_layouts_project::diff::{Changes, Side, changes, sides};
use etw_layouts_project::subject::Subject;
use etw_layouts_project::{Choice, Confidence, InferredFrom};
use serde::Serialize;
use std::collections::BTreeSet;

/// The differences from another layout that the build can have.
#[derive(Serialize)]
pub struct Otherwise {
    /// The target with that layout.
    target: String,
    #[serde(skip)]
    pub sides: [Side; 2],
    /// The embedded types with different layouts.
    #[serde(skip)]
    embedded: Vec<String>,
    /// The differences of the structure, or of the member.
    #[serde(flatten)]
    pub changes: Changes,
}

impl Otherwise {
    /// The other layouts that the build can have.
    pub fn all(layouts: &Layouts, subject: &Subject) -> Vec<Self> {
        subject.choice.candidates[1..].iter().filter_map(|other| Self::of(layouts, subject, *other)).collect()
    }

    fn of(layouts: &Layouts, subject: &Subject, other: TargetId) -> Option<Self> {
        let axis = &layouts.spec.axis;
        let targets = [subject.choice.target(), other];
        let [here, there] = targets.map(|target| axis.target_name(target));
        // Both targets are on the version axis, so they are found without facts.
        let sides = sides(layouts, &Registry::default(), [&here, &there], Some(&subject.structure)).ok()?;
        let mut changes = changes(&sides[0], &sides[1]);
        if let Some(member) = &subject.member {
            changes.of_member(member);
        }
        let is_other = |name: &String| {
            let [one, other] = targets.map(|target| layouts.by_target[target].get(name));
            *name != subject.structure && one != other
        };
        let all = types(layouts, targets[0], Some(&subject.structure)).into_iter().map(|layout| layout.name.clone());
        Some(Self { sides, target: there, embedded: all.filter(is_other).collect(), changes })
    }

    /// The differences of several structures between two targets.
    pub fn of_structures(layouts: &Layouts, [here, there]: [TargetId; 2], names: &[&str]) -> Result<Self, Error> {
        let [here, target] = [here, there].map(|target| layouts.spec.axis.target_name(target));
        let mut sides = sides(layouts, &Registry::default(), [&here, &target], None)?;
        // The layouts themselves are compared, whichever evidence they have.
        sides.iter_mut().for_each(|side| side.unexamined.clear());
        let mut changes = changes(&sides[0], &sides[1]);
        changes.of_structures(names);
        Ok(Self { target, sides, embedded: Vec::new(), changes })
    }

    /// The statement that all candidates have the subject at the same offsets, and what else differs; `None` if they do not.
    pub fn agreement(all: &[Self], layouts: &Layouts, subject: &Subject) -> Option<String> {
        let Subject { structure, choice, .. } = subject;
        let Confidence::Uncertain { older, newer, .. } = choice.confidence else { return None };
        if all.iter().any(|other| !other.changes.is_empty()) {
            return None;
        }
        let both = match all {
            [] | [_] => format!("in both nearest known builds, {older} and {newer}"),
            _ => format!("in all layouts that the build can have, from {older} to {newer}"),
        };
        let embedded: BTreeSet<&str> = all.iter().flat_map(|other| &other.embedded).map(String::as_str).collect();
        let what = match (&subject.member, subject.members(layouts).first()) {
            (Some(member), Some(first)) => {
                format!("{structure}.{member} is at offset {:#x} {both}", first.offset)
            }
            (Some(member), None) => format!("{structure}.{member} is the same {both}"),
            (None, _) if embedded.is_empty() => format!("{structure} has the same layout {both}"),
            (None, _) => {
                let embedded = Vec::from_iter(embedded).join(", ");
                format!("the members of {structure} have the same offsets {both}; embedded types differ: {embedded}")
            }
        };
        Some(format!("{}: {what}", choice.asked.name))
    }

    /// The differences as text.
    pub fn text(&self, subject: &Subject) -> String {
        let (there, text) = (&self.target, diff::of(&subject.structure, &self.sides[0], &self.changes));
        format!("{HEADING}Differences from {there}:{HEADING:#}\n{text}")
    }
}

/// The nearest known builds of a build that has not been examined, each with the confidence in its layout.
pub fn nearest(layouts: &Layouts, registry: &Registry, subject: &Subject) -> Option<String> {
    let Subject { structure, choice, .. } = subject;
    let axis = &layouts.spec.axis;
    let own = axis.targets[choice.target()].arch;
    let arch = match choice.confidence {
        Confidence::Inferred(InferredFrom::Unverified { arch }) => arch,
        Confidence::Inferred(_) | Confidence::Uncertain { .. } => own,
        _ => return None,
    };
    let of = |build| Some(Choice::of(layouts, registry, axis.select(build, arch).ok()?, Some(structure)));
    let [older, newer] = choice.confidence.neighbours();
    let before = || axis.along(own).map(|(build, _)| build).filter(|build| *build < choice.asked.build).last();
    let after = || axis.along(own).map(|(build, _)| build).find(|build| *build > choice.asked.build);
    // The build itself can have been examined on another architecture.
    let builds = match Some(choice.asked.build).filter(|build| of(*build).is_some_and(|other| other.confidence.is_verified())) {
        Some(build) => [Some(build), None],
        None => [older.or_else(before), newer.or_else(after)],
    };
    let mut builds: Vec<_> = builds.into_iter().flatten().collect();
    builds.dedup();
    let known = builds.iter().filter_map(|&build| {
        let other = of(build)?;
        let confidence = match layouts.by_target[other.target()].contains_key(structure) {
            true => other.confidence.word(),
            false => "without this structure",
        };
        Some(format!("{build:#}-{arch}, {confidence}"))
    });
    let known: Vec<String> = known.collect();
    let noun = if known.len() == 1 { "build" } else { "builds" };
    Some(format!("Nearest known {noun}: {}.", known.join("; ")))
}
