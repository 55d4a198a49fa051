//! Reads a structure, union, enumeration, or set of constants: one file each.

use super::common::{assertion, errata, number, scope, source, unverifiable};
use super::member;
use super::reader::{Reader, Table};
use super::scalars::{check_name, is_identifier};
use crate::axis::{Axis, TargetSet};
use crate::source::At;
use crate::spec::*;
use crate::syntax::{self, Node, TableKind};
use std::collections::{HashMap, HashSet};

/// Names that generated code uses, including Rust's own types. An item with such a name would hide them.
const RESERVED: [&str; 34] = [
    "LAYOUTS",
    "Layouts",
    "Named",
    "None",
    "Option",
    "Self",
    "Some",
    "Structure",
    "Token",
    "Type",
    "bool",
    "char",
    "crate",
    "f32",
    "f64",
    "i128",
    "i16",
    "i32",
    "i64",
    "i8",
    "isize",
    "core",
    "members",
    "meta",
    "runtime",
    "self",
    "str",
    "super",
    "u128",
    "u16",
    "u32",
    "u64",
    "u8",
    "usize",
];

/// Whether a definition can have a name: an identifier without another meaning in generated code.
pub fn is_definable(name: &str) -> bool {
    is_identifier(name) && !RESERVED.contains(&name) && !KEYWORDS.contains(&name)
}

/// The names of definitions, by their lower-case form.
#[derive(Default)]
pub(super) struct Names(HashMap<String, At<String>>);

impl FromIterator<At<String>> for Names {
    fn from_iter<T: IntoIterator<Item = At<String>>>(names: T) -> Self {
        Self(names.into_iter().map(|name| (name.value.to_ascii_lowercase(), name)).collect())
    }
}

pub(super) fn read(reader: &mut Reader, root: syntax::TomlTable, names: &mut Names, spec: &mut Spec) {
    let table = reader.known(root);
    let subjects: Vec<_> = ["struct", "union", "enum", "flags", "constants"]
        .into_iter()
        .filter_map(|kind| table.get(kind).map(|node| (kind, node)))
        .collect();
    let [(kind, node)] = subjects[..] else {
        let help = "begin the file with one of [struct], [union], [enum], [flags], [constants]";
        reader.error(table.span, format!("file has {} definitions instead of one", subjects.len()), "here", help);
        return;
    };
    let axis = &spec.axis;
    let sort = if ["struct", "union"].contains(&kind) { TableKind::Aggregate } else { TableKind::Values };
    let Some(subject) = reader.table(&table, sort, node) else { return };
    reader.read_comments(&table);
    // Without a source, the spec itself is the source, and covers all targets.
    reader.documented = if subject.get("source").is_some() { axis.documented.clone() } else { axis.all() };
    let definition = match kind {
        "struct" => aggregate(reader, axis, &table, &subject, Kind::Struct),
        "union" => aggregate(reader, axis, &table, &subject, Kind::Union),
        "enum" => values(reader, axis, &table, &subject, ValuesKind::Enum),
        "flags" => values(reader, axis, &table, &subject, ValuesKind::Flags),
        _ => values(reader, axis, &table, &subject, ValuesKind::Constants),
    };
    let Some(definition) = definition else { return };
    let name = definition.name.clone();
    let twin = names.0.get(&name.value.to_ascii_lowercase());
    if let Some(first) = twin.filter(|twin| twin.value == name.value) {
        let title = format!("duplicate definition of `{}`", name.value);
        reader.error_also((first.span, "the first"), name.span, title, "the second", "keep one of them");
    } else if let Some(twin) = twin {
        let title = format!("names `{}` and `{}` differ only in case", twin.value, name.value);
        reader.error_also(
            (twin.span, "the first"),
            name.span,
            title,
            "the second",
            "rename one: both would have the same file name",
        );
    } else if RESERVED.contains(&name.value.as_str()) || KEYWORDS.contains(&name.value.as_str()) {
        let help = "choose another name";
        reader.error(name.span, format!("reserved name `{}`: generated code uses it", name.value), "here", help);
    } else if spec.scalars.contains_key(&name.value) || spec.typedefs.contains_key(&name.value) {
        reader.error(name.span, format!("name `{}` is already a scalar type", name.value), "here", "choose another name");
    } else {
        names.0.insert(name.value.to_ascii_lowercase(), name.clone());
        spec.definitions.insert(name.value, definition);
    }
}

fn aggregate(reader: &mut Reader, axis: &Axis, root: &Table, table: &Table, kind: Kind) -> Option<Definition> {
    let scope = scope(reader, axis, table, &axis.all());
    let size = assertion(reader, axis, table, &scope, "size", 0);
    let align = number(reader, axis, table, &scope, "align", &mut |r, n| r.power_of_two(n, 8192));
    let pack = number(reader, axis, table, &scope, "pack", &mut |r, n| r.power_of_two(n, 16));
    let comments = reader.comments(table.ends().0);
    let (list, key) = if table.get("members").is_some() { (table, "members") } else { (root, "member") };
    if let (Some(node), "members") = (root.get("member"), key) {
        reader.error(reader.span(node.span()), "members are in two lists", "here", "write all members in `members`");
    }
    root.get("member").or_else(|| table.require(reader, "members"));
    let members = member::list(reader, axis, &scope, list, key);
    let mut names = HashSet::new();
    each_name(&members, &mut |name| _ = names.insert(name));
    if names.len() > MOST_NAMES {
        let title = format!("structure has {} members in all its versions", names.len());
        let help = "split the structure, or write a part of it as bytes: `UCHAR [N]`";
        reader.error(table.span, title, format!("limit: {MOST_NAMES} different names"), help);
    }
    let body = Body::Aggregate(Aggregate { kind, size, align, pack, members });
    common(reader, axis, table, scope, body, comments)
}

