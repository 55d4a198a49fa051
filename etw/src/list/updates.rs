//! The list of the named updates of the version axis.

use super::pattern::Pattern;
use crate::print::HEADING;
use crate::target::{Windows, windows};
use crate::text_table::{Row, aligned, paragraph};
use anstyle::Style;
use etw_layouts_codegen::axis::{self, Axis, Build};
use serde::Serialize;

/// A change of layouts that servicing brought to several builds.
#[derive(Serialize)]
pub struct Update<'a> {
    name: &'a str,
    doc: &'a str,
    /// The architectures that it changed; none if it changed all.
    architectures: Option<Vec<String>>,
    /// The first known revision of each build that has it.
    builds: Vec<Windows<'a>>,
    /// Later builds that never received it.
    without: Vec<String>,
}

/// The updates with a matching name, description, build, release or KB number.
pub fn list<'a>(axis: &'a Axis, pattern: Pattern) -> Vec<Update<'a>> {
    let update = |update: &'a axis::Update| Update {
        name: &update.name,
        doc: &update.doc,
        architectures: update.architectures.as_ref().map(|list| list.iter().map(ToString::to_string).collect()),
        builds: update.revisions.iter().map(|&kernel| windows(axis, kernel)).collect(),
        without: update.without.iter().map(|&number| format!("{:#}", Build { number, revision: 0 })).collect(),
    };
    let matches = |update: &Update| {
        let of = |kernel: &Windows| kernel.names().any(|name| pattern.matches(name));
        pattern.matches(update.name) || pattern.matches(update.doc) || update.builds.iter().any(of)
    };
    axis.updates.iter().map(update).filter(matches).collect()
}

/// The list as text.
pub fn text(list: &[Update], width: Option<usize>) -> String {
    let mut out = String::new();
    for (index, update) in list.iter().enumerate() {
        let architectures =
            update.architectures.as_ref().map_or_else(String::new, |list| format!(", {} only", list.join(" and ")));
        out += &format!("{}{HEADING}{}{HEADING:#}{architectures}\n", if index == 0 { "" } else { "\n" }, update.name);
        out += &paragraph(update.doc, width, "");
        let row = |cells: [&str; 3]| Row { style: Style::new(), cells: cells.map(str::to_owned).into() };
        let kernel = |kernel: &Windows| {
            let kb = if kernel.kb.is_empty() { "-".to_owned() } else { kernel.kb.join(", ") };
            row([&format!("  {}", kernel.windows_build), &kb, kernel.release.unwrap_or_default()])
        };
        let without = update.without.iter().map(|build| row([&format!("  not {build}"), "", ""]));
        let rows: Vec<_> = update.builds.iter().map(kernel).chain(without).collect();
        out += &aligned(&["  first revision", "KB", "release"], &rows, width);
    }
    out
}
