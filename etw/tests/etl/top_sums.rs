//! The sums of `top` equal the events that `etl events` prints, whatever the keys are.

use crate::merged::trace_at;
use crate::top::{switch, trace};
use crate::{Folder, json, run, small, text};
use etw_layouts_answers::Functions;
use etw_layouts_answers::top::{What, top};
use etw_layouts_trace::Trace;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use test_support::installed;
use test_support::records::{Written, written};

/// A question with its keys, the names of the events that it counts, and the fields with their number of bytes.
type Question = (&'static str, &'static str, fn(&str) -> bool, &'static [&'static str]);

const QUESTIONS: &[Question] = &[
    ("cpu", "process thread module function stack processor", |name| name == "PerfInfo/SampleProf", &[]),
    (
        "dpc",
        "module function event processor stack",
        |name| name.starts_with("PerfInfo/") && name.ends_with("DPC") && !name.contains("Wdf"),
        &[],
    ),
    (
        "isr",
        "module function event processor stack",
        |name| matches!(name, "PerfInfo/ISR" | "PerfInfo/ISR-MSI" | "PerfInfo/ISR-PASS"),
        &[],
    ),
    (
        "disk",
        "process file device event thread stack",
        |name| matches!(name, "DiskIo/Read" | "DiskIo/Write" | "DiskIo/FlushBuffers"),
        &["TransferSize"],
    ),
    ("files", "process file event thread stack", is_of_file, &["IoSize", "IOSize"]),
    (
        "faults",
        "process event file thread module function stack",
        |name| {
            name.starts_with("PageFault/")
                && (name.ends_with("Fault") || name.ends_with("CopyOnWrite") || name.ends_with("Violation"))
        },
        &["ByteCount"],
    ),
    ("net", "process endpoint event thread", is_transfer, &["size"]),
    (
        "alloc",
        "process type reason thread stack",
        |name| name == "Microsoft-Windows-DotNETRuntime/GarbageCollection/GCAllocationTick",
        &["AllocationAmount64", "AllocationAmount"],
    ),
    (
        "images",
        "process file event stack",
        |name| matches!(name, "Image/Load" | "Microsoft-Windows-Kernel-Process/ImageLoad"),
        &["ImageSize", "ModuleSize"],
    ),
];

fn is_of_file(name: &str) -> bool {
    const NAMES: [&str; 16] = [
        "Create",
        "Cleanup",
        "Close",
        "Read",
        "Write",
        "SetInfo",
        "SetInformation",
        "Delete",
        "SetDelete",
        "Rename",
        "DirEnum",
        "Flush",
        "QueryInfo",
        "QueryInformation",
        "FSControl",
        "DirNotify",
    ];
    let operation = name.strip_prefix("FileIo/").or(name.strip_prefix("Microsoft-Windows-Kernel-File/"));
    operation.is_some_and(|name| NAMES.contains(&name))
}

fn is_transfer(name: &str) -> bool {
    let is_kernel = |name: &str| {
        ["Send", "Recv"].iter().any(|kind| name.strip_prefix(kind).is_some_and(|rest| matches!(rest, "" | "IPV4" | "IPV6")))
    };
    match name.split_once('/') {
        Some(("TcpIp" | "UdpIp", name)) => is_kernel(name),
        Some(("Microsoft-Windows-Kernel-Network", name)) => name.contains("Data sent") || name.contains("Data received"),
        _ => false,
    }
}

fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| u64::from_str_radix(value.as_str()?.strip_prefix("0x")?, 16).ok())
}

