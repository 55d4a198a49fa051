//! The requested and the substituted target: every answer states both on standard output.

use crate::contract::{Folder, etw, shipped};
use serde_json::Value;
use std::process::Output;

/// A build that is newer than all known builds.
const UNKNOWN: &str = "10.0.65000";

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn document(arguments: &[&str]) -> Value {
    let output = etw(&[arguments, &["--format", "json"]].concat());
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{arguments:?}: {error}"))
}

#[test]
fn every_answer_names_the_substituted_target() {
    let target = format!("{UNKNOWN}-x64");
    let note = format!("{target}: inferred from 10.0.28000.1, the newest known release");
    let shown = text(&etw(&["show", "LUID", "--build", UNKNOWN]));
    assert!(shown.starts_with(&note) && shown.contains(&format!("{target}, using the layouts of ")), "{shown}");
    let listed = text(&etw(&["list", "LUID", "--build", UNKNOWN]));
    assert!(listed.starts_with(&note) && listed.contains(&format!("{target}, using the layouts of ")), "{listed}");
    let header = text(&etw(&["export", "c", &target]));
    assert!(header.starts_with(&format!("/* {note}")), "{header:.200}");
    let differs = etw(&["diff", "6.1-x64", &target, "--only", "WMI_LOGGER_CONTEXT"]);
    let difference = text(&differs);
    assert!(difference.starts_with(&note) && difference.contains(&format!("{target}, using the layouts of ")), "{difference}");
    assert_eq!(differs.status.code(), Some(1));
    let arguments = [&["show", "LUID", "--build", UNKNOWN][..], &["list", "--build", UNKNOWN]];
    for document in arguments.map(document).iter().chain([&document(&["diff", "6.1-x64", &target])["b"]]) {
        assert_eq!((&document["requested"], &document["confidence"]), (&target.as_str().into(), &"inferred".into()));
        assert!(document["note"].as_str().is_some_and(|text| text.starts_with(&note)), "{}", document["note"]);
        assert!(document["target"] != document["requested"] && document["build"] != UNKNOWN);
        assert!(document["nearest_older"].is_string() && document["nearest_newer"].is_null(), "{document}");
    }
    let folder = Folder::new();
    let table = shipped().replace("10.0.19041.", &format!("{UNKNOWN}."));
    let table = folder.file("unknown.facts", &table);
    let verified = text(&etw(&["verify", "--symbols", &table]));
    assert!(
        verified
            .lines()
            .next()
            .is_some_and(|line| line.contains(&format!("{UNKNOWN}.")) && line.contains(", using the layouts of ")),
        "{verified}"
    );
    assert_eq!(document(&["verify", "--symbols", &table])["tables"][0]["reason"], "newest");
}

