//! A build by itself: how sure its layouts are, and what differs between the nearest known builds.

use crate::print::HEADING;
use crate::target::{Target, named, target};
use crate::{Error, diff};
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::registry::Registry;
use etw_layouts_project::diff::{Changes, Side, changes, sides};
use etw_layouts_project::{Choice, Confidence};
use serde::Serialize;
use std::collections::BTreeMap;

/// A build, and how sure each of its layouts is.
#[derive(Serialize)]
pub struct Overview<'a> {
    /// The build, and how sure all of its layouts together are.
    #[serde(flatten)]
    target: Target<'a>,
    /// How many structures, unions and enumerations have each confidence, by its word.
    structures: BTreeMap<&'static str, usize>,
    /// Those whose layout is uncertain.
    uncertain: Vec<&'a str>,
    /// The nearest known builds, if one is uncertain: the layouts may be those of either.
    nearest: Option<[String; 2]>,
    /// What is otherwise in the other target whose layouts they may be.
    otherwise: Option<Otherwise>,
}

#[derive(Serialize)]
struct Otherwise {
    target: String,
    #[serde(skip)]
    sides: [Side; 2],
    #[serde(flatten)]
    changes: Changes,
}

/// How sure the layouts of a choice are, one by one.
///
/// # Errors
///
/// Layouts that cannot be compared.
pub fn overview<'a>(layouts: &'a Layouts, registry: &Registry, choice: &'a Choice) -> Result<Overview<'a>, Error> {
    let axis = &layouts.spec.axis;
    let (mut structures, mut uncertain) = (BTreeMap::new(), Vec::new());
    let (mut nearest, mut other) = (None, choice.other);
    for name in layouts.by_target[choice.target()].keys() {
        let of_it = Choice::of(layouts, registry, choice.asked.clone(), Some(name));
        *structures.entry(of_it.confidence.word()).or_default() += 1;
        if let Confidence::Uncertain { older, newer } = of_it.confidence {
            uncertain.push(name.as_str());
            nearest = nearest.or(Some([older, newer].map(|build| format!("{build:#}"))));
            other = other.or(of_it.other);
        }
    }
    let otherwise = match other.map(|other| axis.target_name(other)) {
        Some(other) => {
            // Both are kernels of the version axis: no facts are needed to choose them.
            let sides = sides(layouts, &Registry::default(), [&axis.target_name(choice.target()), &other], None)?;
            let changes = changes(&sides[0], &sides[1]);
            Some(Otherwise { target: other, sides, changes })
        }
        None => None,
    };
    Ok(Overview { target: target(axis, choice), structures, uncertain, nearest, otherwise })
}

/// The overview to read, and the differences between the two builds that the layouts may be those of.
pub fn text(layouts: &Layouts, choice: &Choice, overview: &Overview) -> String {
    let axis = &layouts.spec.axis;
    let count: usize = overview.structures.values().sum();
    let by_word: Vec<_> = overview.structures.iter().map(|(word, count)| format!("{count} {word}")).collect();
    let head = named(axis, choice, &choice.label(axis));
    let mut out = format!(
        "{HEADING}{head}{HEADING:#}\n{}.\n{count} structures, unions and enumerations: {}.\n",
        capital(&choice.sentence(axis)),
        by_word.join(", ")
    );
    if let Some([older, newer]) = &overview.nearest {
        out += &format!("Nearest known builds: {older} and {newer}. Uncertain: {}.\n", overview.uncertain.join(", "));
    }
    if let Some(Otherwise { sides: [one, other], changes, .. }) = &overview.otherwise {
        out +=
            &format!("\nThe layouts may be those of either of two targets, which differ:\n{}", diff::text(one, other, changes));
    }
    out
}

fn capital(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
