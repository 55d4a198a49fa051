//! Event selection, and the columns of the output.

use crate::{Folder, json, mixed, run, small, trace};
use etw_layouts_etl::FileTime;
use serde_json::{Value, json as value};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use test_support::logging::logging;

/// Options, and the same condition on the JSON of an event.
type Question = (&'static [&'static str], fn(&Value) -> bool);

/// Each case is applied by the command, and to the JSON of all events.
const QUESTIONS: [Question; 12] = [
    (&["--provider", "process"], |e| e["provider"] == "3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c"),
    (&["--provider", "a61ea624-4944-55fc-c2a8-37828829438d", "--provider", "{68fdd900-4a3e-11d1-84f4-0000f80464e3}"], |e| {
        e["provider"] == "a61ea624-4944-55fc-c2a8-37828829438d" || e["provider"] == "68fdd900-4a3e-11d1-84f4-0000f80464e3"
    }),
    (&["--id", "WMI_LOG_TYPE_PROCESS_CREATE", "--id", "1000"], |e| e["id"] == 0x0301 || e["id"] == 1000),
    (&["--id", "0x2b"], |e| e["id"] == 43),
    (&["--opcode", "0", "--opcode", "9"], |e| e["opcode"] == 0 || e["opcode"] == 9),
    (&["--level", "0", "--level", "4"], |e| e["level"] == 0 || e["level"] == 4),
    (&["--keyword", "0x3"], |e| keyword(e) & 3 != 0),
    (&["--keyword", "0"], |e| e["keyword"] == "0x0000000000000000"),
    (&["--process", "12", "--process", "32"], |e| is_of(e, &value!(12)) || is_of(e, &value!(32))),
    (&["--thread", "31"], |e| e["thread"] == 31 || e["header_thread"] == 31),
    (&["--processor", "1"], |e| e["processor"] == 1),
    (&["--opcode", "1", "--processor", "0", "--processor", "2"], |e| {
        e["opcode"] == 1 && (e["processor"] == 0 || e["processor"] == 2)
    }),
];

/// Whether a process did the event, or the event is about it.
fn is_of(event: &Value, process: &Value) -> bool {
    event["process"] == *process || event["subject"] == *process
}

fn keyword(event: &Value) -> u64 {
    event["keyword"].as_str().map_or(0, |text| u64::from_str_radix(&text[2..], 16).unwrap())
}

/// Tests all cases on a file, and more cases with values from its events.
fn asked(file: &str) {
    let events = |options: &[&str]| {
        let (status, out, err) = run(&[&["events", "--format", "json", file], options].concat());
        // If no event matches, a note reports it.
        let none = out.is_empty().then_some(0);
        assert_eq!((status, err.lines().count()), (0, usize::from(out.is_empty())), "{file} {options:?}");
        assert_eq!(json(&err).first().map(|note| note["matching"].as_i64().unwrap()), none, "{file} {options:?}");
        out
    };
    let all = events(&[]);
    let documents: Vec<_> = all.lines().zip(json(&all)).collect();
    let same = |options: &[&str], takes: &dyn Fn(&Value) -> bool| {
        let expected: String = documents.iter().filter(|(_, e)| takes(e)).map(|(line, _)| format!("{line}\n")).collect();
        assert!(events(options) == expected, "{file} {options:?}");
    };
    for (options, takes) in QUESTIONS {
        same(options, &takes);
    }
    let middle = &documents[documents.len() / 2].1;
    for (option, key) in [("--provider", "provider"), ("--id", "id"), ("--process", "process"), ("--keyword", "keyword")] {
        let value = &middle[key];
        if !value.is_null() && (key != "keyword" || keyword(middle) != 0) {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            same(&[option, &text], &|e| match key {
                "keyword" => keyword(e) & keyword(middle) != 0,
                "process" => is_of(e, value),
                _ => e[key] == *value,
            });
        }
    }
    if let Some(thread) = middle["thread"].as_u64() {
        // Events can be about a thread, which JSON does not have.
        let found = events(&["--thread", &thread.to_string()]);
        let is_own = |e: &Value| e["thread"] == thread || e["header_thread"] == thread;
        let own = documents.iter().filter(|(_, e)| is_own(e)).map(|(line, _)| *line).collect::<Vec<_>>();
        let found: Vec<_> = found.lines().zip(json(&found)).filter(|(_, e)| is_own(e)).collect();
        assert!(found.iter().map(|(line, _)| *line).eq(own), "{file} --thread {thread}");
    }
    let Some(time) = middle["time"].as_i64() else { return };
    let utc = middle["time_utc"].as_str().unwrap();
    same(&["--from", utc], &|e| e["time"].as_i64().is_some_and(|own| own >= time));
    // The same time in another time zone.
    let away = FileTime(time - 7 * 3600 * 10_000_000).to_string() + "-07:00";
    same(&["--from", &away, "--to", &away], &|e| e["time"].as_i64() == Some(time));
    same(&["--from", utc, "--to", utc], &|e| e["time"].as_i64() == Some(time));
    let start = json(&run(&["info", "--format", "json", file]).1)[0]["start_time"].as_i64().unwrap();
    let seconds = |time: i64| {
        let since = time - start;
        format!("{}{}.{:07}", if since < 0 { "-" } else { "" }, since.abs() / 10_000_000, since.abs() % 10_000_000)
    };
    same(&["--to", &seconds(time)], &|e| e["time"].as_i64().is_some_and(|own| own <= time));
    // The limits are inclusive: one unit less or more excludes the event.
    same(&["--to", &seconds(time - 1)], &|e| e["time"].as_i64().is_some_and(|own| own < time));
    same(&["--from", &seconds(time + 1)], &|e| e["time"].as_i64().is_some_and(|own| own > time));
    let first: String = documents.iter().take(3).map(|(line, _)| format!("{line}\n")).collect();
    assert_eq!(events(&["--limit", "3"]), first, "{file}");
}

