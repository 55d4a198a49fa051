//! The texts of specs, and changes in one, byte by byte: what is not touched stays as it is.

use core::ops::Range;
use std::collections::BTreeMap;

/// Spec texts by path.
pub type Texts = BTreeMap<String, String>;

/// Replacements in a text.
#[derive(Debug, Default)]
pub struct Splices(Vec<(Range<usize>, String)>);

impl Splices {
    /// Replaces a range.
    pub fn replace(&mut self, range: Range<usize>, text: impl Into<String>) {
        self.0.push((range, text.into()));
    }

    /// Inserts at a place, behind what was inserted there before.
    pub fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.replace(at..at, text);
    }

    /// The text with all of it done. What lies in a removed range is gone.
    pub fn apply(mut self, text: &str) -> String {
        self.0.sort_by_key(|(range, _)| (range.start, range.end));
        let mut out = String::new();
        let mut at = 0;
        for (range, new) in self.0 {
            if range.start >= at {
                out += &text[at..range.start];
                out += &new;
                at = range.end;
            } else {
                at = at.max(range.end);
            }
        }
        out + &text[at..]
    }
}

/// Behind the comma that follows a place, if one does.
pub fn behind_comma(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    let blank = rest.len() - rest.trim_start().len();
    rest[blank..].starts_with(',').then_some(at + blank + 1)
}

/// Where the line of a place begins.
pub fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |at| at + 1)
}

/// Behind the line of a place.
pub fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |length| at + length + 1)
}
