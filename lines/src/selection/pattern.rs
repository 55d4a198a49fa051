//! Patterns of the options that search in values.

use regex::{Regex, RegexBuilder};
use serde::{Serialize, Serializer};

/// A text or a regular expression to find in a value.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// The option's value.
    given: String,
    regex: Regex,
}

impl Pattern {
    /// A text, ignoring case.
    pub fn text(given: &str) -> Result<Self, String> {
        Self::new(given, RegexBuilder::new(&regex::escape(given)).case_insensitive(true))
    }

    /// A regular expression.
    pub fn regex(given: &str) -> Result<Self, String> {
        Self::new(given, &RegexBuilder::new(given))
    }

    fn new(given: &str, builder: &RegexBuilder) -> Result<Self, String> {
        if given.is_empty() {
            return Err("empty text; give the text to find".into());
        }
        let regex =
            builder.build().map_err(|error| format!("invalid regular expression; see docs.rs/regex for the syntax: {error}"))?;
        Ok(Self { given: given.to_owned(), regex })
    }

    pub fn is_in(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}

impl Serialize for Pattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.given)
    }
}
