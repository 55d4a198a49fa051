//! Reads who did an event and whom it is about: `by` and `about` of events, and the files of providers.

use super::event::{sources, versions};
use super::reader::{Reader, Table};
use crate::event::{Field, Kind, Party, Provider, ProviderEvent, Versions};
use crate::source::{At, Span};
use crate::spec::Spec;
use crate::syntax::{self, TableKind};
use std::collections::BTreeMap;

pub(super) fn read(reader: &mut Reader, root: syntax::TomlTable, spec: &mut Spec) {
    let table = reader.known(root);
    for row in reader.tables(&table, "provider", TableKind::Provider) {
        let Some(provider) = provider(reader, &row) else { continue };
        if let Some(twin) = spec.providers.iter().find(|other| other.guid.value == provider.guid.value) {
            let title = format!("duplicate provider `{}`", provider.name.value);
            reader.error_also((twin.guid.span, "the first"), provider.guid.span, title, "the second", "keep one of them");
            continue;
        }
        spec.providers.push(provider);
    }
}

fn provider(reader: &mut Reader, table: &Table) -> Option<Provider> {
    let name = table.require(reader, "name").and_then(|node| reader.string(node));
    let guid = table.require(reader, "guid").and_then(|node| super::definition::guid(reader, node));
    let rows = reader.tables(table, "events", TableKind::ProviderEvent);
    if rows.is_empty() {
        reader.error(table.span, "provider has no events", "here", "add `events = […]`");
    }
    let events: Vec<_> = rows.iter().map(|row| event(reader, row)).collect();
    let mut known: BTreeMap<u16, Vec<(Versions, Span)>> = BTreeMap::new();
    for (event, id) in events.iter().flat_map(|event| event.ids.iter().map(move |id| (event, id))) {
        let versions = event.versions();
        let known = known.entry(id.value).or_default();
        if let Some((_, first)) = known.iter().find(|(other, _)| other.overlaps(versions)) {
            let title = format!("event {} is stated twice", id.value);
            let help = "keep one of them, or make their versions disjoint";
            reader.error_also((*first, "the first"), id.span, title, "the second", help);
        }
        known.push((versions, id.span));
    }
    let (source, doc) = (sources(reader, table), table.text(reader, "doc"));
    Some(Provider { name: name?, guid: guid?, source, doc, events })
}

fn event(reader: &mut Reader, table: &Table) -> ProviderEvent {
    let mut ids = Vec::new();
    for node in table.require(reader, "ids").into_iter().flat_map(|node| reader.array(node)).collect::<Vec<_>>() {
        let Some(id) = reader.count(node, 0) else { continue };
        let span = reader.span(node.span());
        match u16::try_from(id) {
            Ok(id) => ids.push(At::new(id, span)),
            Err(_) => reader.error(span, format!("event ID {id} is larger than 65535"), "here", "write the ID of the manifest"),
        }
    }
    let versions = table.get("version").and_then(|node| versions(reader, node));
    let [by, about] = ["by", "about"].map(|key| party(reader, table, key));
    if [&by, &about].into_iter().all(|party| party.process.is_none() && party.thread.is_none()) {
        reader.error(table.span, "events state neither who did them nor whom they are about", "here", "add `by` or `about`");
    }
    ProviderEvent { ids, versions, by, about }
}

/// The fields that `by` or `about` names.
pub(super) fn party(reader: &mut Reader, table: &Table, key: &str) -> Party {
    let Some(table) = table.get(key).and_then(|node| reader.table(table, TableKind::Party, node)) else {
        return Party::default();
    };
    if table.keys().next().is_none() {
        reader.error(table.span, format!("`{key}` names no field"), "here", "write `process = …`, `thread = …` or both");
    }
    let [process, thread] = ["process", "thread"].map(|key| table.get(key).and_then(|node| reader.string(node)));
    Party { process, thread }
}

/// Checks that the fields exist, and that each is one identifier.
pub(super) fn check(reader: &mut Reader, party: &Party, fields: &[Field]) {
    for name in [&party.process, &party.thread].into_iter().flatten() {
        let mut own = fields.iter().filter(|field| field.name.value == name.value).peekable();
        if own.peek().is_none() {
            reader.unknown("field", name, fields.iter().map(|field| field.name.value.as_str()));
        }
        let is_identifier = |field: &Field| {
            let ty = field.ty.value;
            let size = ty.size.map_or(0, |size| size[0]);
            field.count.is_none() && (ty.kind == Kind::Pointer || ty.is_integer() && size >= 4)
        };
        if let Some(other) = own.find(|field| !is_identifier(field)) {
            let title = format!("field `{}` is not an identifier", name.value);
            let help = "name a field with one integer of 4 or 8 bytes, or one pointer";
            reader.error_also((other.name.span, "the field"), name.span, title, "used as an identifier", help);
        }
    }
}
