//! The providers of a trace, and their events.

use crate::files::argument;
use crate::samples::{self, Sample, Samples};
use crate::text::shortened;
use etw_layouts_answers::top::Slots;
use etw_layouts_trace::etl::payload::Source;
use etw_layouts_trace::etl::text::{Grouped, Several};
use etw_layouts_trace::etl::{self, Kinds, Uuid, names};
use etw_layouts_trace::{Event, Trace};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::HashMap;

/// Providers, those with the most events first.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Providers {
    /// The providers.
    pub providers: Vec<ProviderEvents>,
    /// Number of further providers.
    pub more_providers: usize,
    /// Number of the other events: those of further providers, and of kinds that are not counted separately.
    pub more_events: u64,
    /// Size of the other events with their headers, in bytes.
    pub more_bytes: u64,
    /// Number of the other events that have a schema.
    pub more_decoded: u64,
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
    /// The options of `etw etl events` that select its events; empty if there are none.
    pub select: String,
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
    /// The options of `etw etl events` that select these events; empty if there are none.
    pub select: String,
    /// Number of events.
    pub events: u64,
    /// Size of the events with their headers, in bytes.
    pub bytes: u64,
    /// Its first events, as text.
    pub samples: Vec<Sample>,
}

/// Maximum number of kinds of events that are counted separately.
const MAX_COUNTED: usize = 1 << 14;
/// Maximum number of providers in a report.
const MAX_PROVIDERS: usize = 100;
/// Maximum number of kinds of events in a report.
const MAX_KINDS: usize = 300;

/// A provider, or a group of kernel events without a GUID.
type Group = (Option<Uuid>, Option<u16>);

/// Events of kinds that are not counted separately.
#[derive(Default)]
struct Others {
    events: u64,
    bytes: u64,
    decoded: u64,
}

/// Counts events by kind.
pub(crate) struct ProvidersBuilder {
    /// For each session, the index of the kind of each event in `counted`, and whether it has a schema.
    kinds: Vec<Kinds<(Option<usize>, bool)>>,
    indices: HashMap<(Group, String, Option<&'static str>), usize>,
    counted: Vec<(Group, Option<String>, EventKind)>,
    /// All events that are not in `counted`.
    others: Others,
    samples: Samples,
}

impl ProvidersBuilder {
    pub fn new(trace: &Trace, slots: Slots) -> Self {
        let kinds = trace.sessions().iter().map(|_| Kinds::default()).collect();
        let samples = Samples::new(slots);
        Self { kinds, indices: HashMap::new(), counted: Vec::new(), others: Others::default(), samples }
    }

