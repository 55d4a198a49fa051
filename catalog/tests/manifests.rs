//! Manifests made from the catalogue.

use etw_layouts_catalog::{PLACEHOLDER, find, library, manifest};
use etw_layouts_payload::InType;
use etw_layouts_schemas::{Event, Field, Library, Map, Provider};

#[test]
fn kernel_process() {
    let text = |build| manifest(find("microsoft-windows-kernel-process", build).unwrap(), build);
    let newest = text(u32::MAX);
    assert!(newest.contains(r#"guid="{22fb2cd6-0e7b-422b-a0c7-2fad1fd0e716}""#), "{newest}");
    // Events of a build are those of the nearest source at or before it.
    let count = |text: &str| text.matches("<event ").count();
    let (oldest, middle) = (text(7601), text(18363));
    assert!(oldest.contains("<!-- Source: Windows 7 (7600), repnz/etw-providers-docs -->"), "{oldest}");
    assert!(middle.contains("(17134)"), "{middle}");
    assert!(count(&oldest) < count(&middle) && count(&middle) < count(&newest));
}

/// No number is printed as if a source stated it: other numbers are marked as placeholders.
#[test]
fn placeholders() {
    let marked = |name: &str| {
        let text = manifest(find(name, 26100).unwrap(), 26100);
        let lines = ["<task ", "<opcode ", "<level ", "<keyword "].map(|item| {
            let lines: Vec<_> = text.lines().filter(|line| line.trim_start().starts_with(item)).collect();
            (lines.len(), lines.iter().filter(|line| line.contains(PLACEHOLDER)).count())
        });
        (lines, text.contains("do not\n     enable a provider with them"))
    };
    let ([tasks, _, _, keywords], is_warned) = marked("Microsoft-Windows-Kernel-Process");
    assert!(
        tasks.0 > 10 && tasks.0 == tasks.1 && keywords.0 > 5 && keywords.0 == keywords.1 && is_warned,
        "{tasks:?} {keywords:?}"
    );
    // The masks of this provider are known.
    let ([.., keywords], _) = marked("Microsoft-Windows-DotNETRuntime");
    assert!(keywords.0 > 10 && keywords.1 == 0, "{keywords:?}");
}

/// Fields end at a structure with unknown members and at binary data of unknown length, and a comment states this.
#[test]
fn unknown_members() {
    let text = manifest(find("Microsoft-Windows-Dwm-Core", 26100).unwrap(), 26100);
    assert!(text.contains("no source states the members or the length of DirtyRegions"), "{text}");
    let text = manifest(find("Microsoft-Windows-NWiFi", 26100).unwrap(), 26100);
    assert!(text.contains("no source states the members or the length of SrcMAC"), "{text}");
}

/// A provider is found by GUID, with or without braces. Its manifest has a structure with members, and an array with its count in a field.
#[test]
fn dot_net() {
    let guid = "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4";
    let text = manifest(find(guid, 26100).unwrap(), 26100);
    assert_eq!(find(&format!("{{{guid}}}"), 0), find("Microsoft-Windows-DotNETRuntime", 26100));
    assert!(text.contains(r#"<struct name="Values" count="Count">"#), "{text}");
    assert!(text.contains(r#"<data name="Stack" inType="win:Pointer" count="FrameCount"/>"#), "{text}");
    assert!(text.contains(r#"<keyword name="GCKeyword" mask="0x1"/>"#), "{text}");
    assert!(find("no such provider", 26100).is_none());
}

/// The manifest of every provider is read back without an error, and each of its events has the fields of a source.
#[test]
fn read_back() {
    let (mut providers, mut events, mut equal, mut mapped, mut errors) = (0, 0, 0, 0, Vec::new());
    for provider in library().providers() {
        let xml = manifest(provider, 26100);
        let read =
            etw_layouts_schemas::manifest::read(xml.as_bytes()).unwrap_or_else(|error| panic!("{}: {error}", provider.name()));
        providers += 1;
        errors.extend(read.errors.iter().map(|error| format!("{}: {error}", provider.name())));
        let known = Library::provider(provider, |_| true);
        for (own, event) in read.providers.iter().flat_map(|own| own.events.iter().map(move |event| (own, event))) {
            let sources = known.events.iter().filter(|other| (other.id, other.version) == (event.id, event.version));
            let (sources, fields) = (sources.map(|source| fields(&known, source)).collect::<Vec<_>>(), fields(own, event));
            mapped += fields.iter().filter(|(_, map)| map.is_some()).count();
            events += 1;
            match sources.contains(&fields) {
                true => equal += 1,
                false => errors.push(format!(
                    "{} {} version {}: {fields:?}, not {sources:?}",
                    provider.name(),
                    event.id,
                    event.version
                )),
            }
        }
    }
    println!("{providers} manifests, {equal} of {events} events equal, {mapped} fields with maps");
    assert!(errors.is_empty(), "{} errors, the first: {:#?}", errors.len(), &errors[..errors.len().min(20)]);
    assert!(providers > 1_000 && events > 30_000 && mapped >= 100, "{providers} {events} {mapped}");
}

/// Fields with their maps, up to a structure with unknown members, which a manifest cannot contain. An event without fields is equal to an
/// event with unknown fields.
fn fields(provider: &Provider, event: &Event) -> Vec<(Field, Option<Map>)> {
    let plain = |field: &Field| {
        let map = field.map.map(|map| Map { name: String::new(), ..provider.maps[map].clone() });
        (Field { map: None, ..field.clone() }, map)
    };
    let is_known = |field: &&Field| field.in_type != InType::STRUCT || !field.members.is_empty();
    event.fields.iter().flatten().take_while(is_known).map(plain).collect()
}
