//! The declaration of each layout of a structure, as a sheet.

use crate::facts::Atlas;
use crate::sheet::{Row, Sheet};
use etw_layouts_codegen::layouts::{Bits, Field, Form, LayoutId, Type};
use etw_layouts_project::matrix::Matrix;
use etw_layouts_project::members::{Member, c_type, keyword};
use etw_layouts_project::subject::Subject;
use std::collections::HashMap;

/// The sheets of all layouts of a structure.
pub fn sheets(atlas: &Atlas, matrices: &[Matrix]) -> HashMap<LayoutId, Sheet> {
    let mut sheets = HashMap::new();
    for column in matrices.iter().flat_map(|matrix| &matrix.columns) {
        let number = i32::try_from(sheets.len()).unwrap_or(-1);
        if !sheets.contains_key(&column.layout) {
            sheets.extend(sheet(atlas, column.layout, number).map(|sheet| (column.layout, sheet)));
        }
    }
    sheets
}

/// The sheet of a layout; none for an enumeration.
fn sheet(atlas: &Atlas, id: LayoutId, number: i32) -> Option<Sheet> {
    let layout = &atlas.layouts.layouts[id];
    let Form::Aggregate(aggregate) = &layout.form else { return None };
    let choice = atlas.choice(&layout.name, atlas.speaker(id)?);
    let whole = choice.source_of_whole(atlas.axis);
    let subject = Subject { structure: layout.name.clone(), member: None, offset: None, choice, levels: 0 };
    let members = subject.members(atlas.layouts);
    let known = subject.known(atlas.layouts, atlas.registry, &members);
    let sources = subject.sources(atlas.layouts, atlas.registry, &members);
    let mut sheet = Sheet {
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
        close(&mut sheet, &mut open, member.depth, member.offset);
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
    let size = sheet.size;
    close(&mut sheet, &mut open, 0, size);
    Some(sheet)
}

/// Closes the nested declarations that are deeper than `depth`.
fn close(sheet: &mut Sheet, open: &mut Vec<String>, depth: usize, offset: u64) {
    while open.len() > depth {
        let depth = open.len() - 1;
        let c = indented(depth, &open.pop().unwrap_or_default());
        sheet.rows.push((offset, Row { depth, c, ..Row::default() }));
    }
}

fn row(member: &Member) -> Row {
    let (name, ty) = names(member);
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
        bits: member.bits.map(bit_range).unwrap_or_default(),
        values: field.and_then(|field| field.values.clone()).unwrap_or_default(),
        doc,
        note: String::new(),
        c: field.map(|field| indented(member.depth, &declared(field))).unwrap_or_default(),
    }
}

/// The name of a row, and its type.
pub fn names(member: &Member) -> (String, String) {
    match &member.field {
        None => ("padding".into(), String::new()),
        Some((field, _)) => match (&field.name, &field.ty) {
            (Some(name), Type::Inline(inner)) => (name.clone(), keyword(inner.kind).into()),
            (Some(name), _) => (name.clone(), c_type(field)),
            (None, Type::Inline(inner)) => (keyword(inner.kind).into(), String::new()),
            (None, _) => ("unnamed".into(), c_type(field)),
        },
    }
}

/// The first and the last bit of a bit field, such as `3-5`.
pub fn bit_range(bits: Bits) -> String {
    match bits.width {
        1 => bits.position.to_string(),
        width => format!("{}-{}", bits.position, bits.position + width - 1),
    }
}

/// The declaration of a member in C; for an unnamed structure or union, its first line.
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
