//! Reads a class of events: one file, or one of several.

use super::event_checks::{check_fields, check_values};
use super::reader::{Reader, Table};
use super::scalars::check_name;
use super::who;
use crate::event::{Class, Erratum, Event, EventType, Field, IN_TYPES, InType, OUT_TYPES, OutType, Size, Versions};
use crate::source::At;
use crate::spec::Spec;
use crate::syntax::{self, Node, TableKind};
use toml::de::DeValue;

pub(super) fn read(reader: &mut Reader, root: syntax::TomlTable, spec: &mut Spec) {
    let table = reader.known(root);
    let node = table.require(reader, "class");
    let Some(head) = node.and_then(|node| reader.table(&table, TableKind::Class, node)) else { return };
    let rows = reader.tables(&table, "event", TableKind::Event);
    if rows.is_empty() {
        reader.error(table.span, "class has no events", "here", "add an [[event]]");
    }
    let events: Vec<_> = rows.iter().filter_map(|row| event(reader, row)).collect();
    events.iter().for_each(|event| check_values(reader, spec, &event.fields));
    let Some(name) = head.require(reader, "name").and_then(|node| reader.string(node)) else { return };
    check_name(reader, &name);
    spec.classes.push(Class {
        group: head.get("group").and_then(|node| reader.string(node)),
        guid: head.get("guid").and_then(|node| super::definition::guid(reader, node)),
        source: sources(reader, &head),
        doc: head.text(reader, "doc"),
        name,
        events,
    });
}

/// The names of the sources.
pub(super) fn sources(reader: &mut Reader, table: &Table) -> Vec<At<String>> {
    let Some(node) = table.require(reader, "source") else { return Vec::new() };
    let list: Vec<_> = reader.array(node).filter_map(|item| reader.string(item)).collect();
    list.iter().for_each(|name| _ = check_name(reader, name));
    list
}

fn event(reader: &mut Reader, table: &Table) -> Option<Event> {
    let mut types = table.require(reader, "types").map(|node| types(reader, node)).unwrap_or_default();
    let versions = table.require(reader, "version").and_then(|node| versions(reader, node));
    if let Some(open) = versions.as_ref().filter(|versions| versions.value.last == u8::MAX) {
        reader.error(open.span, "versions of an event are open", "here", "end the range with the last known version: `\"0..4\"`");
    }
    by_type(reader, table, "versions", &mut types, &mut |reader, ty, node| {
        ty.versions = self::versions(reader, node);
        let (Some(own), Some(all)) = (&ty.versions, &versions) else { return };
        if own.value.last == u8::MAX || !all.value.contains(own.value.first) || !all.value.contains(own.value.last) {
            let title = format!("versions `{}` are not within those of the event, {}", own.value, all.value);
            reader.error(own.span, title, "here", "narrow the range, or widen `version`");
        }
    });
    by_type(reader, table, "groups", &mut types, &mut |reader, ty, node| ty.group = reader.string(node));
    table.require(reader, "fields");
    let rows = reader.tables(table, "fields", TableKind::Field);
    let fields: Vec<_> = rows.iter().filter_map(|row| field(reader, row)).collect();
    let rows = reader.tables(table, "errata", TableKind::EventErratum);
    let errata = rows.iter().filter_map(|row| erratum(reader, row)).collect();
    let [by, about] = ["by", "about"].map(|key| who::party(reader, table, key));
    let (versions, unsettled, doc) = (versions?, table.text(reader, "unsettled"), table.text(reader, "doc"));
    if versions.value.last < u8::MAX {
        check_fields(reader, versions.value, &fields);
    }
    for party in [&by, &about] {
        who::check(reader, party, &fields);
    }
    Some(Event { types, versions, by, about, unsettled, doc, fields, errata, span: table.span })
}

/// The event types, in the order of their numbers.
fn types(reader: &mut Reader, node: &Node) -> Vec<EventType> {
    let mut types: Vec<EventType> = Vec::new();
    for (name, value) in named(reader, node, "write `{ Start = 1, End = 2 }`") {
        if !is_event_name(&name.value) {
            let help = "write letters, digits, `_`, `-` and `.`";
            reader.error(name.span, format!("invalid name of an event type: `{}`", name.value), "here", help);
            continue;
        }
        let Some(number) = reader.count(value, 0) else { continue };
        let Ok(number) = u8::try_from(number) else {
            let help = "write the low byte of the hook, a number up to 255";
            reader.error(reader.span(value.span()), format!("event type {number} is larger than 255"), "here", help);
            continue;
        };
        if let Some(twin) = types.iter().find(|other| other.number == number || other.name.value == name.value) {
            let title = format!("duplicate event type `{}`", name.value);
            reader.error_also((twin.name.span, "the first"), name.span, title, "the second", "keep one of them");
            continue;
        }
        types.push(EventType { name, number, versions: None, group: None });
    }
    if types.is_empty() && !reader.has_error(reader.file) {
        reader.error(reader.span(node.span()), "event has no types", "here", "write `{ Start = 1, End = 2 }`");
    }
    types.sort_by_key(|ty| ty.number);
    types
}

/// The user-defined keys of a table, and their values.
fn named<'a>(reader: &mut Reader, node: &'a Node<'a>, help: &str) -> Vec<(At<String>, &'a Node<'a>)> {
    let DeValue::Table(entries) = node.get_ref() else {
        reader.error(reader.span(node.span()), "expected a table by event type", "not a table", help);
        return Vec::new();
    };
    entries.iter().map(|(name, value)| (At::new(name.get_ref().to_string(), reader.span(name.span())), value)).collect()
}

