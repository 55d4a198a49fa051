//! A map as text.

use crate::print::{DIM, HEADING};
use crate::text_table::{Row, aligned, counted, paragraph};
use anstyle::Style;
use etw_layouts_codegen::axis::Axis;
use etw_layouts_project::Choice;
use etw_layouts_project::map::{Link, Map, Way};
use std::fmt::Write;

/// Each structure with the members that reference others. `is_whole` is set for the map of all structures. Lines wrap at `width`,
/// if it is given.
pub fn text(map: &Map, axis: &Axis, choice: &Choice, is_whole: bool, width: Option<usize>) -> String {
    let mut out = choice.note(axis).map_or(String::new(), |note| paragraph(&note, width, ""));
    let of = if is_whole && choice.asked.name.is_empty() { newest(axis, choice) } else { choice.label(axis) };
    let to = map.to.as_ref().map(|to| format!(" to {to}")).unwrap_or_default();
    let _ = writeln!(out, "References{to} in {of}: {}", counted(map.structures.len(), "structure"));
    for structure in &map.structures {
        let _ = writeln!(out, "\n{HEADING}{}{HEADING:#}, {:#x} bytes", structure.name, structure.size);
        let rows: Vec<_> = structure.links.iter().map(row).collect();
        match rows.is_empty() {
            true => out += "  no references\n",
            false => out += &aligned(&[], &rows, width),
        }
    }
    out
}

fn newest(axis: &Axis, choice: &Choice) -> String {
    format!("{}, the newest known build", axis.target_name(choice.target()))
}

fn row(link: &Link) -> Row {
    let count = if link.count == 1 { String::new() } else { format!(" [{}]", link.count) };
    let by = link.link.as_ref().map_or(String::new(), |by| format!(", linked by {by}"));
    let unknown = if link.is_specified { "" } else { " (no known layout)" };
    let cells = vec![
        format!("  {:#06x}", link.offset),
        format!("{}{count}", link.member),
        link.way.word().to_owned(),
        format!("{}{by}{unknown}", link.to),
    ];
    Row { style: if link.is_specified || link.way != Way::PointsTo { Style::new() } else { DIM }, cells }
}
