//! Reads a member of a structure, and its nested members.

use super::common::{assertion, errata, number, scope, source};
use super::reader::{Reader, Table};
use super::scalars::{check_name, ctype};
use crate::axis::{Axis, TargetSet};
use crate::source::At;
use crate::spec::*;
use crate::syntax::{Node, TableKind};

use toml::de::DeValue;

const UNKNOWN: [(&str, Unknown); 4] =
    [("name", Unknown::Name), ("type", Unknown::Type), ("name and type", Unknown::NameAndType), ("use", Unknown::Use)];

/// The members of a list, including those of its groups.
pub(super) fn list(reader: &mut Reader, axis: &Axis, within: &TargetSet, table: &Table, key: &str) -> Vec<Member> {
    let mut members = Vec::new();
    for table in reader.tables(table, key, TableKind::Member) {
        match table.get("members") {
            Some(_) => members.extend(group(reader, axis, within, &table)),
            None => members.extend(read(reader, axis, within, &table)),
        }
    }
    members
}

/// The members of a group, which share its range.
fn group(reader: &mut Reader, axis: &Axis, within: &TargetSet, table: &Table) -> Vec<Member> {
    let mut comments = reader.comments(table.ends().0);
    for key in table.keys().filter(|key| !["in", "members"].contains(key)) {
        let help = "move it to the members: a group has only the keys `in` and `members`";
        reader.error(table.span, format!("key `{key}` in a group of members"), "here", help);
    }
    let scope = scope(reader, axis, table, within);
    let mut members = list(reader, axis, &scope, table, "members");
    match members.first_mut() {
        Some(first) => {
            comments.append(&mut first.comments);
            first.comments = comments;
        }
        None => reader.error(table.span, "group has no members", "here", "add members, or remove the group"),
    }
    members
}

fn read(reader: &mut Reader, axis: &Axis, within: &TargetSet, table: &Table) -> Option<Member> {
    let scope = scope(reader, axis, table, within);
    let name = table.get("name").and_then(|n| reader.string(n));
    if let Some(name) = &name {
        check_name(reader, name);
    }
    let (own, end) = table.ends();
    let mut comments = reader.comments(own);
    let shape = shape(reader, axis, table, &scope)?;
    comments.extend(reader.comments(end));
    let bits = number(reader, axis, table, &scope, "bits", &mut |r, n| r.count(n, 0));
    let mask = assertion(reader, axis, table, &scope, "mask", 1);
    let offset = assertion(reader, axis, table, &scope, "offset", 0);
    let align = number(reader, axis, table, &scope, "align", &mut |r, n| r.power_of_two(n, 8192));
    let inline = matches!(shape, Shape::Inline(..));
    let covered = bits.0.iter().fold(TargetSet::default(), |all, piece| all.union(&piece.targets));
    if name.is_none() && !inline && !scope.difference(&covered).is_empty() {
        reader.error(table.span, "member has no name", "here", "add `name = …`");
    }
    if inline && !bits.is_empty() {
        reader.error(table.span, "bit field has the type of a structure", "here", "remove `bits`, or write a scalar `type`");
    }
    Some(Member {
        values: table.get("values").and_then(|n| reader.string(n)),
        leads_to: table.get("leads_to").map(|n| strings(reader, n)).unwrap_or_default(),
        source: source(reader, axis, table, &scope),
        unknown: table.get("unknown").and_then(|n| reader.word(n, &UNKNOWN)),
        doc: table.text(reader, "doc"),
        errata: errata(reader, axis, table, &scope),
        comments,
        span: name.as_ref().map_or(table.span, |n| n.span),
        name,
        scope,
        shape,
        bits,
        mask,
        offset,
        align,
    })
}

/// One string, or several.
fn strings(reader: &mut Reader, node: &Node) -> Vec<At<String>> {
    match node.get_ref() {
        DeValue::Array(_) => reader.array(node).filter_map(|item| reader.string(item)).collect(),
        _ => reader.string(node).into_iter().collect(),
    }
}

fn shape(reader: &mut Reader, axis: &Axis, table: &Table, scope: &TargetSet) -> Option<Shape> {
    let given: Vec<_> = ["type", "struct", "union"].into_iter().filter(|key| table.get(key).is_some()).collect();
    let [key] = given[..] else {
        let help = "write exactly one of the keys `type`, `struct`, `union`";
        reader.error(table.span, format!("member has {} types instead of one", given.len()), "here", help);
        return None;
    };
    if key == "type" {
        let node = table.get(key)?;
        let errors = reader.errors().len();
        let types = reader.piecewise(axis, scope, &table.pieces(key)?, &mut ctype);
        let covered = types.0.iter().fold(TargetSet::default(), |all, piece| all.union(&piece.targets));
        let missing = scope.difference(&covered);
        if !missing.is_empty() && reader.errors().len() == errors {
            let title = format!("member has no type for {}", axis.describe(&missing));
            reader.error(reader.span(node.span()), title, "here", "add the type, or narrow `in`");
        }
        return Some(Shape::Type(types));
    }
    let kind = if key == "struct" { Kind::Struct } else { Kind::Union };
    Some(Shape::Inline(kind, list(reader, axis, scope, table, key)))
}
