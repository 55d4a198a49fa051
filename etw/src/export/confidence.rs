//! The confidence in each type of an exported file: types in the same file can differ in their confidence.

use crate::text_table::counted;
use etw_layouts_codegen::emit::{Notes, types};
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::registry::Registry;
use etw_layouts_project::Choice;
use std::collections::BTreeMap;

/// The confidence in the types of a file.
pub struct Confidence {
    /// The confidence in each type, as text.
    pub types: Notes,
    /// The number of types that no symbols of this build verify, by confidence.
    words: BTreeMap<&'static str, usize>,
}

impl Confidence {
    /// The confidence in all types of a target, or in one type and the types that it depends on.
    pub fn of(layouts: &Layouts, registry: &Registry, choice: &Choice, only: Option<&str>) -> Self {
        let mut confidence = Self { types: Notes::new(), words: BTreeMap::new() };
        for layout in types(layouts, choice.target(), only) {
            let own = Choice::of(layouts, registry, choice.asked.clone(), Some(&layout.name));
            let (is_verified, mut sentence) = (own.confidence.is_verified(), own.sentence(&layouts.spec.axis));
            // All types of a file are those of one target, because they embed each other.
            if layouts.by_target[own.target()].get(&layout.name) != layouts.by_target[choice.target()].get(&layout.name) {
                let other = layouts.spec.axis.target_name(own.target());
                sentence = format!("not the layout of this build, which is that of {other}: {sentence}");
            }
            let reason = layouts.unverifiable(&layout.name, choice.target()).filter(|_| !is_verified);
            let words = reason.map_or_else(|| sentence.clone(), |reason| format!("{sentence}: {reason}"));
            if !is_verified {
                *confidence.words.entry(own.confidence.word()).or_default() += 1;
            }
            // The text is placed in a C comment, which `*/` would end.
            confidence.types.insert(layout.name.clone(), words.replace("*/", "* /"));
        }
        confidence
    }

    /// The number of verified and of other types, as text.
    fn count(&self) -> String {
        let (all, not) = (self.types.len(), self.words.values().sum::<usize>());
        format!("symbols of this build verify {} of {}", all - not, counted(all, "type"))
    }

    /// The comment at the head of a file in which each type has its own comment.
    pub fn comment(&self, note: &str) -> String {
        format!("/* {}: {}; the comment of each type states its confidence. */\n", note.replace("*/", "* /"), self.count())
    }

    /// The text for a format without comments: the number of types by confidence.
    pub fn list(&self) -> String {
        let counts = self.words.iter().map(|(word, count)| format!(", {count} {word}"));
        format!(": {}{}", self.count(), counts.collect::<String>())
    }
}
