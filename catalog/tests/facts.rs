//! Compares the facts of the catalogue with the tables from which they were made.

use etw_layouts_catalog::{Entry, Mask, SOURCES, entries, library, read, text, write};
use etw_layouts_payload::packed::EventKey;
use etw_layouts_payload::{InType, OutType, packed};
use etw_layouts_schemas::{Field, Length};
use liblzma::bufread::XzDecoder;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::Path;
use test_support::installed;

/// Number of events that each source lists: ID and version of a provider.
const LISTED: [(&str, usize); 12] = [
    ("7600", 16590),
    ("10240", 30488),
    ("17134", 48276),
    ("18990", 37008),
    ("2022", 48154),
    ("22621", 54409),
    ("26100", 57825),
    ("26200", 57452),
    ("28000", 54414),
    ("clr", 384),
    ("dotnet", 131),
    ("corrected", 0),
];

#[test]
fn counts() {
    let entries = entries();
    let mut listed: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut events, mut last) = (0, None);
    for entry in &entries {
        for (event, sources) in entry.provider.events.iter().zip(&entry.sources) {
            let key = (entry.provider.guid, event.id, event.version);
            assert_eq!(event.fields.is_some(), !sources.fields.is_empty());
            assert!(sources.fields.without(sources.listed).without(Mask::CORRECTED).is_empty());
            if last.replace(key) != Some(key) {
                events += 1;
                sources.listed.iter().for_each(|source| *listed.entry(source.name).or_default() += 1);
            }
        }
    }
    assert_eq!((entries.len(), events), (1105, 77754));
    assert_eq!(SOURCES.map(|source| (source.name, listed.get(source.name).copied().unwrap_or(0))), LISTED);
}

#[test]
fn round_trip() {
    let entries = entries();
    let written = write(&entries, "");
    assert_eq!(read(&written).as_ref(), Ok(&entries));
    assert!(text().ends_with(&written));
}

/// The library has the same events. Their fields end at a structure with unknown members, and at binary data of unknown length before other fields.
#[test]
fn library_is_equal() {
    let view = library();
    let mut variants = 0;
    for Entry { provider, sources } in entries() {
        let found = view.provider(provider.guid).unwrap();
        assert_eq!(found.name(), provider.name);
        for (event, sources) in provider.events.iter().zip(&sources) {
            let Some(fields) = &event.fields else {
                assert!(found.find(EventKey::from_id(event.id, event.version)).all(|variant| variant.schema().is_none()));
                continue;
            };
            let index = SOURCES.iter().position(|source| Some(source) == sources.fields.iter().next()).unwrap();
            let is_unknown = |(at, field): (usize, &Field)| match field.in_type {
                InType::STRUCT => field.members.is_empty(),
                InType::BINARY => field.length == Length::Type && field.out_type != OutType::IPV6 && at + 1 < fields.len(),
                _ => false,
            };
            let unknown = fields.iter().enumerate().position(is_unknown);
            let all = unknown.map_or(fields.as_slice(), |unknown| &fields[..=unknown]);
            let mut expected = Vec::new();
            for field in all {
                expected.push(field.name.as_str());
                expected.extend(field.members.iter().map(|member| member.name.as_str()));
            }
            // A source can state an event more than once.
            let is_equal = |variant: packed::Variant<'_>| {
                let schema = variant.schema().filter(|_| variant.is_from(index as u32));
                schema.is_some_and(|schema| schema.fields.iter().map(|field| field.name).eq(expected.iter().copied()))
            };
            assert!(
                found.find(EventKey::from_id(event.id, event.version)).any(is_equal),
                "{} {}: {expected:?}",
                provider.name,
                event.id
            );
            variants += 1;
        }
    }
    assert_eq!(variants, 74976);
}

fn table(path: &Path) -> String {
    let mut text = String::new();
    XzDecoder::new(fs::read(path).unwrap().as_slice()).read_to_string(&mut text).unwrap();
    text
}

/// The catalogue has each row of the table of manifests with all its sources, except kernel events.
#[test]
fn rows() {
    let Some(folder) = installed::folder("ETW_LAYOUTS_PAYLOADS") else { return };
    let mut listed: BTreeMap<(String, String, String), Mask> = BTreeMap::new();
    for entry in entries() {
        for (event, sources) in entry.provider.events.iter().zip(&entry.sources) {
            let key = (format!("{{{}}}", entry.provider.guid), event.id.to_string(), event.version.to_string());
            listed.insert(key, sources.listed);
        }
    }
    let text = table(&folder.join("manifest_events.tsv.xz"));
    let (mut found, mut kernel, mut keys) = (0, 0, BTreeSet::new());
    for line in text.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        if columns[1] == "Windows Kernel" {
            kernel += 1;
            continue;
        }
        let key = (columns[0].to_ascii_lowercase(), columns[2].to_owned(), columns[3].to_owned());
        let mask = columns[10].split(' ').fold(Mask::default(), |all, name| all.union(Mask::named(name)));
        assert!(mask.without(listed[&key]).is_empty(), "{line}");
        found += 1;
        keys.insert(key);
    }
    assert_eq!((found, kernel), (126118, 1120));
    // The table has all events of the catalogue from these sources.
    let others = ["28000", "clr", "dotnet"].into_iter().map(Mask::named).fold(Mask::default(), Mask::union);
    assert_eq!(listed.values().filter(|mask| !mask.without(others).is_empty()).count(), keys.len());
}
