//! Schemas of events: each list of fields once, and a table that finds an event by its hook or GUID.

mod lists;
mod maps;
mod typed;
mod types;
mod who;

use super::Options;
use super::modules::Module;
use super::names::module;
use crate::event::{Class, Event, EventType};
use crate::spec::Spec;
use lists::Lists;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The module `events`, with `index`, `maps`, and one module for each class.
pub(super) fn events(spec: &Spec, options: &Options, payload: &str) -> Module {
    let mut lists = Lists::default();
    let rows = rows(spec, &mut lists);
    let mut modules = vec![Module { public: false, ..Module::new("index", index(spec, &rows, options, payload)) }];
    let names: BTreeSet<&str> = spec.classes.iter().map(|class| class.name.value.as_str()).collect();
    for name in &names {
        let types = types::of(spec.classes.iter().filter(|class| class.name.value == *name));
        let mut text = format!("//! Events of the class `{name}`.\n//!\n//! {}\n\n", options.header);
        let own = lists.text(name);
        if !own.is_empty() {
            let maps = if own.contains("maps::") { "use super::maps;\n" } else { "" };
            let _ = write!(text, "{maps}#[allow(unused_imports)]\nuse {payload}::{{Count, Field, InType, Length, OutType}};\n");
        }
        if !types.is_empty() {
            let _ = writeln!(text, "use {} as runtime;", options.runtime);
        }
        let _ = writeln!(text, "pub use super::typed::{}::*;", module(name));
        modules.push(Module::new(module(name), text + &own + &types));
    }
    modules.push(typed::module_of(spec, &names, options));
    modules.push(Module::new("maps", maps::text(spec, options, payload)));
    let head =
        format!("//! Schemas of kernel events, and types of those without variable parts.\n//!\n//! {}\n\n", options.header);
    let tail = "\npub use crate::event_table::{Found, all, find, find_guid, who};\npub use crate::typed_event::{Elements, TypedEvent};\npub use crate::who::{FieldPlace, Party, Who};\nuse crate::event_table::{Event, first};\npub(crate) use index::{EVENTS, PROVIDERS};\n".to_owned();
    Module { modules, tail, ..Module::new("events", head) }
}

/// An event type of a class.
struct Row<'a> {
    class: &'a Class,
    ty: &'a EventType,
    /// The GUID's hexadecimal digits.
    guid: String,
    /// The group in the hook, if it has one.
    group: Option<u8>,
    /// The versions.
    versions: BTreeMap<u8, Version<'a>>,
}

/// A version of an event type.
struct Version<'a> {
    event: &'a Event,
    /// The event type that names it.
    ty: &'a EventType,
    /// The name of its list, and the number of its fields in the list.
    list: (String, usize),
}

/// The event types, in the order of GUID and type.
fn rows<'a>(spec: &'a Spec, lists: &mut Lists) -> Vec<Row<'a>> {
    let mut rows: BTreeMap<(String, u8), Row> = BTreeMap::new();
    for class in &spec.classes {
        let guid = guid(spec, class);
        for event in &class.events {
            // Newest version first: the lists of earlier versions are often prefixes of later ones.
            let lists_of: BTreeMap<_, _> =
                event.versions.value.iter().rev().map(|version| (version, lists.place(class, event, version))).collect();
            for ty in &event.types {
                add(&mut rows, spec, class, event, ty, &guid, &lists_of);
            }
        }
    }
    rows.into_values().collect()
}

/// The hexadecimal digits of the GUID of a class.
fn guid(spec: &Spec, class: &Class) -> String {
    let own = class.guid.as_ref().map(|guid| guid.value.clone());
    own.or_else(|| spec.guid_of(class.group.as_ref()?)).unwrap_or_default().replace(['-', '{', '}'], "").to_lowercase()
}

fn add<'a>(
    rows: &mut BTreeMap<(String, u8), Row<'a>>,
    spec: &Spec,
    class: &'a Class,
    event: &'a Event,
    ty: &'a EventType,
    guid: &str,
    lists: &BTreeMap<u8, (String, usize)>,
) {
    let group = ty.group.as_ref().or(class.group.as_ref()).and_then(|group| spec.group(&group.value));
    let group = group.and_then(|group| Some((group.value.0.first()?.value >> 8) as u8));
    let row = rows.entry((guid.to_owned(), ty.number));
    let row = row.or_insert_with(|| Row { class, ty, guid: guid.to_owned(), group, versions: BTreeMap::new() });
    let versions = event.versions_of(ty).iter().filter_map(|version| {
        let list = lists.get(&version)?.clone();
        Some((version, Version { event, ty, list }))
    });
    row.versions.extend(versions);
}

/// The table of all event types.
fn index(spec: &Spec, rows: &[Row], options: &Options, payload: &str) -> String {
    let mut out = format!("//! The table of event types.\n//!\n//! {}\n\n", options.header);
    let paths = rows.iter().flat_map(|row| row.versions.values()).filter_map(|version| version.list.0.split_once("::"));
    let modules: BTreeSet<_> = paths.map(|(module, _)| module.to_owned()).collect();
    let modules: Vec<_> = modules.into_iter().collect();
    let _ = writeln!(
        out,
        "use super::{{Event, Party, Who, first}};\nuse super::{};",
        super::docs::braced("", &modules, 0).trim_start()
    );
    let _ = writeln!(out, "use {payload}::Schema;\n");
    out.push_str("/// The event types, in the order of GUID and type.\npub(crate) static EVENTS: &[Event] = &[\n");
    for row in rows {
        let Row { class, ty: EventType { number, .. }, .. } = row;
        let group = row.group.map_or("None".to_owned(), |group| format!("Some({group:#04x})"));
        let _ = writeln!(out, "    Event::new(0x{}, {group}, {number:#04x}, &[", row.guid);
        for (version, Version { ty, list: (list, count), .. }) in &row.versions {
            let names = format!("{:?}, {:?}", class.name.value, ty.name.value);
            let _ = writeln!(out, "        Schema::specified({names}, {version}, first({list}, {count})),");
        }
        let who: Vec<_> = row.versions.iter().map(|(version, own)| who::of_version(own.event, *version)).collect();
        let _ = writeln!(out, "    ]){},", who::list(&who));
    }
    out.push_str("];\n");
    out + &who::providers(&spec.providers)
}
