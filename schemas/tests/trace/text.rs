//! Providers as text: a line for each event, keyword and map, and one for each field.

use etw_layouts_schemas::{Count, Event, Field, Length, Map, Name, Provider};
use std::fmt::Write;

pub fn provider(provider: &Provider) -> String {
    let Provider { guid, name, message, keywords, maps, events } = provider;
    let mut text = format!("provider {guid} {name:?} {message:?}\n");
    for keyword in keywords {
        writeln!(text, "keyword {} {:x?}", keyword.name, keyword.mask).unwrap();
    }
    maps.iter().for_each(|own| text += &map(own));
    events.iter().for_each(|own| text += &event(own, maps));
    text
}

pub fn map(map: &Map) -> String {
    let entries: Vec<_> = map.entries.iter().map(|entry| format!("{:#x}={:?}", entry.value, entry.name)).collect();
    format!("map {} {:?} {}\n", map.name, map.kind, entries.join(" "))
}

pub fn event(event: &Event, maps: &[Map]) -> String {
    let name = |name: &Name| format!("{:?}={}", name.name, name.value.map_or_else(String::new, |value| value.to_string()));
    let kind = if event.is_classic { "classic event" } else { "event" };
    let names = [("task", &event.task), ("opcode", &event.opcode), ("level", &event.level), ("channel", &event.channel)];
    let names = names.map(|(kind, own)| format!("{kind} {}", name(own))).join(", ");
    let Event { id, version, keywords, keyword_mask, symbol, message, .. } = event;
    let mut text = format!(
        "{kind} {id} version {version}: {names}, keywords {keywords:?} {keyword_mask:x?}, symbol {symbol:?}, message {message:?}\n"
    );
    fields(event.fields.as_deref().unwrap_or_default(), maps, 1, &mut text);
    text
}

fn fields(all: &[Field], maps: &[Map], depth: usize, text: &mut String) {
    for field in all {
        let types = format!("{} {}", field.in_type.name().unwrap_or("?"), field.out_type.name().unwrap_or("?"));
        let count = match &field.count {
            Count::One => String::new(),
            Count::Constant(count) => format!(", count {count}"),
            Count::Field(to) => format!(", count of {}", to.name),
        };
        let length = match &field.length {
            Length::Type => String::new(),
            Length::Constant(length) => format!(", length {length}"),
            Length::Field(to) => format!(", length of {}", to.name),
        };
        let map = field.map.map_or_else(String::new, |map| format!(", map {}", maps[map].name));
        let tags = if field.tags == 0 { String::new() } else { format!(", tags {:#x}", field.tags) };
        writeln!(text, "{:depth$}{}: {types}{count}{length}{map}{tags}", "", field.name, depth = 4 * depth).unwrap();
        fields(&field.members, maps, depth + 1, text);
    }
}