/// In real traces, the event of a received datagram has the source and the destination of the datagram: it equals that of the sent one, where both are
/// of this computer. So the endpoint of received datagrams is their source.
#[test]
fn received_datagrams() {
    let Some(file) = installed::folder("ETW_LAYOUTS_ETL").map(|folder| text(&folder.join("microsoft__net.4.5.2.x64.etl"))) else {
        return;
    };
    let events = json(&run(&["events", "--provider", "UdpIp", "--payload", "fields", "--format", "json", &file]).1);
    let [sent, received] = ["UdpIp/Send", "UdpIp/Recv"].map(|name| {
        let fields =
            events.iter().filter(|event| event["event"].as_str().unwrap().starts_with(name)).map(|event| &event["fields"]);
        fields.map(ToString::to_string).collect::<BTreeSet<_>>()
    });
    assert!(sent.intersection(&received).count() >= 3, "{sent:?} {received:?}");
    let is_group = |address: &str| address.starts_with("ff02") || address.starts_with("224.") || address.starts_with("239.");
    let hand = received.iter().map(|fields| serde_json::from_str::<Value>(fields).unwrap()).map(|fields| {
        let (source, port) = (fields["saddr"].as_str().unwrap(), fields["sport"].as_u64().unwrap());
        assert!(!is_group(source), "{fields}");
        if source.contains(':') { format!("udp [{source}]:{port}") } else { format!("udp {source}:{port}") }
    });
    let hand: BTreeSet<_> = hand.collect();
    let rows = rows("net", "event,endpoint", &file);
    let ours = rows.iter().filter(|row| row["event"].as_str().unwrap().starts_with("UdpIp/Recv"));
    assert_eq!(ours.map(|row| row["endpoint"].as_str().unwrap().to_owned()).collect::<BTreeSet<_>>(), hand);
}

/// The rows of a question, or nothing if the trace has no event for it.
fn rows(what: &str, by: &str, file: &str) -> Vec<Value> {
    let (status, out, err) = run(&["top", what, "--by", by, "--format", "json", file]);
    if status == 2 {
        assert!(out.is_empty() && err.contains("no events for `"), "{what} {file}: {err}");
        return Vec::new();
    }
    json(&out)
}

fn sum(rows: &[Value], name: &str) -> f64 {
    // What no event of the trace states is null.
    rows.iter().map(|row| row[name].as_f64().unwrap_or_else(|| row[name].as_null().map(|()| 0.0).unwrap())).sum()
}

#[test]
fn sums_are_those_of_the_events() {
    let folder = Folder::new("top-sums");
    let mut files = vec![folder.file("made.etl", trace())];
    files.extend(small());
    // Samples, disk, network and .NET, which smaller traces do not have.
    let real = installed::folder("ETW_LAYOUTS_ETL").map(|folder| text(&folder.join("microsoft__net.4.5.2.x64.etl")));
    files.extend(real.filter(|file| std::path::Path::new(file).exists() && !files.contains(file)));
    let mut answered = BTreeSet::new();
    for file in &files {
        let events = json(&run(&["events", "--order", "time", "--payload", "fields", "--format", "json", file]).1);
        let named: Vec<_> = events.iter().map(|event| (event["event"].as_str().unwrap_or_default(), event)).collect();
        for (what, keys, counts, fields) in QUESTIONS {
            let own: Vec<_> = named.iter().filter(|(name, _)| counts(name)).map(|(_, event)| *event).collect();
            let bytes =
                own.iter().filter_map(|event| fields.iter().find_map(|field| number(&event["fields"][field]))).sum::<u64>();
            let count = ["samples", "calls", "operations", "faults", "transfers", "loads"];
            // Without events, one key shows that there is no answer.
            for key in keys.split(' ').take(if own.is_empty() { 1 } else { usize::MAX }) {
                let rows = rows(what, key, file);
                let count_of = |row: &Value| count.iter().find_map(|name| row[name].as_u64()).unwrap();
                assert_eq!(rows.iter().map(count_of).sum::<u64>(), own.len() as u64, "{what} {key} {file}");
                if !fields.is_empty() && !rows.is_empty() {
                    assert_eq!(sum(&rows, "bytes"), bytes as f64, "{what} {key} {file}");
                }
                if key == "process" {
                    let mut hand = BTreeMap::<_, u64>::new();
                    for event in &own {
                        // The first version of Image/Load states no process.
                        let is_about = *what == "images" && !event["subject"].is_null();
                        let process = if is_about { &event["subject"] } else { &event["process"] };
                        *hand.entry(process.to_string()).or_default() += 1;
                    }
                    let mut ours = BTreeMap::<_, u64>::new();
                    rows.iter().for_each(|row| *ours.entry(row["process"].to_string()).or_default() += count_of(row));
                    assert_eq!(ours, hand, "{what} {file}");
                }
            }
            if !own.is_empty() {
                answered.insert(*what);
            }
        }
        for key in "event process thread processor stack".split(' ') {
            let rows = rows("events", key, file);
            let size: u64 = events.iter().map(|event| event["size"].as_u64().unwrap()).sum();
            assert_eq!((sum(&rows, "events"), sum(&rows, "bytes")), (events.len() as f64, size as f64), "{key} {file}");
        }
        collections(file, &named);
    }
    assert_eq!(answered.len(), QUESTIONS.len(), "{answered:?}");
}

