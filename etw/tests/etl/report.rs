//! The numbers of a report are those of the other commands, and its page is small.

use crate::kernel::{image, process, wide};
use crate::{Folder, json, run, small, text, top};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs;
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use test_support::installed;
use test_support::logging::logging;
use test_support::records::{Written, written};

/// The number of samples of [`long`].
pub const SAMPLES: i64 = 240;

fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Samples of a process every 10,000 ticks from tick 5,000 on, with call stacks of an image: `outer` calls another image in every second sample. The
/// name of the other image, the command line and the mark are hostile.
pub fn long() -> Vec<u8> {
    let (outer, inner) = (0x7FF6_0000_1000_u64, 0x7FF7_0000_1000_u64);
    let mut other = image(100, "\\Device\\<img src=x onerror=alert(1)>\u{202E}\u{2028}.dll");
    other[..8].copy_from_slice(&(inner - 0x1000).to_le_bytes());
    let command_line = format!("</script><script>wrong.push('ran')</script>{}", "a".repeat(20_000));
    let mut events = vec![
        Written::kernel(1, 0, 0x0303, process(100, 0x103, &command_line)).version(4),
        Written::kernel(1, 0, 0x0503, [101_u32.to_le_bytes(), 100_u32.to_le_bytes()].concat()).version(0),
        Written::kernel(2, 0, 0x030A, image(100, "\\Device\\outer.dll")),
        Written::kernel(2, 0, 0x030A, other),
        Written::kernel(1_000_000, 0, 0x0F22, b"a mark </script>\0\0\0".to_vec()).version(0),
    ];
    for sample in 0..SAMPLES {
        let tick = 5_000 + sample * 10_000;
        let addresses = if sample % 2 == 0 { vec![inner, outer] } else { vec![outer] };
        let payload = [&addresses[0].to_le_bytes()[..], &101_u32.to_le_bytes(), &[1, 0, 0, 0]].concat();
        events.push(Written::kernel(tick, 0, 0x0F2E, payload));
        let stack = [&words(&[tick as u64])[..], &100_u32.to_le_bytes(), &101_u32.to_le_bytes(), &words(&addresses)].concat();
        events.push(Written::kernel(tick, 0, 0x1820, stack));
    }
    written(&events)
}

/// A trace with many processes, images, marks and kinds of events, with long names.
fn many() -> Vec<u8> {
    let mut events = Vec::new();
    for number in 0..3_000_u32 {
        let tick = i64::from(number) * 1_000;
        let name = format!("\\{}{number}", "\"</\u{1F980}<!--".repeat(400));
        events.push(Written::kernel(tick, 0, 0x0301, process(1_000 + number, 0x103, &name)).version(4));
        events.push(Written::kernel(tick, 0, 0x030A, image(1_000 + number, &name)));
        events.push(Written::kernel(tick, 0, 0x0F22, format!("{}\0\0\0", "&<".repeat(500)).into_bytes()).version(0));
        events.push(Written::event(tick, (5, 1_000 + number), (u128::from(number) << 32, 1, 0), vec![0; 8]));
        let mut disk = [0, 0, 4096, 0].map(u32::to_le_bytes).concat();
        disk.extend([words(&[0, u64::from(number), 1, 2_000]), 101_u32.to_le_bytes().to_vec()].concat());
        events.push(Written::kernel(tick, 0, 0x010A, disk).version(3));
        events.push(Written::kernel(tick, 0, 0x0400, [words(&[number.into()]), wide(&name)].concat()));
    }
    written(&events)
}

