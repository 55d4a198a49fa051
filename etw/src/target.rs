//! A selected target as JSON.

use crate::Error;
use crate::object::object;
use etw_layouts_codegen::axis::{Axis, Build};
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_project::Choice;
use serde::Serialize;

/// The public names of a build.
#[derive(Serialize)]
pub struct Windows<'a> {
    /// The release; none if the build is not on the version axis.
    pub release: Option<&'a str>,
    /// Build and revision, with the build number that was selected.
    pub windows_build: String,
    /// The KB numbers of the update; empty if they are unknown.
    pub kb: Vec<String>,
}

impl Windows<'_> {
    /// All names, for pattern matching.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.release.into_iter().chain([self.windows_build.as_str()]).chain(self.kb.iter().map(String::as_str))
    }
}

/// The confidence in layouts.
#[derive(Serialize)]
pub struct Confidence {
    /// The confidence as a keyword.
    pub confidence: &'static str,
    /// The source of an inferred layout as a keyword.
    reason: Option<&'static str>,
    /// The evidence as a sentence.
    evidence: String,
    /// The builds that the layout is inferred from, before and after the selected one.
    nearest_older: Option<String>,
    nearest_newer: Option<String>,
    /// The other targets whose layouts the build can have.
    alternative_targets: Vec<String>,
    /// The named update that brought the layout to this build, if the layout is inferred from it.
    changed_by: Option<String>,
}

/// The selected build, the target whose layouts are used, and the confidence in them.
pub fn target<'a>(axis: &'a Axis, choice: &'a Choice) -> impl Serialize + use<'a> {
    let taken = &axis.targets[choice.target()];
    object! {
        // The selected build as BUILD-ARCH; none if no build was named.
        requested: Some(&choice.asked.name).filter(|asked| !asked.is_empty()),
        // `revision` by build and revision, `first` of a label or of a build without a revision, `newest` if no build was named.
        selected_by: choice.asked.selected_by.word(),
        #[serde(flatten)] confidence: confidence(axis, choice),
        // A note on a build that has not been examined and is not on the version axis.
        note: choice.note(axis),
        // The name of the target whose layouts are used.
        target: axis.target_name(choice.target()),
        build: format!("{:#}", axis.revisions[taken.revision].build),
        arch: taken.arch.to_string(),
        #[serde(flatten)] windows: windows(axis, choice.asked.own),
    }
}

/// The public names of a build.
pub fn windows(axis: &Axis, build: Build) -> Windows<'_> {
    let name = axis.windows(build);
    let kb = name.kb.iter().map(|kb| format!("KB{kb}")).collect();
    Windows { release: name.release, windows_build: format!("{:#}", name.update), kb }
}

/// The error of a structure that does not exist at a target.
pub fn absent(layouts: &Layouts, choice: &Choice, structure: &str) -> Error {
    let (axis, versions) = (&layouts.spec.axis, etw_layouts_project::history::has(layouts, structure));
    format!("{structure} does not exist in {}; versions with it: {}", choice.label(axis), axis.words(&versions)).into()
}

/// A text about a build, after the public names of the build if there are any.
pub fn named(axis: &Axis, choice: &Choice, what: &str) -> String {
    let name = axis.windows(choice.asked.own);
    if name.release.is_none() && name.kb.is_empty() { what.to_owned() } else { format!("{name}: {what}") }
}

/// The confidence in the layouts of a choice.
pub fn confidence(axis: &Axis, choice: &Choice) -> Confidence {
    let [older, newer] = choice.confidence.neighbours().map(|build| build.map(|build| build.to_string()));
    Confidence {
        confidence: choice.confidence.word(),
        reason: choice.confidence.reason(),
        evidence: choice.sentence(axis),
        nearest_older: older,
        nearest_newer: newer,
        alternative_targets: choice.candidates[1..].iter().map(|other| axis.target_name(*other)).collect(),
        changed_by: choice.changed_by.clone(),
    }
}
