//! The processes of made traces.

use crate::made::{Made, each, kernel, manifest, schemas, written};
use etw_layouts_etl::{Clock, ClockType, Uuid};
use etw_layouts_trace::{
    BytesSource, Known, LoadedImage, Moment, Options, ProcessIndex, ProcessTable, Processes, Trace, TraceFile,
};

const START: u16 = 0x0301;
const END: u16 = 0x0302;
const DC_START: u16 = 0x0303;
const DEFUNCT: u16 = 0x0327;
const LOAD: u16 = 0x030A;
const UNLOAD: u16 = 0x1402;
const LOADED: u16 = 0x1403;

const KERNEL_PROCESS: Uuid = Uuid::from_u128(0x22fb2cd6_0e7b_422b_a0c7_2fad1fd0e716);

/// The table, and the same if the events are added backwards.
fn table(made: &[Made]) -> ProcessTable {
    let schemas = schemas();
    let clock = Clock::new(ClockType::SystemTime, 1000, 0, 0, 0);
    let mut processes = Processes::default();
    let mut backwards = Vec::new();
    each(made, &schemas, |event, tick| {
        processes.add(event, tick);
        backwards.push((event.bytes().to_vec(), event.extent(), tick));
    });
    let table = processes.finish(&schemas, &clock);
    let mut processes = Processes::default();
    for (bytes, extent, tick) in backwards.iter().rev() {
        processes.add(&extent.at(bytes, 0).expect("an event"), *tick);
    }
    let other = processes.finish(&schemas, &clock);
    assert!(table.iter().eq(other.iter()));
    assert!(table.is_complete());
    table
}

fn moment(moment: Moment) -> String {
    match moment {
        Moment::At { tick, time } => format!("{tick}={}", time.expect("a clock").0),
        Moment::Stated(time) => time.0.to_string(),
        _ => "earlier".to_owned(),
    }
}

/// A line for each process.
fn lines(table: &ProcessTable) -> String {
    let mut text = String::new();
    for (index, process) in table.iter() {
        let time = |known: &Option<Known<Moment>>| match known {
            Some(Known { value, by }) => format!("{} {by}", moment(*value)),
            None => "-".to_owned(),
        };
        let status = process.exit_status.as_ref().map_or("-".to_owned(), |known| format!("{} {}", known.value, known.by));
        let parent = process.parent.map_or("-".to_owned(), |parent| parent.0.to_string());
        let image = process.image().unwrap_or("-");
        let (start, end) = (time(&process.start), time(&process.end));
        text += &format!("{} {} {image}, of {parent}, {start} .. {end}, {status}\n", index.0, process.id);
    }
    text
}

fn process(hook: u16, id: u64, key: u64, parent: u64, text: &'static str) -> Made {
    let numbers = [("ProcessId", id), ("UniqueProcessKey", key), ("ParentId", parent), ("ExitStatus", 3), ("ExitTime", 500)];
    kernel(hook, Some((99, 1)), &numbers, text)
}

/// A process in a version without its key.
fn keyless(hook: u16, id: u64, text: &'static str) -> Made {
    kernel(hook, Some((99, 1)), &[("ProcessId", id), ("version", 1), ("ExitStatus", 3)], text)
}

fn image(hook: u16, id: u64, base: u64, text: &'static str) -> Made {
    kernel(hook, Some((99, 1)), &[("ProcessId", id), ("ImageBase", base), ("ImageSize", 8)], text)
}

