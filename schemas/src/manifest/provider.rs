//! A provider of a manifest: its names, and its events.

use super::strings::Strings;
use super::template::{Templates, maps};
use super::xml::{Element, number};
use crate::budget::Budget;
use crate::model::{Event, Keyword, Name, Provider, bare};
use crate::schemas::{SchemaError, Schemas};
use crate::winmeta;
use etw_layouts_payload::Uuid;
use std::collections::HashMap;

/// Values by the names that events use.
type Values<'a> = HashMap<&'a str, u64>;

/// Reads a provider. Errors of its parts are reported; an error of the whole is returned.
pub(super) fn provider(
    element: &Element,
    strings: &Strings<'_>,
    schemas: &mut Schemas,
    budget: &mut Budget,
) -> Result<Provider, SchemaError> {
    let too_large = |_| SchemaError::line(element.line, Budget::MESSAGE);
    let guid = element.required("guid")?;
    let guid = Uuid::try_parse(guid)
        .map_err(|_| SchemaError::line(element.line, format!("invalid GUID of a provider: `{guid}`; correct it")))?;
    let maps = maps(element, strings, schemas, budget).map_err(too_large)?;
    let templates = Templates::read(element, &maps, schemas);
    let names = Names::read(element, schemas);
    let keywords = names.keywords.iter().map(|(name, mask)| Keyword { mask: Some(*mask), name: bare(name).to_owned() });
    let mut keywords: Vec<_> = keywords.collect();
    keywords.sort();
    let mut events = Vec::new();
    for event in element.listed("events", "event") {
        match self::event(event, &names, &templates, strings, schemas) {
            Ok(event) => {
                budget.event(&event).map_err(too_large)?;
                events.push(event);
            }
            Err(error) => schemas.report(error),
        }
    }
    let name = element.get("name").unwrap_or_default().to_owned();
    let message = strings.message_of(element, schemas).unwrap_or_default().to_owned();
    Ok(Provider { guid, name, message, keywords, maps, events })
}

/// The names that a provider defines.
struct Names<'a> {
    levels: Values<'a>,
    opcodes: Values<'a>,
    tasks: Values<'a>,
    keywords: Values<'a>,
    /// Opcodes of a task, by the names of both.
    task_opcodes: HashMap<(&'a str, &'a str), u64>,
    /// Number, name and keyword bit of channels, by the names that events use.
    channels: HashMap<&'a str, (u32, &'a str, u64)>,
}

impl<'a> Names<'a> {
    fn read(provider: &'a Element, schemas: &mut Schemas) -> Self {
        let mut names = Self {
            levels: values(provider, ("levels", "level"), "value", schemas),
            opcodes: values(provider, ("opcodes", "opcode"), "value", schemas),
            tasks: values(provider, ("tasks", "task"), "value", schemas),
            keywords: values(provider, ("keywords", "keyword"), "mask", schemas),
            task_opcodes: HashMap::new(),
            channels: HashMap::new(),
        };
        for task in provider.listed("tasks", "task") {
            let Some(task_name) = task.get("name") else { continue };
            let opcodes = values(task, ("opcodes", "opcode"), "value", schemas);
            names.task_opcodes.extend(opcodes.into_iter().map(|(name, value)| ((task_name, name), value)));
        }
        names.channels(provider, schemas);
        names
    }

    /// A channel has its stated number, otherwise the next number from 16 on. Keyword bits of channels are assigned from the highest bit down.
    fn channels(&mut self, provider: &'a Element, schemas: &mut Schemas) {
        let mut next = winmeta::FIRST_CHANNEL;
        let mut bit = 1u64 << 63;
        for channel in provider.named("channels").flat_map(Element::children) {
            let is_imported = channel.name == "importChannel";
            if !is_imported && channel.name != "channel" {
                continue;
            }
            let Some(name) = channel.get("name") else {
                schemas.report(SchemaError::line(channel.line, "channel without a name; add the attribute `name`"));
                continue;
            };
            let imported = winmeta::CHANNELS.iter().find(|(known, _)| is_imported && *known == name);
            let stated = channel.get("value").and_then(number).or(imported.map(|(_, value)| *value));
            let value = stated.and_then(|value| u32::try_from(value).ok()).unwrap_or(next);
            if imported.is_none() {
                next = next.max(value.saturating_add(1));
            }
            let id = channel.get("chid").unwrap_or(name);
            for key in [id, name] {
                self.channels.entry(key).or_insert((value, name, bit));
            }
            // Windows reserves 8 keyword bits for channels.
            bit = if bit > 1 << 56 { bit >> 1 } else { 0 };
        }
    }
}

