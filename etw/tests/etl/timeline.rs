//! `etl timeline` on made traces, and on real ones with values of an independent reader.

use super::kernel::{image, process, wide, writer_of_hooks};
use super::{Folder, START, json, run, shared};
use etw_layouts_etl::header::EventHeader;
use etw_layouts_etl::wire::{EVENT_HEADER, EVENT_HEADER_EXT_TYPE, GUID, large, zero};
use etw_layouts_etl::write::Record;
use etw_layouts_etl::{FileTime, Item};
use serde_json::{Value, json};
use std::path::Path;

const DNS_CLIENT: GUID =
    GUID { Data1: 0x1C95_126E, Data2: 0x7EEA, Data3: 0x49A9, Data4: [0xA3, 0xFE, 0xA3, 0x78, 0xB0, 0x3D, 0xDB, 0x4D] };

/// A command line that would add a line to a table, and reverse its end.
const COMMAND: &str = "notepad.exe \"a\u{202e}txt\n2020-01-01\", b";

/// The payload of TcpIp/ConnectIPV4, version 2, of a 64-bit kernel: from 10.0.0.1:49152 to 93.184.216.34:443.
fn connection(process: u32) -> Vec<u8> {
    let mut bytes = [process.to_le_bytes(), 0_u32.to_le_bytes(), [93, 184, 216, 34], [10, 0, 0, 1]].concat();
    bytes.extend(443_u16.to_be_bytes());
    bytes.extend(49152_u16.to_be_bytes());
    bytes.extend([0; 28]);
    bytes
}

fn made() -> Vec<u8> {
    let mut writer = writer_of_hooks(&[
        (0, 0x0303, 4, process(8, 0x103, "")),
        (10, 0x0301, 4, process(100, 0x103, COMMAND)),
        (20, 0x030A, 2, image(100, "\\Windows\\notepad.exe")),
        (21, 0x030A, 2, image(0, "\\SystemRoot\\driver.sys")),
        (30, 0x060C, 2, connection(100)),
        (50, 0x0302, 4, process(100, 0xC000_0005, COMMAND)),
        // Truncated.
        (60, 0x0301, 4, process(200, 0x103, "x")[..30].to_vec()),
    ]);
    // DNS-Client/3008: the name does not exist. The user is in an extended item.
    let mut header: EVENT_HEADER = zero();
    (header.ProviderId, header.EventDescriptor.Id) = (DNS_CLIENT, 3008);
    (header.TimeStamp, header.ProcessId) = (large(40), 100);
    let payload = [wide("nowhere.example"), vec![28, 0, 0, 0], vec![0; 8], 9003_u32.to_le_bytes().to_vec(), wide("")].concat();
    let local_service = [1, 1, 0, 0, 0, 0, 0, 5, 19, 0, 0, 0];
    let item = Item::new(EVENT_HEADER_EXT_TYPE::EVENT_HEADER_EXT_TYPE_SID, &local_service);
    writer.push(0, &Record::new(EventHeader::Event(header), true, &payload).with_items(vec![item])).unwrap();
    writer.finish(START + 10_000_000).unwrap().into_inner()
}

fn time(after: i64) -> String {
    FileTime(START + after).to_string()
}

