//! How sure each type of an exported file is: a file of all types of a kernel is as sure as none of them in particular.

use etw_layouts_project::Choice;
use etw_layouts_codegen::emit::{Notes, types};
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::registry::Registry;
use std::collections::BTreeMap;

/// How sure the types of a file are.
pub struct Confidence {
    /// Of each type, in words.
    pub types: Notes,
    /// Those that no symbols of this very kernel confirm, by the reason.
    unconfirmed: BTreeMap<String, Vec<String>>,
}

impl Confidence {
    /// That of the types of a kernel: all, or one and what it needs.
    pub fn of(layouts: &Layouts, registry: &Registry, choice: &Choice, only: Option<&str>) -> Self {
        let mut confidence = Self { types: Notes::new(), unconfirmed: BTreeMap::new() };
        for layout in types(layouts, choice.target(), only) {
            let own = Choice::of(layouts, registry, choice.asked.clone(), Some(&layout.name));
            let (is_confirmed, sentence) = (own.confidence.is_verified(), own.sentence(&layouts.spec.axis));
            let reason = layouts.unverifiable(&layout.name, choice.target()).filter(|_| !is_confirmed);
            let words = reason.map_or_else(|| sentence.clone(), |reason| format!("{sentence}: {reason}"));
            if !is_confirmed {
                confidence.unconfirmed.entry(words.clone()).or_default().push(layout.name.clone());
            }
            // A comment ends where its text says so.
            confidence.types.insert(layout.name.clone(), words.replace("*/", "* /"));
        }
        confidence
    }

    /// How many types are confirmed, and how many are not.
    fn count(&self) -> String {
        let (all, not) = (self.types.len(), self.unconfirmed.values().map(Vec::len).sum::<usize>());
        let noun = if all == 1 { "type" } else { "types" };
        format!("symbols of this very kernel confirm {} of {all} {noun}, and do not confirm {not}", all - not)
    }

    /// The comment at the head of a file whose types say more.
    pub fn comment(&self, note: &str) -> String {
        format!("/* {}: {}; each type states its own. */\n", note.replace("*/", "* /"), self.count())
    }

    /// The same for a file whose types can say nothing: all that are not confirmed, with the reasons.
    pub fn list(&self) -> String {
        let reasons = self.unconfirmed.iter().map(|(reason, names)| format!("; {reason}: {}", names.join(", ")));
        format!(": {}{}", self.count(), reasons.collect::<String>())
    }
}