/// A sample in each of 200 images and each of 240 slots. Each image calls 60 others, each of them in 4 samples: these are too many nodes for a report.
fn broad() -> Vec<u8> {
    let at = |number: u64| 0x7FF6_0000_1000 + (number << 20);
    let mut events = vec![
        Written::kernel(1, 0, 0x0303, process(100, 0x103, "")).version(4),
        Written::kernel(1, 0, 0x0503, [101_u32.to_le_bytes(), 100_u32.to_le_bytes()].concat()).version(0),
    ];
    for number in 0..260_u64 {
        let mut image = image(100, &format!("\\Device\\{number}.dll"));
        image[..8].copy_from_slice(&(at(number) - 0x1000).to_le_bytes());
        events.push(Written::kernel(2, 0, 0x030A, image));
    }
    for sample in 0..BROAD {
        let (slot, outer) = (sample / 200, sample % 200);
        let (tick, addresses) = (10_000 + slot * 10_000 + outer, [at(200 + slot % 60), at(outer)]);
        let payload = [&addresses[0].to_le_bytes()[..], &101_u32.to_le_bytes(), &[1, 0, 0, 0]].concat();
        events.push(Written::kernel(tick as i64, 0, 0x0F2E, payload));
        let stack = [&words(&[tick])[..], &100_u32.to_le_bytes(), &101_u32.to_le_bytes(), &words(&addresses)].concat();
        events.push(Written::kernel(tick as i64, 0, 0x1820, stack));
    }
    written(&events)
}

/// The number of samples of [`broad`].
const BROAD: u64 = 240 * 200;

/// The data of the report of files.
fn report(files: &[&str]) -> Value {
    let (status, out, err) = run(&[&["report", "--format", "json", "-o", "-"], files].concat());
    assert!(status < 2, "{files:?}: {err}");
    serde_json::from_str(&out).unwrap()
}

/// A value of `top` in the unit of the report.
fn number(value: &Value, unit: &Value) -> u64 {
    let value = value.as_f64().unwrap_or_default();
    if unit == "time" { (value * 1e4).round() as u64 } else { value as u64 }
}

/// Every table equals `etl top`, its amounts by slot add up to its amounts, and `etl stat` has the same numbers of events.
fn same_numbers(file: &str) -> usize {
    let report = report(&[file]);
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    for table in list(&report["tables"]) {
        let by = list(&table["by"]).iter().filter_map(Value::as_str).collect::<Vec<_>>().join(",");
        let what = table["what"].as_str().unwrap();
        let (_, out, err) = run(&["top", what, "--by", &by, "--format", "json", file]);
        let rows: Vec<Map<String, Value>> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let shown = list(&table["rows"]);
        assert_eq!(rows.len(), shown.len() + table["more_rows"].as_u64().unwrap() as usize, "{file} {what}");
        let (measures, units, maxima) = (list(&table["measures"]), list(&table["units"]), list(&table["maxima"]));
        let amounts = |row: &Map<String, Value>| -> Vec<u64> {
            measures.iter().zip(&units).map(|(name, unit)| number(&row[name.as_str().unwrap()], unit)).collect()
        };
        // Amounts by slot, added up again.
        let sums = |slots: &Value| {
            let slots: Vec<u64> = list(slots).iter().filter_map(Value::as_u64).collect();
            let mut sums = vec![0; measures.len()];
            for slot in slots.chunks_exact(measures.len() + 1) {
                for (index, sum) in sums.iter_mut().enumerate() {
                    let amount = slot[index + 1];
                    *sum = if maxima[index] == true { amount.max(*sum) } else { *sum + amount };
                }
            }
            json!(sums)
        };
        assert_eq!(sums(&table["slots"]), table["totals"], "{file} {what}");
        for (own, row) in shown.iter().zip(&rows) {
            assert_eq!(own["amounts"], json!(amounts(row)), "{file} {what} {row:?}");
            assert!(own["slots"].is_null() || sums(&own["slots"]) == own["amounts"], "{file} {what} {row:?}");
        }
        let total = json(&err).into_iter().find_map(|line| line["total"].as_object().cloned());
        assert_eq!(table["totals"], json!(amounts(&total.expect("a total"))), "{file} {what}");
    }
    let questions: Vec<_> = list(&report["unanswered"]);
    for question in &questions {
        let what = question["what"].as_str().unwrap();
        let (status, _, err) = run(&["top", what, file]);
        assert!(status == 2 && err.contains(question["needs"].as_str().unwrap()), "{file} {what}: {status} {err}");
    }
    let (_, out, _) = run(&["stat", "--format", "json", file]);
    let stat = json(&out).remove(0);
    let about = &report["about"];
    for name in ["events", "events_lost", "buffers_lost", "buffers_with_events_lost", "buffers_with_buffer_lost"] {
        assert_eq!(about[name], stat[name], "{file} {name}");
    }
    let key = |one: &Value, guid: &str| (one[guid].as_str().map(str::to_owned), one["group"].as_u64());
    let count = |one: &Value| (one["events"].as_u64().unwrap(), one["bytes"].as_u64().unwrap());
    let groups: BTreeMap<_, _> = list(&stat["groups"]).iter().map(|group| (key(group, "provider"), count(group))).collect();
    let own = list(&report["providers"]["providers"]);
    assert_eq!(own.iter().map(|one| (key(one, "guid"), count(one))).collect::<BTreeMap<_, _>>(), groups, "{file}");
    questions.len()
}

