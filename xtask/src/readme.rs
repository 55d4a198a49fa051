//! The generated parts of the README, and the list of errata.

mod trust;
mod unsafety;

use crate::{Error, errata, figures};
use etw_layouts_codegen::axis::TargetSet;
use etw_layouts_codegen::emit::Files;
use etw_layouts_codegen::layouts::{Form, Layouts};
use std::fmt::Write;

/// The structure that the README shows beside its spec.
const SHOWN: &str = "WMI_TRACE_PACKET";

/// The README with its generated parts as they should be, beside the generated files.
///
/// # Errors
///
/// A README without the markers of a part; figures or sources that cannot be read.
pub fn fresh(text: &str, layouts: &Layouts, generated: &Files) -> Result<String, Error> {
    let mut text = text.to_owned();
    let shown = generated.get(&shown()).map(String::as_str).unwrap_or_default();
    let trust = trust::part(&figures::read()?, generated)?;
    for (name, part) in [("spec", spec(layouts)), ("types", types(shown)), ("trust", trust), ("status", status(layouts))] {
        let (open, close) =
            (format!("<!-- {name}: written by `cargo xtask generate` -->\n"), format!("<!-- end of {name} -->\n"));
        let start = text.find(&open).map(|at| at + open.len());
        let end = text.find(&close).filter(|&end| start.is_some_and(|start| start <= end));
        let (Some(start), Some(end)) = (start, end) else {
            return Err(format!("README.md lacks the lines {} and {}", open.trim(), close.trim()).into());
        };
        text.replace_range(start..end, &part);
    }
    Ok(text)
}

/// The path, among the generated files, of the structure that the README shows.
fn shown() -> String {
    format!("layouts/{}.rs", SHOWN.to_ascii_lowercase())
}

/// What the documents say otherwise.
pub fn errata(layouts: &Layouts) -> String {
    let list = errata::list(layouts, None);
    let mut out =
        format!("# Errata of the documents\n\nWritten by `cargo xtask generate` from the specs, {} in number.\n\n", list.len());
    for erratum in list {
        let (what, place) = erratum.rsplit_once("  ").unwrap_or((&erratum, ""));
        let file = place.split(':').next().unwrap_or_default().trim_start_matches("specs/");
        let _ = writeln!(out, "- {what} ([spec]({file}))");
    }
    out.replace('*', "\\*")
}

fn spec(layouts: &Layouts) -> String {
    let sources = &layouts.spec.sources;
    let text = layouts.spec.definitions.get(SHOWN).map(|d| sources.file(d.name.span).text.as_str());
    format!("\n```toml\n{}```\n\n", text.unwrap_or_default())
}

fn types(generated: &str) -> String {
    let start = generated.find("\n/// ").map_or(0, |at| at + 1);
    let end = generated[start..].find("\n    /// Replaces").map_or(generated.len(), |at| start + at);
    format!("\n```rust,ignore\n{}    // …\n}}\n```\n\n", &generated[start..end])
}

fn status(layouts: &Layouts) -> String {
    let axis = &layouts.spec.axis;
    let mut out = String::from(
        "\n| structure | versions | layouts | sizes | confirmed by symbol data | targets |\n|---|---|---|---|---|---|\n",
    );
    for name in layouts.spec.definitions.keys() {
        let own: Vec<_> = (0..layouts.layouts.len()).filter(|&id| layouts.layouts[id].name == *name).collect();
        let (mut all, mut confirmed, mut sizes) = (TargetSet::default(), TargetSet::default(), Vec::new());
        for &id in &own {
            let Form::Aggregate(aggregate) = &layouts.layouts[id].form else { continue };
            all = all.union(&layouts.layouts[id].targets);
            confirmed = confirmed.union(&layouts.verifiable(id));
            sizes.push(aggregate.extent.size);
        }
        sizes.sort();
        let (Some(least), Some(most)) = (sizes.first(), sizes.last()) else { continue };
        let sizes = if least == most { format!("{least:#x}") } else { format!("{least:#x} to {most:#x}") };
        let shown = match (confirmed.is_empty(), own.first()) {
            (true, Some(&id)) => layouts.reason(id).to_owned(),
            _ => axis.describe(&confirmed),
        };
        let targets = format!("{} of {}", confirmed.iter().count(), all.iter().count());
        let _ = writeln!(out, "| {name} | {} | {} | {sizes} | {shown} | {targets} |", axis.describe(&all), own.len());
    }
    out.push('\n');
    out
}
