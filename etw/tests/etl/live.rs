//! Events as a consumer in C receives them have the JSON of the same events in a trace.

use super::{json, run};
use etw_layouts::events;
use etw_layouts_etl::wire::EVENT_HEADER_FLAG;
use etw_layouts_etl::{Event, HeaderType, Trace, Uuid};
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::mem::offset_of;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use test_support::folder::Folder;
use test_support::installed::{self, Program};
use test_support::logging::logging;
use test_support::records::{Written, written};

const SOURCE: u128 = 0xa61e_a624_4944_55fc_c2a8_3782_8829_438d;

const MESSAGES: u128 = 0x1b2c_3d4e_0e7b_422b_a0c7_2fad_1fd0_e716;

/// A format for one of the messages.
const TMF: &str = "1b2c3d4e-0e7b-422b-a0c7-2fad1fd0e716 example // SRC=disk.c MJ= MN=
#typev disk_c87 10 \"%0start: %10!d! of %11!s!\" //   LEVEL=ERROR FLAGS=IO FUNC=Start
{
number, ItemLong -- 10
name, ItemString -- 11
}
";

/// Members that only a trace has, and times whose unit only a trace has.
const OF_TRACE: [&str; 11] = [
    "file",
    "buffer",
    "buffer_offset",
    "offset",
    "process_name",
    "process_by",
    "subject",
    "subject_name",
    "subject_by",
    "kernel_time",
    "user_time",
];

fn manifest(name: &str, id: u16) -> String {
    let guid = Uuid::from_u128(SOURCE);
    format!(
        r#"<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"><instrumentation><events>
        <provider name="Maker-{name}" guid="{{{guid}}}" symbol="S" resourceFileName="a" messageFileName="a">
        <templates><template tid="T"><data name="Handle" inType="win:UInt32"/></template></templates>
        <events><event value="{id}" version="0" template="T" symbol="{name}"/></events>
        </provider></events></instrumentation></instrumentationManifest>"#
    )
}

/// A trace with events of TraceLogging, of an EventSource after its manifest, of a manifest, of a provider of Windows, and of a kernel class; events with
/// a truncated payload and without a schema; messages of WPP, one without a format.
fn trace() -> Vec<u8> {
    let (own, sent) = (logging(), manifest("Sent", 1));
    let chunk = [&[1, 0, 0, 0x5B, 1, 0, 0, 0][..], sent.as_bytes()].concat();
    let event = |tick, id, payload: &[u8]| Written::event(tick, (20, 10), (SOURCE, id, 0), payload.to_vec());
    let process = 0x22fb_2cd6_0e7b_422b_a0c7_2fad_1fd0_e716;
    let class = events::all().map(|(class, ..)| class).next().expect("a class");
    let tlog = |tick, size: usize| {
        let items = Written::event(tick, (21, 11), (3, 5, 0), own.payload[..size].to_vec());
        items.with(11, own.schema.clone()).with(12, own.traits.clone()).with(1, vec![9; 16])
    };
    written(&[
        tlog(100, own.payload.len()),
        event(200, 0xFFFE, &chunk),
        event(300, 1, &[7, 0, 0, 0]),
        event(400, 2, &[8, 0, 0, 0]).on(3),
        event(500, 3, b"without a schema"),
        tlog(600, own.payload.len() - 9),
        Written::event(700, (22, 12), (process, 5, 0), vec![1; 64]),
        Written::relogged(800, (class, 1), vec![2; 40]),
        Written::message(900, (23, 13), (MESSAGES, 10), b"\x05\0\0\0disk\0".to_vec()),
        Written::message(1000, (23, 13), (MESSAGES, 11), vec![6]),
    ])
}

/// The EVENT_HEADER of a message, as a consumer receives it.
fn header_of_message(event: &Event<'_>) -> Vec<u8> {
    let flags = EVENT_HEADER_FLAG::EVENT_HEADER_FLAG_TRACE_MESSAGE | EVENT_HEADER_FLAG::EVENT_HEADER_FLAG_64_BIT_HEADER;
    let (thread, process) = event.thread().zip(event.process()).expect("a thread");
    let mut header = vec![0; 0x50];
    header[4..6].copy_from_slice(&flags.0.to_le_bytes());
    header[8..12].copy_from_slice(&thread.to_le_bytes());
    header[12..16].copy_from_slice(&process.to_le_bytes());
    header[24..40].copy_from_slice(&event.provider().expect("a GUID").to_bytes_le());
    header[40..42].copy_from_slice(&event.id().expect("a number").to_le_bytes());
    header
}

