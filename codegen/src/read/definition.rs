//! A structure, union, enumeration, or set of constants: one file each.

use super::common::{errata, number, scope, source, unverifiable};
use super::member;
use super::scalars::check_name;
use super::tree::{Node, Reader, Table};
use crate::axis::{Axis, TargetSet};
use crate::emit::rust::KEYWORDS;
use crate::source::At;
use crate::spec::*;
use toml::de::DeTable;

const COMMON: [&str; 6] = ["name", "in", "source", "unverifiable", "doc", "errata"];

/// Names that generated code uses for itself.
const RESERVED: [&str; 14] = [
    "ALL",
    "AXIS",
    "Described",
    "Layout",
    "Member",
    "Members",
    "Named",
    "Self",
    "Token",
    "Type",
    "Values",
    "crate",
    "self",
    "super",
];

pub(super) fn read<'a>(reader: &mut Reader, root: &'a DeTable<'a>, spec: &mut Spec) {
    let table = reader.root(root, &["struct", "union", "enum", "flags", "constants", "member"]);
    let subjects: Vec<_> = ["struct", "union", "enum", "flags", "constants"]
        .into_iter()
        .filter_map(|kind| table.get(kind).map(|node| (kind, node)))
        .collect();
    let [(kind, node)] = subjects[..] else {
        let help = "begin the file with one of [struct], [union], [enum], [flags], [constants]";
        reader.error(table.span, format!("a file has one subject, not {}", subjects.len()), "here", help);
        return;
    };
    let axis = &spec.axis;
    let definition = match kind {
        "struct" => aggregate(reader, axis, &table, node, Kind::Struct),
        "union" => aggregate(reader, axis, &table, node, Kind::Union),
        "enum" => values(reader, axis, &table, node, ValuesKind::Enum),
        "flags" => values(reader, axis, &table, node, ValuesKind::Flags),
        _ => values(reader, axis, &table, node, ValuesKind::Constants),
    };
    let Some(definition) = definition else { return };
    let name = definition.name.clone();
    if let Some(first) = spec.definitions.get(&name.value) {
        let title = format!("`{}` is specified twice", name.value);
        reader.error_also((first.name.span, "the first"), name.span, title, "the second", "keep one of them");
    } else if let Some(twin) = spec.definitions.values().find(|d| d.name.value.eq_ignore_ascii_case(&name.value)) {
        let title = format!("`{}` and `{}` differ in case alone", twin.name.value, name.value);
        reader.error_also(
            (twin.name.span, "the first"),
            name.span,
            title,
            "the second",
            "rename one: their files would be the same",
        );
    } else if RESERVED.contains(&name.value.as_str()) || KEYWORDS.contains(&name.value.as_str()) {
        let help = "choose another name";
        reader.error(name.span, format!("`{}` has a meaning in generated code", name.value), "here", help);
    } else if spec.scalars.contains_key(&name.value) || spec.typedefs.contains_key(&name.value) {
        reader.error(name.span, format!("`{}` is a scalar type already", name.value), "here", "choose another name");
    } else {
        spec.definitions.insert(name.value, definition);
    }
}

fn aggregate(reader: &mut Reader, axis: &Axis, root: &Table, node: &Node, kind: Kind) -> Option<Definition> {
    let table = reader.table(node, &[&COMMON[..], &["size", "align", "pack"]].concat())?;
    let scope = scope(reader, axis, &table, &axis.all());
    let size = number(reader, axis, &table, &scope, "size", &mut |r, n| r.count(n, 0));
    let align = number(reader, axis, &table, &scope, "align", &mut |r, n| r.power_of_two(n, 8192));
    let pack = number(reader, axis, &table, &scope, "pack", &mut |r, n| r.power_of_two(n, 16));
    let nodes = root.require(reader, "member").map(|n| reader.array(n));
    let members: Vec<_> = nodes.into_iter().flatten().filter_map(|n| member::read(reader, axis, &scope, n)).collect();
    let body = Body::Aggregate(Aggregate { kind, size, align, pack, members });
    common(reader, axis, &table, scope, body)
}

