//! Links from type names in text to their pages.

use crate::facts::Atlas;
use crate::paths::type_page;
use maud::{Markup, html};

/// A sentence on a page in a folder. Names of defined types become links, except those of up to four letters: in a sentence,
/// `GUID` is a word.
pub fn prose(atlas: &Atlas, text: &str) -> Markup {
    named(atlas, text, 5)
}

/// A type on a page in a folder. Names of defined types become links.
pub fn linked(atlas: &Atlas, text: &str) -> Markup {
    named(atlas, text, 4)
}

/// A text in which names of defined types of at least `least` letters are links.
fn named(atlas: &Atlas, text: &str, least: usize) -> Markup {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = text.as_bytes().chunk_by(|a, b| is_part(char::from(*a)) == is_part(char::from(*b)));
    html! {
        @for word in words.map(String::from_utf8_lossy) {
            // Only the exact spelling of a type name is a link.
            @if word.len() >= least && atlas.layouts.spec.definitions.contains_key(&*word) {
                a href={ "../" (type_page(&word)) } { (word) }
            } @else { (word) }
        }
    }
}
