//! Who did an event and whom it is about, as expressions.

use crate::event::{Event, Party, Provider};
use crate::source::At;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The expression of a version of an event.
pub(super) fn of_version(event: &Event, version: u8) -> String {
    let field = |name: &str| {
        let place = event.place(name, version).map(|(offset, size)| format!("Some(({offset:?}, {size:?}))"));
        let is_known = event.of(version).any(|field| field.name.value == name);
        is_known.then(|| format!("{name:?}, {}", place.as_deref().unwrap_or("None")))
    };
    expression(&event.by, &event.about, &field)
}

/// The expressions of all versions of an event type; empty if none states anything.
pub(super) fn list(who: &[String]) -> String {
    if who.iter().all(|who| who == NONE) {
        return String::new();
    }
    let lines: String = who.iter().map(|who| format!("        {who},\n")).collect();
    format!(".who(&[\n{lines}    ])")
}

/// The table of providers with manifests.
pub(super) fn providers(providers: &[Provider]) -> String {
    let mut rows = BTreeMap::new();
    for provider in providers {
        let guid = provider.guid.value.replace('-', "").to_lowercase();
        for event in &provider.events {
            let who = expression(&event.by, &event.about, &|name| Some(format!("{name:?}, None")));
            let first = event.versions().first;
            rows.extend(event.ids.iter().map(|id| ((guid.clone(), id.value, first), who.clone())));
        }
    }
    let mut out = "\n/// Events of providers with manifests, in the order of GUID, event ID and first version.\n".to_owned();
    out.push_str("pub(crate) static PROVIDERS: &[(u128, u16, u8, Who)] = &[\n");
    for ((guid, id, first), who) in rows {
        let _ = writeln!(out, "    (0x{guid}, {id}, {first}, {who}),");
    }
    out + "];\n"
}

const NONE: &str = "Who::NONE";

/// The expression of fields, each with the arguments that `field` returns for its name.
fn expression(by: &Party, about: &Party, field: &dyn Fn(&str) -> Option<String>) -> String {
    let [by, about] = [by, about].map(|party| {
        let part = |key: &str, name: &Option<At<String>>| Some(format!(".{key}({})", field(&name.as_ref()?.value)?));
        let parts = [part("process", &party.process), part("thread", &party.thread)];
        parts.into_iter().flatten().collect::<String>()
    });
    if by.is_empty() && about.is_empty() {
        return NONE.to_owned();
    }
    format!("Who::new(Party::NONE{by}, Party::NONE{about})")
}