/// Suspensions, paired by process and runtime in the order of time.
fn collections(file: &str, named: &[(&str, &Value)]) {
    let (mut begun, mut hand) = (BTreeMap::new(), BTreeMap::<(String, String), (u64, i64, i64)>::new());
    for (name, event) in named {
        let runtime = (event["process"].to_string(), event["fields"]["ClrInstanceID"].to_string());
        let time = event["time"].as_i64().unwrap_or_default();
        match name.strip_prefix("Microsoft-Windows-DotNETRuntime/GarbageCollection/") {
            Some("GCSuspendEEBegin") => _ = begun.insert(runtime, (time, event["fields"]["Reason"].clone())),
            Some("GCRestartEEEnd") => {
                let Some((start, reason)) = begun.remove(&runtime) else { continue };
                let sum = hand.entry((runtime.0, reason.to_string())).or_default();
                *sum = (sum.0 + 1, sum.1 + time - start, sum.2.max(time - start));
            }
            _ => {}
        }
    }
    for keys in ["process,reason", "process,reason,generation", "process,reason,cause,thread"] {
        let mut ours = BTreeMap::<(String, String), (u64, i64, i64)>::new();
        for row in rows("gc", keys, file) {
            let ticks = |name: &str| (row[name].as_f64().unwrap() * 10_000.0).round() as i64;
            let sum = ours.entry((row["process"].to_string(), row["reason"].to_string())).or_default();
            *sum = (sum.0 + row["pauses"].as_u64().unwrap(), sum.1 + ticks("ms"), sum.2.max(ticks("longest_ms")));
        }
        assert_eq!(ours, hand, "{keys} {file}");
    }
}