#[test]
fn text_and_selection() {
    let folder = Folder::new("timeline");
    let file = folder.file("a.etl", made());
    let (status, out, err) = run(&["timeline", &file]);
    assert_eq!(status, 1, "{err}");
    let command = "notepad.exe \"a\\u{202e}txt\\u{a}2020-01-01\", b";
    let lines = [
        "time (UTC)                   process  what".to_owned(),
        format!("{}  image.exe (100)  process started: {command}, parent 4", time(10)),
        format!("{}  ? (0)  driver or kernel image loaded: \\SystemRoot\\driver.sys", time(21)),
        format!("{}  image.exe (100)  TCP connection made from 10.0.0.1:49152 to 93.184.216.34:443", time(30)),
        format!(
            "{}  image.exe (100)  DNS answer for nowhere.example, type 28 AAAA, status 9003 DNS_ERROR_RCODE_NAME_ERROR",
            time(40)
        ),
        format!("{}  image.exe (100)  process ended with exit status 0xc0000005 STATUS_ACCESS_VIOLATION", time(50)),
        format!("{}  ? (200)  process started, parent 4", time(60)),
    ];
    assert_eq!(out.lines().collect::<Vec<_>>(), lines);
    assert!(err.contains("9 events, 6 entries; not listed without --all or --kind: 1 image_loaded"), "{err}");
    assert!(err.contains("cannot decode payload"), "{err}");

    for (options, count) in [
        (&["--all"][..], 7),
        (&["--kind", "image_loaded"], 1),
        (&["--kind", "dns_answer", "--kind", "connection_made"], 2),
        (&["--process", "100"], 4),
        (&["--from", "0.0000035"], 3),
        (&["--contains", "nowhere"], 1),
    ] {
        let (_, out, err) = run(&[&["timeline", &file][..], options].concat());
        assert_eq!(out.lines().count(), 1 + count, "{options:?}: {out}{err}");
    }
    let (_, out, _) = run(&["timeline", "--host", "HOST\u{7}", "--kind", "dns_answer", &file]);
    assert!(out.contains("  HOST\\u{7}  image.exe (100)  DNS"), "{out}");
    let (status, _, err) = run(&["timeline", "--form", "ecs", &file]);
    assert!(status == 2 && err.contains("--form ecs and --form ocsf are forms of JSON; add --format json"), "{err}");
    let (status, out, _) = run(&["timeline", &file, "/no/such.etl"]);
    assert!(status == 2 && out.lines().count() == 7, "{out}");
    // Without entries, the summary states what the file has.
    let nothing = folder.file("nothing.etl", crate::trace());
    let (_, _, err) = run(&["timeline", &nothing]);
    assert!(err.contains("0 entries; events by provider, which `etw etl events` prints: "), "{err}");
    // The entries of two files are in one order of time.
    let other = folder.file("b.etl", writer_of_hooks(&[(15, 0x060C, 2, connection(9))]).finish(START).unwrap().into_inner());
    let (_, out, _) = run(&["timeline", "--kind", "process_started", "--kind", "connection_made", &file, &other]);
    let times: Vec<_> = out.lines().skip(1).map(|line| line[..27].to_owned()).collect();
    assert_eq!(times, [10, 15, 30, 60].map(time));
    assert!(
        out.starts_with("time (UTC)                   file  process  what\n") && out.contains(&format!("  {other}  ? (9)  TCP")),
        "{out}"
    );
}

/// The cells of a row of CSV.
fn cells(row: &str) -> Vec<String> {
    let (mut cells, mut is_quoted) = (vec![String::new()], false);
    for c in row.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(String::new()),
            c => cells.last_mut().unwrap().push(c),
        }
    }
    cells
}