#[test]
fn filtered_events() {
    let folder = Folder::new("filters");
    asked(&folder.file("a.etl", mixed()));
    for (options, why) in [
        (&["--provider", ""][..], "empty provider; give a GUID, a group or a name"),
        (&["--provider", "12345678-0000"], "invalid GUID"),
        (&["--limit", "many"], "invalid number; expected a value such as 1000"),
        (&["--provider", "group Kernel"], "invalid number; expected a value such as 4 or 0x1c0"),
        (&["--opcode", ""], "invalid opcode"),
        (&["--level", "loud"], "invalid level"),
        (&["--from", "25:00"], "invalid time"),
        (&["--id", "0x10000"], "the maximum is 65535"),
        (&["--id", "START"], "invalid ID"),
        (&["--process", "abc"], "invalid number; expected a value such as 4 or 0x1c0"),
        (&["--process", "99999999999999999999"], "the maximum is 4294967295"),
        (&["--opcode", "-1"], "unexpected argument"),
        (&["--opcode=-1"], "invalid opcode"),
        (&["--from", "yesterday"], "invalid time"),
        (&["--to", "1.23456789"], "invalid time"),
        (&["--from", "2", "--to", "1"], "--from is later than --to"),
        (&["--from", "2020-07-29T07:06:20", "--to", "2020-07-29T07:06:19"], "--from is later than --to"),
    ] {
        let commands = if options[0] == "--limit" { &["events"][..] } else { &["events", "stat"] };
        for command in commands {
            let (status, _, err) = run(&[&[*command, "-"], options].concat());
            assert!(status == 2 && err.contains(why), "{command} {options:?}: {err}");
        }
    }
    let none = run(&["events", "--opcode", "255", &folder.file("b.etl", trace())]);
    assert_eq!((none.0, none.1.lines().count(), none.2.as_str()), (0, 1, "0 of 3 events match\n"));
    let files = small();
    files.iter().for_each(|file| asked(file));
    println!("filtered events are those of the filtered JSON in {} files", files.len());
}

/// The limit counts the events of all files together, in both orders.
#[test]
fn limited_events() {
    let folder = Folder::new("limit");
    let (a, b) = (folder.file("a.etl", trace()), folder.file("b.etl", trace()));
    // In time order, events with equal times keep the order of the files.
    for (order, files) in [("file", [&a, &a, &a, &b, &b]), ("time", [&a, &b, &a, &b, &a])] {
        for (limit, files) in [("0", &files[..0]), ("2", &files[..2]), ("3", &files[..3]), ("5", &files[..])] {
            let (status, out, _) = run(&["events", "--format", "json", "--order", order, "--limit", limit, &a, &b]);
            let seen: Vec<_> = json(&out).iter().map(|line| line["file"].as_str().unwrap().to_owned()).collect();
            assert_eq!((status, seen.iter().collect::<Vec<_>>()), (0, files.to_vec()), "{order} {limit}");
        }
    }
}

