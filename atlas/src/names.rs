//! Links from type names in text to their pages.

use crate::facts::Atlas;
use crate::paths::type_page;
use maud::{Markup, html};

/// A text on a page in a folder. Names of defined types become links.
pub fn linked(atlas: &Atlas, text: &str) -> Markup {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = text.as_bytes().chunk_by(|a, b| is_part(char::from(*a)) == is_part(char::from(*b)));
    html! {
        @for word in words.map(String::from_utf8_lossy) {
            // Only the exact spelling of a type name is a link. Names of up to three characters are not, because prose contains such
            // words.
            @if word.len() > 3 && atlas.layouts.spec.definitions.contains_key(&*word) {
                a href={ "../" (type_page(&word)) } { (word) }
            } @else { (word) }
        }
    }
}
