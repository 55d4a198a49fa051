//! The providers of .NET are published as a manifest and in compiled form. The readers of both forms share no code, and must give equal results.
//! `clretwrc.dll` is in the wheels `win_amd64` of the PyPI package dotnetcore2.

use etw_layouts_payload::{InType, OutType};
use etw_layouts_schemas::{Event, Field, Provider, binary, manifest};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use test_support::installed;

/// Parts that are newer in the binaries of .NET Core 2.1 and 3.1 than in the manifest: keywords of two events, and values of maps.
const NEWER: [&str; 7] = [
    "GCGenerationRange",
    "ExceptionThrown_V1",
    "GCRootKindMap of Microsoft-Windows-DotNETRuntime",
    "ModuleFlagsMap of Microsoft-Windows-DotNETRuntime",
    "MethodFlagsMap of Microsoft-Windows-DotNETRuntime",
    "ModuleFlagsMap of Microsoft-Windows-DotNETRuntimeRundown",
    "MethodFlagsMap of Microsoft-Windows-DotNETRuntimeRundown",
];

#[test]
fn manifest_and_binary_are_equal() {
    let Some(folder) = installed::folder("ETW_LAYOUTS_PAYLOADS") else { return };
    let binary = folder.join("clretwrc.dll");
    if !binary.exists() {
        return installed::absent("clretwrc.dll");
    }
    let text = manifest::read(&fs::read(folder.join("ClrEtwAll.man")).unwrap()).unwrap();
    let compiled = binary::read(&fs::read(binary).unwrap(), &[]).unwrap();
    assert_eq!((text.errors_total, compiled.errors_total), (0, 0), "{:?} {:?}", text.errors, compiled.errors);
    assert_eq!((text.providers.len(), compiled.providers.len()), (4, 4));
    let (mut equal, mut fields, mut only_compiled) = (0, 0, 0);
    let mut differences = Vec::new();
    for (ours, theirs) in text.providers.iter().zip(&compiled.providers) {
        assert_eq!((ours.guid, &ours.name), (theirs.guid, &theirs.name));
        let by_name: BTreeMap<_, _> = theirs.maps.iter().map(|map| (&map.name, map)).collect();
        for map in &ours.maps {
            if by_name.get(&map.name) != Some(&map) {
                differences.push(format!("{} of {}", map.name, ours.name));
            }
        }
        for keyword in ours.keywords.iter().filter(|keyword| !theirs.keywords.contains(keyword)) {
            differences.push(format!("{} of {}", keyword.name, ours.name));
        }
        let by_id: BTreeMap<_, _> = theirs.events.iter().map(|event| ((event.id, event.version), event)).collect();
        for event in &ours.events {
            let (ours, theirs) =
                (comparable(event, ours), by_id.get(&(event.id, event.version)).map(|event| comparable(event, theirs)));
            fields += ours.fields.iter().flatten().map(|field| 1 + field.members.len()).sum::<usize>();
            if Some(&ours) == theirs.as_ref() {
                equal += 1;
            } else {
                differences.push(event.symbol.clone());
            }
        }
        let text: BTreeSet<_> = ours.events.iter().map(|event| (event.id, event.version)).collect();
        only_compiled += theirs.events.iter().filter(|event| !text.contains(&(event.id, event.version))).count();
    }
    println!("{equal} events equal, {fields} fields compared, {only_compiled} events only in the binary");
    differences.retain(|difference| !NEWER.contains(&difference.as_str()));
    assert_eq!((equal, differences), (382, Vec::<String>::new()));
    assert!(only_compiled >= 14);
}

/// The event without the parts that only manifests have. Maps are numbered in the order of their names, and default display formats are filled in.
fn comparable(event: &Event, provider: &Provider) -> Event {
    fn adapt(field: &mut Field, order: &[usize]) {
        field.map = field.map.map(|map| order[map]);
        if field.out_type == OutType::NULL {
            field.out_type = default(field.in_type);
        }
        field.members.iter_mut().for_each(|member| adapt(member, order));
    }
    let mut names: Vec<_> = provider.maps.iter().map(|map| &map.name).collect();
    names.sort();
    names.retain(|name| name.as_str() != "TieredCompilationSettingsFlagsMap");
    let order: Vec<_> = provider.maps.iter().map(|map| names.binary_search(&&map.name).unwrap_or(usize::MAX)).collect();
    let mut event = Event { symbol: String::new(), ..event.clone() };
    event.keywords.sort();
    event.fields.iter_mut().flatten().for_each(|field| adapt(field, &order));
    event
}

/// The default display format of an encoding, from Microsoft's documentation of the type InputType of the manifest schema.
fn default(in_type: InType) -> OutType {
    match in_type {
        InType::UNICODESTRING | InType::ANSISTRING => OutType::STRING,
        InType::INT8 => OutType::BYTE,
        InType::UINT8 => OutType::UNSIGNEDBYTE,
        InType::INT16 => OutType::SHORT,
        InType::UINT16 => OutType::UNSIGNEDSHORT,
        InType::INT32 => OutType::INT,
        InType::UINT32 => OutType::UNSIGNEDINT,
        InType::INT64 => OutType::LONG,
        InType::UINT64 => OutType::UNSIGNEDLONG,
        InType::FLOAT => OutType::FLOAT,
        InType::DOUBLE => OutType::DOUBLE,
        InType::BOOLEAN => OutType::BOOLEAN,
        InType::BINARY => OutType::HEXBINARY,
        InType::GUID => OutType::GUID,
        InType::POINTER => OutType::HEXINT64,
        _ => OutType::NULL,
    }
}
