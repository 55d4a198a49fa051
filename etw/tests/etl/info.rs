//! Places, times and summaries of traces in JSON.

use crate::{Folder, PRODUCER, START, damaged, json, run, trace, trace_of};
use etw_layouts_etl::{FileTime, LogFile};
use serde_json::Value;

/// The index of a buffer, its offset, and an offset in it have the same keys in all JSON output.
#[test]
fn places_in_json() {
    let folder = Folder::new("places");
    let file = folder.file("a.etl", damaged());
    let (status, out, err) = run(&["events", "--format", "json", &file]);
    let (events, diagnostics) = (json(&out), json(&err));
    assert_eq!((status, events.len(), diagnostics.len()), (1, 2, 1));
    let place = |line: &Value| ["buffer", "buffer_offset", "offset"].map(|key| line[key].as_u64().unwrap());
    assert_eq!(place(&events[1]), [1, 4096, 0x48]);
    assert_eq!(place(&diagnostics[0]), [1, 4096, 0x48 + 88]);
    let (_, out, _) = run(&["info", "--format", "json", &file]);
    assert_eq!(place(&json(&out)[0]["diagnostics"][0]), [1, 4096, 0x48 + 88]);
    let (_, out, _) = run(&["check", "--format", "json", &file]);
    assert_eq!(place(&json(&out)[0]), [1, 4096, 0x48 + 88]);
}

/// Floating-point numbers lose digits of numbers beyond 2^53.
#[test]
fn times_in_json() {
    let folder = Folder::new("times");
    let file = folder.file("a.etl", trace());
    let events = json(&run(&["events", "--format", "json", &file]).1);
    assert_eq!(events[1]["time"].as_i64(), Some(START + 10));
    assert_eq!(events[1]["time_utc"], "2020-07-29T07:06:19.7984240Z");
    let info = &json(&run(&["info", "--format", "json", &file]).1)[0];
    for (key, time, utc) in [
        ("start_time", START, "2020-07-29T07:06:19.7984230Z"),
        ("end_time", START + 10_000_000, "2020-07-29T07:06:20.7984230Z"),
        ("boot_time", START - 1, "2020-07-29T07:06:19.7984229Z"),
    ] {
        assert_eq!((info[key].as_i64(), info[format!("{key}_utc")].as_str()), (Some(time), Some(utc)), "{key}");
    }
}

/// Unknown times are not printed as times of 1601.
#[test]
fn absent_times() {
    let folder = Folder::new("absent");
    let mut bytes = trace_of(LogFile { start_time: START, ..LogFile::new(&PRODUCER) });
    // A file that was not closed.
    bytes[0x48 + 0x20 + 0x10..][..8].fill(0);
    let file = folder.file("a.etl", &bytes);
    let info = &json(&run(&["info", "--format", "json", &file]).1)[0];
    for key in ["boot_time", "boot_time_utc", "end_time", "end_time_utc"] {
        assert_eq!(info.get(key), Some(&Value::Null), "{key}");
    }
    let text = run(&["info", &file]).1;
    assert!(!text.contains("1601") && text.contains("file was not closed"), "{text}");
}

/// The JSON of `info` contains everything that the text contains.
#[test]
fn info_in_json() {
    let folder = Folder::new("info");
    let log = LogFile {
        logger_name: "A logger".into(),
        file_name: "C:\\Ω.etl".into(),
        mode: 2,
        events_lost: 3,
        buffers_lost: 4,
        start_time: START,
        ..LogFile::new(&PRODUCER)
    };
    let info = &json(&run(&["info", "--format", "json", &folder.file("a.etl", trace_of(log))]).1)[0];
    assert_eq!((info["session"].as_str(), info["original_file"].as_str()), (Some("A logger"), Some("C:\\Ω.etl")));
    assert_eq!((info["events_lost"].as_u64(), info["buffers_lost"].as_u64()), (Some(3), Some(4)));
    assert_eq!((info["mode"].as_u64(), info["mode_names"].as_str()), (Some(2), Some("EVENT_TRACE_FILE_MODE_CIRCULAR")));
    assert_eq!((info["version"].as_str(), info["build"].as_u64()), (Some("10.0"), Some(19041)));
    assert_eq!((info["buffer_size"].as_u64(), info["perf_frequency"].as_u64()), (Some(4096), Some(10_000_000)));
    assert_eq!(info["time_zone_minutes"].as_i64(), Some(0));
}

