//! Documented names of hook identifiers, their groups, and opcodes.

use crate::diagnostic::{DiagnosticKind, Undecoded};
use crate::event::Event;
use crate::header_type::HeaderType;
use crate::schemas::Schemas;
use crate::wire::{EVENT_TRACE_GROUP, EVENT_TRACE_TYPE, HOOK_ID};
use etw_layouts::events;
use etw_layouts::runtime::Named;
use etw_layouts_payload::{Fault, Source, Uuid};
use std::collections::HashMap;
use std::sync::LazyLock;

/// Name of a hook identifier, such as `WMI_LOG_TYPE_PROCESS_DC_START` for 0x0303.
pub fn hook(id: u16) -> Option<&'static str> {
    type Group = Option<Box<[Option<&'static str>; 256]>>;
    // By group. If a value has several names, the first in order of declaration is used.
    static NAMES: LazyLock<[Group; 256]> = LazyLock::new(|| {
        let mut groups = [const { None }; 256];
        for (name, value) in HOOK_ID::CONSTANTS.iter().rev() {
            if let Ok([at, group]) = u16::try_from(*value).map(u16::to_le_bytes) {
                groups[usize::from(group)].get_or_insert_with(|| Box::new([None; 256]))[usize::from(at)] = Some(*name);
            }
        }
        groups
    });
    let [at, group] = id.to_le_bytes();
    NAMES[usize::from(group)].as_ref()?[usize::from(at)]
}

/// The hook identifier with this name, ignoring case.
pub fn hook_named(name: &str) -> Option<u16> {
    let (_, value) = HOOK_ID::CONSTANTS.iter().find(|(own, _)| own.eq_ignore_ascii_case(name))?;
    u16::try_from(*value).ok()
}

/// Name of a provider. For a GUID of a group of kernel events, the name of the group, such as `EVENT_TRACE_GROUP_PROCESS`; for that of another
/// event class of the specs, the name of the class, such as `ImageID`.
pub fn provider(guid: Uuid) -> Option<&'static str> {
    static NAMES: LazyLock<Vec<(Uuid, &'static str)>> = LazyLock::new(|| {
        let classes = events::all().map(|(guid, .., schema)| (guid, schema.provider));
        let mut names: Vec<_> = groups().map(|(name, guid)| (guid, name)).chain(classes).collect();
        // Names of the same GUID stay in order of declaration.
        names.sort_by_key(|(guid, _)| *guid);
        names
    });
    let at = NAMES.partition_point(|(own, _)| *own < guid);
    NAMES.get(at).filter(|(own, _)| *own == guid).map(|(_, name)| *name)
}

/// The provider with a name; for a group, with or without `EVENT_TRACE_GROUP_`.
pub fn provider_named(name: &str) -> Option<Uuid> {
    let is =
        |own: &str| own.eq_ignore_ascii_case(name) || own.strip_prefix(GROUP).is_some_and(|own| own.eq_ignore_ascii_case(name));
    groups().find(|(own, _)| is(own)).map(|(_, guid)| guid)
}

/// The provider of an event class of the specs, such as `DiskIo`.
pub fn class_named(name: &str) -> Option<Uuid> {
    static GUIDS: LazyLock<HashMap<String, Uuid>> = LazyLock::new(|| {
        let mut guids = HashMap::new();
        for (guid, .., schema) in events::all() {
            guids.entry(schema.provider.to_ascii_lowercase()).or_insert(guid);
        }
        guids
    });
    GUIDS.get(&name.to_ascii_lowercase()).copied()
}

