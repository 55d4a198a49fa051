//! The page of the providers of Windows and .NET, from the catalogue, and its data for the script: events with the names of their
//! fields. Types of fields and names of values would triple the data; the program prints them.

use crate::frame::{Page, table};
use etw_layouts_catalog::{Entry, Mask};
use etw_layouts_project::Error;
use etw_layouts_schemas::Field;
use maud::html;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// The page. The table works without the script.
pub fn page(catalogue: &[Entry]) -> (String, String) {
    let mut list: Vec<&Entry> = catalogue.iter().collect();
    list.sort_by_key(|entry| entry.provider.name.to_lowercase());
    let rows = html! {
        @for entry in list {
            @let guid = entry.provider.guid.to_string();
            tr id=(guid) {
                th scope="row" { a href={ "#" (guid) } { (entry.provider.name) } }
                td { (entry.provider.events.len()) }
                td { (releases(entry)) }
                td { code { (guid) } }
            }
        }
    };
    let events: usize = catalogue.iter().map(|entry| entry.provider.events.len()).sum();
    let content = html! {
        h1 { "Events of providers" }
        p.lead {
            (events) " events of " (catalogue.len()) " providers of Windows and .NET, as published manifests state them: "
            "each version, and each statement where sources disagree, counts as an event."
        }
        p {
            "The atlas has the names of providers, events and fields. Types of fields, names of values and the sources of each event are in "
            "the built-in catalogue: " code { "etw etl manifest PROVIDER" } "."
        }
        p class="scripted filter" {
            label for="provider-words" { "Search by provider, event or field " }
            input id="provider-words" type="search" size="28" autocomplete="off" spellcheck="false";
            button type="button" id="provider-all" { "All providers" }
        }
        div.scripted aria-live="polite" {
            p id="provider-note" {}
        }
        div class="scripted scroll" tabindex="0" role="region" aria-label="Found events" id="provider-found" {}
        div id="all-providers" { (table("Providers", "list", &["Provider", "Events", "Manifests", "GUID"], &rows)) }
    };
    Page::new("providers.html".into(), "events", "Events of providers").finish(&content)
}

/// The address of a provider, from the root.
pub fn address(entry: &Entry) -> String {
    format!("providers.html#{}", entry.provider.guid)
}

/// The oldest and the newest release whose manifests list events of a provider.
fn releases(entry: &Entry) -> String {
    let all = entry.sources.iter().fold(Mask(0), |all, sources| all.union(sources.listed));
    let mut names = all.without(Mask::CORRECTED).iter().map(|source| source.release);
    match (names.next(), names.next_back()) {
        (Some(first), Some(last)) => format!("{first} to {last}"),
        (first, _) => first.unwrap_or_default().to_owned(),
    }
}

#[derive(Serialize)]
struct Data<'a> {
    /// The names of fields.
    fields: Vec<&'a str>,
    providers: Vec<ProviderData<'a>>,
}

/// Name, GUID, names of events, lists of fields, and events. A list contains numbers of names. An event has its ID, its first and last version,
/// the number of its name, and the numbers of its lists.
#[derive(Serialize)]
struct ProviderData<'a>(&'a str, String, Vec<String>, Vec<Vec<usize>>, Vec<Vec<usize>>);

/// The data of the script.
pub fn data(catalogue: &[Entry]) -> Result<String, Error> {
    let mut fields = Numbers::default();
    let providers = catalogue.iter().map(|entry| provider(entry, &mut fields)).collect();
    Ok(format!("window.atlasProviders = {};\n", serde_json::to_string(&Data { fields: fields.list, providers })?))
}

/// Values with their numbers.
struct Numbers<T> {
    list: Vec<T>,
    known: HashMap<T, usize>,
}

impl<T> Default for Numbers<T> {
    fn default() -> Self {
        Self { list: Vec::new(), known: HashMap::new() }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Numbers<T> {
    fn of(&mut self, value: T) -> usize {
        *self.known.entry(value).or_insert_with_key(|value| {
            self.list.push(value.clone());
            self.list.len() - 1
        })
    }
}

fn provider<'a>(entry: &'a Entry, fields: &mut Numbers<&'a str>) -> ProviderData<'a> {
    let (mut labels, mut lists) = (Numbers::default(), Numbers::default());
    let mut events: BTreeMap<(u16, usize), ([u8; 2], Vec<usize>)> = BTreeMap::new();
    for event in &entry.provider.events {
        let label = labels.of(label(event));
        let (versions, own) = events.entry((event.id, label)).or_insert(([event.version; 2], Vec::new()));
        *versions = [versions[0].min(event.version), versions[1].max(event.version)];
        if let Some(list) = &event.fields {
            let mut names = Vec::new();
            add(list, fields, &mut names);
            let number = lists.of(names);
            if !own.contains(&number) {
                own.push(number);
            }
        }
    }
    let events = events.into_iter().map(|((id, label), (versions, own))| {
        [usize::from(id), versions[0].into(), versions[1].into(), label].into_iter().chain(own).collect()
    });
    ProviderData(&entry.provider.name, entry.provider.guid.to_string(), labels.list, lists.list, events.collect())
}

/// Adds the numbers of the names of fields, each followed by those of its members.
fn add<'a>(list: &'a [Field], fields: &mut Numbers<&'a str>, names: &mut Vec<usize>) {
    for field in list {
        names.push(fields.of(&field.name));
        add(&field.members, fields, names);
    }
}

/// The name of an event: its symbol, or its task and opcode. The opcode `Info` says nothing.
fn label(event: &etw_layouts_schemas::Event) -> String {
    let parts = [event.task.name.as_str(), if event.opcode.name == "Info" { "" } else { event.opcode.name.as_str() }];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    if event.symbol.is_empty() { parts.join("/") } else { event.symbol.clone() }
}
