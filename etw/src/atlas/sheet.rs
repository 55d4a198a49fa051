//! A layout as a sheet: one row for each line of its declaration in C, from which pages and the script make the table and the text.

use super::facts::Atlas;
use super::frame::scrolled;
use super::{names, paths};
use crate::html::Html;
use etw_layouts_codegen::axis::TargetId;
use etw_layouts_codegen::layouts::{Bits, Field, Form, LayoutId, Type};
use etw_layouts_project::Choice;
use etw_layouts_project::members::{Member, c_type, keyword};
use etw_layouts_project::subject::Subject;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::{Display, Write};

/// A layout of a structure or union.
pub struct Sheet {
    /// Its number among the layouts of the structure.
    pub number: i32,
    pub kind: &'static str,
    pub size: u64,
    pub align: u64,
    /// Explicit packing, or 0.
    pub pack: u64,
    /// The offset of each row, and the row.
    pub rows: Vec<(u64, Row)>,
    /// The layouts of the structures, unions and enumerations that it embeds.
    pub embeds: Vec<LayoutId>,
}

/// A line of a declaration.
#[derive(Clone, Default, PartialEq, Eq, Hash, Serialize)]
pub struct Row {
    #[serde(skip_serializing_if = "is_none")]
    pub depth: usize,
    /// The member, after the names of the enclosing members; empty if it has no name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// What is shown as its name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(rename = "type", skip_serializing_if = "String::is_empty")]
    pub ty: String,
    pub size: u64,
    /// The bits of a bit field, such as `3-5`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub bits: String,
    /// The enumeration or flags that it holds.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub values: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub doc: String,
    /// Its evidence, where it is not that of the whole layout.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// The line in C, indented; padding has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub c: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
fn is_none(depth: &usize) -> bool {
    *depth == 0
}

impl Row {
    /// Whether it only ends a declaration within another.
    pub fn is_end(&self) -> bool {
        self.name.is_empty()
    }
}

/// A target that speaks for all with a layout: one with the strongest evidence.
pub fn speaker(atlas: &Atlas, id: LayoutId) -> Option<TargetId> {
    let layout = &atlas.layouts.layouts[id];
    let targets = layout.targets.iter();
    targets.min_by_key(|&target| atlas.source(Some(&layout.name), target, choice(atlas, &layout.name, target).confidence))
}

/// The confidence in a structure at a target.
pub fn choice(atlas: &Atlas, name: &str, target: TargetId) -> Choice {
    Choice::of(atlas.layouts, atlas.registry, atlas.axis.newest(target), Some(name))
}

impl Sheet {
    /// The sheet of a layout; nothing for an enumeration.
    pub fn of(atlas: &Atlas, id: LayoutId, number: i32) -> Option<Self> {
        let layout = &atlas.layouts.layouts[id];
        let Form::Aggregate(aggregate) = &layout.form else { return None };
        let choice = choice(atlas, &layout.name, speaker(atlas, id)?);
        let whole = choice.source_of_whole(atlas.axis);
        let subject = Subject { structure: layout.name.clone(), member: None, choice, levels: 0 };
        let members = subject.members(atlas.layouts);
        let known = subject.known(atlas.layouts, atlas.registry, &members);
        let sources = subject.sources(atlas.layouts, atlas.registry, &members);
        let mut sheet = Self {
            number,
            kind: keyword(aggregate.kind),
            size: aggregate.extent.size,
            align: aggregate.extent.align,
            pack: aggregate.pack.unwrap_or(0),
            rows: Vec::new(),
            embeds: Vec::new(),
        };
        let mut open: Vec<String> = Vec::new();
        for (index, member) in members.iter().enumerate() {
            sheet.close(&mut open, member.depth, member.offset);
            let mut row = row(member);
            if row.path.is_empty() || sources[index] == Some(whole) {
                row.note.clear();
            } else {
                row.note.clone_from(&known[index]);
            }
            if let Some((field, _)) = &member.field {
                if matches!(field.ty, Type::Inline(_)) {
                    open.push(format!("}}{};", spaced(field.name.as_deref().unwrap_or_default())));
                }
                if let Type::Layout(id) = field.ty.element()
                    && !sheet.embeds.contains(id)
                {
                    sheet.embeds.push(*id);
                }
            }
            sheet.rows.push((member.offset, row));
        }
        sheet.close(&mut open, 0, sheet.size);
        Some(sheet)
    }

