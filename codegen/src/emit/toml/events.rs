//! The file of an event class.

use super::form::{Row, Value, quoted};
use super::is_plain;
use crate::event::{Class, Erratum, Event, EventType, Field, Size};
use crate::source::At;

/// The text of a file of events.
pub fn events(class: &Class) -> String {
    let mut out = head(class).table("[class]", 6);
    for event in &class.events {
        out += "\n";
        let row = self::event(event);
        let width = row.pairs.iter().map(|(key, _)| key.len()).max().unwrap_or(0);
        out += &row.table("[[event]]", width);
    }
    for (index, line) in class.end.iter().filter(|line| !line.is_empty()).enumerate() {
        out += if index == 0 { "\n" } else { "" };
        out += &format!("{line}\n");
    }
    out
}

fn head(class: &Class) -> Row {
    let mut row = Row { comments: class.comments.clone(), pairs: Vec::new() };
    row.add("name", Some(text(&class.name.value)));
    row.add("group", class.group.as_ref().map(|group| text(&group.value)));
    row.add("guid", class.guid.as_ref().map(|guid| text(&format!("{{{}}}", guid.value))));
    let sources: Vec<_> = class.source.iter().map(|source| quoted(&source.value)).collect();
    row.add("source", Some(Value::Plain(format!("[{}]", sources.join(", ")))));
    row.doc(&class.doc);
    row
}

fn event(event: &Event) -> Row {
    let mut row = Row { comments: event.comments.clone(), pairs: Vec::new() };
    let by_type = |value: &dyn Fn(&EventType) -> Option<Value>| {
        let pieces = event.types.iter().filter_map(|ty| Some((key(&ty.name.value), value(ty)?)));
        Some(pieces.collect::<Vec<_>>()).filter(|pieces| !pieces.is_empty()).map(Value::Pieces)
    };
    row.add("types", by_type(&|ty| Some(Value::Plain(ty.number.to_string()))));
    row.add("version", Some(text(&event.versions.value.to_string())));
    row.add("versions", by_type(&|ty| Some(text(&ty.versions.as_ref()?.value.to_string()))));
    row.add("groups", by_type(&|ty| Some(text(&ty.group.as_ref()?.value))));
    row.add("unsettled", Some(&event.unsettled).filter(|words| !words.is_empty()).map(|words| Value::Words(words.clone())));
    row.doc(&event.doc);
    row.add("fields", Some(Value::Rows(event.fields.iter().map(field).collect())));
    if !event.errata.is_empty() {
        row.add("errata", Some(Value::Rows(event.errata.iter().map(erratum).collect())));
    }
    row
}

/// A key of TOML.
fn key(name: &str) -> String {
    let bare = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    if bare { name.to_owned() } else { quoted(name) }
}

fn field(field: &Field) -> Row {
    let comments = if is_plain(&field.comments) { Vec::new() } else { field.comments.clone() };
    let mut row = Row { comments, pairs: Vec::new() };
    let size = |size: &At<Size>| match &size.value {
        Size::Number(number) => Value::Plain(number.to_string()),
        size => text(&size.to_string()),
    };
    row.add("name", Some(text(&field.name.value)));
    row.add("type", Some(text(field.ty.value.name)));
    row.add("count", field.count.as_ref().map(size));
    row.add("length", field.length.as_ref().map(size));
    row.add("out", field.out.as_ref().map(|out| text(out.value.name)));
    row.add("values", field.values.as_ref().map(|values| text(&values.value)));
    row.add("version", field.versions.as_ref().map(|versions| text(&versions.value.to_string())));
    row.add("pointer", field.pointer.map(|size| Value::Plain(size.to_string())));
    row.add("optional", field.optional.then(|| Value::Plain("true".to_owned())));
    row.add("unsettled", Some(&field.unsettled).filter(|words| !words.is_empty()).map(|words| Value::Words(words.clone())));
    row.doc(&field.doc);
    if !field.fields.is_empty() {
        row.add("fields", Some(Value::Rows(field.fields.iter().map(self::field).collect())));
    }
    row
}

fn erratum(erratum: &Erratum) -> Row {
    let comments = if is_plain(&erratum.comments) { Vec::new() } else { erratum.comments.clone() };
    let mut row = Row { comments, pairs: Vec::new() };
    row.add("field", Some(text(&erratum.field.value)));
    row.add("source", Some(text(&erratum.source.value)));
    row.add("version", erratum.versions.as_ref().map(|versions| text(&versions.value.to_string())));
    row.add("states", Some(text(&erratum.states.value)));
    row.add("actual", Some(text(&erratum.actual.value)));
    row.doc(&erratum.doc);
    row
}

fn text(text: &str) -> Value {
    Value::Plain(quoted(text))
}