#[test]
fn numbers_are_those_of_the_other_commands() {
    let folder = Folder::new("report");
    let all = folder.file("all.etl", top::trace());
    assert_eq!(same_numbers(&all), 0, "a trace with events for each question");
    assert_eq!(same_numbers(&folder.file("long.etl", long())), 11);
    let small = small();
    if small.is_empty() {
        return;
    }
    let large = installed::folder("ETW_LAYOUTS_ETL").map(|folder| text(&folder.join("microsoft__net.4.5.2.x64.etl")));
    for file in small.iter().chain(&large) {
        same_numbers(file);
    }
}

/// The options of a command, without quotes.
fn options(select: &Value) -> Vec<String> {
    let parts = select.as_str().unwrap().split('"').enumerate();
    parts
        .flat_map(|(index, part)| match index % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        })
        .collect()
}

/// An event of TraceLogging whose name ends a word in a command of PowerShell.
fn quotes() -> Vec<u8> {
    let mut own = logging();
    let at = own.schema.windows(8).position(|bytes| bytes == b"Happened").expect("the name");
    own.schema[at..at + 8].copy_from_slice("x”;“".as_bytes());
    written(&[Written::event(100, (20, 10), (3, 5, 0), own.payload).with(11, own.schema).with(12, own.traits)])
}

/// The options of each table, provider and kind of events select as many events as it states, and the text of an event is that of `etl events`.
#[test]
fn commands_select_the_events() {
    let folder = Folder::new("report-commands");
    for (name, trace) in [("all", top::trace()), ("hostile", long()), ("quotes", quotes())] {
        let file = folder.file(&format!("{name}.etl"), trace);
        let report = report(&[&file]);
        assert_eq!(report["about"]["arguments"], file);
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let selected = |select: &Value| {
            let words = options(select);
            // PowerShell ends a word at these, too.
            assert!(!words.iter().any(|word| word.contains(['“', '”', '"'])), "{words:?}");
            let words: Vec<_> = words.iter().map(String::as_str).collect();
            let (_, out, err) = run(&[&["stat", "--format", "json"], &words[..], &[&file]].concat());
            json(&out).first().unwrap_or_else(|| panic!("{words:?}: {err}"))["events"].clone()
        };
        for table in list(&report["tables"]) {
            assert_eq!(selected(&table["select"]), table["relevant"], "{name} {}: {}", table["what"], table["select"]);
        }
        for provider in list(&report["providers"]["providers"]) {
            assert_eq!(selected(&provider["select"]), provider["events"], "{name} {}", provider["select"]);
            for kind in list(&provider["kinds"]) {
                assert_eq!(selected(&kind["select"]), kind["events"], "{name} {}", kind["select"]);
                let samples = list(&kind["samples"]);
                assert_eq!(samples.len() as u64, kind["events"].as_u64().unwrap().min(3), "{name} {kind}");
                if kind["name"] == "EventTraceEvent/Header" {
                    // `etl events` also prints the parts of its structure.
                    continue;
                }
                let words = options(&kind["select"]);
                let words: Vec<_> = words.iter().map(String::as_str).collect();
                let (_, out, _) = run(&[&["events", "--order", "time", "--payload", "fields"], &words[..], &[&file]].concat());
                for (sample, line) in samples.iter().zip(out.lines().skip(1)) {
                    let text = sample["text"].as_str().unwrap();
                    let start: String = text.chars().take(100).take_while(|c| *c != '…').collect();
                    assert!(line.contains(&start), "{name} {text}: {line}");
                }
            }
        }
    }
}

