//! Kernel events by their names and fields, and the processes of a trace. The payloads are written by hand.

use super::{Folder, PRODUCER, START, json, run};
use etw_layouts::constants::TRACE_HEADER_VERSION_FLAG;
use etw_layouts_etl::LogFile;
use etw_layouts_etl::header::{Counters, EventHeader};
use etw_layouts_etl::wire::{
    EVENT_HEADER, EVENT_HEADER_FLAG, GUID, HOOK_ID, LOG_FILE_MODE, PERFINFO_TRACE_HEADER, SYSTEM_TRACE_HEADER, WMI_TRACE_PACKET,
    large, zero,
};
use etw_layouts_etl::write::{FileWriter, Record};
use serde_json::{Value, json};
use std::io::Cursor;

/// The command lines of two successive processes with the same ID.
const COMMANDS: [&str; 2] = ["notepad.exe \"a, b\".txt", "=cmd.exe /c dir"];

const KERNEL_PROCESS: GUID =
    GUID { Data1: 0x22FB_2CD6, Data2: 0x0E7B, Data3: 0x422B, Data4: [0xA0, 0xC7, 0x2F, 0xAD, 0x1F, 0xD0, 0xE7, 0x16] };

pub fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect()
}

/// The payload of Process, version 4, of a 64-bit kernel.
pub fn process(id: u32, exit_status: u32, command_line: &str) -> Vec<u8> {
    let mut bytes = 0xFFFF_8000_1234_5678_u64.to_le_bytes().to_vec();
    for word in [id, 4, 1, exit_status] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend(0x1AD000_u64.to_le_bytes());
    bytes.extend(2_u32.to_le_bytes());
    // A TOKEN_USER, then S-1-5-18.
    bytes.extend([0x11; 16]);
    bytes.extend([1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0]);
    bytes.extend(b"image.exe\0");
    bytes.extend(wide(command_line));
    bytes.extend([wide(""), wide("")].concat());
    bytes
}

/// The payload of Image, version 2, of a 64-bit kernel.
pub fn image(process: u32, path: &str) -> Vec<u8> {
    let mut bytes = [0x7FF6_0000_0000_u64.to_le_bytes(), 0x8000_u64.to_le_bytes()].concat();
    for word in [process, 0x1234, 0x5678_9ABC, 0] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend(0x1_4000_0000_u64.to_le_bytes());
    bytes.extend([0; 16]);
    bytes.extend(wide(path));
    bytes
}

/// A kernel trace with events that are not in time order.
pub fn kernel_trace() -> Vec<u8> {
    trace_of_hooks(&[
        (0, 0x0303, 4, process(8, 0x103, "")),
        (40, 0x0301, 4, process(100, 0x103, COMMANDS[1])),
        (10, 0x0301, 4, process(100, 0x103, COMMANDS[0])),
        (20, 0x030A, 2, image(100, "\\Windows\\notepad.exe")),
        (30, 0x0302, 4, process(100, 0xC000_0005, COMMANDS[0])),
        // A later version with two more fields, and a truncated payload.
        (50, 0x0302, 9, [process(100, 1, COMMANDS[1]), vec![0xEE; 9]].concat()),
        (60, 0x0301, 4, process(200, 0x103, "x")[..30].to_vec()),
    ])
}

/// A trace of events: time stamp, hook, version and payload.
pub fn trace_of_hooks(events: &[(i64, u16, u16, Vec<u8>)]) -> Vec<u8> {
    writer_of_hooks(events).finish(START + 10_000_000).unwrap().into_inner()
}

pub fn writer_of_hooks(events: &[(i64, u16, u16, Vec<u8>)]) -> FileWriter<Cursor<Vec<u8>>> {
    let log = LogFile { start_time: START, buffer_size: 4096, ..LogFile::new(&PRODUCER) };
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), PRODUCER, log).unwrap();
    for (stamp, hook, version, payload) in events {
        let mut header: SYSTEM_TRACE_HEADER = zero();
        header.SystemTime = large(*stamp);
        header.set_Version(*version);
        let mut packet: WMI_TRACE_PACKET = zero();
        packet.set_HookId(HOOK_ID(*hook));
        header.set_Packet(packet);
        writer.push(0, &Record::new(EventHeader::System(header), true, payload)).unwrap();
    }
    writer
}

