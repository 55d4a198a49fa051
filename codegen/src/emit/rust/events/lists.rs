//! Lists of fields. Each is printed once, and a list that is the beginning of another one is a part of it.

use crate::emit::rust::names::{Taken, module};
use crate::event::{Class, Event, Field, Kind, Size};
use heck::ToShoutySnakeCase;
use std::fmt::Write;

/// The lists so far.
#[derive(Default)]
pub(super) struct Lists(Vec<List>);

struct List {
    class: String,
    name: String,
    /// The expression of each field.
    fields: Vec<String>,
}

impl Lists {
    /// The path of a list that begins with the fields of a version, and their number.
    pub fn place(&mut self, class: &Class, event: &Event, version: u8) -> (String, usize) {
        let mut fields = Vec::new();
        let mut numbers = Numbers { event, version, known: Vec::new(), at: 0 };
        numbers.add(&event.fields, &mut fields);
        let count = fields.len();
        if let Some(list) = self.0.iter().find(|list| list.fields.starts_with(&fields)) {
            return (list.path(), count);
        }
        let own = self.0.iter().filter(|list| list.class == class.name.value);
        let mut taken = Taken::of(own.map(|list| list.name.clone()));
        let first = event.types.first().map_or("", |ty| &ty.name.value);
        let name = taken.numbered(format!("{}_V{version}", constant(first)));
        let list = List { class: class.name.value.clone(), name, fields };
        let path = list.path();
        self.0.push(list);
        (path, count)
    }

    /// The lists of a class as text.
    pub fn text(&self, class: &str) -> String {
        let mut out = String::new();
        let mut own: Vec<_> = self.0.iter().filter(|list| list.class == class).collect();
        own.sort_by(|one, other| one.name.cmp(&other.name));
        for list in own {
            let _ = writeln!(out, "\npub(super) const {}: &[Field] = &[", list.name);
            list.fields.iter().for_each(|field| _ = writeln!(out, "    {field},"));
            out.push_str("];\n");
        }
        out
    }
}

impl List {
    fn path(&self) -> String {
        format!("{}::{}", module(&self.class), self.name)
    }
}

/// The name of the constant for an event type.
fn constant(name: &str) -> String {
    let name = name.replace(['-', '.'], "_").to_shouty_snake_case();
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("E{name}") } else { name }
}

/// Numbers the fields of a version in the list. The members of a structure follow it.
struct Numbers<'a> {
    event: &'a Event,
    version: u8,
    /// The names and numbers of earlier fields, including those of the enclosing structures.
    known: Vec<(&'a str, usize)>,
    at: usize,
}

impl<'a> Numbers<'a> {
    fn add(&mut self, fields: &'a [Field], out: &mut Vec<String>) {
        let version = self.version;
        for field in fields.iter().filter(|field| field.is_in(version)) {
            let (number, before) = (self.at, self.known.len());
            self.at += 1;
            out.push(self.expression(field));
            self.add(&field.fields, out);
            // Members of a structure are known only within it.
            self.known.truncate(before);
            self.known.push((&field.name.value, number));
        }
    }

    /// The expression of a field.
    fn expression(&self, field: &Field) -> String {
        let (name, ty) = (&field.name.value, field.ty.value);
        let mut text = match ty.kind {
            Kind::Structure => format!("Field::structure({name:?}, {})", field.of(self.version).count()),
            _ => format!("Field::new({name:?}, InType::{})", ty.constant),
        };
        if let Some(out) = &field.out {
            let width = ty.size.map_or(0, |size| 8 * size[1]);
            let digits = if out.value.name == "Hex" { width.to_string() } else { String::new() };
            let _ = write!(text, ".out(OutType::{}{digits})", out.value.constant);
        }
        if let Some(count) = &field.count {
            let _ = write!(text, ".count({})", self.size("Count", &count.value));
        }
        if let Some(length) = field.length.as_ref().filter(|length| length.value != Size::Rest) {
            let _ = write!(text, ".length({})", self.size("Length", &length.value));
        }
        if let Some(values) = &field.values {
            let _ = write!(text, ".map(&maps::{})", values.value);
        }
        if let Some(size) = field.pointer {
            let _ = write!(text, ".pointer({size})");
        }
        if self.is_optional(field) {
            text.push_str(".optional()");
        }
        // The fields of all versions are searched, so that a shorter list is the beginning of a longer one.
        if is_size(name, &self.event.fields) {
            text.push_str(".size()");
        }
        text
    }

    /// Whether payloads may end before a field: all fields after an optional field are optional too.
    fn is_optional(&self, field: &Field) -> bool {
        let mut fields = self.event.of(self.version).skip_while(|other| !other.optional);
        fields.any(|other| other.name.span == field.name.span)
    }

    fn size(&self, kind: &str, size: &Size) -> String {
        match size {
            Size::Number(number) => format!("{kind}::Constant({number})"),
            Size::Rest => format!("{kind}::Rest"),
            Size::Field(name) => {
                let number = self.known.iter().rev().find(|(known, _)| known == name).map_or(0, |(_, number)| *number);
                format!("{kind}::Field({number})")
            }
        }
    }
}

/// Whether any field has another as its count or length.
fn is_size(name: &str, fields: &[Field]) -> bool {
    let is = |size: &Size| matches!(size, Size::Field(field) if field == name);
    fields.iter().any(|field| {
        let sizes = [&field.count, &field.length];
        sizes.into_iter().flatten().any(|size| is(&size.value)) || is_size(name, &field.fields)
    })
}
