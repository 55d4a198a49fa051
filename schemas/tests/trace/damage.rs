//! A damaged schema does not affect other schemas.

use crate::text;
use crate::written::MANIFEST;
use etw_layouts_etl::Trace;
use etw_layouts_schemas::trace::{Collected, collect};
use etw_layouts_schemas::{Event, Field, Provider};
use fastrand::Rng;
use std::collections::BTreeSet;
use test_support::event_infos::{SchemaEvent, schema_events, schema_trace};

const CORRUPTIONS: usize = 10_000;

#[test]
fn corruptions() {
    let events = schema_events(MANIFEST);
    let without: Vec<_> = (0..events.len())
        .map(|index| {
            let others = events.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, event)| event.clone());
            facts(&read(&others.collect::<Vec<_>>()))
        })
        .collect();
    let (mut random, mut survived, mut reported) = (Rng::with_seed(0x1F0), 0, 0);
    for round in 0..CORRUPTIONS {
        let index = round % events.len();
        let mut damaged = events.clone();
        for _ in 0..random.usize(1..6) {
            mutate(&mut damaged[index].payload, &mut random);
        }
        let collected = read(&damaged);
        let all = facts(&collected);
        let lost: Vec<_> = without[index].difference(&all).collect();
        assert!(lost.is_empty(), "round {round}: {lost:?}");
        survived += usize::from(all.len() > without[index].len());
        reported += collected.diagnostics.len();
        let bytes: usize = damaged.iter().map(|event| event.payload.len()).sum();
        let size: usize = collected.providers.iter().map(size).sum();
        assert!(size <= 16 * bytes, "round {round}: {size} bytes of {bytes}");
    }
    println!("{CORRUPTIONS} corruptions: {survived} damaged schemas are read, {reported} diagnostics, no other schema is lost");
    assert!(survived > CORRUPTIONS / 10 && reported > CORRUPTIONS / 10);
}

fn read(events: &[SchemaEvent]) -> Collected {
    collect(&Trace::from_bytes(schema_trace(events)).unwrap())
}

/// A description of each event, map and manifest.
fn facts(collected: &Collected) -> BTreeSet<String> {
    let of = |provider: &Provider| {
        let maps = provider.maps.iter().filter(|map| !map.entries.is_empty()).map(text::map);
        let events = provider.events.iter().map(|event| text::event(event, &provider.maps));
        maps.chain(events).map(|text| format!("{} {text}", provider.guid)).collect::<Vec<_>>()
    };
    let manifests = collected.manifests.iter().map(|manifest| format!("{:?}", manifest.xml));
    collected.providers.iter().flat_map(of).chain(manifests).collect()
}

/// Approximate size of all texts and fields, in bytes.
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

fn mutate(bytes: &mut Vec<u8>, random: &mut Rng) {
    if bytes.is_empty() {
        return;
    }
    let at = random.usize(..bytes.len());
    let length = random.usize(1..=(bytes.len() - at).min(32));
    match random.u8(..6) {
        0 => bytes[at] ^= 1 << random.u8(..8),
        1 => bytes[at] = random.u8(..),
        2 => {
            let length = (bytes.len() - at).min(4);
            let value = random.choice([0_u32, 1, 0x70, 0x7FFF_FFFF, u32::MAX]).expect("some").to_le_bytes();
            bytes[at..at + length].copy_from_slice(&value[..length]);
        }
        3 => bytes.truncate(at),
        4 => drop(bytes.drain(at..at + length)),
        _ => {
            let from = random.usize(..=bytes.len() - length);
            bytes.copy_within(from..from + length, at);
        }
    }
}
