//! How sure each type of an exported file is: a file of all types of a kernel is as sure as none of them in particular.

use etw_layouts_codegen::emit::{Notes, types};
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::registry::Registry;
use etw_layouts_project::Choice;
use std::collections::BTreeMap;

/// How sure the types of a file are.
pub struct Confidence {
    /// Of each type, in words.
    pub types: Notes,
    /// Those that no symbols of this build verify, by the reason.
    unverified: BTreeMap<String, Vec<String>>,
}

impl Confidence {
    /// That of the types of a kernel: all, or one and what it needs.
    pub fn of(layouts: &Layouts, registry: &Registry, choice: &Choice, only: Option<&str>) -> Self {
        let mut confidence = Self { types: Notes::new(), unverified: BTreeMap::new() };
        for layout in types(layouts, choice.target(), only) {
            let own = Choice::of(layouts, registry, choice.asked.clone(), Some(&layout.name));
            let (is_verified, sentence) = (own.confidence.is_verified(), own.sentence(&layouts.spec.axis));
            let reason = layouts.unverifiable(&layout.name, choice.target()).filter(|_| !is_verified);
            let words = reason.map_or_else(|| sentence.clone(), |reason| format!("{sentence}: {reason}"));
            if !is_verified {
                confidence.unverified.entry(words.clone()).or_default().push(layout.name.clone());
            }
            // A comment ends where its text says so.
            confidence.types.insert(layout.name.clone(), words.replace("*/", "* /"));
        }
        confidence
    }

    /// How many types are verified, and how many are not.
    fn count(&self) -> String {
        let (all, not) = (self.types.len(), self.unverified.values().map(Vec::len).sum::<usize>());
        let noun = if all == 1 { "type" } else { "types" };
        format!("symbols of this build verify {} of {all} {noun}, and do not verify {not}", all - not)
    }

    /// The comment at the head of a file whose types say more.
    pub fn comment(&self, note: &str) -> String {
        format!("/* {}: {}; each type states its own. */\n", note.replace("*/", "* /"), self.count())
    }

    /// The same for a file whose types can say nothing: all that are not verified, with the reasons.
    pub fn list(&self) -> String {
        let reasons = self.unverified.iter().map(|(reason, names)| format!("; {reason}: {}", names.join(", ")));
        format!(": {}{}", self.count(), reasons.collect::<String>())
    }
}