/// The source of the schema of an event, if its provider only has the name of an event class of the specs, such as `Process`.
pub fn other_than_class(event: &Event<'_>, provider: &str, schemas: &Schemas) -> Option<&'static str> {
    if event.hook().is_some() || class_named(provider).is_none_or(|class| event.provider() == Some(class)) {
        return None;
    }
    let own = event.decode_first(schemas)?.source();
    (own != Source::Specs).then(|| source(own))
}

/// The identification of an event without a schema. For a kernel event, the name of its hook ID. For other events, the provider and the event
/// ID or opcode: the name of the provider (in `schemas`, too), or its GUID, or the header type if the event has no provider.
pub fn identity(event: &Event<'_>, schemas: &Schemas) -> String {
    let name = provider_of(event, schemas);
    if let Some(id) = event.hook() {
        return match (hook(id), name) {
            (Some(name), _) => name.to_owned(),
            (None, Some(group)) => format!("{group}/{:#04x}", id & 0xFF),
            (None, None) => format!("hook {id:#06x}"),
        };
    }
    let provider = match (name, event.provider()) {
        (Some(name), _) => name.to_owned(),
        (None, Some(guid)) => guid.to_string(),
        (None, None) => event.header_type().name().to_owned(),
    };
    match (event.id(), event.opcode()) {
        (Some(id), _) => format!("{provider}/{id}"),
        (None, Some(opcode)) => format!("{provider}/opcode {opcode}"),
        (None, None) => provider,
    }
}

/// The name of the provider of an event. For a kernel event, its group; otherwise, the name in the traits of the event, or in schemas.
pub fn provider_of<'a>(event: &Event<'a>, schemas: &'a Schemas) -> Option<&'a str> {
    let carried = || event.traits()?.ok().map(|traits| traits.name).filter(|name| !name.is_empty());
    let guid = event.provider();
    guid.and_then(provider).or_else(carried).or_else(|| schemas.provider_name(guid?))
}

/// Provider and name of an event by its schema, such as `Process` and `Start`, if both are known.
pub fn event_of<'a>(event: &Event<'a>, schemas: &'a Schemas) -> Option<(&'a str, &'a str)> {
    let provider = || provider_of(event, schemas).unwrap_or_default();
    if let Some(variant) = schemas.variant(event) {
        return Some((provider(), variant.name())).filter(|(provider, name)| !provider.is_empty() && !name.is_empty());
    }
    let schema = event.decode(schemas)?.schema;
    if schema.source == Source::Header {
        return None;
    }
    let provider = if schema.provider.is_empty() { provider() } else { schema.provider };
    // Events of TraceLogging can have no provider name.
    Some((provider, schema.event)).filter(|_| !provider.is_empty() || schema.source == Source::TraceLogging)
}

/// The name of a source of schemas.
pub fn source(source: Source) -> &'static str {
    match source {
        Source::TraceLogging => "TraceLogging",
        Source::Header => "header",
        Source::Specs => "specs",
        Source::Trace => "trace",
        Source::EventSource => "EventSource",
        Source::Manifest => "manifest",
        Source::Binary => "binary",
        Source::Catalogue => "catalogue",
        _ => "other",
    }
}

/// The diagnostic of an event with a payload that cannot be decoded to its end.
pub fn undecoded(event: &Event<'_>, schemas: &Schemas, fault: Fault) -> DiagnosticKind {
    let left = event.payload().len().saturating_sub(fault.offset);
    let event = match event.decode(schemas).filter(|decoded| decoded.source() != Source::Header) {
        Some(decoded) if decoded.schema.provider.is_empty() => {
            let traits = event.traits().and_then(Result::ok);
            format!("{}/{}", traits.map_or("", |traits| traits.name), decoded.schema.event)
        }
        Some(decoded) => format!("{decoded} version {}", event.version().unwrap_or_default()),
        None => identity(event, schemas),
    };
    DiagnosticKind::Fields(Box::new(Undecoded { event, fault, left }))
}

/// The events of the specs: class and name, such as `Process` and `Start`. A name is repeated for each of its versions.
pub fn events() -> impl Iterator<Item = (&'static str, &'static str)> {
    events::all().map(|(.., schema)| (schema.provider, schema.event))
}

/// Name of an opcode with the same meaning for all providers, such as `START`: the name in EVENT_TRACE_TYPE without the
/// common prefix.
pub fn opcode(header_type: HeaderType, opcode: u8) -> Option<&'static str> {
    // If there are two names, registered providers use the later one.
    static NAMES: LazyLock<[[Option<&'static str>; 256]; 2]> =
        LazyLock::new(|| [false, true].map(|is_later| std::array::from_fn(|opcode| opcode_of(opcode as u8, is_later))));
    let is_later = matches!(header_type, HeaderType::Event32 | HeaderType::Event64);
    NAMES[usize::from(is_later)][usize::from(opcode)]
}

/// The names that [`opcode`] can return.
pub fn opcodes() -> impl Iterator<Item = &'static str> {
    [HeaderType::Full64, HeaderType::Event64]
        .into_iter()
        .flat_map(|ty| (0..=u8::MAX).filter_map(move |number| opcode(ty, number)))
}

fn opcode_of(opcode: u8, is_later: bool) -> Option<&'static str> {
    // All other opcodes are specific to a group or a provider.
    if !(..0x0A).contains(&opcode) && opcode != EVENT_TRACE_TYPE::EVENT_TRACE_TYPE_WINEVT_RECEIVE.0 {
        return None;
    }
    let mut names = EVENT_TRACE_TYPE::CONSTANTS.iter().filter(|(_, value)| *value == opcode.into());
    let (name, _) = if is_later { names.next_back() } else { names.next() }?;
    name.strip_prefix("EVENT_TRACE_TYPE_")
}

const GROUP: &str = "EVENT_TRACE_GROUP_";

/// The groups that consumers see as providers.
fn groups() -> impl Iterator<Item = (&'static str, Uuid)> {
    let constants = EVENT_TRACE_GROUP::CONSTANTS.iter();
    constants.filter_map(|(name, value)| Some((*name, EVENT_TRACE_GROUP(u16::try_from(*value).ok()?).guid()?)))
}