/// The confidence is that of the structure, and is the same in text, in JSON, and in the comment of the header.
#[test]
fn confidence_is_that_of_the_structure() {
    let between = "6.1.7601.20000";
    for (structure, build, word, sentence) in [
        ("WMI_LOGGER_CONTEXT", "10.0.19041.1415", "verified (PDB)", "verified against the symbols of this build"),
        (
            "WMI_LOGGER_CONTEXT",
            "6.1.7601.24000",
            "verified (converted symbols)",
            "verified against converted symbols of this build",
        ),
        ("ETW_UM_LOGGER_CONTEXT", "6.1.7601.24000", "documented", "the symbols of this build do not contain the structure"),
        ("LUID", between, "between", "have the same layout"),
        ("WMI_LOGGER_CONTEXT", between, "uncertain", "have different layouts"),
        ("LUID", "6.1.7601.65000", "after", "the last update of this build with examined symbols"),
        ("LUID", "10.0.18277.1000", "releases", "the releases 10.0.17763."),
    ] {
        let asked = ["show", structure, "--build", build, "--arch", "x64"];
        let (shown, document) = (text(&etw(&asked)), document(&asked));
        let found = document["reason"].as_str().or(document["confidence"].as_str());
        assert_eq!(found, Some(word), "{structure} {build}");
        let known = document["evidence"].as_str().expect("a sentence");
        assert!(known.contains(sentence), "{structure} {build}: {known}");
        assert!(shown.contains(known), "{structure} {build}: {known}\n{shown}");
        let others = document["alternative_targets"].as_array().expect("a list");
        assert_eq!(!others.is_empty(), word == "uncertain", "{document}");
        let header = etw(&["export", "c", &format!("{build}-x64"), "--only", structure]);
        assert!(text(&header).lines().next().is_some_and(|line| line.contains(known)), "{structure} {build}: {known}");
    }
    let shown = text(&etw(&["show", "WMI_LOGGER_CONTEXT", "--build", between]));
    let at = |part: &str| shown.find(part).unwrap_or_else(|| panic!("{part}\n{shown}"));
    let parts = ["Nearest known builds: ", "Differences from 6.1.7601.23418-x64:\n", "0x330 -> 0x340 bytes", "\noffset  size"];
    assert!(parts.map(at).is_sorted(), "{shown}");
    let shown = text(&etw(&["show", "WMI_LOGGER_CONTEXT.BufferSize", "--build", between]));
    assert!(shown.starts_with("6.1.7601.20000-x64: WMI_LOGGER_CONTEXT.BufferSize is at offset 0x"), "{shown}");
    assert!(shown.contains(" in both nearest known builds, 6.1.") && !shown.contains("Differences from"), "{shown}");
    let document = document(&["show", "WMI_LOGGER_CONTEXT", "--build", between]);
    assert!(
        document["differences_in_alternatives"][0]["added"].as_array().is_some_and(|added| !added.is_empty()),
        "{}",
        document["differences_in_alternatives"]
    );
    let targets = text(&etw(&["list", "--targets", "10.0.19041"]));
    assert!(
        targets.lines().any(|line| line.contains("10.0.19041.264-x64") && line.contains("verified (converted symbols)")),
        "{targets}"
    );
    // An architecture that does not exist yet at this build.
    let output = etw(&["show", "LUID", "--build", "5.1.2600.5512", "--arch", "x64"]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.code() == Some(2) && message.contains("no such build: the oldest build of this architecture is"),
        "{message}"
    );
}

/// A layout that no symbols of the architecture verify is inferred from another architecture, and not sure. If the layout is uncertain, the output
/// says so before the table.
#[test]
fn an_update_applies_to_every_architecture() {
    let asked = ["show", "WMI_LOGGER_CONTEXT", "--build", "10.0.19041.2965", "--arch", "x86"];
    let (shown, changed) = (text(&etw(&asked)), document(&asked));
    assert_eq!((&changed["reason"], &changed["changed_by"]), (&"unverified".into(), &"2022-01".into()), "{changed}");
    let evidence = "inferred from x64, whose symbols match no verified layout of this architecture; changed by update 2022-01";
    assert_eq!(changed["evidence"], evidence);
    assert!(shown.contains("PeriodicCaptureStateContext") && shown.contains(evidence), "{shown}");
    assert!(shown.contains("Nearest known build: 10.0.19041.2965-x64, verified (PDB)."), "{shown}");
    let asked = ["show", "WMI_LOGGER_CONTEXT", "--build", "10.0.26100.4652"];
    let (shown, unknown) = (text(&etw(&asked)), document(&asked));
    let neighbours =
        [&unknown["confidence"], &unknown["nearest_older"], &unknown["nearest_newer"], &unknown["alternative_targets"][0]];
    assert_eq!(neighbours, ["uncertain", "10.0.26100.1742", "10.0.28000.1", "10.0.28000.1-x64"], "{unknown}");
    let lines: Vec<_> = shown.lines().take(3).collect();
    let agree = "10.0.26100.4652-x64: the members of WMI_LOGGER_CONTEXT have the same offsets in both nearest known builds, \
        10.0.26100.1742 and 10.0.28000.1; embedded types differ: KTIMER";
    assert_eq!(lines[0], agree);
    let converted = "verified (converted symbols)";
    assert_eq!(lines[1], format!("Nearest known builds: 10.0.26100.1742-x64, {converted}; 10.0.28000.1-x64, {converted}."));
    assert_eq!(lines[2], "");
}