#[test]
fn names_and_fields() {
    let folder = Folder::new("kernel-fields");
    let file = folder.file("a.etl", kernel_trace());
    let (status, out, err) = run(&["events", "--payload", "fields", "--format", "json", &file]);
    let events = json(&out);
    assert!(status == 1 && err.contains("cannot decode payload"), "{err}");
    let names: Vec<_> = events.iter().skip(1).map(|event| event["event"].as_str().unwrap()).collect();
    let [start, end] = ["Process/Start", "Process/End"];
    assert_eq!(names, ["Process/DCStart", start, start, "Image/Load", end, end, start]);
    let fields = json!({
        "UniqueProcessKey": "0xffff800012345678", "ProcessId": 100, "ParentId": 4, "SessionId": 1, "ExitStatus": events[5]["fields"]["ExitStatus"],
        "DirectoryTableBase": "0x1ad000", "Flags": events[5]["fields"]["Flags"], "UserSID": "S-1-5-18 NT AUTHORITY\\SYSTEM", "ImageFileName": "image.exe",
        "CommandLine": COMMANDS[0], "PackageFullName": "", "ApplicationId": "",
    });
    assert_eq!((&events[5]["fields"], &events[5]["schema"]["version"]), (&fields, &4.into()));
    assert_eq!(events[5]["fields"]["ExitStatus"], "0xc0000005 STATUS_ACCESS_VIOLATION");
    assert_eq!(events[6]["fields"]["ExitStatus"], "0x1");
    // Undecoded bytes are kept. For a later version, they are not a diagnostic.
    assert_eq!((&events[6]["version"], &events[6]["undecoded"]["data"]), (&9.into(), &"ee".repeat(9).into()));
    assert_eq!(events[7]["fields"]["ParentId"], 4);
    assert!(events[7]["fields"].get("CommandLine").is_none() && events[7]["undecoded"]["offset"].is_u64(), "{}", events[7]);
    assert_eq!(err.matches("cannot decode payload").count(), 1, "{err}");

    // Fields as columns, in text and CSV.
    let (_, out, _) =
        run(&["events", "--event", "process/end", "--format", "csv", "--columns", "event,ProcessId,CommandLine,None", &file]);
    let rows = format!(
        "event,ProcessId,CommandLine,None\nProcess/End,100,\"notepad.exe \"\"a, b\"\".txt\",\nProcess/End,100,'{},\n",
        COMMANDS[1]
    );
    assert_eq!(out, rows);
    for (options, count) in [
        (["--event", "Process/*"], 6),
        (["--event", "image"], 1),
        (["--event", "Process/DCStart"], 1),
        (["--event", "Process/DCEnd"], 0),
        (["--provider", "Image"], 1),
        (["--event", "Nothing/Start"], 0),
    ] {
        let (_, out, err) = run(&["events", options[0], options[1], &file]);
        assert_eq!(out.lines().count(), 1 + count, "{options:?}");
        assert_eq!(err.contains("`Nothing/Start` is not the name of an event"), options[1] == "Nothing/Start", "{err}");
    }
    let (_, out, _) = run(&["stat", "--by", "event", "--format", "json", &file]);
    let by = json(&out).remove(0)["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["event"].as_str().unwrap().to_owned(), row["events"].as_u64().unwrap()))
        .collect::<Vec<_>>();
    assert!(by.contains(&(start.into(), 3)) && by.contains(&("Image/Load".into(), 1)), "{by:?}");
}

/// CSV of one event has a column for each field of all versions, with the values of JSON.
#[test]
fn one_event_has_its_fields_as_columns() {
    let folder = Folder::new("kernel-columns");
    let file = folder.file("a.etl", kernel_trace());
    let csv = |event: &str, more: &[&str]| run(&[&["events", "--event", event, "--format", "csv"], more, &[&file]].concat());
    let (status, out, err) = csv("process/START", &[]);
    // The truncated payload has the fields before the end, and is reported.
    assert_eq!((status, err.matches("cannot decode payload").count()), (1, 1), "{err}");
    let rows: Vec<_> = out.lines().collect();
    let (head, fields) = rows[0].split_once(",payload_size,").unwrap();
    assert!(head.starts_with("time_utc,processor,process,thread,header,"), "{head}");
    // First the fields of the newest version, then those that only versions 0 and 1 have.
    let newest = "UniqueProcessKey,ProcessId,ParentId,SessionId,ExitStatus,DirectoryTableBase,Flags,UserSID,ImageFileName,CommandLine,\
                  PackageFullName,ApplicationId";
    assert_eq!(fields, format!("{newest},PageDirectoryBase"));
    let (_, json_lines, _) = run(&["events", "--event", "Process/Start", "--format", "json", "--payload", "fields", &file]);
    let of = json(&json_lines).remove(0)["fields"].clone();
    let (status_text, flags) = (of["ExitStatus"].as_str().unwrap(), of["Flags"].as_str().unwrap());
    let start = format!(
        ",0xffff800012345678,100,4,1,{status_text},0x1ad000,{flags},S-1-5-18 NT AUTHORITY\\SYSTEM,image.exe,'{},,,",
        COMMANDS[1]
    );
    assert!(rows[1].ends_with(&start), "{}\n{start}", rows[1]);
    assert!(rows.len() == 4 && rows[3].ends_with(&format!(",0xffff800012345678,200,4,1,{status_text},,,,,,,,")), "{}", rows[3]);
    // Not if columns are selected, for several events or none, for a whole class, or in text.
    for more in [&["--columns", "event"][..], &["--event", "Image/Load"]] {
        assert!(!csv("Process/Start", more).1.contains("CommandLine"), "{more:?}");
    }
    assert!(!csv("Process/*", &[]).1.contains("CommandLine") && !csv("Process", &[]).1.contains("CommandLine"));
    let (_, text, _) = run(&["events", "--event", "Process/Start", &file]);
    assert!(!text.contains("CommandLine"), "{text}");
}

/// An array is one column. A negative number is not escaped as a formula. Field names ignore case.
#[test]
fn arrays_and_numbers_in_columns() {
    let folder = Folder::new("kernel-arrays");
    let stack = [&9_u64.to_le_bytes()[..], &[8, 0, 0, 0, 7, 0, 0, 0], &1_u64.to_le_bytes(), &2_u64.to_le_bytes()].concat();
    let battery = [5000_i32, -700].map(i32::to_le_bytes).concat();
    let send =
        [8_u32, 3].map(u32::to_le_bytes).concat().into_iter().chain([10, 0, 0, 1, 10, 0, 0, 2, 0, 80, 1, 187]).chain([0; 32]);
    let file = folder.file(
        "a.etl",
        trace_of_hooks(&[(10, 0x1820, 2, stack), (20, 0x1220, 2, battery), (30, 0x060A, 2, send.collect::<Vec<u8>>())]),
    );
    let row = |event: &str, more: &[&str]| {
        let (_, out, err) = run(&[&["events", "--event", event, "--format", "csv"], more, &[&file]].concat());
        out.lines().nth(1).unwrap_or_else(|| panic!("{event}: {err}")).to_owned()
    };
    let stack = row("StackWalk/Stack", &[]);
    assert!(stack.ends_with(",8,7,\"[\"\"0x1\"\",\"\"0x2\"\"]\""), "{stack}");
    assert!(row("PowerEvents/BatteryLifeInfo", &[]).ends_with(",5000,-700"));
    let send = row("TcpIp/SendIPV4", &["--columns", "daddr,size,dport"]);
    assert_eq!(send, "10.0.0.1,3,80");
}

#[test]
fn processes() {
    let folder = Folder::new("kernel-processes");
    let file = folder.file("a.etl", kernel_trace());
    let (status, out, err) = run(&["processes", "--images", "--format", "json", &file]);
    // One payload is truncated: its process is listed with the decoded fields, and a diagnostic is printed.
    assert_eq!((status, json(&err).len(), json(&err)[0]["kind"].as_str()), (1, 1, Some("fields")), "{err}");
    let list = json(&out);
    let of = |index: usize, key: &str| list[index][key].clone();
    let ids: Vec<_> = list.iter().map(|process| process["process"].as_u64().unwrap()).collect();
    assert_eq!(ids, [8, 100, 100, 200]);
    // The first process started before the trace and does not end. The second and the third have the same ID.
    assert!(of(0, "start").is_null() && of(0, "end").is_null() && of(0, "exit_status").is_null());
    assert_eq!(json!([of(1, "start"), of(1, "end"), of(1, "exit_status")]), json!([START + 10, START + 30, 0xC000_0005_u32]));
    assert_eq!(json!([of(2, "start"), of(2, "end"), of(2, "exit_status")]), json!([START + 40, START + 50, 1]));
    assert_eq!(json!([of(1, "command_line"), of(2, "command_line")]), json!(COMMANDS));
    assert_eq!(json!([of(1, "user"), of(1, "image"), of(1, "parent")]), json!(["S-1-5-18", "image.exe", 4]));
    assert_eq!((of(1, "images").as_array().unwrap().len(), of(2, "images")), (1, json!([])));
    assert_eq!(
        of(1, "images")[0],
        json!({
            "path": "\\Windows\\notepad.exe", "base": "0x7ff600000000", "size": 0x8000, "load": START + 20,
            "load_utc": of(1, "images")[0]["load_utc"], "unload": null, "unload_utc": null,
        })
    );
    assert!(of(3, "command_line").is_null());
    let (_, text, _) = run(&["processes", "--images", &file]);
    assert!(text.lines().count() == 2 + 4 + 1 && !text.contains('\u{1b}'), "{text}");
    let (_, csv, _) = run(&["processes", "--format", "csv", &file]);
    assert!(
        csv.lines().count() == 5
            && csv.contains(",\"notepad.exe \"\"a, b\"\".txt\",1,,")
            && csv.contains(",'=cmd.exe /c dir,2,,"),
        "{csv}"
    );
    let (status, out, err) = run(&["processes", &folder.file("b.etl", super::trace())]);
    assert!(status == 0 && out.is_empty() && err.contains("no events of processes"), "{err}");
}

/// Processes below the ones that created them, from both sources. An end without a time is not the time of the event that reports it.
#[test]
fn tree_of_processes() {
    let folder = Folder::new("kernel-tree");
    let ended = START - 600_000_000;
    let mut writer = writer_of_hooks(&[
        (0, 0x0303, 4, process(4, 0x103, "")),
        (1, 0x0327, 4, process(50, 7, "a  b")),
        (2, 0x0327, 5, [process(60, 8, ""), ended.to_le_bytes().to_vec()].concat()),
        (10, 0x0301, 4, process(100, 0x103, "")),
        // The parent of these has ended, and another process has its ID.
        (30, 0x0302, 4, process(100, 1, "")),
        (50, 0x0301, 4, process(100, 0x103, "")),
    ]);
    // Microsoft-Windows-Kernel-Process/ProcessStart, version 0.
    let start = |id: u32, parent: u32, name: &str| {
        let numbers = [parent, 1].map(u32::to_le_bytes).concat();
        [&id.to_le_bytes()[..], &(START + 20).to_le_bytes(), &numbers, &wide(name)].concat()
    };
    for (stamp, payload) in [(20, start(200, 100, r"\Device\disk\child.exe")), (60, start(300, 200, "grandchild.exe"))] {
        let mut header: EVENT_HEADER = zero();
        header.ProviderId = KERNEL_PROCESS;
        header.EventDescriptor.Id = 1;
        (header.TimeStamp, header.ProcessId) = (large(stamp), 100);
        writer.push(0, &Record::new(EventHeader::Event(header), true, &payload)).unwrap();
    }
    let file = folder.file("a.etl", writer.finish(START + 10_000_000).unwrap().into_inner());
    let (status, out, err) = run(&["processes", "--tree", "--format", "json", &file]);
    let keys = ["depth", "process", "parent", "parent_image", "start_known", "end_known", "end", "exit_status"];
    let rows: Vec<_> = json(&out).iter().map(|process| json!(keys.map(|key| process[key].clone()))).collect();
    let image = "image.exe";
    assert_eq!(
        rows,
        [
            json!([0, 4, 4, null, "before_trace", null, null, null]),
            json!([1, 50, 4, image, "before_trace", "before_trace", null, 7]),
            json!([1, 60, 4, image, "before_trace", "time", ended, 8]),
            json!([1, 100, 4, image, "time", "time", START + 30, 1]),
            json!([2, 200, 100, image, "time", null, null, null]),
            json!([3, 300, 200, "child.exe", "time", null, null, null]),
            json!([1, 100, 4, image, "time", null, null, null]),
        ],
        "{status} {err}"
    );
    let known = |index: usize| json(&out)[index]["known_by"].clone();
    assert_eq!((&known(1)["end"], &known(3)["end"]), (&json!("Process/Defunct"), &json!("Process/End")));
    let child = &json(&out)[4];
    let by = "Microsoft-Windows-Kernel-Process/ProcessStart";
    assert_eq!(json!([child["path"], child["image"], known(4)["image"]]), json!([r"\Device\disk\child.exe", "child.exe", by]));
    assert!(child["parent_index"] == json(&out)[3]["index"] && child["parent_index"] != json(&out)[6]["index"], "{out}");
    let (_, text, _) = run(&["processes", "--tree", &file]);
    let lines: Vec<_> = text.lines().skip(2).collect();
    assert!(lines[1].starts_with("  image.exe           50  ") && lines[1].contains("  before the trace  "), "{text}");
    assert!(lines[5].starts_with("      grandchild.exe  300  "), "{text}");
    let (_, csv, _) = run(&["processes", "--format", "csv", &file]);
    assert!(csv.contains(",before_trace,Process/Defunct,before_trace,Process/Defunct,,NT AUTHORITY\\SYSTEM\n"), "{csv}");
    let (_, csv, _) = run(&["processes", "--tree", "--format", "csv", &file]);
    let depths: String = csv.lines().skip(1).filter_map(|line| line.chars().next_back()).collect();
    assert!(csv.lines().next().unwrap().ends_with(",user_name,depth") && depths == "0111231", "{csv}");
}

/// A sample contains its thread, and the rundown of the thread has the process. It has the identifier until another thread has it, also after its
/// end.
#[test]
fn process_of_a_thread() {
    let folder = Folder::new("kernel-threads");
    let log = LogFile { start_time: START, buffer_size: 4096, ..LogFile::new(&PRODUCER) };
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), PRODUCER, log).unwrap();
    let thread = [[100_u32, 7].map(u32::to_le_bytes).concat(), vec![0; 64]].concat();
    let sample = |thread: u32| [0x7FF6_1234_u64.to_le_bytes().to_vec(), thread.to_le_bytes().to_vec(), vec![1, 0, 0, 0]].concat();
    for (stamp, hook, version, payload) in [
        (10, 0x0503, 3, &thread),
        (20, 0x0F2E, 2, &sample(7)),
        (30, 0x0F2E, 2, &sample(8)),
        (40, 0x0502, 3, &thread),
        (50, 0x0F2E, 2, &sample(7)),
    ] {
        let mut header: PERFINFO_TRACE_HEADER = zero();
        header.set_SystemTime(large(stamp));
        header.set_Version(TRACE_HEADER_VERSION_FLAG(version));
        let mut packet: WMI_TRACE_PACKET = zero();
        packet.set_HookId(HOOK_ID(hook));
        header.set_Packet(packet);
        writer.push(0, &Record::new(EventHeader::PerfInfo(header, Counters::default()), true, payload)).unwrap();
    }
    let file = folder.file("a.etl", writer.finish(START + 10_000_000).unwrap().into_inner());
    let (status, out, err) = run(&["events", "--format", "json", "--payload", "fields", "--event", "PerfInfo/SampleProf", &file]);
    assert_eq!((status, err.as_str()), (0, ""));
    let of: Vec<_> = json(&out)
        .iter()
        .map(|event| json!([event["process"], event["thread"], event["header_process"], event["header_thread"]]))
        .collect();
    assert_eq!(of, [json!([100, 7, null, null]), json!([null, 8, null, null]), json!([100, 7, null, null])]);
}

