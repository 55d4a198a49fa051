//! Every count of `etw dump info` equals the number of listed items, for written dumps, and for real dumps in ETW_LAYOUTS_DUMPS.

use crate::{Folder, dump, etw, full, json};
use etw_layouts::{Arch, Build};
use etw_layouts_etl::ClockType;
use etw_layouts_etl::write::Producer;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use test_support::dumps::{self, Session, base, registration};

/// The lines below each heading of the details, without lines that are indented further.
fn details(text: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut sections: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut heading = "";
    for line in text.lines() {
        match line.strip_prefix("  ") {
            Some(rest) if !rest.starts_with(' ') => heading = rest,
            Some(rest) if !rest.starts_with("    ") => sections.entry(heading).or_default().push(rest),
            _ => {}
        }
    }
    sections
}

/// The numbers in the line with this start, in order.
fn numbers(text: &str, start: &str) -> Vec<u64> {
    let line = text.lines().find(|line| line.trim_start().starts_with(start) && line.trim() != start).unwrap_or_default();
    let words = line.trim_start()[start.len()..].split([' ', '(']);
    words.filter_map(|word| word.trim_end_matches([',', ')']).replace(',', "").parse().ok()).collect()
}

fn sum(list: &Value, key: &str) -> u64 {
    list.as_array().unwrap().iter().map(|one| one[key].as_u64().unwrap()).sum()
}

/// Compares every count of a dump with the listed items. Returns the number of items.
fn compare(path: &str, options: &[&str]) -> u64 {
    let of = |words: &[&str]| json(&[words, &[path], options].concat()).1;
    let text_of = |words: &[&str]| String::from_utf8(etw(&[words, &[path], options].concat()).stdout).unwrap();
    let info = of(&["dump", "info", "--details"]).remove(0);
    let (text, short) = (text_of(&["dump", "info", "--details"]), text_of(&["dump", "info"]));
    let (sections, list) = (details(&text), |key: &str| info[key].as_array().unwrap());
    let section = |heading: &str| sections.get(heading).map_or(0, Vec::len) as u64;
    let length = |key: &str| list(key).len() as u64;

    assert_eq!((numbers(&text, "memory"), info["memory_bytes"].as_u64().unwrap()), {
        let kind = info["kind"].as_u64();
        ([&[sum(&info["memory"], "size"), length("memory")][..], kind.as_slice()].concat(), sum(&info["memory"], "size"))
    });
    assert_eq!(section("memory"), length("memory"));
    let is_full = info["kind"].is_u64();
    if is_full {
        let registrations = list("providers").iter().flat_map(|one| one["registrations"].as_array().unwrap()).count() as u64;
        let enabled = list("providers").iter().filter(|one| !one["enabled"].as_array().unwrap().is_empty()).count() as u64;
        assert_eq!(numbers(&text, "providers"), [length("providers"), enabled, registrations]);
        assert_eq!(text.matches("\n      registered at ").count() as u64, registrations);
        for (heading, key) in
            [("modules", "modules"), ("providers", "providers"), ("consumers", "consumers"), ("layout check", "layout_check")]
        {
            assert_eq!((numbers(&text, heading).contains(&length(key)), section(heading)), (true, length(key)), "{heading}");
        }
    } else {
        let in_memory = of(&["dump", "events", "--memory"]).len() as u64;
        assert_eq!(numbers(&text, "trace buffers"), [length("trace_buffers"), in_memory]);
        let buffers: u64 = of(&["dump", "sessions", "--memory"]).iter().map(|one| one["buffers"].as_u64().unwrap()).sum();
        assert_eq!([buffers, section("buffers in memory")], [length("trace_buffers"); 2]);
        assert_eq!(
            (numbers(&text, "registrations"), section("registrations")),
            (vec![length("registrations")], length("registrations"))
        );
        assert_eq!(numbers(&text, "secondary data"), [sum(&info["secondary_data"], "size"), length("secondary_data")]);
        assert_eq!(section("secondary data"), length("secondary_data"));
    }

    let (sessions, events) = (of(&["dump", "sessions"]), of(&["dump", "events"]));
    assert_eq!((numbers(&text, "sessions"), sessions.len() as u64), (vec![length("sessions")], length("sessions")));
    let mut buffers = 0;
    for (session, line) in list("sessions").iter().zip(&sessions) {
        let own = session["buffer_list"].as_array().unwrap();
        buffers += own.len() as u64;
        let listed = |is: &dyn Fn(&Value) -> bool| own.iter().filter(|one| is(one)).count() as u64;
        let [empty, compressed] =
            [listed(&|one| one["size"] == 0x48 && one["is_compressed"] == false), listed(&|one| one["is_compressed"] == true)];
        let counted = ["buffers", "empty_buffers", "compressed_buffers", "events"].map(|key| session[key].as_u64().unwrap());
        let events: Vec<&Value> = events.iter().filter(|event| event["logger_id"] == session["logger_id"]).collect();
        assert_eq!(counted, [own.len() as u64, empty, compressed, events.len() as u64]);
        assert_eq!(counted, ["buffers", "empty_buffers", "compressed_buffers", "events"].map(|key| line[key].as_u64().unwrap()));
        for (header, count) in session["headers"].as_object().unwrap() {
            assert_eq!(events.iter().filter(|event| event["header"] == header.as_str()).count() as u64, count.as_u64().unwrap());
        }
        for (number, buffer) in own.iter().enumerate() {
            let count = events.iter().filter(|event| event["buffer"].as_u64() == Some(number as u64)).count();
            assert_eq!(count as u64, buffer["events"].as_u64().unwrap());
        }
    }
    assert_eq!(section("buffers of sessions"), buffers);

    let diagnostics = info["diagnostics_total"].as_u64().unwrap();
    let listed = text.lines().skip_while(|line| !line.starts_with("  diagnostics")).skip(1).count() as u64;
    assert_eq!((numbers(&short, "diagnostics"), listed, length("diagnostics")), (vec![diagnostics], diagnostics, diagnostics));
    length("memory") + buffers + events.len() as u64 + diagnostics
}

