//! The pages that are written from specs and sources.

mod status;

use crate::{Error, trust};
use etw_layouts_codegen::emit::Files;
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::registry::Registry;
use etw_layouts_project::errata;
use std::fmt::Write;

/// The pages, by their paths, beside the generated sources.
///
/// # Errors
///
/// Sources that cannot be read.
pub fn all(layouts: &Layouts, registry: &Registry, generated: &Files) -> Result<Files, Error> {
    let pages = [
        ("specs/ERRATA.md", errata(layouts)),
        ("docs/GENERATED.md", example(layouts, generated)),
        ("docs/STATUS.md", status::page(layouts, registry)?),
        (trust::PAGE, trust::page()?),
    ];
    Ok(pages.into_iter().map(|(path, text)| (path.to_owned(), text)).collect())
}

/// What the documents say otherwise.
fn errata(layouts: &Layouts) -> String {
    let list = errata::list(layouts, None);
    let mut out = format!(
        "# Errata of the documents\n\nWritten by `cargo xtask generate` from the specs, {} in number. Beside them, {} sizes, offsets and masks \
         that documents\nstate, each counted for every kernel and architecture that they speak of, agree with the layouts. `etw show STRUCTURE` has\nthe errata of one structure.\n\n",
        list.len(),
        errata::agreeing(layouts)
    );
    for erratum in list {
        let (what, place) = erratum.rsplit_once("  ").unwrap_or((&erratum, ""));
        let file = place.split(':').next().unwrap_or_default().trim_start_matches("specs/");
        let _ = writeln!(out, "- {what} ([spec]({file}))");
    }
    out.replace('*', "\\*")
}

/// The structure that is shown beside its spec.
const SHOWN: &str = "WMI_TRACE_PACKET";

/// A spec, and what is generated from it.
fn example(layouts: &Layouts, generated: &Files) -> String {
    let sources = &layouts.spec.sources;
    let spec = layouts.spec.definitions.get(SHOWN).map_or("", |d| sources.file(d.name.span).text.as_str());
    let types = generated.get(&format!("layouts/{}.rs", SHOWN.to_ascii_lowercase())).map_or("", |text| types(text));
    format!(
        "# A spec, and what it generates\n\n\
         Written by `cargo xtask generate`. The language of the specs is described in [specs/README.md](../specs/README.md).\n\n\
         ```toml\n{spec}```\n\n\
         Offsets, sizes and masks in a spec are witnesses: the layout engine computes them all by the rules of the Microsoft compiler, and\n\
         refuses a spec that disagrees. Members of unnamed unions and bit fields have accessors, values of an enumeration or of flags a type\n\
         of their own that keeps what it does not know, and everything is asserted when it compiles:\n\n\
         ```rust,ignore\n{types}```\n"
    )
}

/// The first type of a generated file.
fn types(generated: &str) -> &str {
    let start = generated.find("runtime::layout!").unwrap_or_default();
    let end = generated[start..].find("\n}\n").map_or(generated.len(), |at| start + at + 3);
    &generated[start..end]
}
