//! Real traces.

use etw_layouts_etl::payload::{InType, OutType};
use etw_layouts_etl::{Scratch, Trace};
use etw_layouts_schemas::trace::{Collected, collect};
use etw_layouts_schemas::{Event, Field, Map, Provider, manifest};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use test_support::event_infos::META_DATA;
use test_support::installed;

/// The traces with schemas. Prints the numbers of event schemas, maps and EventSource manifests.
fn traces() -> Vec<(String, Collected)> {
    let Some(folder) = installed::folder("ETW_LAYOUTS_ETL") else { return Vec::new() };
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "etl"));
    paths.sort();
    let mut traces = Vec::new();
    for path in paths {
        let trace = Trace::from_bytes(fs::read(&path).unwrap()).unwrap();
        let collected = collect(&trace);
        let (infos, maps, chunks) = distinct(&trace);
        let name = path.file_name().unwrap().display().to_string();
        assert_eq!(collected.diagnostics, [], "{name}");
        assert_eq!(collected.providers.iter().map(|provider| provider.events.len()).sum::<usize>(), infos, "{name}");
        let all: Vec<_> = collected.providers.iter().flat_map(|provider| &provider.maps).collect();
        assert_eq!(all.len(), maps, "{name}");
        assert!(all.iter().all(|map| !map.entries.is_empty()), "{name}: a map is missing");
        assert_eq!((collected.manifests.len(), collected.manifest_providers.len()), (chunks, chunks), "{name}");
        if infos + maps + chunks > 0 {
            let events: usize = collected.manifest_providers.iter().map(|provider| provider.events.len()).sum();
            println!("{name}: {infos} events, {maps} maps, {chunks} manifests with {events} events");
            traces.push((name, collected));
        }
    }
    traces
}

/// The numbers of distinct payloads of events with schemas, counted without the tested code.
fn distinct(trace: &Trace<'_>) -> (usize, usize, usize) {
    let (mut scratch, mut payloads) = (Scratch::default(), [(); 3].map(|()| BTreeSet::new()));
    for buffer in trace.buffers() {
        for event in buffer.unwrap().decode(&mut scratch).events() {
            let event = event.unwrap();
            let kind = match (event.provider(), event.opcode(), event.id()) {
                (Some(META_DATA), Some(32), _) => 0,
                (Some(META_DATA), Some(33), _) => 1,
                (_, _, Some(0xFFFE)) => 2,
                _ => continue,
            };
            payloads[kind].insert(event.payload().to_vec());
        }
    }
    (payloads[0].len(), payloads[1].len(), payloads[2].len())
}

/// Every schema of a real trace is read, with its maps and names.
#[test]
fn all_are_read() {
    for (name, collected) in traces() {
        for provider in &collected.providers {
            assert!(!provider.name.is_empty(), "{name}: {} has no name", provider.guid);
            for event in &provider.events {
                assert!(event.display_name().is_some(), "{name}: event {} of {} has no name", event.id, provider.name);
                let fields = event.fields.as_deref().unwrap();
                assert!(
                    fields.iter().all(|field| !field.name.is_empty() && field.in_type.name().is_some()),
                    "{name}: {fields:?}"
                );
            }
        }
    }
}

/// The schemas of .NET events are equal to the manifest of .NET in all properties that both state.
#[test]
fn equal_to_the_manifest_of_dotnet() {
    let Some(folder) = installed::folder("ETW_LAYOUTS_PAYLOADS") else { return };
    let manifest = manifest::read(&fs::read(folder.join("ClrEtwAll.man")).unwrap()).unwrap();
    let by_guid: BTreeMap<_, _> = manifest.providers.iter().map(|provider| (provider.guid, provider)).collect();
    for (name, collected) in traces() {
        let (mut equal, mut absent, mut different) = (0, Vec::new(), Vec::new());
        for provider in &collected.providers {
            let Some(theirs) = by_guid.get(&provider.guid) else { continue };
            for event in &provider.events {
                match theirs.events.iter().find(|other| (other.id, other.version) == (event.id, event.version)) {
                    Some(other) => {
                        let differences = differences((event, provider), (other, theirs));
                        equal += usize::from(differences.is_empty());
                        different.extend(differences.iter().map(|difference| format!("{} {difference}", event.id)));
                    }
                    None => absent.push((event.id, event.version)),
                }
            }
        }
        println!("{name}: {equal} events equal, in names, types, maps and messages");
        assert_eq!((absent, different), (Vec::new(), Vec::new()), "{name}");
        assert!(equal > 40, "{name}: {equal}");
    }
}

/// The differences between two descriptions of an event.
fn differences((own, provider): (&Event, &Provider), (other, theirs): (&Event, &Provider)) -> Vec<String> {
    let mut all = Vec::new();
    let mut compare = |what: &str, own: &dyn std::fmt::Debug, other: &dyn std::fmt::Debug| {
        let [own, other] = [own, other].map(|value| format!("{value:?}"));
        if own != other {
            all.push(format!("{what}: {own}, in the manifest {other}"));
        }
    };
    compare("provider", &provider.name, &theirs.name);
    compare("task", &own.task, &other.task);
    compare("opcode", &own.opcode, &other.opcode);
    compare("level", &own.level, &other.level);
    compare("keyword mask", &own.keyword_mask, &other.keyword_mask);
    let sorted = |names: &[String]| names.iter().cloned().collect::<BTreeSet<_>>();
    compare("keywords", &sorted(&own.keywords), &sorted(&other.keywords));
    // TdhGetEventInformation replaces line breaks.
    compare("message", &own.message.replace("\r\n", "%n"), &other.message.trim_end());
    let [own, other] = [(own, provider), (other, theirs)].map(|(event, provider)| lines(event.fields.as_deref(), &provider.maps));
    for index in 0..own.len().max(other.len()) {
        compare("field", &own.get(index), &other.get(index));
    }
    all
}

/// The fields as lines, with the entries of their maps. Default display formats are filled in.
fn lines(fields: Option<&[Field]>, maps: &[Map]) -> Vec<String> {
    let mut all = Vec::new();
    for field in fields.into_iter().flatten() {
        let Field { name, in_type, out_type, count, length, .. } = field;
        let out_type = if *out_type == OutType::NULL { default(*in_type) } else { *out_type };
        let map = field.map.map(|map| &maps[map]);
        all.push(format!("{name} {in_type:?} {out_type:?} {count:?} {length:?} {map:?} {}", field.members.len()));
        all.extend(lines(Some(&field.members), maps));
    }
    all
}

/// The default display format of an encoding, from Microsoft's documentation of the type InputType of the manifest schema.
fn default(in_type: InType) -> OutType {
    let types = [
        (InType::UNICODESTRING, OutType::STRING),
        (InType::ANSISTRING, OutType::STRING),
        (InType::INT8, OutType::BYTE),
        (InType::UINT8, OutType::UNSIGNEDBYTE),
        (InType::INT16, OutType::SHORT),
        (InType::UINT16, OutType::UNSIGNEDSHORT),
        (InType::INT32, OutType::INT),
        (InType::UINT32, OutType::UNSIGNEDINT),
        (InType::INT64, OutType::LONG),
        (InType::UINT64, OutType::UNSIGNEDLONG),
        (InType::BOOLEAN, OutType::BOOLEAN),
        (InType::GUID, OutType::GUID),
        (InType::POINTER, OutType::HEXINT64),
    ];
    types.iter().find(|(own, _)| *own == in_type).map_or(OutType::NULL, |(_, out_type)| *out_type)
}