/// The first sentences state missing buffers, and files of different times with the times of each.
#[test]
fn what_is_missing_is_at_the_top() {
    let folder = Folder::new("report-missing");
    let mut bytes = crate::trace();
    // BuffersWritten.
    bytes[0x68 + 0x24..][..4].copy_from_slice(&5_u32.to_le_bytes());
    let about = &report(&[&folder.file("missing.etl", bytes)])["about"];
    assert_eq!((&about["buffers_missing"], &about["warnings"]), (&json!(3), &json!([1, 2])), "{about}");
    assert!(about["sentences"][1].as_str().unwrap().starts_with("3 buffers are missing from the files"), "{about}");
    let later = |days: i64| {
        let start = crate::START + days * 864_000_000_000;
        let log = etw_layouts_etl::LogFile {
            start_time: start,
            boot_time: start - 1,
            ..etw_layouts_etl::LogFile::new(&crate::PRODUCER)
        };
        folder.file(&format!("{days}.etl"), crate::trace_of(log))
    };
    let report = report(&[&later(30), &later(0), &later(1)]);
    let first = report["about"]["sentences"][1].as_str().unwrap();
    assert!(first.contains("none has an event from 2020-07-30 07:06:19 to 2020-08-28 07:06:19"), "{first}");
    assert_eq!(report["about"]["files"][1]["first_utc"], "2020-07-29T07:06:19.7984240Z");
    assert_eq!(report["about"]["warnings"][0], 1);
    assert_eq!(report["about"]["sessions"][0]["boot_utc"], "2020-08-28T07:06:19.7984229Z");
}

/// The first sentences name the processes that an error ended. Without events of processes, a table has the events by process.
#[test]
fn what_crashed_and_who_wrote_is_stated() {
    let folder = Folder::new("report-crashed");
    let ended = |tick, hook, status| Written::kernel(tick, 0, hook, process(100, status, "a.exe")).version(4);
    let crashed = written(&[ended(1, 0x0301, 0x103), ended(9, 0x0302, 0xC000_0005)]);
    let crashed = report(&[&folder.file("crashed.etl", crashed)]);
    let sentence = "Ended by an error: image.exe (100) with STATUS_ACCESS_VIOLATION.";
    assert_eq!((&crashed["about"]["sentences"][2], &crashed["about"]["warnings"]), (&json!(sentence), &json!([2])));
    let keys = |report: &Value| report["tables"].as_array().unwrap().iter().map(|table| table["by"].clone()).collect::<Vec<_>>();
    assert_eq!(keys(&crashed), [json!(["event"])]);
    assert_eq!(keys(&report(&[&folder.file("events.etl", crate::trace())])), [json!(["event"]), json!(["process"])]);
    let disks = report(&[&folder.file("all.etl", top::trace())]);
    assert!(keys(&disks).contains(&json!(["process", "file", "event"])) && keys(&disks).contains(&json!(["device", "event"])));
}

/// The call stacks have all samples, in the slots of their times. Slots are computed here from ticks, without the program.
#[test]
fn call_stacks_have_all_samples() {
    let folder = Folder::new("report-stacks");
    let report = report(&[&folder.file("long.etl", long())]);
    let stacks = &report["stacks"];
    let name = |node: usize| stacks["names"][stacks["frames"][node].as_u64().unwrap() as usize].as_str().unwrap();
    let mut slots = vec![0; 240];
    let mut inner = 0;
    for (node, counts) in stacks["slots"].as_array().unwrap().iter().enumerate() {
        let counts: Vec<u64> = counts.as_array().unwrap().iter().filter_map(Value::as_u64).collect();
        for count in counts.chunks_exact(2) {
            slots[count[0] as usize] += count[1];
            if name(node).contains("<img src=x") {
                inner += count[1];
                let parent = stacks["parents"][node].as_u64().unwrap() as usize;
                assert_eq!(name(parent), "outer.dll");
            }
        }
    }
    // From the first event, at tick 1, to the last sample.
    let width = (5_000 + (SAMPLES - 1) * 10_000 - 1) / 240 + 1;
    let mut expected = vec![0; 240];
    (0..SAMPLES).for_each(|sample| expected[((5_000 + sample * 10_000 - 1) / width) as usize] += 1);
    assert_eq!((slots, inner), (expected, 120));
    assert_eq!((&stacks["samples"], &report["slot_width"]), (&json!(SAMPLES), &json!(width)));
    assert_eq!(report["marks"]["marks"], json!([{ "time": 999_999, "text": "a mark </script>" }]));
}

