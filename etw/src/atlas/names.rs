//! Links from type names in text to their pages.

use super::facts::Atlas;
use super::paths::to_type;
use crate::html::Html;

/// A text on a page in a folder. Names of defined types become links.
pub fn linked(atlas: &Atlas, text: &str, html: &mut Html) {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut rest = text;
    while !rest.is_empty() {
        let length = rest.find(|c| is_part(c) != rest.starts_with(is_part)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(length);
        // Only the exact spelling of a type name is a link. Names of up to three characters are not, because prose contains such
        // words.
        match atlas.layouts.spec.definitions.contains_key(word) && word.len() > 3 {
            true => html.link(to_type(word), word),
            false => html.text(word),
        }
        rest = after;
    }
}
