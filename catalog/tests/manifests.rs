//! Manifests that the catalogue prints.

use etw_layouts_catalog::{find, library, manifest};
use etw_layouts_payload::InType;
use etw_layouts_schemas::{Event, Field, Library};

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

/// A structure whose members no source states ends the fields, and the comment says so.
#[test]
fn unknown_members() {
    let text = manifest(find("Microsoft-Windows-Dwm-Core", 26100).unwrap(), 26100);
    assert!(text.contains("no source states the members of the structure DirtyRegions"), "{text}");
}

/// By GUID with braces and without; a structure with members and an array by a field.
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
    let (mut providers, mut events, mut equal, mut errors) = (0, 0, 0, Vec::new());
    for provider in library().providers() {
        let xml = manifest(provider, 26100);
        let read =
            etw_layouts_schemas::manifest::read(xml.as_bytes()).unwrap_or_else(|error| panic!("{}: {error}", provider.name()));
        providers += 1;
        errors.extend(read.errors.iter().map(|error| format!("{}: {error}", provider.name())));
        let known = Library::provider(provider, |_| true);
        for event in read.providers.iter().flat_map(|read| &read.events) {
            let sources = known.events.iter().filter(|other| (other.id, other.version) == (event.id, event.version));
            let is_equal = sources.clone().any(|other| fields(other) == fields(event));
            (events, equal) = (events + 1, equal + usize::from(is_equal));
            if !is_equal {
                let sources: Vec<_> = sources.map(fields).collect();
                errors.push(format!(
                    "{} {} version {}: {:?}, not {sources:?}",
                    provider.name(),
                    event.id,
                    event.version,
                    fields(event)
                ));
            }
        }
    }
    println!("{providers} manifests, {equal} of {events} events equal");
    assert!(errors.is_empty(), "{} errors, the first: {:#?}", errors.len(), &errors[..errors.len().min(20)]);
    assert!(providers > 1_000 && events > 30_000, "{providers} {events}");
}

/// Fields without their maps, up to a structure whose members are unknown, which no manifest can have; an event without fields is like one
/// whose fields are unknown.
fn fields(event: &Event) -> Vec<Field> {
    let plain = |field: &Field| Field { map: None, ..field.clone() };
    let is_known = |field: &&Field| field.in_type != InType::STRUCT || !field.members.is_empty();
    event.fields.iter().flatten().take_while(is_known).map(plain).collect()
}
