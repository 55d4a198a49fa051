//! Generated traces.

use crate::text;
use etw_layouts_etl::payload::Uuid;
use etw_layouts_etl::{Reader, Schemas, Trace};
use etw_layouts_schemas::trace::{Collector, DiagnosticKind, InfoError, Place, collect, event_info, map_info};
use std::fs;
use test_support::event_infos::{
    Head, META_DATA, Property, SchemaEvent, event_info as info, map_info as map, schema_events, schema_trace,
};

/// A manifest in the form of EventSource.
pub const MANIFEST: &[u8] = br#"<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events">
 <instrumentation xmlns:win="http://manifests.microsoft.com/win/2004/08/windows/events"><events>
  <provider name="Made-EventSource" guid="{11111111-2222-3333-4444-555555555555}" resourceFileName="a.dll" messageFileName="a.dll" symbol="Made">
   <tasks><task name="Request" value="65533"/></tasks>
   <events><event value="1" version="0" level="win:Informational" symbol="Request" task="Request" template="RequestArgs"/></events>
   <templates><template tid="RequestArgs">
    <data name="url" inType="win:UnicodeString"/><data name="size" inType="win:UInt32"/>
   </template></templates>
  </provider>
 </events></instrumentation>
 <localization><resources culture="en-US"><stringTable/></resources></localization>
</instrumentationManifest>"#;

/// All properties that the structures can state, as text. `BLESS=1` updates the file.
#[test]
fn everything() {
    let bytes = schema_trace(&schema_events(MANIFEST));
    let collected = collect(&Trace::from_bytes(&bytes).unwrap());
    assert_eq!(collected.diagnostics, []);
    assert_eq!(collected.manifests.len(), 1);
    assert_eq!((collected.manifests[0].xml.as_slice(), collected.manifests[0].process), (MANIFEST, Some(4)));
    let text: String = collected.providers.iter().chain(&collected.manifest_providers).map(text::provider).collect();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/trace/everything.txt");
    if std::env::var_os("BLESS").is_some() {
        fs::write(path, &text).unwrap();
    }
    assert!(
        fs::read_to_string(path).unwrap() == text,
        "the output changed; update it with BLESS=1, and review the difference\n{text}"
    );
}

/// The class and the event types are equal to those in the specs.
#[test]
fn class_of_the_specs() {
    let name = |opcode| Schemas::kernel_schema_by_type(META_DATA, opcode).map(|schema| (schema.provider, schema.event));
    assert_eq!(name(32), Some(("MetaData", "EventInfo")));
    assert_eq!(name(33), Some(("MetaData", "EventMapInfo")));
}

/// A stream gives the same schemas, and during reading those found so far.
#[test]
fn streamed() {
    let events = schema_events(MANIFEST);
    let bytes = schema_trace(&events);
    let mut reader = Reader::new(&bytes[..]).unwrap();
    let (mut collector, mut with_schema, mut first) = (Collector::default(), 0, None);
    while let Some(buffer) = reader.next_buffer().unwrap() {
        for event in buffer.unwrap().events() {
            let event = event.unwrap();
            if collector.add(&event, Place::default()) {
                with_schema += 1;
                first.get_or_insert_with(|| collector.providers().to_vec());
            }
        }
    }
    assert_eq!(with_schema, events.len());
    assert_eq!(first.map(|providers| providers[0].events.len()), Some(1));
    assert_eq!(collector.finish().providers, collect(&Trace::from_bytes(&bytes).unwrap()).providers);
}

/// Schemas of two files are merged. Equal ones are kept once. Different ones are reported, with the place in their file.
#[test]
fn several_files() {
    let events = schema_events(MANIFEST);
    let head = Head { id: 8, bytes: [2, 0, 0, 0], provider: test_support::event_infos::MADE, ..Head::default() };
    let number = Property { name: "Number", types: [8, 0], count: 1, ..Property::default() };
    let other = SchemaEvent { opcode: 32, payload: info(&head, 1, &[number]) };
    let [first, second] = [schema_trace(&events), schema_trace(&[&events[..], &[other]].concat())];
    let mut collector = Collector::default();
    for bytes in [&first, &second] {
        collector.add_trace(&Trace::from_bytes(bytes.as_slice()).unwrap());
    }
    let collected = collector.finish();
    let [diagnostic] = &collected.diagnostics[..] else { panic!("{:?}", collected.diagnostics) };
    assert_eq!((diagnostic.place.file, &diagnostic.kind), (1, &DiagnosticKind::Conflict));
    assert!(diagnostic.place.offset > 0 && diagnostic.place.buffer > 0);
    let alone = collect(&Trace::from_bytes(&first).unwrap());
    assert_eq!(collected.providers[0].events.len(), alone.providers[0].events.len() + 1);
    assert_eq!(collected.providers[0].maps, alone.providers[0].maps);
    assert_eq!(collected.manifests, alone.manifests);
}

