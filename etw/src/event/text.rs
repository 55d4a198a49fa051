//! Events as text.

use super::document::{Event, Field, Version};
use crate::print::HEADING;
use crate::text_table::{Row, aligned, paragraph};
use anstyle::Style;
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
    let heading = format!("{} {}", events.len(), if events.len() == 1 { "event" } else { "events" });
    aligned(&[&heading, "hook", "versions", "description"], &rows, width)
}

/// An event with the fields of all versions, the newest first.
pub fn shown(event: &Event, width: Option<usize>) -> String {
    let hook = event.hook.zip(event.group).map(|(hook, group)| format!("hook {hook:#06x} of {group}, ")).unwrap_or_default();
    let mut out = format!("{HEADING}{}{HEADING:#}: {hook}event type {}, provider {}\n", event.name, event.r#type, event.guid);
    out += &paragraph(event.doc, width, "");
    for version in event.versions.iter().rev() {
        let plural = if version.first == version.last { "" } else { "s" };
        let size = match version.size {
            Some([one, other]) if one == other => format!("{one:#x} bytes"),
            Some([one, other]) => format!("{one:#x} bytes in 32-bit traces, {other:#x} in 64-bit traces"),
            None => "variable size".to_owned(),
        };
        let sources = if version.sources.is_empty() { "none".to_owned() } else { version.sources.join(", ") };
        let _ = writeln!(
            out,
            "\n{HEADING}Version{plural} {}{HEADING:#}: {size}; sources: {sources}",
            range(version.first, version.last)
        );
        if !version.unsettled.is_empty() {
            out += &paragraph(&format!("Unsettled: {}", version.unsettled), width, "");
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

/// The versions of an event, those in a row as a range.
fn joined(versions: &[Version]) -> String {
    let runs = versions.chunk_by(|one, next| one.last.checked_add(1) == Some(next.first));
    runs.map(|run| range(run[0].first, run[run.len() - 1].last)).collect::<Vec<_>>().join(", ")
}

fn range(first: u8, last: u8) -> String {
    if first == last { first.to_string() } else { format!("{first} to {last}") }
}

fn row(field: &Field) -> Row {
    let offset = |index: usize| {
        let offset = field.offset.filter(|_| field.pointer.is_none_or(|size| usize::from(size) == 4 * (index + 1)));
        offset.map_or("-".to_owned(), |offset| format!("{:#04x}", offset[index]))
    };
    let length = field.length.as_ref().map(|length| format!("({length})")).unwrap_or_default();
    let count = field.count.as_ref().map(|count| format!("[{count}]")).unwrap_or_default();
    let unsettled = if field.unsettled.is_empty() { String::new() } else { format!(" Unsettled: {}", field.unsettled) };
    let optional = if field.optional { " Optional." } else { "" };
    let cells = vec![
        offset(0),
        offset(1),
        format!("{}{}", "  ".repeat(field.depth), field.name),
        format!("{}{length}{count}", field.r#type),
        field.out.unwrap_or_default().to_owned(),
        field.values.unwrap_or_default().to_owned(),
        format!("{}{optional}{unsettled}", field.doc),
    ];
    Row { style: Style::new(), cells }
}