/// The columns of CSV, with the options that accept their values.
const COLUMNS: [(&str, &[&str]); 37] = [
    ("time", &["--from", "--to"]),
    ("time_utc", &["--from", "--to"]),
    ("processor", &["--processor"]),
    ("thread", &["--thread"]),
    ("process", &["--process"]),
    ("header_process", &[]),
    ("header_thread", &["--thread"]),
    ("kernel_time", &[]),
    ("user_time", &[]),
    ("process_name", &[]),
    ("process_by", &[]),
    ("subject", &["--process"]),
    ("subject_name", &[]),
    ("subject_by", &[]),
    ("header", &[]),
    ("event", &["--event"]),
    ("provider", &["--provider"]),
    ("provider_name", &["--provider"]),
    ("version", &[]),
    ("opcode", &["--opcode"]),
    ("opcode_name", &["--opcode"]),
    ("payload_size", &[]),
    ("id", &["--id"]),
    ("id_name", &["--id"]),
    ("level", &["--level"]),
    ("keyword", &["--keyword"]),
    ("keyword_names", &[]),
    ("task", &[]),
    ("task_name", &[]),
    ("channel", &[]),
    ("activity", &[]),
    ("related", &[]),
    ("flags", &[]),
    ("flags_names", &[]),
    ("items", &[]),
    ("payload", &[]),
    ("file", &[]),
];

/// A CSV cell has the value that JSON has under the name of the column.
#[test]
fn columns() {
    let folder = Folder::new("columns");
    for (name, bytes) in [("a.etl", mixed()), ("b.etl", logging().trace())] {
        let file = folder.file(name, bytes);
        let all = COLUMNS.map(|(column, _)| column).join(",");
        let documents = json(&run(&["events", "--payload", "hex", "--format", "json", &file]).1);
        let (_, csv, _) = run(&["events", "--format", "csv", "--columns", &all, &file]);
        assert_eq!((csv.lines().next(), csv.lines().count()), (Some(all.as_str()), 1 + documents.len()));
        for (line, document) in csv.lines().skip(1).zip(&documents) {
            for ((column, _), cell) in COLUMNS.iter().zip(line.split(',')) {
                let value = &document[*column];
                let value = match value {
                    Value::Null => String::new(),
                    Value::String(text) => text.clone(),
                    Value::Array(items) => {
                        let item = |item: &Value| format!("{}:{}", item["name"].as_str().unwrap(), item["size"]);
                        items.iter().map(item).collect::<Vec<_>>().join(" ")
                    }
                    value => value.to_string(),
                };
                assert_eq!(cell, value, "{column}: {document}");
            }
        }
    }
    let file = folder.file("c.etl", mixed());
    let text = run(&["events", &file]).1;
    let heading = text.lines().next().unwrap();
    let names: Vec<_> = heading.split_whitespace().collect();
    assert_eq!(names.join(","), "time,processor,process,thread,event,version,payload_size");
    let csv = run(&["events", "--format", "csv", &file]).1;
    let default = "time_utc,processor,process,thread,header,provider,provider_name,id,id_name,opcode,opcode_name,event,version,payload_size";
    assert_eq!(csv.lines().next(), Some(default));
    // Cells are aligned with their column names.
    let at = heading.find("event").unwrap();
    assert!(text.lines().skip(1).all(|line| line[at..].starts_with(char::is_alphanumeric)), "{text}");
    assert!(text.contains("  Process/Start  ") && text.contains("/opcode 0  "), "{text}");
    assert_eq!(run(&["events", "--columns", "id,id,processor", &file]).1.lines().next().unwrap().split_whitespace().count(), 2);
    for command in ["info", "check", "stat", "save"] {
        let (status, _, err) = run(&[command, "--format", "csv", &file]);
        assert!(status == 2 && err.contains("[possible values: text, json]"), "{command}: {err}");
    }
}