/// The times of a thread are those of the header, in ticks of the timer, if its flags and the mode of the session state that it has them.
#[test]
fn times_of_threads() {
    let folder = Folder::new("times");
    let record = |flags: Option<EVENT_HEADER_FLAG>| {
        let header = match flags {
            Some(flags) => {
                let mut header: EVENT_HEADER = zero();
                (header.TimeStamp, header.Flags) = (large(10), flags);
                header.set_KernelTime(3);
                header.set_UserTime(5);
                EventHeader::Event(header)
            }
            None => {
                let mut header: SYSTEM_TRACE_HEADER = zero();
                (header.SystemTime, header.KernelTime, header.UserTime) = (large(10), 3, 5);
                EventHeader::System(header)
            }
        };
        Record::new(header, true, &[])
    };
    let flags = [
        None,
        Some(EVENT_HEADER_FLAG(0)),
        Some(EVENT_HEADER_FLAG::EVENT_HEADER_FLAG_NO_CPUTIME),
        Some(EVENT_HEADER_FLAG::EVENT_HEADER_FLAG_PRIVATE_SESSION),
    ];
    for (mode, has_times) in [(0, [true, true, false, false]), (LOG_FILE_MODE::EVENT_TRACE_PRIVATE_LOGGER_MODE.0, [false; 4])] {
        let log = LogFile { start_time: START, buffer_size: 4096, mode, timer_resolution: 156_250, ..LogFile::new(&PRODUCER) };
        let mut writer = FileWriter::new(Cursor::new(Vec::new()), PRODUCER, log).unwrap();
        flags.iter().for_each(|flags| writer.push(0, &record(*flags)).unwrap());
        let file = folder.file("a.etl", writer.finish(START + 10_000_000).unwrap().into_inner());
        let events = json(&run(&["events", "--format", "json", &file]).1);
        let of: Vec<_> = events[events.len() - 4..].iter().map(|event| [&event["kernel_time"], &event["user_time"]]).collect();
        let times = [json!(468_750), json!(781_250)];
        let expected = has_times.map(|has_times| if has_times { [&times[0], &times[1]] } else { [&Value::Null; 2] });
        assert_eq!(of, expected, "mode {mode:#x}");
    }
}
