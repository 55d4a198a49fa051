//! Manifests that the catalogue prints.

use etw_layouts_catalog::{find, manifest};

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
