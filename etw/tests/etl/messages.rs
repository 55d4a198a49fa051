//! Formats of WPP messages from PDBs: named by the user, or found by the identities that the trace states.

use super::{Folder, START, json, run, text};
use etw_layouts_etl::header::{EventHeader, Message};
use etw_layouts_etl::payload::Uuid;
use etw_layouts_etl::write::Record;
use serde_json::json;
use std::fs;
use std::process::Command;
use test_support::{clang, dumps};

/// A trace that names PDBs, with two messages of the compiled program and one of another.
fn message_trace(pdbs: &[Vec<u8>]) -> Vec<u8> {
    let named: Vec<_> = pdbs.iter().map(|pdb| (5, 0x0040, 2, pdb.clone())).collect();
    let mut writer = super::kernel::writer_of_hooks(&named);
    let own = Uuid::parse_str("1b2c3d4e-0e7b-422b-a0c7-2fad1fd0e716").ok();
    let other = Uuid::parse_str("2b2c3d4e-0e7b-422b-a0c7-2fad1fd0e716").ok();
    for (number, guid, payload) in [(10, own, &b"\x05\0\0\0disk\0"[..]), (11, own, b""), (10, other, b"\x01")] {
        let message = Message { number, guid, time_stamp: Some(10), ..Message::default() };
        writer.push(0, &Record::new(EventHeader::Message(message), true, payload)).unwrap();
    }
    writer.finish(START + 10_000_000).unwrap().into_inner()
}

/// The texts of all files in a folder.
fn rows_in(folder: &std::path::Path) -> String {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.map(|file| fs::read_to_string(file).unwrap()).collect()
}

/// The texts are the same by the PDB, and by the symbol path with the identity of the PDB. The function of a message is that which contains it, unless it
/// states another. What is not found is named.
#[test]
fn formats_in_program_databases() {
    let folder = Folder::new("messages-pdb");
    let Some(linker) = clang::linker() else { return };
    fs::create_dir(folder.0.join("symbols")).unwrap();
    let pdb = clang::annotated(&linker, &folder.0.join("symbols/app"));
    let image = fs::read(pdb.with_extension("dll")).unwrap();
    // GUID and age of the PDB follow the signature. The event has the file name after them.
    let record = image.windows(4).position(|bytes| bytes == b"RSDS").unwrap() + 4;
    let stated = [&image[record..record + 20], b"app.pdb\0"].concat();
    // A PDB with this name and another identity.
    let absent = [&[0x11; 16][..], &3_u32.to_le_bytes(), b"absent.pdb\0"].concat();
    let file = folder.file("a.etl", message_trace(&[absent, stated.clone()]));
    let (pdb, symbols) = (text(&pdb), text(&folder.0.join("symbols")));
    let empty = text(&folder.0);
    for options in [["--tmf", &pdb], ["--tmf", &symbols], ["--symbol-path", &symbols]] {
        let with = |words: &[&str]| run(&[words, &options[..], &[&*file]].concat());
        let (status, out, err) = with(&["events", "--payload", "message", "--format", "json"]);
        let texts: Vec<_> =
            json(&out).iter().skip(3).map(|event| json!([event["event"], event["message"], event["payload"]])).collect();
        let expected = [
            json!(["example/Device_c87", "start: 5 of disk", null]),
            json!(["example/Device_c99", "Device::Stop ends", null]),
            json!([null, null, "01"]),
        ];
        assert_eq!((status, texts), (0, expected.to_vec()), "{options:?} {out} {err}");
        assert!(err.contains("1 WPP message without a known format") && err.contains("app.pdb/"), "{err}");
        assert_eq!(err.contains("1 PDB not found along the symbol path"), options[0] == "--symbol-path", "{err}");
        let (_, out, _) = with(&["events", "--event", "example/Device_c99", "--format", "json"]);
        assert_eq!(json(&out).len(), 1, "{out}");
        let (_, out, _) = with(&["stat", "--by", "event", "--format", "json"]);
        assert!(out.contains("example/Device_c87") && out.contains("example/Device_c99"), "{out}");
        let (_, out, _) = with(&["schemas", "--format", "json"]);
        let tmf = json(&out)[0]["sources"].as_array().unwrap().iter().find(|source| source["source"] == "TMF").cloned().unwrap();
        assert_eq!((&tmf["events"], &tmf["whole"]), (&json!(2), &json!(2)), "{out}");
    }
    // A copy of one message, by its name; and the arguments as a table. Each needs the formats.
    let copy = text(&folder.0.join("copy.etl"));
    let name = ["--event", "example/Device_c87"];
    let (status, out, err) = run(&[&["save", "-o", &copy, "--symbol-path", &symbols, &file][..], &name].concat());
    assert!(status == 0 && out.contains("1 of "), "{out} {err}");
    let (status, _, err) = run(&["save", "-o", &copy, "--symbol-path", &symbols, &file]);
    assert!(status == 2 && err.contains("--symbol-path has no effect without an option"), "{err}");
    let (table, tables) = (text(&folder.0.join("table")), &["export", "--format", "jsonl", "-o"]);
    let (status, _, err) = run(&[&tables[..], &[&table, "--tmf", &pdb, &file]].concat());
    assert!(status <= 1, "{err}");
    let rows = rows_in(&folder.0.join("table/events"));
    assert!(rows.contains("Device_c87") && rows.contains("disk"), "{rows}");
    // The same in the session of a crash dump.
    let traced = message_trace(&[stated]);
    let log = etw_layouts_etl::Trace::from_bytes(&traced).unwrap().log_file().clone();
    let session = dumps::Session::of_trace(traced, log, 11);
    let build = "10.0.19041.264".parse().unwrap();
    let crashed = folder.file("a.dmp", dumps::dump(build, etw_layouts_etl::wire::Arch::X64, &[], &[session]));
    let dump = ["dump", "events", "--payload", "message", "--symbol-path", &symbols, &crashed];
    let output = Command::new(env!("CARGO_BIN_EXE_etw")).args(dump).output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(out.contains("start: 5 of disk") && err.contains("1 WPP message without a known format"), "{out} {err}");
    let (status, out, err) = run(&["events", "--symbol-path", &empty, "--payload", "message", &file]);
    assert!(status == 0 && !out.contains("disk") && err.contains("2 PDBs not found along the symbol path"), "{out} {err}");
    assert!(err.contains("3 WPP messages without a known format"), "{err}");
    // Corrupt, and without messages.
    let bytes = fs::read(&pdb).unwrap();
    let broken = folder.file("broken.pdb", &bytes[..bytes.len() / 2]);
    let (status, _, err) = run(&["events", "--tmf", &broken, &file]);
    assert!(status == 2 && err.contains("truncated"), "{err}");
    let public = folder.file("public.pdb", test_support::pdb::file());
    let (status, _, err) = run(&["events", "--tmf", &public, &file]);
    assert!(status == 2 && err.contains("or private program databases (.pdb)"), "{err}");
}
