//! Call stacks of events, and profiles.

use super::{Folder, json, run, text, trace};
use etw_layouts_etl::Uuid;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use test_support::clang;
use test_support::installed;
use test_support::records::{Written, written};

/// Where the image is in the process.
pub const BASE: u64 = 0x7FF6_0000_0000;

fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// An event with a call stack: its address and one in the kernel, which is in no image.
fn stacked(tick: i64, addresses: &[u64], payload: u8) -> Written {
    Written::item(tick, 0, 5, 6, words(&[&[0, 0xFFFF_F800_0000_0000], addresses].concat()), vec![payload])
}

/// The events of a process with an image, whose program database they name, and two events that have a call stack.
pub fn stacked_events(pdb: &[u8], addresses: &[u64]) -> Vec<Written> {
    const IMAGE_ID: Uuid = Uuid::from_u128(0xb3e675d7_2554_4f18_830b_2762732560de);
    let name: Vec<u8> = r"\Device\traced.dll".encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect();
    let image = [words(&[BASE, 0x10000]), 7_u32.to_le_bytes().to_vec(), vec![0; 36], name].concat();
    vec![
        Written::kernel(1, 0, 0x1403, image),
        // Image, process, and then what the image has: GUID, age and name.
        Written::relogged(2, (IMAGE_ID, 36), [&words(&[BASE])[..], &7_u32.to_le_bytes(), pdb].concat()),
        stacked(10, addresses, 1),
        Written::event(20, (5, 7), (1, 2, 0), vec![2]),
        stacked(30, addresses, 3),
    ]
}

/// A compiled image: the identity of its PDB, the path of the PDB, and the offset of an instruction in an inlined function; `None` without clang and LLD.
pub fn compiled(folder: &Folder) -> Option<(Vec<u8>, PathBuf, u64)> {
    let (image, pdb) = clang::link(clang::INLINED, clang::X64, &clang::linker()?, &folder.0.join("traced"), &[]);
    let image = clang::mapped(&fs::read(image).unwrap());
    let stop = 0x1000 + image[0x1000..].iter().position(|byte| *byte == 0xCC).unwrap();
    let record = image.windows(4).position(|bytes| bytes == b"RSDS").unwrap() + 4;
    let name = image[record + 20..].iter().position(|byte| *byte == 0).unwrap();
    Some((image[record..=record + 20 + name].to_vec(), pdb, stop as u64))
}

