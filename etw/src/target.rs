//! A kernel that was asked for, as JSON.

use etw_layouts_codegen::axis::Axis;
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
    release: &'a str,
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
        release: &axis.versions[kernel.version].release,
    }
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
