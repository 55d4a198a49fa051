//! A kernel that was asked for, as JSON.

use etw_layouts_codegen::axis::{Axis, Build};
use etw_layouts_project::Choice;
use serde::Serialize;

/// What was asked for, the target whose layouts are taken, and how sure they are.
#[derive(Serialize)]
pub struct Target<'a> {
    /// As BUILD-ARCH; nothing if no build was named.
    asked: Option<&'a str>,
    /// How that names the kernel: `kernel`; `first` of those of a label or a build without a revision; `newest` if no build was named.
    named: &'static str,
    #[serde(flatten)]
    confidence: Confidence,
    /// What is to be known of a kernel that nobody has seen, in words.
    note: Option<String>,
    /// The name of the target that is taken.
    target: String,
    build: String,
    arch: String,
    #[serde(flatten)]
    windows: Windows<'a>,
}

/// What Windows calls a kernel.
#[derive(Serialize)]
pub struct Windows<'a> {
    /// The release; nothing if the version axis does not have the build.
    pub release: Option<&'a str>,
    /// Build and revision, by the number that was asked for.
    pub update: String,
    /// The KB numbers of that update; none if they are not known.
    pub kb: Vec<String>,
}

impl Windows<'_> {
    /// All of them, as a pattern finds them.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.release.into_iter().chain([self.update.as_str()]).chain(self.kb.iter().map(String::as_str))
    }
}

/// How sure layouts are.
#[derive(Serialize)]
pub struct Confidence {
    /// In a word.
    pub confidence: &'static str,
    /// What an inferred layout is inferred from, in a word.
    reason: Option<&'static str>,
    /// The evidence, in a sentence.
    evidence: String,
    /// The builds before and after that it is inferred from.
    older: Option<String>,
    newer: Option<String>,
    /// The target of one of them that has another layout.
    other: Option<String>,
    /// The named update with which this build got the layout, if that is what it is inferred by.
    changed_by: Option<String>,
}

/// The target of a choice.
pub fn target<'a>(axis: &'a Axis, choice: &'a Choice) -> Target<'a> {
    let taken = &axis.targets[choice.target()];
    let kernel = &axis.kernels[taken.kernel];
    Target {
        asked: Some(choice.asked.name.as_str()).filter(|asked| !asked.is_empty()),
        named: choice.asked.named.word(),
        confidence: confidence(axis, choice),
        note: choice.note(axis),
        target: axis.target_name(choice.target()),
        build: format!("{:#}", kernel.build),
        arch: taken.arch.to_string(),
        windows: windows(axis, choice.asked.own),
    }
}

/// The names of a kernel.
pub fn windows(axis: &Axis, build: Build) -> Windows<'_> {
    let name = axis.windows(build);
    let kb = name.kb.iter().map(|kb| format!("KB{kb}")).collect();
    Windows { release: name.release, update: format!("{:#}", name.update), kb }
}

/// What is said of a kernel, behind its names where it has any.
pub fn named(axis: &Axis, choice: &Choice, what: &str) -> String {
    let name = axis.windows(choice.asked.own);
    if name.release.is_none() && name.kb.is_empty() { what.to_owned() } else { format!("{name}: {what}") }
}

/// How sure the layouts of a choice are.
pub fn confidence(axis: &Axis, choice: &Choice) -> Confidence {
    let [older, newer] = choice.confidence.neighbours().map(|build| build.map(|build| build.to_string()));
    Confidence {
        confidence: choice.confidence.word(),
        reason: choice.confidence.reason(),
        evidence: choice.sentence(axis),
        older,
        newer,
        other: choice.other.map(|other| axis.target_name(other)),
        changed_by: choice.changed_by.clone(),
    }
}
