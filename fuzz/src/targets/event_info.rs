//! Schemas in traces.

use etw_layouts_etl::Trace;
use etw_layouts_schemas::trace::{Collected, collect};
use etw_layouts_schemas::{Event, Field, Provider};
use test_support::event_infos::{SchemaEvent, schema_events, schema_trace};

/// Schemas are collected in limited time, and their size is proportional to the size of the events. Maps of fields exist. The
/// input is a sequence of events: a byte for the kind, two bytes for the length, and the payload.
pub fn run(input: &[u8]) {
    let (mut rest, mut events) = (input, Vec::new());
    while let Some((&[kind, low, high], behind)) = rest.split_first_chunk() {
        // Larger events do not fit into the buffers of the trace.
        let length = usize::from(u16::from_le_bytes([low, high])).min(behind.len()).min(0xF000);
        let (payload, behind) = behind.split_at(length);
        events.push(SchemaEvent { opcode: [32, 33, 0][usize::from(kind % 3)], payload: payload.to_vec() });
        rest = behind;
    }
    let Collected { providers, manifests, diagnostics, .. } =
        collect(&Trace::from_bytes(schema_trace(&events)).expect("a trace"));
    providers.iter().for_each(maps_exist);
    let size = providers.iter().map(size).sum::<usize>() + manifests.iter().map(|manifest| manifest.xml.len()).sum::<usize>();
    assert!(size <= 16 * input.len(), "{size} bytes of {}", input.len());
    assert!(diagnostics.iter().all(|diagnostic| !diagnostic.to_string().is_empty()));
}

fn maps_exist(provider: &Provider) {
    fn of(field: &Field, maps: usize) {
        assert!(field.map.is_none_or(|map| map < maps));
        field.members.iter().for_each(|member| of(member, maps));
    }
    provider.events.iter().flat_map(|event| event.fields.iter().flatten()).for_each(|field| of(field, provider.maps.len()));
}

/// The size of texts and fields in bytes.
fn size(provider: &Provider) -> usize {
    fn of(field: &Field) -> usize {
        24 + field.name.len() + field.members.iter().map(of).sum::<usize>()
    }
    let event = |event: &Event| {
        let texts = [&event.message, &event.symbol, &event.task.name, &event.opcode.name, &event.level.name, &event.channel.name];
        let texts: usize = texts.into_iter().chain(&event.keywords).map(String::len).sum();
        texts + event.fields.iter().flatten().map(of).sum::<usize>()
    };
    let maps: usize = provider.maps.iter().flat_map(|map| &map.entries).map(|entry| 8 + entry.name.len()).sum();
    provider.name.len() + maps + provider.events.iter().map(event).sum::<usize>()
}

/// Each kind of event alone, and all together.
pub fn seeds() -> Vec<Vec<u8>> {
    let one = |event: SchemaEvent| {
        let kind = match event.opcode {
            32 => 0,
            33 => 1,
            _ => 2,
        };
        let [low, high] = (event.payload.len() as u16).to_le_bytes();
        [vec![kind, low, high], event.payload].concat()
    };
    let mut seeds: Vec<_> = schema_events(MANIFEST).into_iter().map(one).collect();
    seeds.push(seeds.concat());
    seeds
}

const MANIFEST: &[u8] =
    b"<instrumentationManifest><instrumentation><events><provider name=\"P\" guid=\"{11111111-2222-3333-4444-555555555555}\"/>\
</events></instrumentation></instrumentationManifest>";