/// A compiled image, whose PDB is found by the identity that the trace states. Its functions, inlined functions and lines are in call stacks and
/// profiles. Without the PDB, what is missing is listed for a download.
#[test]
fn functions_of_a_compiled_program() {
    let folder = Folder::new("stacks-compiled");
    let Some((identity, pdb, stop)) = compiled(&folder) else { return };
    let file = folder.file("traced.etl", written(&stacked_events(&identity, &[BASE + stop + 1])));
    let symbols = text(pdb.parent().unwrap());
    let new = |name: &str| text(&folder.0.join(name));

    let (status, out, err) = run(&["events", "--stacks", "--symbol-path", &symbols, "--format", "json", &file]);
    let stacks: Vec<_> = json(&out).into_iter().map(|event| event["stack"].clone()).filter(|stack| !stack.is_null()).collect();
    assert_eq!((status, stacks.len(), err.contains("PDB")), (0, 2, false), "{out}");
    let frame = &stacks[0][1];
    let lines = |function: &Value| (function["function"].clone(), function["line"].clone());
    assert_eq!(lines(frame), (json!("outer"), json!(13)));
    let inlined: Vec<_> = frame["inlined"].as_array().unwrap().iter().map(lines).collect();
    assert_eq!(inlined, [(json!("inner"), json!(5)), (json!("middle"), json!(9))]);
    assert_eq!((&frame["kind"], &frame["offset"]), (&json!("function"), &json!(stop + 1)));
    assert!(frame["source"].as_str().unwrap().ends_with("traced.c"), "{frame}");
    assert_eq!((&stacks[0][0]["kind"], &stacks[0][0]["module"]), (&json!("no images"), &Value::Null));
    let (_, out, _) = run(&["events", "--stacks", "--symbol-path", &symbols, &file]);
    let ends: Vec<_> =
        out.lines().filter(|line| line.contains("traced.c:")).map(|line| line.rsplit(':').next().unwrap()).collect();
    assert_eq!(ends, ["5  (inlined)", "9  (inlined)", "13", "5  (inlined)", "9  (inlined)", "13"], "{out}");
    let (status, out, err) = run(&["events", "--stacks", "--format", "csv", &file]);
    assert!(status == 2 && out.is_empty() && err.contains("no form in CSV; use --format json"), "{status} {out} {err}");

    let profile = |format: &str, symbols: &str| {
        let path = new(&format!("{format}{}", symbols.len()));
        let args = ["profile", "--of", "events", "--symbol-path", symbols, "--format", format, "-o", &path, &file];
        let (status, out, err) = run(&args);
        assert_eq!((status, out.as_str()), (0, ""), "{err}");
        (fs::read(path).unwrap(), err)
    };
    let (folded, err) = profile("folded", &symbols);
    let line = "process 7;thread 5;outer;middle;inner;0xfffff80000000000 2\n";
    assert_eq!(String::from_utf8(folded).unwrap(), line);
    assert!(
        err.contains("2 of 6 events in ") && err.contains("left out: 1 of an unknown thread, 3 without a call stack"),
        "{err}"
    );
    let document: Value = serde_json::from_slice(&profile("speedscope", &symbols).0).unwrap();
    let frames = document["shared"]["frames"].as_array().unwrap().iter();
    let found: BTreeMap<_, _> = frames.map(|frame| (frame["name"].as_str().unwrap(), frame["line"].as_u64())).collect();
    let expected = [("0xfffff80000000000", None), ("inner", Some(5)), ("middle", Some(9)), ("outer", Some(13))];
    assert_eq!(found, BTreeMap::from(expected));
    let document: Value = serde_json::from_slice(&profile("firefox", &symbols).0).unwrap();
    let names: Vec<_> = document["threads"][0]["stringArray"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(["outer", "middle", "inner", "traced.dll"].iter().all(|name| names.contains(name)), "{names:?}");

    // The list is what a store is asked for.
    let empty = folder.0.join("empty");
    fs::create_dir(&empty).unwrap();
    let args = ["profile", "--of", "events", "--symbol-path", &text(&empty), "--missing-symbols", "-o", &new("missing"), &file];
    let (status, out, err) = run(&args);
    let guid = Uuid::from_bytes_le(identity[..16].try_into().unwrap());
    assert_eq!((status, out), (0, format!("traced.pdb/{:X}1/traced.pdb\n", guid.simple())));
    assert!(err.contains("2 frames without a function in traced.dll") && err.contains("1 PDB not found"), "{err}");
    // Without the PDB, the image names its exports.
    fs::copy(pdb.with_extension("dll"), empty.join("traced.dll")).unwrap();
    let (_, out, err) = run(&["events", "--stacks", "--symbol-path", &text(&empty), "--format", "json", &file]);
    let event = json(&out).into_iter().find(|event| !event["stack"].is_null()).unwrap();
    let (frame, distance) = (&event["stack"][1], stop - 0x1000);
    assert_eq!((&frame["kind"], &frame["function"], &frame["line"]), (&json!("export"), &json!("outer (export)"), &Value::Null));
    assert_eq!(frame["export_offset"], distance);
    assert!(err.contains("1 PDB not found along the symbol path; add a folder"), "{err}");
    let (_, out, _) = run(&["events", "--stacks", "--symbol-path", &text(&empty), &file]);
    assert!(out.contains(&format!("  outer (export)  ({distance:#x} bytes after it)\n")), "{out}");
    let (folded, _) = profile("folded", &text(&empty));
    assert_eq!(String::from_utf8(folded).unwrap(), "process 7;thread 5;outer (export);0xfffff80000000000 2\n");
    // What is not a PDB is reported.
    fs::write(empty.join("traced.pdb"), "no PDB").unwrap();
    let (_, _, err) = run(&["events", "--stacks", "--symbol-path", &text(&empty), &file]);
    assert!(err.contains("traced.pdb: is not a PDB: it begins with `no PDB`") && !err.contains("not found"), "{err}");
}

/// A trace without samples, and filters that nothing matches, have no profile, and the error states what is missing.
#[test]
fn nothing_to_profile() {
    let folder = Folder::new("profile-nothing");
    let [plain, stacked] = [folder.file("a.etl", trace()), folder.file("b.etl", written(&stacked_events(&[0; 21], &[BASE])))];
    let target = text(&folder.0.join("profile.json"));
    for (args, expected) in [
        (
            &["--of", "samples", &plain][..],
            "no samples: the trace has no PerfInfo/SampleProf events; record with `xperf -on PROC_THREAD+LOADER+PROFILE -stackwalk Profile`",
        ),
        (
            &["--of", "waits", &plain],
            "no waits: the trace has no Thread/CSwitch events; record with `xperf -on PROC_THREAD+LOADER+CSWITCH+DISPATCHER -stackwalk CSwitch+ReadyThread`",
        ),
        (&["--of", "events", "--from", "0", "--to", "0.000001", &plain], "has a call stack; record stacks"),
        (&["--event", "No/Event", &stacked], "no events match"),
        (&["--event", "No/Event", "--of", "samples", &stacked], "no samples"),
        (&["--weight", "Size", "--of", "samples", &stacked], "only events have fields to weight"),
        (
            &["--weight", "Size", &stacked],
            "nothing in the profile: 1 of an unknown thread, 5 without the field; use a field with a number, not `Size`",
        ),
    ] {
        let (status, out, err) = run(&[&["profile", "-o", &target], args].concat());
        assert!(status == 2 && out.is_empty() && err.contains(expected), "{args:?}: {status} {out} {err}");
        assert!(!Path::new(&target).exists(), "{args:?}");
    }
    let (status, _, err) = run(&["profile", "--of", "events", "-o", &plain, &stacked]);
    assert!(status == 2 && err.contains("refusing to overwrite"), "{status} {err}");
}

/// The stacks of samples of a real trace, in both orders; filters and formats of a profile count the same samples.
#[test]
fn samples_of_a_real_trace() {
    let Some(folder) = installed::folder("ETW_LAYOUTS_ETL") else { return };
    let file = text(&folder.join("microsoft__net.4.5.2.x64.etl"));
    let print = |order: &str| {
        let args = ["events", "--stacks", "--event", "PerfInfo/SampleProf", "--order", order, "--format", "json", &file];
        let (_, out, _) = run(&args);
        let mut lines: Vec<_> = out.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let lines = print("file");
    let stacks = lines.iter().filter(|line| !line.contains("\"stack\":null")).count();
    assert_eq!((lines.len(), stacks), (79_528, 6_318));
    assert!(lines == print("time"));

    let folder = Folder::new("profile-real");
    for format in ["firefox", "folded"] {
        let target = text(&folder.0.join(format));
        let (_, _, err) = run(&["profile", "--process", "3676", "--format", format, "-o", &target, &file]);
        let of = |what: &str| {
            let end = err.find(what).unwrap_or_else(|| panic!("{err}"));
            err[..end].rsplit([' ', ':']).next().unwrap().replace(',', "").parse::<u64>().unwrap()
        };
        let (samples, filtered) = (of(" of 79,528 samples"), of(" not matching"));
        assert_eq!(samples + filtered, 79_528, "{err}");
        let written = fs::read_to_string(&target).unwrap();
        let sum: u64 = match format {
            "folded" => written.lines().map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum(),
            _ => {
                let document: Value = serde_json::from_str(&written).unwrap();
                document["threads"].as_array().unwrap().iter().map(|thread| thread["samples"]["length"].as_u64().unwrap()).sum()
            }
        };
        assert_eq!(sum, samples, "{format}");
    }
}