/// Each kind of fault has its own error.
#[test]
fn errors() {
    let property = |flags| Property { flags, name: "Property", types: [8, 0], count: 1, ..Property::default() };
    let of = |top, properties: &[Property]| event_info::read(&info(&Head::default(), top, properties)).map(drop);
    let structure = |first, members| Property { types: [first, members], ..property(1) };
    let whole = info(&Head::default(), 1, &[property(0)]);
    assert_eq!(of(1, &[property(0)]), Ok(()));
    assert_eq!(event_info::read(&whole[..0x6F]), Err(InfoError::Truncated { needed: 0x70, present: 0x6F }));
    assert_eq!(event_info::read(&whole[..0x87]), Err(InfoError::Truncated { needed: 0x88, present: 0x87 }));
    assert_eq!(event_info::read(&whole[..0x90]), Err(InfoError::Text { member: "NameOffset", offset: 0x88 }));
    assert_eq!(of(2, &[property(0)]), Err(InfoError::TopLevel { top: 2, all: 1 }));
    assert_eq!(of(1, &[structure(1, 1)]), Err(InfoError::Members { property: 0, first: 1, count: 1 }));
    assert_eq!(of(1, &[structure(0, 1)]), Err(InfoError::Members { property: 0, first: 0, count: 1 }));
    let shared = [structure(2, 1), structure(2, 1), property(0)];
    assert_eq!(of(2, &shared), Err(InfoError::Members { property: 1, first: 2, count: 1 }));
    let nested: Vec<_> = (1..=17).map(|next| structure(next, 1)).chain([property(0)]).collect();
    assert_eq!(of(1, &nested), Err(InfoError::Depth(16)));
    assert_eq!(
        of(1, &nested[1..].iter().map(|p| Property { types: [p.types[0].saturating_sub(1), 1], ..*p }).collect::<Vec<_>>()),
        Ok(())
    );
    let after = [Property { length: 1, ..property(2) }, property(0)];
    assert_eq!(of(2, &after), Err(InfoError::Reference { property: 0, to: 1 }));
    let inside = [structure(2, 1), Property { length: 2, ..property(2) }, property(0)];
    assert_eq!(of(2, &inside), Err(InfoError::Reference { property: 1, to: 2 }));
    for source in [2, 3, 9] {
        assert_eq!(event_info::read(&info(&Head { source, ..Head::default() }, 0, &[])), Err(InfoError::Source(source)));
    }
    let long = "A name that many properties share, which is longer than a property is";
    let mut shared = info(&Head::default(), 40, &[Property { name: long, ..property(0) }; 40]);
    for property in shared[0x70..0x70 + 40 * 24].chunks_exact_mut(24) {
        property[4..8].copy_from_slice(&(0x70_u32 + 40 * 24).to_le_bytes());
    }
    shared.truncate(0x70 + 40 * 24 + 2 * long.len() + 2);
    assert_eq!(event_info::read(&shared), Err(InfoError::Texts));

    let of = |flags, entries: &[_]| map_info::read_payload(&map(Uuid::nil(), "Map", flags, entries)).map(drop);
    assert_eq!(of(4, &[(Err("a.*"), "b")]), Err(InfoError::Pattern));
    for flags in [0, 3, 9, 0x20, 0x80] {
        assert_eq!(of(flags, &[]), Err(InfoError::MapFlags(flags)));
    }
    assert_eq!(of(8, &[(Err("blue"), "b")]), Err(InfoError::MapText("blue".into())));
    assert_eq!(map_info::read_payload(&[0; 15]), Err(InfoError::Truncated { needed: 16, present: 15 }));
    assert_eq!(map_info::read_payload(&[0; 31]), Err(InfoError::Truncated { needed: 16, present: 15 }));
}

/// Faults of manifests are reported: a missing chunk, an unknown format, an invalid number.
#[test]
fn manifests() {
    let mut events = schema_events(MANIFEST);
    let chunks = events.split_off(events.len() - 3);
    let kinds = |events: &[SchemaEvent]| {
        let collected = collect(&Trace::from_bytes(schema_trace(events)).unwrap());
        let kinds: Vec<_> = collected.diagnostics.iter().map(|diagnostic| diagnostic.kind.to_string()).collect();
        (collected.manifests.len(), kinds.join("; "))
    };
    assert_eq!(kinds(&[&chunks[..], &chunks[..]].concat()), (1, String::new()));
    let provider = test_support::event_infos::MADE;
    assert_eq!(kinds(&chunks[1..]), (0, format!("incomplete EventSource manifest of provider {provider}: 2 of 3 chunks")));
    let changed = |at: usize, value| {
        let mut chunk = chunks[0].clone();
        chunk.payload[at] = value;
        [chunk]
    };
    assert_eq!(kinds(&changed(0, 2)), (0, "unknown format 2 of an EventSource manifest".into()));
    assert_eq!(kinds(&changed(6, 9)), (0, "invalid chunk of an EventSource manifest: number 9 of 3".into()));
    assert_eq!(kinds(&changed(3, 0)), (0, String::new()));
    // A manifest is good for the events of its sender only.
    let other = "99999999-2222-3333-4444-555555555555";
    let others = String::from_utf8(MANIFEST.to_vec()).unwrap().replace("11111111-2222-3333-4444-555555555555", other);
    let collected = collect(&Trace::from_bytes(schema_trace(&schema_events(others.as_bytes()))).unwrap());
    let [diagnostic] = &collected.diagnostics[..] else { panic!("{:?}", collected.diagnostics) };
    assert_eq!(
        diagnostic.kind.to_string(),
        format!("EventSource manifest of another provider: {provider} describes {other}; schemas not used")
    );
    assert_eq!((collected.manifests.len(), collected.manifest_providers), (1, vec![]));
}
