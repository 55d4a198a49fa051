//! One build: the confidence in its layouts, and the differences between the nearest known builds.

use crate::print::HEADING;
use crate::target::{Target, named, target};
use crate::{Error, diff};
use etw_layouts_codegen::axis::TargetId;
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::registry::Registry;
use etw_layouts_project::diff::{Changes, Side, changes, sides};
use etw_layouts_project::{Choice, Confidence};
use serde::Serialize;
use std::collections::BTreeMap;

/// A build, and the confidence in each of its layouts.
#[derive(Serialize)]
pub struct Overview<'a> {
    /// The build, and the confidence in all of its layouts together.
    #[serde(flatten)]
    target: Target<'a>,
    /// The number of structures, unions and enumerations by confidence.
    structures: BTreeMap<&'static str, usize>,
    /// The structures whose layout is uncertain.
    uncertain: Vec<&'a str>,
    /// The nearest known builds, if any layout is uncertain: the layout can be that of either build, or of a build between them.
    nearest: Option<[String; 2]>,
    /// The differences to the other targets whose layouts the uncertain structures can have.
    differences_in_alternatives: Vec<Otherwise>,
}

#[derive(Serialize)]
struct Otherwise {
    target: String,
    #[serde(skip)]
    sides: [Side; 2],
    #[serde(flatten)]
    changes: Changes,
}

/// The confidence in each layout of a choice.
///
/// # Errors
///
/// Layouts that cannot be compared.
pub fn overview<'a>(layouts: &'a Layouts, registry: &Registry, choice: &'a Choice) -> Result<Overview<'a>, Error> {
    let axis = &layouts.spec.axis;
    let mut uncertain = Vec::new();
    let mut nearest = None;
    let mut others: BTreeMap<TargetId, Vec<&str>> = BTreeMap::new();
    for name in layouts.by_target[choice.target()].keys() {
        let of_it = Choice::of(layouts, registry, choice.asked.clone(), Some(name));
        if let Confidence::Uncertain { older, newer, .. } = of_it.confidence {
            uncertain.push(name.as_str());
            nearest = nearest.or(Some([older, newer].map(|build| format!("{build:#}"))));
            of_it.candidates[1..].iter().for_each(|other| others.entry(*other).or_default().push(name));
        }
    }
    let otherwise = |(other, names): (TargetId, Vec<&str>)| {
        let target = axis.target_name(other);
        // Both targets are on the version axis, so they are found without facts.
        let mut sides = sides(layouts, &Registry::default(), [&axis.target_name(choice.target()), &target], None)?;
        // The layouts themselves are compared, whichever evidence they have.
        sides.iter_mut().for_each(|side| side.unexamined.clear());
        let mut changes = changes(&sides[0], &sides[1]);
        changes.of_structures(&names);
        Ok(Otherwise { target, sides, changes })
    };
    let differences_in_alternatives = others.into_iter().map(otherwise).collect::<Result<_, Error>>()?;
    let structures = by_confidence(layouts, registry, choice);
    Ok(Overview { target: target(axis, choice), structures, uncertain, nearest, differences_in_alternatives })
}

/// The number of layouts of a build by confidence.
pub fn by_confidence(layouts: &Layouts, registry: &Registry, choice: &Choice) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for name in layouts.by_target[choice.target()].keys() {
        *counts.entry(Choice::of(layouts, registry, choice.asked.clone(), Some(name)).confidence.word()).or_default() += 1;
    }
    counts
}

/// The number of layouts by confidence, as text.
pub fn counted(counts: &BTreeMap<&'static str, usize>) -> String {
    counts.iter().map(|(word, count)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
}

/// The overview as text, and the differences between the two candidate targets.
pub fn text(layouts: &Layouts, choice: &Choice, overview: &Overview) -> String {
    let axis = &layouts.spec.axis;
    let count: usize = overview.structures.values().sum();
    let all = layouts.spec.definitions.len();
    let head = named(axis, choice, &choice.label(axis));
    let mut out = format!(
        "{HEADING}{head}{HEADING:#}\n{count} of {all} definitions exist in this build: {}.\nStrongest evidence: {}.\n",
        counted(&overview.structures),
        choice.sentence(axis)
    );
    if let Some([older, newer]) = &overview.nearest {
        out += &format!("Nearest known builds: {older} and {newer}. Uncertain: {}.\n", overview.uncertain.join(", "));
    }
    let others = &overview.differences_in_alternatives;
    for Otherwise { sides: [one, other], changes, .. } in others {
        out += &format!("\nDifferences from another layout that the build can have:\n{}", diff::text(one, other, changes));
    }
    let is_listed = |name: &&str| {
        let mut lists = others.iter().flat_map(|other| other.changes.lists());
        lists.any(|(_, list)| list.iter().any(|entry| entry.structure == **name))
    };
    let embedding: Vec<&str> = overview.uncertain.iter().copied().filter(|name| !is_listed(name)).collect();
    if !embedding.is_empty() {
        out += &format!("uncertain only because of embedded types: {}\n", embedding.join(", "));
    }
    out
}
