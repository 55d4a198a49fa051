//! The table of the members of a layout.

use crate::facts::Atlas;
use crate::frame;
use crate::names::{linked, prose};
use crate::sheet::{Row, Sheet};
use maud::{Markup, html};

/// The table of the members. The ids of the rows are the members' names, with a suffix for every further table on the page.
pub fn table(sheet: &Sheet, atlas: &Atlas, name: &str, suffix: &str) -> Markup {
    let rows = sheet.rows.iter().filter(|(_, row)| !row.is_end()).zip(sheet.ids(suffix));
    let rows = html! { @for ((offset, row), id) in rows { (line(atlas, *offset, row, &id)) } };
    frame::table(format_args!("Members of {name}"), "members", &["Offset", "Size", "Member", "Type", "Description"], &rows)
}

fn line(atlas: &Atlas, offset: u64, row: &Row, id: &str) -> Markup {
    let bits = if row.bits.is_empty() { String::new() } else { format!(":{}", row.bits) };
    let depth = (row.depth > 0).then(|| format!("--depth:{}", row.depth));
    html! {
        tr id=(id) class=[row.c.is_empty().then_some("padding")] {
            td { (format_args!("{offset:#06x}{bits}")) }
            td { (format_args!("{:#x}", row.size)) }
            th scope="row" style=[depth] {
                @if row.path.is_empty() { (row.name) } @else { a href={ "#" (id) } { (row.name) } }
            }
            td {
                (linked(atlas, &row.ty))
                @if !row.values.is_empty() { small { " of " (linked(atlas, &row.values)) } }
            }
            td {
                (prose(atlas, &row.doc))
                @if !row.note.is_empty() { small.note { " " (row.note) } }
            }
        }
    }
}