/// The page of any trace has less than 2 MB; what is left out is counted. Names cannot end the element with the data.
#[test]
fn pages_are_small() {
    let folder = Folder::new("report-small");
    for (name, bytes) in [("many", many()), ("long", long()), ("broad", broad()), ("all", top::trace())] {
        let file = folder.file(&format!("{name}.etl"), bytes);
        let page = text(&folder.0.join(name));
        let (status, out, err) = run(&["report", "-o", &page, &file]);
        assert_eq!((status, out.as_str()), (0, ""), "{err}");
        let page = fs::read_to_string(page).unwrap();
        assert!(page.len() < 2_000_000, "{name}: {} bytes", page.len());
        let ends = page.matches("</script").count();
        assert_eq!(ends, 2, "{name}");
        assert!(page.contains("content=\"default-src 'none'; script-src 'sha256-"), "{name}");
        if name == "broad" {
            let stacks = &report(&[&file])["stacks"];
            let counts = stacks["slots"].as_array().unwrap().iter().flat_map(|slots| slots.as_array().unwrap().chunks_exact(2));
            assert_eq!(counts.map(|slot| slot[1].as_u64().unwrap()).sum::<u64>(), BROAD);
            let size = stacks.to_string().len();
            assert!(size < 200 << 10, "{size} bytes");
        }
        if name == "many" {
            let data = report(&[&file]);
            assert_eq!((&data["processes"]["more"], &data["marks"]["more"]), (&json!(2_700), &json!(2_800)));
            let rows = data["tables"].as_array().unwrap().iter().map(|table| table["rows"].as_array().unwrap().len());
            assert_eq!(rows.max(), Some(30));
            let left = data["reduced"].as_array().unwrap();
            assert!(left.len() == 6, "{left:?}");
        }
    }
    let page = text(&folder.0.join("long"));
    let (status, _, err) = run(&["report", "-o", &page, &folder.file("again.etl", long())]);
    assert!(status == 2 && err.contains("already exists"), "{err}");
}

/// Of kinds with the same number of events, as many are shown as a report can have.
#[test]
fn kinds_with_equal_counts_are_shown() {
    let folder = Folder::new("report-kinds");
    let events: Vec<_> = (0..301).map(|id| Written::event(1, (5, 6), (7, id, 0), vec![])).collect();
    let report = report(&[&folder.file("kinds.etl", written(&events))]);
    let provider = &report["providers"]["providers"][0];
    let shown: Vec<_> = provider["kinds"].as_array().unwrap().iter().map(|kind| kind["events"].as_u64()).collect();
    assert_eq!((shown, &provider["more_kinds"]), (vec![Some(1); 300], &json!(1)));
}

/// `etw open` writes the report of a trace to a file that only the user can read.
#[test]
fn a_report_of_its_own() {
    let folder = Folder::new("report-open");
    let file = folder.file("long.ETL", long());
    let open = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_etw"));
        ["BROWSER", "DISPLAY", "WAYLAND_DISPLAY"].iter().for_each(|name| _ = command.env_remove(name));
        command.env("TMPDIR", &folder.0).args(["open", &file]).args(args).output().unwrap()
    };
    for args in [&["--print"][..], &[]] {
        let Output { status, stdout, stderr } = open(args);
        let (path, err) = (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap());
        let path = Path::new(path.trim_end());
        assert!(status.success() && fs::read_to_string(path).unwrap().starts_with("<!doctype html>"), "{err}");
        assert_eq!(err.contains("no display"), args.is_empty() && cfg!(target_os = "linux"), "{err}");
        #[cfg(unix)]
        assert_eq!(fs::metadata(path.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);
    }
    let (of_build, unknown) = (open(&["--build", "1703"]), open(&["-o", "/no/such/folder/page.html"]));
    assert!(String::from_utf8_lossy(&of_build.stderr).contains("--build has no effect") && of_build.status.code() == Some(2));
    assert_eq!(unknown.status.code(), Some(2));
}
