//! `stat`.

use crate::{Folder, PRODUCER, START, json, mixed, run, small_folder, text, trace_of};
use etw_layouts_etl::{LogFile, Uuid};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use test_support::installed;
use test_support::records::{Written, written};

/// Rows of events with the same name state how they differ.
#[test]
fn rows_of_one_name() {
    let folder = Folder::new("one-name");
    let kernel = |hook| Written::kernel(1, 0, hook, vec![0; 60]);
    let image = Uuid::from_u128(0x2cb1_5d1d_5fc1_11d2_abe1_00a0_c911_f518);
    // Image/DCStart as a kernel event of two groups, and as an event of its class.
    folder.file("a.etl", written(&[kernel(0x0303), kernel(0x1403), kernel(0x0403), Written::class(2, (image, 3), vec![0; 60])]));
    let folders = [text(&folder.0)].into_iter().chain(installed::folder("ETW_LAYOUTS_ETL").map(|shared| text(&shared)));
    for (index, folder) in folders.enumerate() {
        let out = run(&["stat", "--by", "event", &folder]).1;
        let rows: Vec<_> =
            out.lines().skip_while(|line| !line.ends_with("events/s  event")).skip(1).map(|row| &row[48..]).collect();
        let names: BTreeSet<_> = rows.iter().map(|row| row.split(", ").next().unwrap()).collect();
        assert_eq!(rows.iter().collect::<BTreeSet<_>>().len(), rows.len(), "{out}");
        assert!(names.len() < rows.len(), "{out}");
        assert!(
            index > 0 || ["Image/DCStart, hook 0x1403", "Image/DCStart, opcode 3"].iter().all(|row| rows.contains(row)),
            "{out}"
        );
    }
}

/// The counts equal those computed from the JSON of the events, for one file and for several files together.
#[test]
fn counted_events() {
    let folder = Folder::new("stat");
    let log = LogFile { start_time: START, events_lost: 3, buffers_lost: 4, ..LogFile::new(&PRODUCER) };
    folder.file("mixed.etl", mixed());
    folder.file("deep/lost.etl", trace_of(log));
    let mut folders = vec![text(&folder.0)];
    let real = small_folder();
    folders.extend(real.iter().map(|folder| text(&folder.0)));
    for (folder, options) in folders.iter().flat_map(|folder| [(folder, &[][..]), (folder, &["--opcode", "1", "--opcode", "2"])])
    {
        let events = json(&run(&[&["events", "--format", "json", folder], options].concat()).1);
        for (by, keys) in [
            ("provider", &["provider"][..]),
            ("id", &["provider", "id", "opcode"]),
            ("process", &["process"]),
            ("processor", &["processor"]),
        ] {
            let (status, out, _) = run(&[&["stat", "--by", by, "--format", "json", folder], options].concat());
            let stat = &json(&out)[0];
            assert_eq!((status, stat["events"].as_u64()), (0, Some(events.len() as u64)), "{folder}");
            // The key of a row; for an event with an ID, without the opcode.
            let key = |line: &Value| {
                let of = |key: &&str| match *key {
                    "opcode" if !line["id"].is_null() => Value::Null,
                    key => line[key].clone(),
                };
                keys.iter().map(of).map(|value| value.to_string()).collect::<Vec<_>>()
            };
            let mut hand: BTreeMap<_, (u64, u64, Vec<i64>)> = BTreeMap::new();
            for event in &events {
                let row = hand.entry(key(event)).or_default();
                (row.0, row.1) = (row.0 + 1, row.1 + event["size"].as_u64().unwrap());
                row.2.extend(event["time"].as_i64());
            }
            let mut ours: BTreeMap<_, (u64, u64, Vec<i64>)> = BTreeMap::new();
            for row in stat["groups"].as_array().unwrap() {
                // Groups without a GUID differ in their number, which is in the ID of an event in JSON.
                let sum = ours.entry(key(row)).or_default();
                (sum.0, sum.1) = (sum.0 + row["events"].as_u64().unwrap(), sum.1 + row["bytes"].as_u64().unwrap());
                sum.2.extend(row["first"].as_i64().into_iter().chain(row["last"].as_i64()));
            }
            // A row has a provider name if at least one of the files has it.
            let name = |line: &Value| (line["provider"].to_string(), line["provider_name"].to_string());
            let known: BTreeSet<_> = events.iter().map(name).collect();
            for row in stat["groups"].as_array().unwrap().iter().filter(|row| !row["provider"].is_null()) {
                assert!(known.contains(&name(row)), "{folder} --by {by}: {row}");
            }
            for (key, (count, bytes, times)) in &hand {
                let own = ours.get(key).unwrap_or_else(|| panic!("{folder} --by {by}: no row {key:?}"));
                let (own, ends) = (own, |times: &[i64]| times.iter().copied().min().zip(times.iter().copied().max()));
                assert_eq!((own.0, own.1, ends(&own.2)), (*count, *bytes, ends(times)), "{folder} {by} {key:?}");
            }
            assert_eq!(ours.len(), hand.len(), "{folder} {by}");
            let times: Vec<_> = events.iter().filter_map(|event| event["time"].as_i64()).collect();
            assert_eq!(
                (stat["first"].as_i64(), stat["last"].as_i64()),
                (times.iter().copied().min(), times.iter().copied().max())
            );
            let counts = stat["timeline"]["counts"].as_array().unwrap();
            assert_eq!(counts.iter().filter_map(Value::as_u64).sum::<u64>(), times.len() as u64);
        }
    }
    let stat = &json(&run(&["stat", "--format", "json", &folders[0]]).1)[0];
    assert_eq!(
        (stat["files"].as_u64(), stat["events_lost"].as_u64(), stat["buffers_lost"].as_u64()),
        (Some(2), Some(3), Some(4))
    );
    let out = run(&["stat", &folders[0]]).1;
    assert!(out.contains("lost   3 events, 4 buffers") && out.contains("EVENT_TRACE_GROUP_PROCESS"), "{out}");
}