    pub fn add(&mut self, event: &Event<'_>) {
        let Self { kinds, indices, counted, others, samples } = self;
        let header = event.header();
        let bytes = header.bytes().len() as u64;
        match *kinds[event.session_index()].get(&header, || (index(event, indices, counted), 0)) {
            (Some(index), _) => {
                let (.., kind) = &mut counted[index];
                kind.events += 1;
                kind.bytes += bytes;
                samples.add(&mut kind.samples, event);
            }
            (None, is_decoded) => {
                others.events += 1;
                others.bytes += bytes;
                others.decoded += u64::from(is_decoded);
            }
        }
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
                select: of_provider((guid, group)),
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
        all.decoded += others.decoded;
        if others.events > 0 {
            reduced.push(format!(
                "Providers: {} of kinds beyond the first {}.",
                Several(others.events, "event"),
                Grouped(MAX_COUNTED as u64)
            ));
        }
        all.providers = groups.into_values().collect();
        all.providers.sort_by(|a, b| b.events.cmp(&a.events).then_with(|| (&a.guid, a.group).cmp(&(&b.guid, b.group))));
        all.more_providers = all.providers.len().saturating_sub(MAX_PROVIDERS);
        (all.more_events, all.more_bytes, all.more_decoded) = (others.events, others.bytes, others.decoded);
        for provider in all.providers.drain(all.providers.len().min(MAX_PROVIDERS)..) {
            all.more_events += provider.events;
            all.more_bytes += provider.bytes;
            all.more_decoded += provider.decoded;
        }
        if all.more_providers > 0 {
            reduced
                .push(format!("Providers: {} left out, with the fewest events.", Several(all.more_providers as u64, "provider")));
        }
        // The largest kinds of all providers.
        let mut kinds = Vec::new();
        for (index, provider) in all.providers.iter().enumerate() {
            kinds.extend(provider.kinds.iter().map(|kind| (Reverse(kind.events), &kind.name, index)));
        }
        kinds.sort_unstable();
        let mut shown = vec![0; all.providers.len()];
        kinds.iter().take(MAX_KINDS).for_each(|(.., index)| shown[*index] += 1);
        let mut left = 0;
        for (provider, shown) in all.providers.iter_mut().zip(shown) {
            provider.kinds.sort_by(|a, b| b.events.cmp(&a.events).then_with(|| a.name.cmp(&b.name)));
            provider.more_kinds = provider.kinds.len() - shown;
            provider.kinds.truncate(shown);
            left += provider.more_kinds as u64;
        }
        if left > 0 {
            reduced.push(format!("Events: {} of events left out, with the fewest events.", Several(left, "kind")));
        }
        let mut all_samples: Vec<_> =
            all.providers.iter_mut().flat_map(|provider| &mut provider.kinds).map(|kind| &mut kind.samples).collect();
        let without = samples::limit(&mut all_samples);
        if without > 0 {
            reduced.push(format!("Events: no event of {} is shown as text.", Several(without, "kind")));
        }
        all
    }
}

/// The index of the kind of an event, which is added if it is new, and whether it has a schema. No index if there are too many kinds.
fn index(
    event: &Event<'_>,
    indices: &mut HashMap<(Group, String, Option<&'static str>), usize>,
    counted: &mut Vec<(Group, Option<String>, EventKind)>,
) -> (Option<usize>, bool) {
    let (header, schemas) = (event.header(), event.schemas());
    let provider = header.provider();
    let group = (provider, header.hook().filter(|_| provider.is_none()).map(|hook| hook >> 8));
    let schema =
        header.decode(schemas).map(|decoded| decoded.source()).filter(|source| *source != Source::Header).map(names::source);
    let name = shortened(&event.name());
    if let Some(index) = indices.get(&(group, name.clone(), schema)) {
        return (Some(*index), schema.is_some());
    }
    if counted.len() >= MAX_COUNTED {
        return (None, schema.is_some());
    }
    let by_event = names::event_of(&header, schemas).map(|(provider, _)| provider);
    let of_provider = names::provider_of(&header, schemas).or(by_event).filter(|name| !name.is_empty()).map(str::to_owned);
    let select = of_kind(&header, group, schema.and_then(|_| argument(&event.name())));
    counted.push((
        group,
        of_provider,
        EventKind { name: name.clone(), schema, select, events: 0, bytes: 0, samples: Vec::new() },
    ));
    indices.insert((group, name, schema), counted.len() - 1);
    (Some(counted.len() - 1), schema.is_some())
}

/// The options that select the events of a provider or a group.
fn of_provider(group: Group) -> String {
    match group {
        (Some(guid), _) => format!("--provider {guid}"),
        (None, Some(group)) => format!("--provider \"group {group:#04x}\""),
        (None, None) => String::new(),
    }
}

/// The options that select the events of a kind, by their name if they have a schema.
fn of_kind(header: &etl::Event<'_>, group: Group, name: Option<String>) -> String {
    let kind = match (name, header.id().or(header.hook()), header.opcode()) {
        (Some(name), ..) => format!(" --event {name}"),
        (None, Some(id), _) => format!(" --id {id}"),
        (None, None, Some(opcode)) => format!(" --opcode {opcode}"),
        (None, None, None) => return String::new(),
    };
    (of_provider(group) + &kind).trim_start().to_owned()
}