#[test]
fn csv_and_json() {
    let folder = Folder::new("timeline-json");
    let file = folder.file("a.etl", made());
    let (_, csv, _) = run(&["timeline", "--format", "csv", "--kind", "connection_made", &file]);
    let [head, row] = &csv.lines().collect::<Vec<_>>()[..] else { panic!("{csv}") };
    // What Timesketch documents: message, datetime in ISO 8601, timestamp_desc, and timestamp in microseconds since 1970.
    let values = cells(row);
    assert_eq!(head.split(',').count(), values.len(), "{csv}");
    let of = |name: &str| &*values[head.split(',').position(|own| own == name).unwrap_or_else(|| panic!("{name}: {head}"))];
    let message = "TCP connection made from 10.0.0.1:49152 to 93.184.216.34:443";
    assert_eq!([of("message"), of("timestamp_desc")], [message, "connection_made"]);
    assert_eq!([of("datetime"), of("timestamp")], ["2020-07-29T07:06:19.798426+00:00", "1596006379798426"]);
    assert_eq!([of("remote_address"), of("remote_port"), of("process_name")], ["93.184.216.34", "443", "image.exe"]);
    let (_, csv, _) = run(&["timeline", "--format", "csv", &file]);
    assert_eq!(csv.lines().count(), 7, "{csv}");

    let (_, out, err) = run(&["timeline", "--format", "json", &file]);
    let summary = err.lines().find(|line| line.contains("\"entries\"")).map(json).unwrap();
    assert_eq!(
        summary[0],
        json!({
            "events": 9, "entries": 6, "left_out": { "image_loaded": 1 }, "without_schema": 0, "repeated": 0, "not_created": 0,
            "not_ended": 0,
        })
    );
    let entries = json(&out);
    let (dns, end) = (&entries[3], &entries[4]);
    assert_eq!(dns["user"], json!({ "sid": "S-1-5-19", "name": "NT AUTHORITY\\LOCAL SERVICE", "known_by": "event" }));
    assert_eq!(end["user"], json!({ "sid": "S-1-5-18", "name": "NT AUTHORITY\\SYSTEM", "known_by": "process" }));
    assert_eq!(end["fields"], json!({ "exit_status": 0xC000_0005_u32, "exit_status_name": "STATUS_ACCESS_VIOLATION" }));
    assert_eq!([&end["process"]["command_line"], &end["time"]], [&json!(COMMAND), &json!(START + 50)]);
    assert!(end["buffer_offset"].is_u64() && end["offset"].is_u64() && end["file"] == json!(file));

    let (_, out, _) = run(&["timeline", "--format", "json", "--form", "ecs", "--host", "PC", &file]);
    let ecs = json(&out);
    let sides = |entry: &Value| json!([entry["source"], entry["destination"]]);
    let expected = json!([{ "ip": "10.0.0.1", "port": 49152 }, { "ip": "93.184.216.34", "port": 443 }]);
    assert_eq!((sides(&ecs[2]), &ecs[2]["host"]["name"]), (expected, &json!("PC")));
    assert_eq!([&ecs[3]["error"]["code"], &ecs[3]["event"]["outcome"]], ["DNS_ERROR_RCODE_NAME_ERROR", "failure"]);
    assert_eq!(ecs[3]["dns"]["question"], json!({ "name": "nowhere.example", "type": "AAAA" }));
    assert_eq!(ecs[4]["process"]["exit_code"], 0xC000_0005_u32);
    let (_, out, _) = run(&["timeline", "--format", "json", "--form", "ocsf", &file]);
    let classes: Vec<_> = json(&out).iter().map(|entry| entry["type_uid"].as_u64().unwrap()).collect();
    assert_eq!(classes, [100_701, 100_501, 400_101, 400_302, 100_702, 100_701]);
}

/// The starts and ends of processes in real traces.
#[test]
fn real_processes() {
    let rows: Vec<Vec<_>> = include_str!("timeline.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split('\t').collect())
        .collect();
    for file in shared() {
        let name = Path::new(&file).file_stem().unwrap().to_str().unwrap().to_owned();
        let options = ["timeline", "--format", "json", "--kind", "process_started", "--kind", "process_ended", &file];
        let (_, out, err) = run(&options);
        let mut entries = json(&out);
        for row in rows.iter().filter(|row| row[0] == name) {
            let [_, kind, process, time, status] = &row[..] else { panic!("{row:?}") };
            let time: i64 = time.parse().unwrap();
            let is_row = |entry: &Value| {
                let own = entry["fields"]["exit_status"].as_u64().map_or("-".to_owned(), |status| status.to_string());
                // The kernel and Microsoft-Windows-Kernel-Process state the same start up to a microsecond apart.
                entry["kind"] == *kind
                    && entry["process"]["id"].as_u64() == process.parse().ok()
                    && (entry["time"].as_i64().unwrap() - time).abs() <= 10
                    && (own == *status || *kind == "process_started")
            };
            let at = entries.iter().position(is_row).unwrap_or_else(|| panic!("{row:?} is not listed: {out}{err}"));
            entries.remove(at);
        }
        assert!(entries.is_empty(), "{name}: {entries:?}");
    }
}