fn values(reader: &mut Reader, axis: &Axis, root: &Table, node: &Node, kind: ValuesKind) -> Option<Definition> {
    if let Some(node) = root.get("member") {
        reader.error(reader.span(node.span()), "values have no members", "here", "write `constants = […]` in the table above");
    }
    let table = reader.table(node, &[&COMMON[..], &["type", "constants"]].concat())?;
    let scope = scope(reader, axis, &table, &axis.all());
    let ty = table.require(reader, "type").and_then(|n| reader.string(n));
    let nodes = table.require(reader, "constants").map(|n| reader.array(n));
    let constants: Vec<_> = nodes.into_iter().flatten().filter_map(|n| constant(reader, axis, &scope, n)).collect();
    for (i, one) in constants.iter().enumerate() {
        let clash = |other: &&Constant| other.name.value == one.name.value && !other.scope.intersection(&one.scope).is_empty();
        if let Some(other) = constants[..i].iter().find(clash) {
            let title = format!("`{}` is defined twice", one.name.value);
            reader.error_also(
                (other.name.span, "the first"),
                one.name.span,
                title,
                "the second",
                "let their ranges exclude each other, or make the value piecewise",
            );
        }
    }
    common(reader, axis, &table, scope, Body::Values(Values { kind, ty: ty?, constants }))
}

fn constant(reader: &mut Reader, axis: &Axis, within: &TargetSet, node: &Node) -> Option<Constant> {
    let table = reader.table(node, &["name", "value", "in", "doc", "guid", "source", "errata"])?;
    let name = table.require(reader, "name").and_then(|n| reader.string(n))?;
    check_name(reader, &name);
    let scope = self::scope(reader, axis, &table, within);
    let value = table.require(reader, "value")?;
    let value = reader.piecewise(axis, &scope, value, &mut |r, n| r.integer(n).map(|v| v.value));
    let covered = value.0.iter().fold(TargetSet::default(), |all, piece| all.union(&piece.targets));
    let missing = scope.difference(&covered);
    if !missing.is_empty() && !value.is_empty() {
        let title = format!("`{}` has no value for {}", name.value, axis.describe(&missing));
        reader.error(name.span, title, "here", "add the value, or narrow `in`");
    }
    Some(Constant {
        value,
        guid: table.get("guid").and_then(|n| guid(reader, n)),
        source: source(reader, axis, &table, &scope),
        doc: table.text(reader, "doc"),
        errata: errata(reader, axis, &table, &scope),
        name,
        scope,
    })
}

fn guid(reader: &mut Reader, node: &Node) -> Option<String> {
    let At { value, span } = reader.string(node)?;
    let groups: Vec<_> = value.trim_matches(['{', '}']).split('-').map(str::len).collect();
    let digits = value.trim_matches(['{', '}']).chars().all(|c| c == '-' || c.is_ascii_hexdigit());
    if groups != [8, 4, 4, 4, 12] || !digits {
        reader.error(span, format!("`{value}` is no GUID"), "here", "write it as {68FDD900-4A3E-11D1-84F4-0000F80464E3}");
        return None;
    }
    Some(value.trim_matches(['{', '}']).to_ascii_uppercase())
}

fn common(reader: &mut Reader, axis: &Axis, table: &Table, scope: TargetSet, body: Body) -> Option<Definition> {
    let name = table.require(reader, "name").and_then(|n| reader.string(n))?;
    check_name(reader, &name);
    Some(Definition {
        source: source(reader, axis, table, &scope),
        unverifiable: unverifiable(reader, axis, table, &scope),
        doc: table.text(reader, "doc"),
        errata: errata(reader, axis, table, &scope),
        name,
        scope,
        body,
    })
}