fn of_manifest(id: u16, process: u64, numbers: &[(&'static str, u64)], text: &'static str) -> Made {
    manifest(KERNEL_PROCESS, id, (99, 1), &[&[("ProcessID", process)], numbers].concat(), text)
}

/// The images of the first processes, with the time stamps of their load and unload.
fn loaded(made: &[Made], processes: u32) -> Vec<String> {
    let file = TraceFile::new("made", BytesSource(written(made, &schemas()))).expect("a trace");
    let trace = Trace::new(vec![file], Options::new().schemas(schemas())).expect("a trace");
    let names = trace.names(0).expect("a session");
    let tick = |moment| if let Moment::At { tick, .. } = moment { tick.to_string() } else { "-".to_owned() };
    let line = |image: &LoadedImage| {
        let unload = image.unload.map_or("-".to_owned(), tick);
        format!("{} {:#x} {} .. {unload}", image.path, image.base, tick(image.load))
    };
    let images = |process| names.images(ProcessIndex(process)).expect("images");
    (0..processes).map(|process| images(process).iter().map(line).collect::<Vec<_>>().join(", ")).collect()
}

fn check(made: &[Made], expected: &str) {
    let text = lines(&table(made));
    let expected: String = expected.trim().lines().map(|line| format!("{}\n", line.strip_prefix("  ").unwrap_or(line))).collect();
    assert!(text == expected, "{text}");
}

/// Defunct is the rundown of processes that have ended: its time is no end.
#[test]
fn ends() {
    let old = kernel(DEFUNCT, None, &[("ProcessId", 5), ("UniqueProcessKey", 50), ("version", 4), ("ExitStatus", 7)], "old");
    let made = [
        process(DC_START, 4, 40, 0, "runs"),
        process(DC_START, 6, 60, 4, "ends"),
        process(DEFUNCT, 7, 70, 4, "ended"),
        old.clone(),
        process(END, 6, 60, 4, "ends"),
        process(DEFUNCT, 6, 60, 4, "ends"),
        process(DEFUNCT, 7, 70, 4, "ended"),
        old,
    ];
    let expected = "
  0 4 runs, of -, earlier Process/DCStart .. -, -
  1 6 ends, of 0, earlier Process/DCStart .. 5=1005 Process/End, 3 Process/End
  2 7 ended, of 0, earlier Process/Defunct .. 500 Process/Defunct, 3 Process/Defunct
  3 5 old, of -, earlier Process/Defunct .. earlier Process/Defunct, 7 Process/Defunct";
    check(&made, expected);
}

/// Processes with one identifier: by their keys, and by their starts.
#[test]
fn reuse() {
    let made = [
        process(DC_START, 300, 11, 4, "x"),
        process(END, 300, 22, 4, "y"),
        process(START, 500, 55, 4, "b"),
        process(START, 500, 77, 4, "c"),
        keyless(START, 600, "d"),
        keyless(END, 600, "d"),
        keyless(END, 600, "e"),
        keyless(START, 600, "f"),
    ];
    let expected = "
  0 300 x, of -, earlier Process/DCStart .. earlier reused identifier, -
  1 300 y, of -, earlier Process/End .. 2=1002 Process/End, 3 Process/End
  2 600 e, of -, earlier Process/End .. 7=1007 Process/End, 3 Process/End
  3 500 b, of -, 3=1003 Process/Start .. earlier reused identifier, -
  4 500 c, of -, 4=1004 Process/Start .. -, -
  5 600 d, of -, 5=1005 Process/Start .. 6=1006 Process/End, 3 Process/End
  6 600 f, of -, 8=1008 Process/Start .. -, -";
    check(&made, expected);
    let table = table(&made);
    let at = [(300, 1), (300, 2), (500, 2), (500, 3), (500, 9), (600, 4), (600, 5), (600, 6), (600, 7), (600, 9), (7, 5)];
    let of = at.map(|(id, tick)| table.at(id, tick).map(|index| index.0));
    assert_eq!(of, [Some(0), Some(1), None, Some(3), Some(4), None, Some(5), Some(5), Some(2), Some(6), None]);
}

/// The provider with a manifest alone, and both providers in one session: a start and an end are one.
#[test]
fn providers() {
    let made = [
        of_manifest(15, 4, &[("CreateTime", 100)], "System"),
        of_manifest(15, 8, &[("CreateTime", 300), ("ParentProcessID", 4)], r"\Device\a.exe"),
        of_manifest(15, 12, &[("CreateTime", 200), ("ParentProcessID", 8)], r"\Device\child of an earlier 8.exe"),
        process(START, 20, 1, 8, "both.exe"),
        of_manifest(1, 20, &[("CreateTime", 1004), ("ParentProcessID", 8)], r"\Device\both.exe"),
        process(END, 20, 1, 8, "both.exe"),
        of_manifest(2, 20, &[("CreateTime", 1004), ("ExitTime", 1006), ("ExitCode", 3)], "both.exe"),
        of_manifest(1, 24, &[("ParentProcessID", 8)], r"\Device\b.exe"),
        of_manifest(5, 24, &[("ImageBase", 16), ("ImageSize", 8)], r"\Device\b.dll"),
        of_manifest(2, 28, &[("CreateTime", 400), ("ExitTime", 1010), ("ExitCode", 1)], "c.exe"),
    ];
    let name = "Microsoft-Windows-Kernel-Process/Process";
    let expected = "
  0 4 System, of -, 100 NAMERundown .. -, -
  1 8 a.exe, of 0, 300 NAMERundown .. -, -
  2 12 child of an earlier 8.exe, of -, 200 NAMERundown .. -, -
  3 28 c.exe, of -, 400 NAMEStop .. 10=1010 NAMEStop, 1 NAMEStop
  4 20 both.exe, of 1, 4=1004 Process/Start .. 6=1006 Process/End, 3 Process/End
  5 24 b.exe, of 1, 8=1008 NAMEStart .. -, -";
    check(&made, &expected.replace("NAME", name));
    assert_eq!(loaded(&made, 6)[4..], ["", r"\Device\b.dll 0x10 9 .. -"]);
    let table = table(&made);
    let children = |index| table.children(etw_layouts_trace::ProcessIndex(index)).map(|child| child.0).collect::<Vec<_>>();
    assert_eq!([children(0), children(1), children(2)], [vec![1], vec![4, 5], vec![]]);
}

/// A rundown has processes in the order of their start, so one that follows is not the parent: its identifier was reused.
#[test]
fn parents() {
    let made = [
        process(DC_START, 4, 40, 0, "System"),
        process(DC_START, 472, 1, 460, "csrss.exe"),
        process(DC_START, 616, 2, 4, "services.exe"),
        process(DC_START, 460, 3, 616, "svchost.exe"),
        process(START, 700, 4, 460, "child.exe"),
    ];
    let expected = "
  0 4 System, of -, earlier Process/DCStart .. -, -
  1 472 csrss.exe, of -, earlier Process/DCStart .. -, -
  2 616 services.exe, of 0, earlier Process/DCStart .. -, -
  3 460 svchost.exe, of 2, earlier Process/DCStart .. -, -
  4 700 child.exe, of 3, 5=1005 Process/Start .. -, -";
    check(&made, expected);
}

/// Each load of an image is an entry in the process that had the identifier at that time.
#[test]
fn images() {
    let made = [
        image(LOAD, 7, 0x1000, "before"),
        process(START, 8, 1, 0, "first.exe"),
        image(LOAD, 8, 0x1000, "a"),
        image(LOAD, 8, 0x2000, "b"),
        image(LOADED, 8, 0x1000, "a"),
        image(LOADED, 8, 0x3000, "c"),
        image(UNLOAD, 8, 0x2000, "b"),
        image(LOAD, 8, 0x2000, "b"),
        image(LOAD, 8, 0x1000, "other"),
        process(END, 8, 1, 0, "first.exe"),
        process(START, 8, 2, 0, "second.exe"),
        image(LOAD, 8, 0x2000, "b"),
        image(UNLOAD, 8, 0x2000, "b"),
    ];
    let expected = "
  0 7 -, of -, earlier Image .. -, -
  1 8 first.exe, of -, 2=1002 Process/Start .. 10=1010 Process/End, 3 Process/End
  2 8 second.exe, of -, 11=1011 Process/Start .. -, -";
    check(&made, expected);
    let expected = [
        "before 0x1000 1 .. -",
        "a 0x1000 3 .. -, b 0x2000 4 .. 7, c 0x3000 - .. -, b 0x2000 8 .. -, other 0x1000 9 .. -",
        "b 0x2000 12 .. 13",
        "",
    ];
    assert_eq!(loaded(&made, 4), expected);
}

/// The feature `serde`: times are text, words are those of the output of programs.
#[test]
fn serialized() {
    let table = table(&[process(START, 8, 80, 4, "a.exe"), process(DEFUNCT, 8, 80, 4, "a.exe")]);
    let (_, process) = table.iter().next().expect("a process");
    let json = serde_json::to_value(process).expect("JSON");
    let (start, end) = (&json["start"], &json["end"]);
    assert_eq!(start["value"]["at"]["time"], "1601-01-01T00:00:00.0001001Z", "{json:#}");
    assert_eq!((&start["by"], &end["by"]), (&"Process/Start".into(), &"Process/Defunct".into()), "{json:#}");
    assert_eq!(end["value"]["stated"], "1601-01-01T00:00:00.0000500Z", "{json:#}");
}
