//! The table of the members of a layout.

use super::facts::Atlas;
use super::frame::scrolled;
use super::names;
use super::sheet::{Row, Sheet};
use crate::html::Html;
use std::fmt::Display;

/// The table of the members. The ids of the rows are the members' names, with a suffix for every further table on the page.
pub fn table(sheet: &Sheet, atlas: &Atlas, name: &str, suffix: &str, html: &mut Html) {
    scrolled(html, format_args!("Members of {name}"), |html| {
        html.el("table", &[("class", &"members")], |html| {
            html.el("thead", &[], |html| {
                html.el("tr", &[], |html| {
                    for heading in ["Offset", "Size", "Member", "Type", "Description"] {
                        html.leaf("th", &[("scope", &"col")], heading);
                    }
                });
            });
            html.el("tbody", &[], |html| {
                let rows = sheet.rows.iter().filter(|(_, row)| !row.is_end());
                for ((offset, row), id) in rows.zip(sheet.ids(suffix)) {
                    line(atlas, *offset, row, &id, html);
                }
            });
        });
    });
}

fn line(atlas: &Atlas, offset: u64, row: &Row, id: &str, html: &mut Html) {
    let own: [(&str, &dyn Display); 2] = [("id", &id), ("class", &"padding")];
    html.el("tr", &own[..1 + usize::from(row.c.is_empty())], |html| {
        let bits = if row.bits.is_empty() { String::new() } else { format!(":{}", row.bits) };
        html.leaf("td", &[], format_args!("{offset:#06x}{bits}"));
        html.leaf("td", &[], format_args!("{:#x}", row.size));
        let indent = format!("--depth:{}", row.depth);
        let head: [(&str, &dyn Display); 2] = [("scope", &"row"), ("style", &indent)];
        html.el("th", &head[..1 + usize::from(row.depth > 0)], |html| match row.path.is_empty() {
            true => html.text(&row.name),
            false => html.link(format_args!("#{id}"), &row.name),
        });
        html.el("td", &[], |html| {
            names::linked(atlas, &row.ty, html);
            if !row.values.is_empty() {
                html.el("small", &[], |html| {
                    html.text(" of ");
                    names::linked(atlas, &row.values, html);
                });
            }
        });
        html.el("td", &[], |html| {
            names::linked(atlas, &row.doc, html);
            if !row.note.is_empty() {
                html.leaf("small", &[("class", &"note")], format_args!(" {}", row.note));
            }
        });
    });
}