/// The intervals between context switches fill the time of each processor, and a thread that is not running is ready or waits.
#[test]
fn switches_fill_the_time() {
    let folder = Folder::new("top-switches");
    let mut seed = 7_u64;
    let mut random = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    // Ten threads, and an idle thread on each of three processors.
    let (mut running, mut events, mut tick) = ([0_u32; 3], Vec::new(), 0);
    let mut spans = BTreeMap::<usize, (i64, i64)>::new();
    // By thread: the state in which it stopped, and when; when it became ready.
    let (mut stopped, mut hand) = (BTreeMap::<u32, (u8, i64, Option<i64>)>::new(), [0_i64; 2]);
    for _ in 0..5_000 {
        tick += 1 + random(1000) as i64;
        if random(3) == 0 {
            let waiting: Vec<_> =
                stopped.iter().filter(|(_, (state, _, ready))| *state == 5 && ready.is_none()).map(|(id, _)| *id).collect();
            if let Some(thread) = waiting.get(random(10) as usize) {
                stopped.get_mut(thread).unwrap().2 = Some(tick);
                events.push(Written::kernel(tick, 0, 0x0532, [thread.to_le_bytes(), [0; 4]].concat()));
                continue;
            }
        }
        let processor = random(3) as usize;
        let new = random(11) as u32;
        if new != 0 && running.contains(&new) {
            continue;
        }
        let state = if random(2) == 0 { 5 } else { 1 };
        let old = std::mem::replace(&mut running[processor], new);
        events.push(switch(tick, processor as u16, (old, state, 6), new));
        let span = spans.entry(processor).or_insert((tick, tick));
        span.1 = tick;
        if let Some((state, since, ready)) = stopped.remove(&new).filter(|_| new != 0) {
            match (state, ready) {
                (5, ready) => {
                    hand[0] += ready.unwrap_or(tick) - since;
                    hand[1] += ready.map_or(0, |ready| tick - ready);
                }
                _ => hand[1] += tick - since,
            }
        }
        if old != 0 {
            stopped.insert(old, (state, tick, None));
        }
    }
    let file = folder.file("a.etl", written(&events));
    let ticks = |row: &Value| (row["ms"].as_f64().unwrap() * 10_000.0).round() as i64;
    let total: i64 = spans.values().map(|(first, last)| last - first).sum();
    for keys in ["process", "thread", "processor", "processor,thread"] {
        let rows = rows("run", keys, &file);
        assert_eq!(rows.iter().map(ticks).sum::<i64>(), total, "{keys}");
        for (processor, (first, last)) in spans.iter().filter(|_| keys == "processor") {
            let row = rows.iter().find(|row| row["processor"] == *processor).unwrap();
            assert_eq!(ticks(row), last - first);
        }
    }
    for (what, time) in ["wait", "ready"].iter().zip(hand) {
        for keys in ["process", "thread", "stack"] {
            assert_eq!(rows(what, keys, &file).iter().map(ticks).sum::<i64>(), time, "{what} {keys}");
        }
    }
}

/// Corrupt events lose no amount: the rows by all keys have the same sums as the one row without keys.
#[test]
fn corrupt_events() {
    let whole = trace();
    let mut seed = 1_u64;
    let mut random = move |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    let mut answered = 0;
    for _ in 0..100 {
        let mut bytes = whole.clone();
        for _ in 0..=random(20) {
            // The log file header is in the first buffer.
            let at = 0x1000 + random(bytes.len() - 0x1000);
            bytes[at] = [0, 0xFF, 0x80, random(256) as u8][random(4)];
        }
        let Ok(trace) = Trace::from_bytes(bytes) else { continue };
        for what in What::all() {
            let answer = top(&trace, what, what.keys(), &[], &Functions::default()).unwrap();
            let sums = top(&trace, what, &[], &[], &Functions::default()).unwrap();
            assert_eq!(
                (answer.sum(&answer.rows), sums.rows.len()),
                (sums.totals, usize::from(!answer.rows.is_empty())),
                "{what:?}"
            );
            answered += sums.rows.len();
        }
    }
    assert!(answered > 500, "{answered}");
}