/// The bytes that live.c reads: the members of EVENT_RECORD before its pointers, then the items and the payload.
fn records(trace: &[u8]) -> Vec<u8> {
    let (trace, mut out) = (Trace::from_bytes(trace).expect("a trace"), Vec::new());
    for record in trace.events().map(|event| event.expect("an event")) {
        let event = record.event();
        let mut header = match (event.flags(), event.header_type()) {
            (Some(_), _) => event.bytes()[..0x50].to_vec(),
            (None, HeaderType::Message) => header_of_message(&event),
            // The header of the trace.
            _ => continue,
        };
        // A consumer receives other values in Size and HeaderType, and system time.
        header[..4].fill(0);
        header[16..24].copy_from_slice(&record.time().expect("a time").0.to_le_bytes());
        out.extend(header);
        let items: Vec<_> = event.items().collect();
        for number in [record.processor(), 1, items.len() as u16, event.payload().len() as u16] {
            out.extend(number.to_le_bytes());
        }
        for item in items {
            out.extend([0, item.ty.0, 0, item.data.len() as u16].map(u16::to_le_bytes).concat());
            out.extend(item.data);
        }
        out.extend(event.payload());
    }
    out
}

/// The folder of the header, and the newest static library that cargo wrote beside this program.
fn library() -> (PathBuf, PathBuf) {
    let program = std::env::current_exe().expect("this program");
    let is_own = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("libetw_layouts_record") && name.ends_with(".a")
    };
    let files = fs::read_dir(program.parent().expect("a folder")).expect("a folder");
    let written = |path: &PathBuf| fs::metadata(path).and_then(|data| data.modified()).ok();
    let library = files.filter_map(|file| Some(file.ok()?.path())).filter(is_own).max_by_key(written);
    (Path::new(env!("CARGO_MANIFEST_DIR")).join("../record/include"), library.expect("the static library"))
}

fn compiled(clang: &Program, arguments: &[&str], include: &Path, file: &Path) -> String {
    let mut command = clang.command();
    command.args(arguments).arg("-I").arg(include).args(["-std=c11", "-Wall", "-Werror", "-xc"]).arg(file);
    let output = command.output().expect("clang starts");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.success(), errors.is_empty(), "{errors}");
    errors
}