/// Symbols of x64 select the layout of a later x86 build. Where all layouts are those of one target, such a structure is named.
#[test]
fn a_layout_of_a_later_build_is_selected() {
    let (build, later) = ("6.1.7601.23418-x86", "6.1.7601.24000-x86");
    let shown = document(&["show", "ETW_REG_ENTRY", "--build", "6.1.7601.23418", "--arch", "x86"]);
    assert_eq!((&shown["size"], &shown["target"], &shown["reason"]), (&0x3c.into(), &later.into(), &"architecture".into()));
    assert!(shown["members"].as_array().is_some_and(|members| members.iter().all(|member| member["is_sure"] == true)), "{shown}");
    let compared = document(&["diff", build, "6.1.7601.17514-x86"]);
    let unknown = compared["unknown"].as_array().expect("a list");
    assert!(unknown.contains(&"ETW_REG_ENTRY".into()) && !unknown.contains(&"LUID".into()), "{unknown:?}");
    let header = text(&etw(&["export", "c", build]));
    assert!(header.contains(&format!("not the layout of this build, which is that of {later}: inferred from 6.1.7601.24000")));
}

/// The layouts of an architecture are reported as inferred from another one, unless its own symbols were read.
#[test]
fn offsets_of_another_architecture_are_inferred_from_it() {
    for (build, whole, member) in [
        ("24H2", Some("inferred from x64, whose symbols match no verified layout of this architecture"), "inferred from x64"),
        (
            "10.0.22631.65000",
            Some("where the specs do not name arm64, it is inferred from x64"),
            "inferred; the layouts of 10.0.22621.2428 and 10.0.26100.1 differ",
        ),
        ("10.0.19569", None, "verified (converted symbols)"),
        // The x86 build was also examined, but its pointers have another size.
        (
            "10.0.16299.15",
            Some("inferred from x64, whose symbols match no verified layout of this architecture"),
            "inferred from x64",
        ),
    ] {
        let asked = ["show", "WMI_LOGGER_CONTEXT", "--build", build, "--arch", "arm64"];
        let (shown, document) = (text(&etw(&asked)), document(&asked));
        let known = document["evidence"].as_str().expect("a sentence");
        assert!(shown.contains(known) && whole.is_none_or(|whole| known.ends_with(whole)), "{build}: {known}");
        assert_eq!(known.contains("x64"), whole.is_some(), "{build}: {known}");
        let members = document["members"].as_array().expect("members");
        assert!(members.iter().any(|shown| shown["evidence"] == member), "{build}: {}", members[0]);
    }
}

/// Layouts of an unknown build are not reported as equal to others, not even to those of the substituted target. What is known is printed,
/// with the names of the rest.
#[test]
fn an_unknown_build_is_not_reported_as_equal() {
    let newest: Value = document(&["list", "--targets", "--arch", "x64"]);
    let newest = newest["targets"].as_array().and_then(|list| list.last()).map(|target| target["target"].clone());
    let newest = newest.as_ref().and_then(Value::as_str).expect("a target");
    let unknown = format!("{UNKNOWN}-x64");
    for sides in [[newest, &unknown], [&unknown, newest], [&unknown, "10.0.65001-x64"]] {
        for format in ["text", "json"] {
            let output = etw(&["diff", sides[0], sides[1], "--format", format]);
            let message = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{sides:?}");
            assert!(message.contains("unknown whether") && message.contains(UNKNOWN), "{message}");
            assert!(text(&output).contains("unknown") && text(&output).contains("WMI_LOGGER_CONTEXT"), "{}", text(&output));
        }
    }
    assert_eq!(etw(&["diff", newest, newest]).status.code(), Some(0));
    // An image shows a few layouts of this build. The others are those of the row.
    let output = etw(&["diff", "26100.1-x64", "26100.4652-x64"]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("unknown whether 10.0.26100.1-x64 and 10.0.26100.4652-x64 differ: "), "{message}");
    let names = "unknown, because a layout is inferred or uncertain: ";
    assert!(text(&output).contains(names) && text(&output).contains(" unknown\n"), "{}", text(&output));
    // Known parts differ.
    assert_eq!(etw(&["diff", "6.1-x64", "26100.4652-x64"]).status.code(), Some(1));
    // The other layout that an uncertain structure can have is equal.
    let uncertain = etw(&["diff", "6.1.7601.20000-x64", "6.1.7601.23418-x64", "--only", "WMI_LOGGER_CONTEXT"]);
    assert_eq!(uncertain.status.code(), Some(2), "{}", text(&uncertain));
    assert!(
        text(&uncertain).contains("WMI_LOGGER_CONTEXT: struct, 0x330 -> 0x340 bytes (can also be equal: "),
        "{}",
        text(&uncertain)
    );
    let document = document(&["diff", "26100.4652-x64", "28000.1-x64"]);
    let count = |list: &str| document[list].as_array().map_or(0, Vec::len) as u64;
    let differ = document["compared"].as_u64().zip(document["equal"].as_u64()).map(|(all, equal)| all - equal - count("unknown"));
    assert!(count("unknown") > 100 && differ.is_some_and(|differ| differ < 20), "{document}");
}