/// An option accepts the values that its column prints in text and CSV, and then selects the same events.
#[test]
fn printed_values_are_options() {
    let folder = Folder::new("printed");
    let mut files = vec![folder.file("a.etl", mixed()), folder.file("b.etl", logging().trace())];
    files.extend(small().into_iter().filter(|file| fs::metadata(file).unwrap().len() < 1 << 18));
    let mut asked = BTreeMap::new();
    for file in &files {
        let printed = |format: &str, column: &str, options: &[&str]| {
            let columns = format!("{column},payload,items");
            let (_, out, _) = run(&[&["events", "--format", format, "--columns", &columns, file], options].concat());
            out.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
        };
        for (column, options) in COLUMNS.iter().filter(|(_, options)| !options.is_empty()) {
            for format in ["text", "csv"] {
                let lines = printed(format, column, &[]);
                let end = if format == "csv" { "," } else { "  " };
                let cell = |line: &str| line.trim_start().split(end).next().unwrap().trim().to_owned();
                let cells: BTreeSet<String> =
                    lines.iter().map(|line| cell(line)).filter(|cell| !matches!(cell.as_str(), "" | "-")).collect();
                // Test the first value, the last, and one in the middle.
                let cells: Vec<_> = cells.into_iter().collect();
                for value in [cells.first(), cells.get(cells.len() / 2), cells.last()].into_iter().flatten() {
                    let given: Vec<&str> = options.iter().flat_map(|option| [*option, value.as_str()]).collect();
                    let found = printed(format, column, &given);
                    // A keyword matches events with a common bit, and an opcode has two names.
                    let has = |line: &&String| cell(line) == *value;
                    let expected: Vec<&String> = lines.iter().filter(has).collect();
                    let found: Vec<&String> = found.iter().filter(has).collect();
                    assert_eq!(found, expected, "{file}: {format} {given:?}");
                    *asked.entry((*column, format)).or_insert(0) += 1;
                }
            }
        }
    }
    println!("{asked:?}");
    assert_eq!(asked.len(), 2 * COLUMNS.iter().filter(|(_, options)| !options.is_empty()).count());
    // Names ignore case; times of day are accepted.
    let same = |one: &[&str], other: &[&str]| {
        let of = |options: &[&str]| run(&[&["events", &files[0]], options].concat()).1;
        assert!(of(one).lines().count() > 1 && of(one) == of(other), "{one:?} {other:?}");
    };
    same(&["--opcode", "start"], &["--opcode", "1"]);
    same(&["--level", "Information"], &["--level", "4"]);
    same(&["--provider", "group 0x03"], &["--provider", "PROCESS"]);
    let time = &printed_time(&files[0]);
    let (_, of_day) = time.split_once(' ').unwrap();
    same(&["--from", of_day], &["--from", time]);
    same(&["--to", of_day], &["--to", time]);
    let none = run(&["events", "--provider", "Maker.Provide", &files[1]]);
    assert!(none.2.ends_with("or the provider's GUID\n"), "{}", none.2);
    let stat = &json(&run(&["stat", "--format", "json", &files[1]]).1)[0];
    assert!(stat["groups"].as_array().unwrap().iter().any(|row| row["provider_name"] == "Maker.Provider"), "{stat}");
}

/// The time of the event in the middle, as printed in text.
fn printed_time(file: &str) -> String {
    let out = run(&["events", "--columns", "time", file]).1;
    let times: Vec<_> = out.lines().skip(1).filter(|time| *time != "-").collect();
    times[times.len() / 2].to_owned()
}

/// Text from a file that a spreadsheet would read as a formula gets an apostrophe; numbers get none.
#[test]
fn formulas_are_text() {
    let folder = Folder::new("formulas");
    for (name, cell) in [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(1)", "'@SUM(1)"),
        ("'=1", "''=1"),
        ("＝1", "'＝1"),
        ("a=1", "a=1"),
        ("=\"a\",1", "\"'=\"\"a\"\",1\""),
        ("\t=1", "\\u{9}=1"),
    ] {
        let mut made = logging();
        made.traits = [&[0, 0][..], name.as_bytes(), &[0]].concat();
        let file = folder.file("a.etl", made.sized().trace());
        let line = |column: &str| {
            let out = run(&["events", "--format", "csv", "--columns", column, &file]).1;
            out.lines().last().unwrap().to_owned()
        };
        assert_eq!(line("provider_name"), cell);
        let payload = run(&["events", "--format", "csv", "--payload", "fields", "--columns", "payload", &file]).1;
        let payload = payload.lines().last().unwrap();
        let bare = payload.strip_prefix('"').unwrap_or(payload);
        assert!(!bare.starts_with(['=', '+', '-', '@']), "{payload}");
        let found = run(&["events", &format!("--provider={name}"), "--format", "json", &file]).1;
        assert_eq!(json(&found).len(), 1, "{name}");
    }
}

/// An invalid command-line value is printed with escaped control characters.
#[test]
fn values_are_escaped() {
    let (status, out, err) = run(&["events", "--columns", "\u{9b}X\u{202e}", "none.etl"]);
    assert!(status == 2 && out.is_empty() && err.contains(r"invalid value '\u{9b}X\u{202e}'"), "{status} {err}");
    assert!(!err.contains(['\u{9b}', '\u{202e}']), "{err}");
}
