//! The events that are asked for, and the columns that they are printed in.

use crate::{Folder, json, mixed, run, shared, trace};
use serde_json::Value;
use std::collections::BTreeMap;

/// Options, and what they take of an event's document.
type Question = (&'static [&'static str], fn(&Value) -> bool);

/// The same questions are asked of the command and of all the events in JSON.
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
    (&["--keyword", "0"], |e| e["keyword"] == "0x0"),
    (&["--process", "12", "--process", "32"], |e| e["pid"] == 12 || e["pid"] == 32),
    (&["--thread", "31"], |e| e["tid"] == 31),
    (&["--processor", "1"], |e| e["cpu"] == 1),
    (&["--opcode", "1", "--processor", "0", "--processor", "2"], |e| e["opcode"] == 1 && (e["cpu"] == 0 || e["cpu"] == 2)),
];

fn keyword(event: &Value) -> u64 {
    event["keyword"].as_str().map_or(0, |text| u64::from_str_radix(&text[2..], 16).unwrap())
}

/// Asks a file all questions, and such as its own events suggest.
fn asked(file: &str) {
    let events = |options: &[&str]| {
        let (status, out, err) = run(&[&["events", "--format", "json", file], options].concat());
        // That nothing is left is told.
        let none = out.is_empty().then_some(0);
        assert_eq!((status, err.lines().count()), (0, usize::from(out.is_empty())), "{file} {options:?}");
        assert_eq!(json(&err).first().map(|told| told["matching"].as_i64().unwrap()), none, "{file} {options:?}");
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
    for (option, key) in
        [("--provider", "provider"), ("--id", "id"), ("--process", "pid"), ("--thread", "tid"), ("--keyword", "keyword")]
    {
        let value = &middle[key];
        if !value.is_null() && (key != "keyword" || keyword(middle) != 0) {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            same(&[option, &text], &|e| if key == "keyword" { keyword(e) & keyword(middle) != 0 } else { e[key] == *value });
        }
    }
    let Some(time) = middle["time"].as_i64() else { return };
    let utc = middle["time_utc"].as_str().unwrap();
    same(&["--from", utc], &|e| e["time"].as_i64().is_some_and(|own| own >= time));
    same(&["--from", utc, "--to", utc], &|e| e["time"].as_i64() == Some(time));
    let start = json(&run(&["info", "--format", "json", file]).1)[0]["start_time"].as_i64().unwrap();
    let seconds = |time: i64| {
        let since = time - start;
        format!("{}{}.{:07}", if since < 0 { "-" } else { "" }, since.abs() / 10_000_000, since.abs() % 10_000_000)
    };
    same(&["--to", &seconds(time)], &|e| e["time"].as_i64().is_some_and(|own| own <= time));
    // A moment makes the difference.
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
        (&["--provider", "Microsoft-Windows-Kernel-Process"][..], "names of other providers are not known: give the GUID"),
        (&["--id", "0x10000"], "more than its 16 bits"),
        (&["--id", "START"], "neither a number nor the name of a hook identifier"),
        (&["--process", "abc"], "not a number, such as 4 or 0x1c0"),
        (&["--process", "99999999999999999999"], "more than its 32 bits"),
        (&["--opcode", "-1"], "unexpected argument"),
        (&["--opcode=-1"], "not a number"),
        (&["--from", "yesterday"], "neither a time"),
        (&["--to", "1.23456789"], "neither a time"),
        (&["--from", "2", "--to", "1"], "--from is later than --to"),
        (&["--from", "2020-07-29T07:06:20", "--to", "2020-07-29T07:06:19"], "--from is later than --to"),
    ] {
        for command in ["events", "stat"] {
            let (status, _, err) = run(&[&[command, "-"], options].concat());
            assert!(status == 2 && err.contains(why), "{command} {options:?}: {err}");
        }
    }
    let none = run(&["events", "--opcode", "255", &folder.file("b.etl", trace())]);
    assert_eq!((none.0, none.1.lines().count(), none.2.as_str()), (0, 1, "0 of 3 events match\n"));
    let files = shared();
    files.iter().for_each(|file| asked(file));
    println!("filtered events are those of the filtered JSON in {} files", files.len());
}