/// The limit of different names in a structure, over all its versions: tokens number them with 16 bits.
const MOST_NAMES: usize = u16::MAX as usize;

/// Visits the names of members, including those of nested members.
fn each_name<'a>(members: &'a [Member], visit: &mut impl FnMut(&'a str)) {
    for member in members {
        if let Some(name) = &member.name {
            visit(&name.value);
        }
        if let Shape::Inline(_, members) = &member.shape {
            each_name(members, visit);
        }
    }
}

fn values(reader: &mut Reader, axis: &Axis, root: &Table, table: &Table, kind: ValuesKind) -> Option<Definition> {
    if let Some(node) = root.get("member") {
        reader.error(
            reader.span(node.span()),
            "[[member]] in an enumeration or set of constants",
            "here",
            "write `constants = […]` in the table above",
        );
    }
    let scope = scope(reader, axis, table, &axis.all());
    let ty = table.require(reader, "type").and_then(|n| reader.string(n));
    table.require(reader, "constants");
    let comments = reader.comments(table.ends().0);
    let rows = reader.tables(table, "constants", TableKind::Constant);
    let constants: Vec<_> = rows.iter().filter_map(|row| constant(reader, axis, &scope, row)).collect();
    let mut known: HashMap<&str, Vec<&Constant>> = HashMap::new();
    for one in &constants {
        let same = known.entry(&one.name.value).or_default();
        let clash = same.iter().find(|other| !other.scope.intersection(&one.scope).is_empty()).copied();
        if clash.is_none() {
            same.push(one);
        }
        if let Some(other) = clash {
            let title = format!("duplicate constant `{}`", one.name.value);
            reader.error_also(
                (other.name.span, "the first"),
                one.name.span,
                title,
                "the second",
                "make their ranges disjoint, or write one constant with a value for each range",
            );
        }
    }
    common(reader, axis, table, scope, Body::Values(Values { kind, ty: ty?, constants }), comments)
}

fn constant(reader: &mut Reader, axis: &Axis, within: &TargetSet, table: &Table) -> Option<Constant> {
    let name = table.require(reader, "name").and_then(|n| reader.string(n))?;
    check_name(reader, &name);
    let scope = self::scope(reader, axis, table, within);
    table.require(reader, "value")?;
    let errors = reader.errors().len();
    let value = reader.piecewise(axis, &scope, &table.pieces("value")?, &mut |r, n| r.value(n).map(|v| v.value));
    let covered = value.0.iter().fold(TargetSet::default(), |all, piece| all.union(&piece.targets));
    let missing = scope.difference(&covered);
    if !missing.is_empty() && reader.errors().len() == errors {
        let title = format!("constant `{}` has no value for {}", name.value, axis.describe(&missing));
        reader.error(name.span, title, "here", "add the value, or narrow `in`");
    }
    let mut comments = reader.comments(table.start());
    // A blank line within a table does not begin a new group.
    comments.extend(reader.comments(table.ends().1).into_iter().filter(|line| !line.is_empty()));
    Some(Constant {
        comments,
        value,
        guid: table.get("guid").and_then(|n| guid(reader, n)).map(|guid| guid.value),
        source: source(reader, axis, table, &scope),
        doc: table.text(reader, "doc"),
        errata: errata(reader, axis, table, &scope),
        name,
        scope,
    })
}

pub(super) fn guid(reader: &mut Reader, node: &Node) -> Option<At<String>> {
    let At { value, span } = reader.string(node)?;
    let groups: Vec<_> = value.trim_matches(['{', '}']).split('-').map(str::len).collect();
    let digits = value.trim_matches(['{', '}']).chars().all(|c| c == '-' || c.is_ascii_hexdigit());
    if groups != [8, 4, 4, 4, 12] || !digits {
        reader.error(span, format!("invalid GUID `{value}`"), "here", "write it as {68FDD900-4A3E-11D1-84F4-0000F80464E3}");
        return None;
    }
    Some(At::new(value.trim_matches(['{', '}']).to_ascii_uppercase(), span))
}

fn common(
    reader: &mut Reader,
    axis: &Axis,
    table: &Table,
    scope: TargetSet,
    body: Body,
    comments: Vec<String>,
) -> Option<Definition> {
    let name = table.require(reader, "name").and_then(|n| reader.string(n))?;
    check_name(reader, &name);
    Some(Definition {
        source: source(reader, axis, table, &scope),
        unverifiable: unverifiable(reader, axis, table, &scope),
        feature: table.text(reader, "feature"),
        doc: table.text(reader, "doc"),
        errata: errata(reader, axis, table, &scope),
        end: reader.comments(usize::MAX),
        name,
        scope,
        body,
        comments,
    })
}
