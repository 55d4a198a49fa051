//! Schemas as text, for comparison with files.

use etw_layouts_payload::InType;
use etw_layouts_schemas::{Count, Field, Length, Name, Provider, Schemas};
use std::fmt::Write;

pub fn describe(schemas: &Schemas) -> String {
    let mut text = String::new();
    for provider in &schemas.providers {
        writeln!(text, "provider {} {}, message {:?}", provider.name, provider.guid, provider.message).unwrap();
        for keyword in &provider.keywords {
            writeln!(text, "keyword {:#x} {}", keyword.mask.unwrap(), keyword.name).unwrap();
        }
        for map in &provider.maps {
            write!(text, "map {} {:?}:", map.name, map.kind).unwrap();
            map.entries.iter().for_each(|entry| write!(text, " {:#x}={:?}", entry.value, entry.name).unwrap());
            text.push('\n');
        }
        for event in &provider.events {
            let names = [("channel", &event.channel), ("level", &event.level), ("task", &event.task), ("opcode", &event.opcode)];
            let names = names.map(|(what, Name { value, name })| format!("{what} {}:{name}", value.unwrap())).join(", ");
            writeln!(text, "event {}.{} {:?}, {names}", event.id, event.version, event.symbol).unwrap();
            writeln!(text, "  keywords {:#x} {:?}, message {:?}", event.keyword_mask.unwrap(), event.keywords, event.message)
                .unwrap();
            event.fields.iter().flatten().for_each(|field| describe_field(field, provider, 2, &mut text));
        }
    }
    for error in &schemas.errors {
        writeln!(text, "{error}").unwrap();
    }
    text
}

fn describe_field(field: &Field, provider: &Provider, indent: usize, text: &mut String) {
    write!(text, "{:indent$}{} {}/{}", "", field.name, type_name(field.in_type), field.out_type.name().unwrap()).unwrap();
    match &field.count {
        Count::One => {}
        Count::Constant(count) => write!(text, " count {count}").unwrap(),
        Count::Field(to) => write!(text, " count by {}", to.name).unwrap(),
    }
    match &field.length {
        Length::Type => {}
        Length::Constant(length) => write!(text, " length {length}").unwrap(),
        Length::Field(to) => write!(text, " length by {}", to.name).unwrap(),
    }
    if let Some(map) = field.map {
        write!(text, " map {}", provider.maps[map].name).unwrap();
    }
    text.push('\n');
    field.members.iter().for_each(|member| describe_field(member, provider, indent + 2, text));
}

fn type_name(in_type: InType) -> &'static str {
    in_type.name().unwrap()
}