#[test]
fn live_events_have_the_json_of_a_trace() {
    let Some(clang) = installed::program("clang") else { return };
    let (folder, bytes, (include, library)) = (Folder::new("live"), trace(), library());
    let (file, schemas) = (folder.file("a.etl", &bytes), folder.0.join("schemas"));
    fs::create_dir(&schemas).expect("a folder");
    fs::write(schemas.join("a.man"), manifest("Named", 2)).expect("a manifest");
    fs::write(schemas.join("a.tmf"), TMF).expect("formats");
    let named = schemas.display().to_string();
    let (program, source) = (folder.0.join("consumer"), Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/etl/live.c"));
    let mut command = clang.command();
    command
        .arg("-DRUN")
        .arg("-I")
        .arg(&include)
        .arg(&source)
        .arg(&library)
        .args(["-lpthread", "-ldl", "-lm", "-o"])
        .arg(&program);
    let output = command.output().expect("clang starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    let mut consumer = std::process::Command::new(&program);
    let mut consumer = consumer.arg(&named).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the consumer starts");
    consumer.stdin.take().expect("a pipe").write_all(&records(&bytes)).expect("the consumer reads");
    let output = String::from_utf8(consumer.wait_with_output().expect("the consumer ends").stdout).expect("UTF-8");

    let (_, expected, _) =
        run(&["events", "--payload", "fields", "--format", "json", "--manifests", &named, "--tmf", &named, &file]);
    let mut expected = json(&expected);
    expected.retain(|event| event["flags"].is_number() || event["header"] == "MESSAGE");
    let (mut statuses, mut live) = (String::new(), Vec::new());
    for line in output.lines() {
        let (status, text) = line.split_once(' ').unwrap_or_else(|| panic!("{line}"));
        statuses += status;
        live.push(serde_json::from_str::<Value>(text).unwrap_or_else(|error| panic!("{text}: {error}")));
    }
    for event in &mut live {
        let unit = event.as_object_mut().expect("an object");
        assert_eq!([unit.remove("kernel_time"), unit.remove("user_time")], [Some(Value::Null), Some(Value::Null)]);
    }
    for event in &mut expected {
        OF_TRACE.iter().for_each(|name| _ = event.as_object_mut().expect("an object").remove(*name));
    }
    assert_eq!(live.len(), 10, "{output}");
    for (live, expected) in live.iter().zip(&expected) {
        assert_eq!(live, expected);
    }
    let named = |id: u16| live.iter().find(|event| event["id"] == id && event["provider"] == Uuid::from_u128(SOURCE).to_string());
    let name = |id| named(id).and_then(|event| event["event"].as_str());
    assert_eq!((name(1), name(2)), (Some("Maker-Sent/Sent"), Some("Maker-Sent/Named")), "{output}");
    assert_eq!((&live[7]["message"], &live[8]["payload"]), (&Value::from("start: 5 of disk"), &Value::from("06")), "{output}");
    // Only the payload of the event at 600 is truncated.
    let faults: Vec<_> =
        live.iter().zip(statuses.chars()).filter(|(_, status)| *status == '1').map(|(event, _)| &event["time"]).collect();
    assert_eq!((faults, statuses.len()), (vec![&Value::from(600)], 10), "{output}");
}

/// The header and the example of the page for sensors compile for Windows, and Microsoft's EVENT_RECORD has the layout that the library reads.
#[test]
fn header_for_consumers_compiles() {
    let Some(clang) = installed::program("clang") else { return };
    let (include, root) =
        (Path::new(env!("CARGO_MANIFEST_DIR")).join("../record/include"), Path::new(env!("CARGO_MANIFEST_DIR")));
    for target in ["x86_64-pc-windows-msvc", "i686-pc-windows-msvc", "aarch64-pc-windows-msvc"] {
        let errors =
            compiled(&clang, &["-target", target, "-ffreestanding", "-fsyntax-only"], &include, &root.join("tests/etl/live.c"));
        assert_eq!(errors, "", "{target}");
    }
    let windows = Path::new("/usr/share/mingw-w64/include");
    if !windows.join("evntcons.h").exists() {
        return installed::absent("mingw-w64");
    }
    macro_rules! offsets {
        ($record:ty) => {
            [
                ("BufferContext", offset_of!($record, BufferContext)),
                ("ExtendedDataCount", offset_of!($record, ExtendedDataCount)),
                ("UserDataLength", offset_of!($record, UserDataLength)),
                ("ExtendedData", offset_of!($record, ExtendedData)),
                ("UserData", offset_of!($record, UserData)),
                ("UserContext", offset_of!($record, UserContext)),
            ]
        };
    }
    let page = fs::read_to_string(root.join("../docs/SENSORS.md")).expect("the page");
    let example = page.split("```c\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example in C");
    let folder = Folder::new("consumer");
    let wide = (offsets!(etw_layouts::win10_2004::x64::EVENT_RECORD), size_of::<etw_layouts::win10_2004::x64::EVENT_RECORD>());
    let narrow = (offsets!(etw_layouts::win10_2004::x86::EVENT_RECORD), size_of::<etw_layouts::win10_2004::x86::EVENT_RECORD>());
    for (target, (offsets, size)) in [("x86_64", &wide), ("i686", &narrow), ("aarch64", &wide)] {
        let mut text = format!("{example}\n_Static_assert(sizeof(EVENT_RECORD) == {size}, \"size\");\n");
        for (member, offset) in offsets {
            text += &format!("_Static_assert(offsetof(EVENT_RECORD, {member}) == {offset}, \"{member}\");\n");
        }
        let file = folder.file("example.c", &text);
        let (target, windows) = (format!("{target}-w64-mingw32"), windows.display().to_string());
        let errors = compiled(&clang, &["-target", &target, "-isystem", &windows, "-fsyntax-only"], &include, Path::new(&file));
        assert_eq!(errors, "", "{target}");
    }
}
