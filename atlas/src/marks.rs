//! The evidence levels. Each has its own shape, so that no reader depends on colour.

use etw_layouts_project::{Confidence, Source, SymbolSource};
use maud::{Markup, html};
use std::fmt::Display;

/// The evidence levels, each with its class in the style sheet, its symbol and its meaning.
pub const SOURCES: [(Source, &str, &str, &str); 6] = [
    (Source::Symbols, "symbols", "●", "Verified against the symbols (PDB) of this build."),
    (
        Source::Converted,
        "converted",
        "◐",
        "Verified against a table converted from the symbols of this build. Such tables lose some names and types, but no offsets.",
    ),
    (Source::Images, "image", "◔", "The offset is verified against the kernel image of this build."),
    (
        Source::Document,
        "document",
        "§",
        "Documented in a published reference for this build; not in the public symbols that were examined.",
    ),
    (Source::Inferred, "inferred", "≈", "Inferred from other builds; there is no evidence from this build itself."),
    (Source::Nothing, "nothing", "?", "Unidentified bytes."),
];

/// The word for a confidence. If no published reference describes the build, it is the word of the evidence level.
pub fn word(source: Source, confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Documented { .. } => source.word(),
        confidence => confidence.word(),
    }
}

/// The class of an evidence level in the style sheet.
pub fn class(source: Source) -> &'static str {
    SOURCES.iter().find(|(of, ..)| *of == source).map_or("", |(_, class, ..)| class)
}

/// The symbol of an evidence level, with a title.
pub fn source(source: Source, title: impl Display) -> Markup {
    html! {
        @if let Some((_, class, sign, _)) = SOURCES.iter().find(|(of, ..)| *of == source) {
            span class={ "level " (class) } role="img" title=(title) { (sign) }
        }
    }
}

/// The evidence level of a layout. It depends on the confidence, and on whether published references describe the build.
pub fn of(confidence: Confidence, documented: bool) -> Source {
    match confidence {
        Confidence::Verified(SymbolSource::Pdb) => Source::Symbols,
        Confidence::Verified(SymbolSource::Converted) => Source::Converted,
        Confidence::PartlyVerified => Source::Images,
        Confidence::Documented { .. } if documented => Source::Document,
        _ => Source::Inferred,
    }
}

/// The legend of the evidence levels, in one line.
pub fn legend(root: &str) -> Markup {
    html! {
        p.legend {
            @for (of, ..) in SOURCES { span { (source(of, of.word())) " " (of.word()) } }
            a href={ (root) "legend.html" } { "evidence levels" }
        }
    }
}

/// How many targets have each evidence level, as one bar.
pub fn levels(sources: impl Iterator<Item = Source>) -> Markup {
    let mut counts = [0_usize; SOURCES.len()];
    for own in sources {
        if let Some(at) = SOURCES.iter().position(|(source, ..)| *source == own) {
            counts[at] += 1;
        }
    }
    let used = || SOURCES.iter().zip(counts).filter(|(_, count)| *count > 0);
    let words = used().map(|((source, ..), count)| format!("{}: {count}", source.word())).collect::<Vec<_>>().join(", ");
    html! {
        span.levels role="img" aria-label=(words) title=(words) {
            @for ((_, class, ..), count) in used() { i class=(class) style={ "flex:" (count) } {} }
        }
    }
}