/// Filters apply to the process of an interval, limits leave out rows, and what is left out is stated.
#[test]
fn selections() {
    let folder = Folder::new("top-selected");
    let file = folder.file("a.etl", trace());
    let of_process = |process: &str| run(&["top", "run", "--process", process, "--format", "json", &file]);
    assert_eq!(json(&of_process("100").1)[0]["ms"], 0.35);
    assert_eq!(json(&of_process("0").1)[0]["ms"], 0.05);
    let (status, out, err) = of_process("55");
    assert!(status == 0 && out.is_empty() && err.contains(r#""matching":0"#), "{err}");
    let (_, out, err) = run(&["top", "events", "--limit", "2", "--format", "json", &file]);
    assert!(json(&out).len() == 2 && err.contains(r#""rows_left_out":"#) && err.contains(r#""total":{"events":"#), "{err}");
    let (_, text, _) = run(&["top", "cpu", "--limit", "1", &file]);
    assert!(text.contains("in 1 more row; --limit N prints more") && text.contains("total of 2 rows"), "{text}");
    let (status, _, err) = run(&["top", "gc", "--by", "module", &file]);
    assert!(status == 2 && err.contains("`gc` has no key `module`; its keys are process, reason"), "{err}");
    let none = folder.file("none.etl", written(&[]));
    let (status, out, err) = run(&["top", "cpu", &none]);
    assert!(
        status == 2 && out.is_empty() && err.contains("PerfInfo/SampleProf (kernel flag PROFILE); record them with `wpr"),
        "{err}"
    );
}

/// A measure that no event states is unknown, and cannot be compared; a negative number is no text in CSV.
#[test]
fn unknown_measures() {
    let folder = Folder::new("top-unknown");
    // Request, thread and file object, then options, attributes and sharing.
    let words = [7_u64, 8, 9].map(u64::to_le_bytes).concat();
    let create = |tick| {
        let path: Vec<u8> = "\\a\0".encode_utf16().flat_map(u16::to_le_bytes).collect();
        Written::kernel(tick, 0, 0x0440, [&words[..], &[0; 12], &path].concat())
    };
    let file = folder.file("a.etl", written(&[create(1), create(2)]));
    let (_, out, err) = run(&["top", "files", "--format", "json", &file]);
    let rows = json(&out);
    assert!(rows[0]["operations"] == 2 && rows[0]["ms"].is_null() && rows[0]["longest_ms"].is_null(), "{out}{err}");
    assert!(err.contains("KERNEL_FILE_KEYWORD_OP_END") && err.contains("KERNEL_FILE_KEYWORD_READ"), "{err}");
    assert!(rows[0]["bytes"].is_null(), "{out}");
    // A flush transfers nothing, and other faults than hard ones state no bytes.
    let fault = Written::kernel(3, 0, 0x020A, [0, 0x1000_u64].map(u64::to_le_bytes).concat());
    let flush = Written::kernel(3, 0, 0x010E, [0; 24].to_vec()).version(2);
    let others = folder.file("others.etl", written(&[flush, fault]));
    for (what, flag) in [("disk", "kernel flag DISK_IO)"), ("faults", "kernel flag HARD_FAULTS)")] {
        let (_, out, err) = run(&["top", what, "--format", "json", &others]);
        assert!(json(&out)[0]["bytes"].is_null() && err.contains(flag), "{what} {out} {err}");
    }
    let (status, _, err) = run(&["compare", &file, &file, "--what", "files", "--measure", "ms"]);
    assert!(status == 2 && err.contains("`ms` is not known"), "{err}");
    let more = folder.file("b.etl", written(&[create(1), create(2), create(1000)]));
    let (status, out, _) = run(&["compare", &file, &more, "--what", "files", "--by", "event", "--format", "csv"]);
    assert!(status == 1 && out.contains(",-") && !out.contains('\''), "{out}");
}

/// A trace does not differ from itself; amounts are per second, and several runs have a mean and a standard deviation.
#[test]
fn compared() {
    let folder = Folder::new("top-compared");
    // Events at equal distances over some seconds, in sessions of different start.
    let events = |count: i64, seconds: i64| (1..=count).map(|event| event * seconds * 1000 / count).collect::<Vec<_>>();
    let runs = [(1, 100, 10), (2, 300, 10), (3, 100, 20)];
    let [a, b, c] =
        runs.map(|(start, count, seconds)| folder.file(&format!("{start}.etl"), trace_at(start, 1000, &events(count, seconds))));
    let compare = |args: &[&str]| {
        let (status, out, err) = run(&[&["compare", "--what", "events", "--process", "0", "--format", "json"], args].concat());
        (status, json(&out), err)
    };
    for (file, what) in [(&a, "events"), (&folder.file("made.etl", trace()), "cpu")] {
        let (status, out, err) = run(&["compare", file, file, "--what", what, "--format", "json"]);
        assert!(status == 0 && out.is_empty() && err.contains(r#""different":0"#), "{status} {out} {err}");
    }
    let (status, rows, err) = compare(&[&a, &b]);
    // The second row is that of the event that describes the session.
    assert_eq!((status, rows.len()), (1, 2), "{err}");
    let is_near = |number: &Value, expected: f64| (number.as_f64().unwrap() - expected).abs() < 1e-9;
    // The time begins with the first event after the one that describes the session: 100 events in 9.9 s, 300 in 9.967 s.
    let (before, after) = (100.0 / 9.9, 300.0 / 9.967);
    let expected = [before, after, after - before, (after - before) / before * 100.0];
    for (name, expected) in ["before", "after", "difference", "percent"].into_iter().zip(expected) {
        assert!(is_near(&rows[0][name], expected), "{name}: {rows:?}");
    }
    assert!(err.contains(r#""seconds_before":9.9,"seconds_after":9.967"#), "{err}");
    assert!(rows[0].get("before_deviation").is_none());
    let (_, rows, _) = compare(&["--baseline", &a, "--baseline", &c, &b]);
    // 100 events in 9.9 s and in 19.8 s: the standard deviation of two numbers is their distance divided by the root of 2.
    let rates = [100.0 / 9.9, 100.0 / 19.8];
    assert!(is_near(&rows[0]["before"], (rates[0] + rates[1]) / 2.0), "{rows:?}");
    assert!(is_near(&rows[0]["before_deviation"], (rates[0] - rates[1]) / 2_f64.sqrt()), "{rows:?}");
    assert!(rows[0]["after_deviation"].is_null());
    let (status, _, err) = compare(&[&a]);
    assert!(status == 2 && err.contains("name a second trace"), "{err}");
}

/// What can make two traces incomparable is noted in each format, whether they differ or not.
#[test]
fn compared_with_another_computer() {
    let folder = Folder::new("top-computers");
    let whole = trace();
    // In the log file header, the number of processors follows the build.
    let build = whole.windows(8).position(|words| words == [19041_u32, 4].map(u32::to_le_bytes).concat()).unwrap();
    let mut bytes = whole.clone();
    bytes[build..build + 8].copy_from_slice(&[9600_u32, 2].map(u32::to_le_bytes).concat());
    let [a, b] = [folder.file("a.etl", whole), folder.file("b.etl", bytes)];
    for format in ["text", "csv", "json"] {
        let (status, out, err) = run(&["compare", &a, &b, "--format", format]);
        let (processors, build) =
            ("other number of processors: 4 before, 2 after", "other build of Windows: 19041 before, 9600 after");
        assert!(status == 0 && err.contains(processors) && err.contains(build) && !err.contains("interval of"), "{out}{err}");
        assert!(format!("{out}{err}").contains("per second of trace, of all processors together"), "{out}{err}");
    }
    let samples = |interval: u32| {
        let words = [0, interval, interval].map(u32::to_le_bytes).concat();
        let sample = [0x1000_u64.to_le_bytes(), 0x0001_0000_0065_u64.to_le_bytes()].concat();
        written(&[
            Written::kernel(1, 0, 0x0F49, words),
            Written::kernel(2, 0, 0x0F2E, sample.clone()),
            Written::kernel(9, 0, 0x0F2E, sample),
        ])
    };
    let [slow, fast] = [10_000, 1_250].map(|interval| folder.file(&format!("{interval}.etl"), samples(interval)));
    let (_, _, err) = run(&["compare", &slow, &fast]);
    assert!(err.contains("other interval of samples: 1 ms before, 0.125 ms after"), "{err}");
    let (_, _, err) = run(&["compare", &a, &slow, "--format", "json"]);
    let notes = json(&err);
    let only = notes.iter().find(|note| note["property"] == "questions that only one side answers").unwrap();
    assert!(only["before"].as_str().unwrap().contains("disk") && only["after"] == "none", "{err}");
}
