//! Events as text: how `list` and `show` print them.

use crate::print::HEADING;
use crate::text_table::{Row, aligned, counted, paragraph};
use anstyle::Style;
pub use etw_layouts_atlas::event::{Event, events, found};
use etw_layouts_atlas::event::{Field, joined};
use std::fmt::Write;

/// A line for each event.
pub fn listed(events: &[Event], width: Option<usize>) -> String {
    let row = |event: &Event| {
        let hook = event.hook.map_or("-".to_owned(), |hook| format!("{hook:#06x}"));
        let versions = joined(&event.versions);
        let summary = event.doc.split_inclusive(". ").next().unwrap_or_default().trim_end().to_owned();
        Row { style: Style::new(), cells: vec![event.name.clone(), hook, versions, summary] }
    };
    let rows: Vec<_> = events.iter().map(row).collect();
    aligned(&[&counted(events.len(), "event"), "hook", "versions", "description"], &rows, width)
}

/// An event with the fields of all versions, the newest first.
pub fn shown(event: &Event, width: Option<usize>) -> String {
    let hook = event.hook.zip(event.group).map(|(hook, group)| format!("hook {hook:#06x} of {group}, ")).unwrap_or_default();
    let mut out = format!("{HEADING}{}{HEADING:#}: {hook}event type {}, provider {}\n", event.name, event.r#type, event.guid);
    out += &paragraph(event.doc, width, "");
    for version in event.versions.iter().rev() {
        let _ = writeln!(out, "\n{HEADING}{}{HEADING:#}: {}; sources: {}", version.heading(), version.size(), version.sources());
        if !version.unsettled.is_empty() {
            out += &paragraph(&format!("Unresolved: {}", version.unsettled), width, "");
        }
        let rows: Vec<_> = version.fields.iter().map(row).collect();
        out += &aligned(&["32-bit", "64-bit", "field", "type", "shown as", "values", "description"], &rows, width);
    }
    if !event.errata.is_empty() {
        let _ = writeln!(out, "\n{HEADING}Errata{HEADING:#}");
    }
    for erratum in &event.errata {
        let line = erratum.line();
        out += &paragraph(&line, width, "  ");
    }
    out
}

fn row(field: &Field) -> Row {
    let cells = vec![
        field.offset(0),
        field.offset(1),
        format!("{}{}", "  ".repeat(field.depth), field.name),
        field.ty(),
        field.out.unwrap_or_default().to_owned(),
        field.values.unwrap_or_default().to_owned(),
        field.words(),
    ];
    Row { style: Style::new(), cells }
}