/// The limit is that of all files together, in both orders.
#[test]
fn limited_events() {
    let folder = Folder::new("limit");
    let (a, b) = (folder.file("a.etl", trace()), folder.file("b.etl", trace()));
    // In the order of time, events of the same time have the order of the files.
    for (order, files) in [("file", [&a, &a, &a, &b, &b]), ("time", [&a, &b, &a, &b, &a])] {
        for (limit, files) in [("0", &files[..0]), ("2", &files[..2]), ("3", &files[..3]), ("5", &files[..])] {
            let (status, out, _) = run(&["events", "--format", "json", "--order", order, "--limit", limit, &a, &b]);
            let seen: Vec<_> = json(&out).iter().map(|line| line["file"].as_str().unwrap().to_owned()).collect();
            assert_eq!((status, seen.iter().collect::<Vec<_>>()), (0, files.to_vec()), "{order} {limit}");
        }
    }
}

/// Text and CSV have the columns that were asked for; the document has all that any column says.
#[test]
fn columns() {
    let folder = Folder::new("columns");
    let file = folder.file("a,b.etl", mixed());
    let all = "default,level,keyword,task,channel,activity,related,flags,items,payload,file";
    let documents = json(&run(&["events", "--format", "json", &file]).1);
    let (_, csv, _) = run(&["events", "--format", "csv", "--columns", all, &file]);
    let names: Vec<_> = csv.lines().next().unwrap().split(',').map(str::to_owned).collect();
    assert_eq!(names.join(","), format!("time,cpu,thread,process,header,provider,version,opcode,bytes,id{}", &all[7..]));
    assert_eq!(csv.lines().count(), 1 + documents.len());
    for (line, document) in csv.lines().skip(1).zip(&documents) {
        let (rest, name) = line.split_once('"').expect("a name with a comma is quoted");
        assert_eq!(name, format!("{file}\""));
        let cells: BTreeMap<_, _> = names.iter().map(String::as_str).zip(rest.split(',')).collect();
        for (column, keys) in [
            ("time", &["time_utc"][..]),
            ("cpu", &["cpu"]),
            ("thread", &["tid"]),
            ("process", &["pid"]),
            ("header", &["header"]),
            ("provider", &["provider", "provider_name"]),
            ("version", &["version"]),
            ("opcode", &["opcode", "opcode_name"]),
            ("bytes", &["payload_size"]),
            ("id", &["id", "id_name"]),
            ("level", &["level"]),
            ("task", &["task"]),
            ("channel", &["channel"]),
            ("activity", &["activity_id"]),
            ("related", &["related_id"]),
            ("flags", &["flags_names"]),
        ] {
            let cell = cells[column];
            let told = keys.iter().map(|key| document[key].as_str().map_or(document[key].to_string(), str::to_owned));
            assert!(told.map(|told| told.replace("null", "")).any(|told| told == cell), "{column}: {cell:?} {document}");
        }
        for (item, cell) in document["items"].as_array().unwrap().iter().zip(cells["items"].split(' ')) {
            assert_eq!(format!("{}:{}", item["name"].as_str().unwrap(), item["size"]), cell);
        }
    }
    let text = run(&["events", &file]).1;
    let heading = text.lines().next().unwrap();
    assert_eq!(heading.split_whitespace().collect::<Vec<_>>().join(","), names[..10].join(","));
    // Cells stand under their names.
    let at = heading.find("header").unwrap();
    assert!(text.lines().skip(1).all(|line| line[at..].starts_with(char::is_uppercase)), "{text}");
    assert!(text.contains("EVENT_TRACE_GROUP_PROCESS") && text.contains("WMI_LOG_TYPE_PROCESS_CREATE"), "{text}");
    assert_eq!(run(&["events", "--columns", "id,id,cpu", &file]).1.lines().next().unwrap().split_whitespace().count(), 2);
    for command in ["info", "check", "stat"] {
        assert_eq!(run(&[command, "--format", "csv", &file]).0, 2, "{command}");
    }
}
