//! One build: the confidence in its layouts, and the differences between the nearest known builds.

use super::otherwise::Otherwise;
use crate::print::HEADING;
use crate::target::named;
use crate::{Error, diff};
use etw_layouts_codegen::axis::TargetId;
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::registry::Registry;
use etw_layouts_project::{Choice, Confidence};
use serde::Serialize;
use std::collections::BTreeMap;

/// The confidence in each layout of a build.
#[derive(Serialize)]
pub struct Overview<'a> {
    /// The number of structures, unions and enumerations by confidence.
    structures: BTreeMap<&'static str, usize>,
    /// The structures whose layout is uncertain.
    uncertain: Vec<&'a str>,
    /// The nearest known builds, if any layout is uncertain: the layout can be that of either build, or of a build between them.
    nearest: Option<[String; 2]>,
    /// The differences to the other targets whose layouts the uncertain structures can have.
    differences_in_alternatives: Vec<Otherwise>,
}

/// The confidence in each layout of a choice.
pub fn overview<'a>(layouts: &'a Layouts, registry: &Registry, choice: &Choice) -> Result<Overview<'a>, Error> {
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
    let others = others.into_iter();
    let others = others.map(|(other, names)| Otherwise::of_structures(layouts, [choice.target(), other], &names));
    let differences_in_alternatives = others.collect::<Result<_, Error>>()?;
    let structures = by_confidence(layouts, registry, choice);
    Ok(Overview { structures, uncertain, nearest, differences_in_alternatives })
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