    /// Ends the declarations that are deeper than a member.
    fn close(&mut self, open: &mut Vec<String>, depth: usize, offset: u64) {
        while open.len() > depth {
            let depth = open.len() - 1;
            let c = indented(depth, &open.pop().unwrap_or_default());
            self.rows.push((offset, Row { depth, c, ..Row::default() }));
        }
    }

    /// The declaration in C, with the offset of each member before it.
    pub fn c(&self, name: &str) -> String {
        let [head, end] = self.ends(name);
        let mut text = head;
        for (offset, row) in self.rows.iter().filter(|(_, row)| !row.c.is_empty()) {
            let _ = match row.is_end() {
                true => writeln!(text, "            {}", row.c),
                false => writeln!(text, "/* {offset:#05x} */ {}", row.c),
            };
        }
        text + &end
    }

    /// What is before and behind the members of the declaration in C.
    pub fn ends(&self, name: &str) -> [String; 2] {
        let [push, pop] = match self.pack {
            0 => [String::new(), String::new()],
            pack => [format!("#pragma pack(push, {pack})\n"), "#pragma pack(pop)\n".to_owned()],
        };
        [format!("{push}typedef {} _{name} {{\n", self.kind), format!("}} {name}; /* {:#x} bytes */\n{pop}", self.size)]
    }

    /// The table of the members. The rows of one table on a page have the members as their ids, those of others have it with a suffix.
    pub fn table(&self, atlas: &Atlas, name: &str, suffix: &str, html: &mut Html) {
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
                    let mut ids = BTreeSet::new();
                    for (index, (offset, row)) in self.rows.iter().enumerate().filter(|(_, (_, row))| !row.is_end()) {
                        let own = !row.path.is_empty() && ids.insert(&row.path);
                        let id = if own { format!("{}{suffix}", row.path) } else { format!("r-{index}{suffix}") };
                        self::line(atlas, *offset, row, &id, html);
                    }
                });
            });
        });
    }

    /// The id of each member's row in the table with a suffix, as [`table`](Self::table) gives it, for the members of a map of bytes.
    pub fn ids(&self, suffix: &str) -> Vec<String> {
        let mut ids = BTreeSet::new();
        let rows = self.rows.iter().enumerate().filter(|(_, (_, row))| !row.is_end());
        rows.map(|(index, (_, row))| match !row.path.is_empty() && ids.insert(&row.path) {
            true => format!("{}{suffix}", row.path),
            false => format!("r-{index}{suffix}"),
        })
        .collect()
    }
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

fn row(member: &Member) -> Row {
    let (name, ty) = super::memory::names(member);
    let bits = |bits: Bits| match bits.width {
        1 => bits.position.to_string(),
        width => format!("{}-{}", bits.position, bits.position + width - 1),
    };
    let (field, doc) = match &member.field {
        Some((field, info)) => (Some(*field), info.doc.clone()),
        None => (None, String::new()),
    };
    Row {
        depth: member.depth,
        path: member.path.clone().unwrap_or_default(),
        name,
        ty,
        size: member.size,
        bits: member.bits.map(bits).unwrap_or_default(),
        values: field.and_then(|field| field.values.clone()).unwrap_or_default(),
        doc,
        note: String::new(),
        c: field.map(|field| indented(member.depth, &declared(field))).unwrap_or_default(),
    }
}

/// The line of a member in C; of an unnamed type its first.
fn declared(field: &Field) -> String {
    let align = field.align.map(|align| format!("__declspec(align({align})) ")).unwrap_or_default();
    let name = field.name.as_deref().unwrap_or_default();
    match (&field.ty, &field.ctype) {
        (Type::Inline(inner), _) => format!("{align}{} {{", keyword(inner.kind)),
        (_, Some(ctype)) => {
            let width = field.bits.map(|bits| format!(" : {}", bits.width)).unwrap_or_default();
            format!("{align}{}{width};", ctype.declare(name))
        }
        _ => format!("{align}{}{};", c_type(field), spaced(name)),
    }
}

fn indented(depth: usize, line: &str) -> String {
    format!("{}{line}", "    ".repeat(depth + 1))
}

fn spaced(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!(" {name}") }
}

/// The page of a type, for a link from a page in a folder.
pub fn to_type(name: &str) -> String {
    format!("../{}", paths::of_type(name))
}