/// The names in a list with their values.
fn values<'a>(element: &'a Element, (list, item): (&str, &str), value: &str, schemas: &mut Schemas) -> Values<'a> {
    let mut values = HashMap::new();
    for item in element.named(list).flat_map(Element::children).filter(|child| child.name == item) {
        match (item.get("name").or(item.get("symbol")), item.get(value).and_then(number)) {
            (Some(name), Some(number)) => drop(values.entry(name).or_insert(number)),
            // A reference to a name that Windows defines.
            (Some(name), None) if name.starts_with("win:") => {}
            _ => schemas.report(SchemaError::line(
                item.line,
                format!("{} without a name or number; add the attributes `name` and `{value}`", item.name),
            )),
        }
    }
    values
}

fn event(
    element: &Element,
    names: &Names<'_>,
    templates: &Templates,
    strings: &Strings<'_>,
    schemas: &mut Schemas,
) -> Result<Event, SchemaError> {
    let invalid =
        |what: &str, text: &str| SchemaError::line(element.line, format!("invalid {what} of an event: `{text}`; correct it"));
    let id = element.required("value")?;
    let id = number(id).and_then(|id| u16::try_from(id).ok()).ok_or_else(|| invalid("ID", id))?;
    let version = element.get("version").unwrap_or("0");
    let version = number(version).and_then(|version| u8::try_from(version).ok()).ok_or_else(|| invalid("version", version))?;
    let mut named = |what: &str, table: &[(&str, u64)], value: &dyn Fn(&str) -> Option<u64>| -> Name {
        let Some(name) = element.get(what) else { return Name { value: Some(0), name: String::new() } };
        let value = value(name).or_else(|| winmeta::value(table, name));
        if value.is_none() {
            schemas.report(SchemaError::line(element.line, format!("undefined {what} `{name}` of an event; define it")));
        }
        Name { value: value.and_then(|value| u32::try_from(value).ok()), name: bare(name).to_owned() }
    };
    let task_name = element.get("task").unwrap_or_default();
    let level = named("level", winmeta::LEVELS, &|name| names.levels.get(name).copied());
    let task = named("task", winmeta::TASKS, &|name| names.tasks.get(name).copied());
    let opcode = named("opcode", winmeta::OPCODES, &|name| {
        names.task_opcodes.get(&(task_name, name)).or_else(|| names.opcodes.get(name)).copied()
    });
    let mut event = Event { id, version, level, opcode, task, keyword_mask: Some(0), ..Event::default() };
    channel(element, names, &mut event, schemas);
    keywords(element, names, &mut event, schemas);
    event.symbol = element.get("symbol").unwrap_or_default().to_owned();
    event.message = strings.message_of(element, schemas).unwrap_or_default().to_owned();
    event.fields = match element.get("template") {
        None => Some(Vec::new()),
        Some(name) => templates.fields(name, element.line, schemas),
    };
    Ok(event)
}

fn channel(element: &Element, names: &Names<'_>, event: &mut Event, schemas: &mut Schemas) {
    let Some(id) = element.get("channel") else {
        event.channel.value = Some(0);
        return;
    };
    match names.channels.get(id) {
        Some((value, name, bit)) => {
            event.channel = Name { value: Some(*value), name: (*name).to_owned() };
            event.keyword_mask = event.keyword_mask.map(|mask| mask | bit);
        }
        None => {
            let value = winmeta::value(winmeta::CHANNELS, id).and_then(|value| u32::try_from(value).ok());
            if value.is_none() {
                schemas.report(SchemaError::line(element.line, format!("undefined channel `{id}` of an event; define it")));
            }
            event.channel = Name { value, name: bare(id).to_owned() };
        }
    }
}

fn keywords(element: &Element, names: &Names<'_>, event: &mut Event, schemas: &mut Schemas) {
    for name in element.get("keywords").unwrap_or_default().split([' ', ',', '\t']).filter(|name| !name.is_empty()) {
        let mask = names.keywords.get(name).copied().or_else(|| winmeta::value(winmeta::KEYWORDS, name));
        if mask.is_none() {
            schemas.report(SchemaError::line(element.line, format!("undefined keyword `{name}` of an event; define it")));
        }
        event.keyword_mask = event.keyword_mask.zip(mask).map(|(all, mask)| all | mask);
        event.keywords.push(bare(name).to_owned());
    }
}