/// The values of a key for single event types.
fn by_type(
    reader: &mut Reader,
    table: &Table,
    key: &str,
    types: &mut [EventType],
    state: &mut dyn FnMut(&mut Reader, &mut EventType, &Node),
) {
    let Some(node) = table.get(key) else { return };
    for (name, value) in named(reader, node, "write a table such as `{ Start = … }`") {
        match types.iter_mut().find(|ty| ty.name.value == name.value) {
            Some(ty) => state(reader, ty, value),
            None => reader.unknown("event type", &name, types.iter().map(|ty| ty.name.value.as_str())),
        }
    }
}

/// Whether an event type can have a name. Commands separate it from the class by a slash.
fn is_event_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.len() <= 64 && name.chars().all(plain)
}

/// A range of versions: `2`, `0..4`, `2..`.
pub(super) fn versions(reader: &mut Reader, node: &Node) -> Option<At<Versions>> {
    let At { value, span } = reader.string(node)?;
    let (first, last) = value.split_once("..").unwrap_or((&value, &value));
    // The number parser also accepts a sign.
    let number = |text: &str| text.parse::<u8>().ok().filter(|number| *number < u8::MAX && !text.starts_with('+'));
    let last = if last.is_empty() { Some(u8::MAX) } else { number(last) };
    let versions = number(first).zip(last).map(|(first, last)| Versions { first, last }).filter(|v| v.first <= v.last);
    if versions.is_none() {
        let help = "write a version or a range of versions from 0 to 254: \"2\", \"0..4\", \"2..\"";
        reader.error(span, format!("invalid range of versions `{value}`"), "here", help);
    }
    versions.map(|versions| At::new(versions, span))
}

fn field(reader: &mut Reader, table: &Table) -> Option<Field> {
    let name = table.require(reader, "name").and_then(|node| reader.string(node));
    if let Some(name) = &name {
        check_name(reader, name);
    }
    let ty = table.require(reader, "type").and_then(|node| in_type(reader, node));
    let rows = reader.tables(table, "fields", TableKind::Field);
    let fields = rows.iter().filter_map(|row| field(reader, row)).collect();
    let size = |key| table.get(key).map(|node| (key, node));
    let [count, length] = [size("count"), size("length")].map(|size| size.and_then(|(_, node)| self::size(reader, node)));
    Some(Field {
        count,
        length,
        out: table.get("out").and_then(|node| out_type(reader, node)),
        values: table.get("values").and_then(|node| reader.string(node)),
        versions: table.get("version").and_then(|node| versions(reader, node)),
        pointer: table.get("pointer").and_then(|node| pointer(reader, node)),
        optional: table.get("optional").is_some_and(|node| reader.word_true(node)),
        unsettled: table.text(reader, "unsettled"),
        doc: table.text(reader, "doc"),
        fields,
        name: name?,
        ty: ty?,
    })
}

fn in_type(reader: &mut Reader, node: &Node) -> Option<At<&'static InType>> {
    let At { value, span } = reader.string(node)?;
    let known = IN_TYPES.iter().map(|ty| ty.name);
    let found = InType::named(&value);
    if found.is_none() {
        reader.unknown("type", &At::new(value, span), known);
    }
    found.map(|ty| At::new(ty, span))
}

fn out_type(reader: &mut Reader, node: &Node) -> Option<At<&'static OutType>> {
    let At { value, span } = reader.string(node)?;
    let known = OUT_TYPES.iter().map(|out| out.name);
    let found = OutType::named(&value);
    if found.is_none() {
        reader.unknown("output type", &At::new(value, span), known);
    }
    found.map(|out| At::new(out, span))
}

/// A number, the name of an earlier field, or `*` for the rest of the payload.
fn size(reader: &mut Reader, node: &Node) -> Option<At<Size>> {
    let span = reader.span(node.span());
    if let DeValue::String(_) = node.get_ref() {
        let named = |name: String| if name == "*" { Size::Rest } else { Size::Field(name) };
        return reader.string(node).map(|name| At::new(named(name.value), span));
    }
    let number = reader.count(node, 1)?;
    let number = u16::try_from(number).ok();
    if number.is_none() {
        reader.error(span, "number is larger than 65535", "here", "no payload is larger: write the number of the declaration");
    }
    number.map(|number| At::new(Size::Number(number), span))
}

/// The size of a pointer, in bytes.
fn pointer(reader: &mut Reader, node: &Node) -> Option<u8> {
    let size = reader.count(node, 4)?;
    let found = [4, 8].into_iter().find(|known| u64::from(*known) == size);
    if found.is_none() {
        reader.error(reader.span(node.span()), format!("no pointer has {size} bytes"), "here", "write 4 or 8");
    }
    found
}

fn erratum(reader: &mut Reader, table: &Table) -> Option<Erratum> {
    let mut text = |key| table.require(reader, key).and_then(|node| reader.string(node));
    let [field, source, states, actual] = ["field", "source", "states", "actual"].map(&mut text);
    Some(Erratum {
        versions: table.get("version").and_then(|node| versions(reader, node)),
        doc: table.text(reader, "doc"),
        span: table.span,
        field: field?,
        source: source?,
        states: states?,
        actual: actual?,
    })
}
