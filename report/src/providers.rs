//! The providers of a trace, and their events.

use crate::text::{grouped, several, shortened};
use etw_layouts_trace::etl::payload::Source;
use etw_layouts_trace::etl::{Kinds, Uuid, names};
use etw_layouts_trace::{Event, Trace};
use serde::Serialize;
use std::collections::HashMap;

/// Providers, those with the most events first.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Providers {
    /// The providers.
    pub providers: Vec<ProviderEvents>,
    /// Number of further providers, and of their events.
    pub more_providers: usize,
    /// Number of the events of further providers.
    pub more_events: u64,
    /// Number of all events.
    pub events: u64,
    /// Number of the events that have a schema.
    pub decoded: u64,
}

/// The events of a provider.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ProviderEvents {
    /// Its name; its GUID or its group if no name is known.
    pub name: String,
    /// Its GUID; `None` for groups of kernel events.
    pub guid: Option<String>,
    /// Group of kernel events without a GUID.
    pub group: Option<u16>,
    /// Number of events.
    pub events: u64,
    /// Size of the events with their headers, in bytes.
    pub bytes: u64,
    /// Number of the events that have a schema.
    pub decoded: u64,
    /// Kinds of events, those with the most events first.
    pub kinds: Vec<EventKind>,
    /// Number of further kinds.
    pub more_kinds: usize,
}

/// Events of a kind.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct EventKind {
    /// Provider and name, or the identification of the event if no name is known.
    pub name: String,
    /// Source of the schema; `None` without a schema.
    pub schema: Option<&'static str>,
    /// Number of events.
    pub events: u64,
    /// Size of the events with their headers, in bytes.
    pub bytes: u64,
}

/// Maximum number of kinds of events that are counted separately.
const MAX_COUNTED: usize = 1 << 14;
/// Maximum number of providers in a report.
const MAX_PROVIDERS: usize = 100;
/// Maximum number of kinds of events in a report.
const MAX_KINDS: usize = 300;

/// A provider, or a group of kernel events without a GUID.
type Group = (Option<Uuid>, Option<u16>);

/// Counts events by kind.
pub(crate) struct ProvidersBuilder {
    /// The index of the kind of each event in `counted`, for each session.
    kinds: Vec<Kinds<usize>>,
    indices: HashMap<(Group, String, Option<&'static str>), usize>,
    counted: Vec<(Group, Option<String>, EventKind)>,
    others: EventKind,
}

impl ProvidersBuilder {
    pub fn new(trace: &Trace) -> Self {
        let kinds = trace.sessions().iter().map(|_| Kinds::default()).collect();
        let others = EventKind { name: String::new(), schema: None, events: 0, bytes: 0 };
        Self { kinds, indices: HashMap::new(), counted: Vec::new(), others }
    }

    pub fn add(&mut self, event: &Event<'_>) {
        let Self { kinds, indices, counted, .. } = self;
        let header = event.header();
        let find = || {
            let index = index(event, indices, counted);
            (index, 0)
        };
        let index = *kinds[event.session_index()].get(&header, find);
        let kind = self.counted.get_mut(index).map_or(&mut self.others, |(.., kind)| kind);
        kind.events += 1;
        kind.bytes += header.bytes().len() as u64;
    }

    pub fn finish(self, reduced: &mut Vec<String>) -> Providers {
        let mut groups = HashMap::<Group, ProviderEvents>::new();
        let (mut all, others) = (Providers::default(), self.others);
        for ((guid, group), name, kind) in self.counted {
            let guid_text = guid.map(|guid| guid.to_string());
            let unnamed = || guid_text.clone().or_else(|| group.map(|group| format!("group {group:#04x}")));
            let provider = groups.entry((guid, group)).or_insert_with(|| ProviderEvents {
                name: shortened(&name.or_else(unnamed).unwrap_or_else(|| "no provider".into())),
                guid: guid_text.clone(),
                group,
                events: 0,
                bytes: 0,
                decoded: 0,
                kinds: Vec::new(),
                more_kinds: 0,
            });
            let decoded = if kind.schema.is_some() { kind.events } else { 0 };
            provider.events += kind.events;
            provider.bytes += kind.bytes;
            provider.decoded += decoded;
            all.events += kind.events;
            all.decoded += decoded;
            provider.kinds.push(kind);
        }
        all.events += others.events;
        if others.events > 0 {
            reduced.push(format!(
                "Providers: {} of kinds beyond the first {}.",
                several(others.events, "event"),
                grouped(MAX_COUNTED as u64)
            ));
        }
        all.providers = groups.into_values().collect();
        all.providers.sort_by(|a, b| b.events.cmp(&a.events).then_with(|| (&a.guid, a.group).cmp(&(&b.guid, b.group))));
        all.more_providers = all.providers.len().saturating_sub(MAX_PROVIDERS);
        all.more_events = others.events + all.providers.iter().skip(MAX_PROVIDERS).map(|provider| provider.events).sum::<u64>();
        all.providers.truncate(MAX_PROVIDERS);
        if all.more_providers > 0 {
            reduced
                .push(format!("Providers: {} left out, with the fewest events.", several(all.more_providers as u64, "provider")));
        }
        // The largest kinds of all providers.
        let mut sizes: Vec<_> = all.providers.iter().flat_map(|provider| provider.kinds.iter().map(|kind| kind.events)).collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let least = sizes.get(MAX_KINDS).copied().unwrap_or(0);
        let mut left = 0;
        for provider in &mut all.providers {
            provider.kinds.sort_by(|a, b| b.events.cmp(&a.events).then_with(|| a.name.cmp(&b.name)));
            let shown = provider.kinds.partition_point(|kind| kind.events > least);
            provider.more_kinds = provider.kinds.len() - shown;
            provider.kinds.truncate(shown);
            left += provider.more_kinds as u64;
        }
        if left > 0 {
            reduced.push(format!("Events: {} of events left out, with the fewest events.", several(left, "kind")));
        }
        all
    }
}

/// The index of the kind of an event, which is added if it is new.
fn index(
    event: &Event<'_>,
    indices: &mut HashMap<(Group, String, Option<&'static str>), usize>,
    counted: &mut Vec<(Group, Option<String>, EventKind)>,
) -> usize {
    let (header, schemas) = (event.header(), event.schemas());
    let provider = header.provider();
    let group = (provider, header.hook().filter(|_| provider.is_none()).map(|hook| hook >> 8));
    let schema =
        header.decode(schemas).map(|decoded| decoded.source()).filter(|source| *source != Source::Header).map(names::source);
    let name = shortened(&event.name());
    if let Some(index) = indices.get(&(group, name.clone(), schema)) {
        return *index;
    }
    if counted.len() >= MAX_COUNTED {
        return usize::MAX;
    }
    let by_event = names::event_of(&header, schemas).map(|(provider, _)| provider);
    let of_provider = names::provider_of(&header, schemas).or(by_event).filter(|name| !name.is_empty()).map(str::to_owned);
    counted.push((group, of_provider, EventKind { name: name.clone(), schema, events: 0, bytes: 0 }));
    indices.insert((group, name, schema), counted.len() - 1);
    counted.len() - 1
}