/// The time zone is that at the start of the session, with daylight saving time.
#[test]
fn time_zones() {
    let folder = Folder::new("time-zones");
    let zone = |bias: i32, standard: [u16; 8], daylight: [u16; 8]| {
        let words = |words: [u16; 8]| words.into_iter().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
        [
            (0, bias.to_le_bytes().to_vec()),
            (0x44, words(standard)),
            (0x98, words(daylight)),
            (0xA8, (-60_i32).to_le_bytes().to_vec()),
        ]
    };
    // The offset of TimeZone in the log file header.
    let file = |zone: &[(usize, Vec<u8>)], start_time: i64| {
        let mut bytes = trace_of(LogFile { start_time, ..LogFile::new(&PRODUCER) });
        for (at, value) in zone {
            bytes[0x48 + 0x20 + 0x48 + at..][..value.len()].copy_from_slice(value);
        }
        folder.file("a.etl", bytes)
    };
    // Year, month, day of the week, number of that day in the month (5 means the last one), hour, and three others: as in real traces.
    let pacific = zone(480, [0, 11, 0, 1, 2, 0, 0, 0], [0, 3, 0, 2, 2, 0, 0, 0]);
    let paris = zone(-60, [0, 10, 0, 5, 3, 0, 0, 0], [0, 3, 0, 5, 2, 0, 0, 0]);
    let sydney = zone(-600, [0, 4, 0, 1, 3, 0, 0, 0], [0, 10, 0, 1, 2, 0, 0, 0]);
    let in_2020 = zone(-60, [2020, 10, 0, 25, 3, 0, 0, 0], [2020, 3, 0, 29, 2, 0, 0, 0]);
    let perth = zone(-480, [0; 8], [0; 8]);
    for (zone, start, expected) in [
        // The minute before a change, and the change.
        (&pacific, "2020-03-08T09:59", "-08:00"),
        (&pacific, "2020-03-08T10:00", "-07:00, daylight saving time"),
        (&pacific, "2020-11-01T08:59", "-07:00, daylight saving time"),
        (&pacific, "2020-11-01T09:00", "-08:00"),
        (&paris, "2021-03-28T00:59", "+01:00"),
        (&paris, "2021-03-28T01:00", "+02:00, daylight saving time"),
        (&paris, "2021-10-31T00:59", "+02:00, daylight saving time"),
        (&paris, "2021-10-31T01:00", "+01:00"),
        (&sydney, "2021-01-01T00:00", "+11:00, daylight saving time"),
        (&sydney, "2021-04-03T15:59", "+11:00, daylight saving time"),
        (&sydney, "2021-04-03T16:00", "+10:00"),
        (&sydney, "2021-10-02T15:59", "+10:00"),
        (&sydney, "2021-10-02T16:00", "+11:00, daylight saving time"),
        (&in_2020, "2020-07-01", "+02:00, daylight saving time"),
        (&in_2020, "2021-07-01", "+01:00"),
        (&perth, "2021-07-01", "+08:00"),
    ] {
        let FileTime(start_time) = start.parse().unwrap();
        let out = run(&["info", &file(zone, start_time)]).1;
        assert!(out.contains(&format!("time zone      UTC{expected}\n")), "{start} {expected}: {out}");
    }
    let info = |file: &str| json(&run(&["info", "--format", "json", file]).1).remove(0);
    let file = file(&pacific, START);
    assert_eq!(
        (info(&file)["time_zone_minutes"].as_i64(), info(&file)["is_daylight_saving_time"].as_bool()),
        (Some(-420), Some(true))
    );
}
