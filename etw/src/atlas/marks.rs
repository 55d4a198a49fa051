//! The signs for what a fact is known from: a shape each, so that nobody depends on colour.

use crate::html::Html;
use etw_layouts_project::{Confidence, Source, SymbolSource};
use std::fmt::Display;

/// The sources with the class of each in the style sheet, its sign, and what it means.
pub const SOURCES: [(Source, &str, &str, &str); 6] = [
    (Source::Symbols, "s", "●", "The symbols of this very kernel state it."),
    (
        Source::Converted,
        "c",
        "◐",
        "A table converted from its symbols states it; such tables lose some names and types, no offsets.",
    ),
    (Source::Images, "i", "◔", "The image of this kernel shows the offset."),
    (Source::Document, "d", "§", "A document that speaks of this kernel states it; public symbols were not seen to."),
    (
        Source::Inferred,
        "f",
        "≈",
        "It follows from other kernels or from neighbours; nothing of this kernel itself was seen to state it.",
    ),
    (Source::Nothing, "u", "?", "Bytes of no known use."),
];

/// The class of a source in the style sheet.
pub fn class(source: Source) -> &'static str {
    SOURCES.iter().find(|(of, ..)| *of == source).map_or("", |(_, class, ..)| class)
}

/// The sign of a source, with a title.
pub fn source(html: &mut Html, source: Source, title: impl Display) {
    if let Some((_, class, sign, _)) = SOURCES.iter().find(|(of, ..)| *of == source) {
        html.leaf("span", &[("class", &format_args!("k {class}")), ("role", &"img"), ("title", &title)], sign);
    }
}

/// What a layout is known from, by the confidence in it, and by whether documents speak of the kernel.
pub fn of(confidence: Confidence, documented: bool) -> Source {
    match confidence {
        Confidence::Verified(SymbolSource::Pdb) => Source::Symbols,
        Confidence::Verified(SymbolSource::Converted) => Source::Converted,
        Confidence::PartlyVerified => Source::Images,
        Confidence::Documented { .. } if documented => Source::Document,
        _ => Source::Inferred,
    }
}

/// The signs and what they mean, in a line.
pub fn legend(html: &mut Html, root: &str) {
    html.el("p", &[("class", &"legend")], |html| {
        for (of, _, _, _) in SOURCES {
            html.el("span", &[], |html| {
                source(html, of, of.word());
                html.text(format_args!(" {}", of.word()));
            });
        }
        html.link(format_args!("{root}legend.html"), "what the signs mean");
    });
}