/// A minidump with several items of every kind, and more than is printed without --details.
fn many(arch: Arch) -> Vec<u8> {
    let build = Build::new(10, 0, 19041, 264);
    let producer = Producer { build: Build { revision: 0, ..build }, arch };
    let session = |number, rounds| Session::new(producer, ClockType::PerfCounter, number, rounds).unwrap();
    let mut sessions = vec![session(11, 4), session(35, 2)];
    let other = session(2, 3);
    let mut memory: Vec<_> = (0..3).map(|index| (base(arch) + index * 0x4000, other.buffers[index as usize].clone())).collect();
    memory.extend((0..40).map(|index| (base(arch) + 0x10_0000 + index * 0x1000, registration(build, arch, base(arch) + 0x9000))));
    // Buffers with corrupt events cause one diagnostic each.
    let corrupt: Vec<Vec<u8>> = (0..150)
        .map(|_| {
            let mut corrupt = sessions[1].buffers[0].clone();
            corrupt[0x48 + 4..0x48 + 8].fill(0);
            corrupt
        })
        .collect();
    sessions[1].buffers.extend(corrupt);
    dumps::dump(build, arch, &memory, &sessions)
}

#[test]
fn every_count_is_listed() {
    let folder = Folder::new("counts");
    let mut listed = Vec::new();
    for (name, bytes) in [("whole", dump()), ("x64", many(Arch::X64)), ("x86", many(Arch::X86)), ("arm64", many(Arch::Arm64))] {
        let path = folder.file(&format!("{name}.dmp"), &bytes);
        listed.push(compare(&path, &[]));
        let path = folder.file(&format!("{name}-truncated.dmp"), &bytes[..bytes.len() * 2 / 3]);
        listed.push(compare(&path, &[]));
    }
    let path = folder.file("full.dmp", full::compressed_dump());
    listed.extend([compare(&path, &[]), compare(&path, &["--free"])]);
    println!("{listed:?}");
    assert!(listed.iter().all(|count| *count > 10));
    let Some(real) = test_support::installed::folder("ETW_LAYOUTS_DUMPS") else { return };
    for entry in fs::read_dir(real).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "dmp") {
            assert!(compare(path.to_str().unwrap(), &[]) > 700);
        }
    }
}

/// Events of a session that exists only in memory are reported, and so is the GUID entry of a registration with an unknown GUID.
#[test]
fn events_only_in_memory_are_reported() {
    let folder = Folder::new("memory");
    let path = folder.file("many.dmp", many(Arch::X64));
    let (_, events) = json(&["dump", "events", "--memory", &path]);
    let note = format!(
        "3 trace buffers with {} events of sessions that are not listed are in the memory of the dump; use --memory to read them",
        events.len()
    );
    for command in ["sessions", "events"] {
        let aside = String::from_utf8(etw(&["dump", command, &path]).stderr).unwrap();
        assert!(aside.contains(&note), "{aside}");
        let aside = String::from_utf8(etw(&["dump", command, "--memory", &path]).stderr).unwrap();
        assert!(!aside.contains("use --memory"), "{aside}");
    }
    assert!(events.iter().all(|event| event["logger_id"] == 2 && event["time"].is_null()));
    let text = String::from_utf8(etw(&["dump", "info", "--details", &path]).stdout).unwrap();
    let entry = format!("GUID entry {:#x} is not in the dump", base(Arch::X64) + 0x9000);
    assert_eq!(text.matches(&entry).count(), 40);
    let output = etw(&["dump", "save", "--memory", "-o", folder.0.join("saved").to_str().unwrap(), &path]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("unknown clock: the session does not state it"));
}