/// A type that public symbols stopped to contain has its last layout, with the reason. It is not removed.
#[test]
fn a_type_that_left_the_symbols_is_not_removed() {
    let shown = text(&etw(&["show", "KSYSTEM_TIME", "--build", "22621"]));
    assert!(
        shown.contains("struct KSYSTEM_TIME, 0xc bytes") && shown.contains("not in public symbols since 10.0.19041.1526"),
        "{shown}"
    );
    let differs = etw(&["diff", "19041.1415-x64", "19041.1526-x64"]);
    assert!(differs.status.code() == Some(1) && !text(&differs).contains("removed ("), "{}", text(&differs));
    let to = text(&etw(&["map", "--to", "SILO_USER_SHARED_DATA", "--build", "22621"]));
    assert!(
        to.starts_with("References to SILO_USER_SHARED_DATA in ")
            && to.contains("UserSharedData")
            && !to.contains("no known layout"),
        "{to}"
    );
}

/// An offset selects the members at it, also in embedded structures.
#[test]
fn an_offset_selects_its_members() {
    let shown = text(&etw(&["show", "WMI_LOGGER_CONTEXT+0x90", "--build", "19041.1415"]));
    let whole = document(&["show", "WMI_LOGGER_CONTEXT", "--build", "19041.1415", "--recursive"]);
    let found = document(&["show", "WMI_LOGGER_CONTEXT+0x90", "--build", "19041.1415"]);
    let whole = whole.to_string();
    let mut pending: Vec<(&Value, usize)> = found["members"].as_array().into_iter().flatten().map(|member| (member, 1)).collect();
    let mut deepest = 0;
    while let Some((member, depth)) = pending.pop() {
        let (offset, size) = (member["offset"].as_u64().expect("an offset"), member["size"].as_u64().expect("a size"));
        let path = member["path"].as_str().expect("a path");
        assert!((offset..offset + size).contains(&0x90) && whole.contains(&format!("\"path\":\"{path}\"")), "{member}");
        assert!(shown.contains(member["name"].as_str().expect("a name")), "{shown}");
        pending.extend(member["members"].as_array().into_iter().flatten().map(|member| (member, depth + 1)));
        deepest = deepest.max(depth);
    }
    assert!(deepest >= 2 && shown.starts_with("WMI_LOGGER_CONTEXT+0x90, in ") && found["offset"] == 0x90, "{deepest} {shown}");
    let wrong = etw(&["show", "WMI_LOGGER_CONTEXT+0x9000", "--build", "19041.1415"]);
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn a_name_of_several_kernels_selects_the_first() {
    let shown = text(&etw(&["show", "LUID", "--build", "6.3.9600"]));
    assert!(
        shown.contains(
            "in Windows 8.1, Windows Server 2012 R2 (9600.16384): 6.3.9600.16384-x64, the first known revision of its build\n"
        ),
        "{shown}"
    );
    let shown = text(&etw(&["show", "LUID", "--build", "6.1"]));
    assert!(shown.contains("(7600.16385): 6.1.7600.16385-x64, the first build of 6.1-x64\n"), "{shown}");
    let shown = document(&["show", "LUID", "--build", "6.1"]);
    assert_eq!(
        (&shown["requested"], &shown["selected_by"], &shown["build"]),
        (&"6.1-x64".into(), &"first".into(), &"6.1.7600.16385".into())
    );
    let shown = document(&["show", "LUID"]);
    assert_eq!((&shown["requested"], &shown["selected_by"]), (&Value::Null, &"newest".into()));
    // A build that shares another build's kernel starts at its own first revision. Before it, evidence for the other number does
    // not count.
    for (build, confidence, target) in [
        ("10.0.19045", "verified (PDB)", "10.0.19041.1826-x64"),
        ("10.0.19045.2130", "verified (PDB)", "10.0.19041.1826-x64"),
        ("10.0.19045.2006", "inferred", "10.0.19041.1826-x64"),
        ("10.0.19045.329", "inferred", "10.0.19041.264-x64"),
        ("10.0.19041.329", "verified (PDB)", "10.0.19041.264-x64"),
    ] {
        let shown = document(&["show", "LUID", "--build", build]);
        assert_eq!((&shown["confidence"], &shown["target"]), (&confidence.into(), &target.into()), "{build}");
        let selected = etw_layouts::structures::LUID.select(
            format!("{build}{}", if build.ends_with("19045") { ".2130" } else { "" }).parse().unwrap(),
            etw_layouts::Arch::X64,
        );
        assert_eq!(selected.map(|selected| selected.confidence.word()), Ok(confidence), "{build}");
    }
    let shown = text(&etw(&["show", "LUID", "--build", "10.0.19045"]));
    assert!(
        shown.contains("in Windows 10 22H2 (19045.2130, KB5018410): 10.0.19045.2130-x64, the first of 10.0.19045-x64, which has the layouts of 10.0.19041.1826"),
        "{shown}"
    );
    for arguments in
        [&["show", "LUID", "--build", "6.1..6.3"][..], &["export", "c", "6.1..6.3-x64"], &["diff", "6.1..-x64", "6.1-x64"]]
    {
        let output = etw(arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && message.contains("is a range"), "{arguments:?}: {message}");
    }
}

/// A build is shown without a structure, also by its third number: the confidence in each layout, and the differences between its
/// nearest builds.
#[test]
fn a_build_is_shown_without_a_structure() {
    let (whole, short) = (["show", "--build", "10.0.26100.4652"], ["show", "--build", "26100.4652"]);
    let shown = text(&etw(&short));
    assert_eq!(shown, text(&etw(&whole)));
    assert!(shown.starts_with("Windows 11 ") && shown.contains("(26100.4652, KB5062553): 10.0.26100.4652-x64"), "{shown}");
    assert!(shown.contains("\nNearest known builds: 10.0.26100.1742 and 10.0.28000.1. Uncertain: "), "{shown}");
    assert!(shown.contains("\n10.0.26100.1-x64 -> 10.0.28000.1-x64\n") && shown.contains("\nKTIMER\n"), "{shown}");
    assert!(!shown.contains("\nETW_GUID_ENTRY\n"), "layouts that an image verifies in part are not uncertain: {shown}");
    assert!(
        shown.ends_with("uncertain only because of embedded types: ETW_FILTER_EVENT_NAME_DATA, WMI_LOGGER_CONTEXT\n"),
        "{shown}"
    );
    let document = document(&short);
    let count = |word: &str| document["structures"][word].as_u64().unwrap_or(0);
    let uncertain = document["uncertain"].as_array().expect("a list");
    assert!(count("uncertain") as usize == uncertain.len() && count("inferred") > count("uncertain"), "{document}");
    assert!(uncertain.iter().all(|name| shown.contains(name.as_str().unwrap_or("?"))), "{document}");
    assert_eq!(document["differences_in_alternatives"][0]["target"], "10.0.28000.1-x64");
    let known = text(&etw(&["show", "--build", "19045.3570"]));
    assert!(known.contains("(19045.3570, KB5031356)") && known.contains(" verified (PDB)."), "{known}");
    assert!(!known.contains("Uncertain") && !known.contains(" -> "), "{known}");
    for wrong in ["19041.1415.1", "26100.x"] {
        let output = etw(&["show", "--build", wrong]);
        assert!(output.status.code() == Some(2) && output.stdout.is_empty(), "{wrong}");
    }
}
