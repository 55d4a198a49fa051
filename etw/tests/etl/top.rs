//! `top` and `compare` on made traces, with rows that were computed by hand.

use crate::kernel::{image, process, wide};
use crate::{Folder, json, run};
use etw_layouts_etl::Uuid;
use std::collections::BTreeSet;
use test_support::records::{Written, written};

/// Microsoft-Windows-DotNETRuntime.
const RUNTIME: u128 = 0xe13c_0d23_ccbc_4e12_931b_d9cc_2eee_27e4;

/// Integers of a payload, each with its size in bytes.
fn words(words: &[(u64, usize)]) -> Vec<u8> {
    words.iter().flat_map(|(word, size)| word.to_le_bytes()[..*size].to_vec()).collect()
}

fn kernel(tick: i64, hook: u16, payload: &[(u64, usize)]) -> Written {
    Written::kernel(tick, 0, hook, words(payload))
}

/// A switch of a processor from a thread, in a state and with a reason to wait, to another.
pub fn switch(tick: i64, processor: u16, (old, state, reason): (u32, u8, u8), new: u32) -> Written {
    let payload = [words(&[(new.into(), 4), (old.into(), 4)]), vec![8, 8, 0, 0, reason, 0, state, 0], vec![0; 8]].concat();
    Written::kernel(tick, processor, 0x0524, payload)
}

fn sample(tick: i64, address: u64, thread: u64) -> Written {
    kernel(tick, 0x0F2E, &[(address, 8), (thread, 4), (1, 2), (0, 2)])
}

fn clr(tick: i64, process: u32, id: u16, version: u8, payload: Vec<u8>) -> Written {
    Written::event(tick, (process + 1, process), (RUNTIME, id, version), payload)
}

fn tcp(hook: u16, size: u64) -> Written {
    // 10.0.0.1:443; a sent event also has two times.
    let times: &[(u64, usize)] = if hook == 0x060A { &[(0, 4), (0, 4)] } else { &[] };
    let head = [(100, 4), (size, 4), (0x0100_000A, 4), (0x0200_000A, 4), (0xBB01, 2), (0x5000, 2)];
    kernel(500, hook, &[&head, times, &[(0, 4), (0, 8)]].concat())
}

/// A datagram from 10.0.0.3:1024 to 10.0.0.2:53.
fn udp(hook: u16, size: u64) -> Written {
    kernel(500, hook, &[(100, 4), (size, 4), (0x0200_000A, 4), (0x0300_000A, 4), (0x3500, 2), (0x0004, 2), (0, 4), (0, 8)])
}

/// A trace with events for each question. A tick is 100 ns.
pub fn trace() -> Vec<u8> {
    let image_base = 0x7FF6_0000_0000;
    written(&[
        Written::kernel(1, 0, 0x0303, process(100, 0x103, "")).version(4),
        Written::kernel(1, 0, 0x0503, words(&[(101, 4), (100, 4)])).version(0),
        Written::kernel(1, 0, 0x0503, words(&[(102, 4), (100, 4)])).version(0),
        Written::kernel(2, 0, 0x030A, image(100, "\\Device\\HarddiskVolume1\\app.dll")),
        Written::kernel(3, 0, 0x0400, [words(&[(0xF11E, 8)]), wide("\\Device\\HarddiskVolume1\\data.txt")].concat()),
        // The second sample is after the event that states the interval, the third after its change.
        sample(10, image_base + 0x10, 101),
        kernel(15, 0x0F49, &[(0, 4), (20_000, 4), (20_000, 4)]),
        sample(20, image_base + 0x10, 101),
        kernel(25, 0x0F48, &[(0, 4), (5_000, 4), (20_000, 4)]),
        // The interval of another source.
        kernel(26, 0x0F48, &[(6, 4), (7, 4), (7, 4)]),
        sample(30, 0x1000, 0),
        // Requests at 1,000 and 1,500: the second waits for the first until 3,000.
        kernel(3_000, 0x010A, &[(0, 4), (0, 4), (4096, 4), (0, 4), (0, 8), (0xF11E, 8), (1, 8), (2_000, 8), (101, 4)]).version(3),
        kernel(4_500, 0x010B, &[(0, 4), (0, 4), (512, 4), (0, 4), (0, 8), (0xF11E, 8), (2, 8), (3_000, 8), (102, 4)]).version(3),
        // A file is read by a request that ends, and by one that does not.
        kernel(5_000, 0x0443, &[(0, 8), (7, 8), (1, 8), (0xF11E, 8), (101, 4), (100, 4), (0, 4)]).version(3),
        kernel(5_300, 0x044C, &[(7, 8), (0, 8), (0, 4)]).version(3),
        kernel(5_400, 0x0443, &[(0, 8), (8, 8), (1, 8), (0xF11E, 8), (101, 4), (50, 4), (0, 4)]).version(3),
        // A hard fault of 400 ticks, and a soft one.
        kernel(6_000, 0x0220, &[(5_600, 8), (0, 8), (0, 8), (0xF11E, 8), (101, 4), (8192, 4)]),
        kernel(6_100, 0x020A, &[(0, 8), (image_base + 0x20, 8)]),
        tcp(0x060A, 1000),
        tcp(0x060B, 24),
        udp(0x080B, 7),
        udp(0x080A, 9),
        kernel(7_000, 0x0F44, &[(6_990, 8), (image_base + 1, 8)]),
        kernel(7_100, 0x0F43, &[(7_080, 8), (image_base + 1, 8), (1, 1), (9, 2), (0, 1)]),
        // A suspension with a garbage collection, one without, and one that does not end. Two runtimes of a process are independent.
        clr(8_000, 100, 9, 1, words(&[(1, 4), (0, 4), (9, 2)])),
        clr(8_010, 100, 9, 1, words(&[(6, 4), (0, 4), (10, 2)])),
        clr(8_050, 100, 1, 1, words(&[(1, 4), (2, 4), (0, 4), (0, 4), (9, 2)])),
        clr(8_100, 100, 3, 1, words(&[(9, 2)])),
        clr(8_110, 100, 3, 1, words(&[(10, 2)])),
        clr(8_200, 100, 9, 1, words(&[(1, 4), (1, 4), (9, 2)])),
        clr(
            8_300,
            100,
            10,
            2,
            [words(&[(0, 4), (1, 4), (9, 2), (1 << 33, 8), (0, 8)]), wide("System.Byte[]"), vec![0; 4]].concat(),
        ),
        // Thread 101 waits (5, reason 6), becomes ready, and runs; 102 is preempted (1).
        switch(10_000, 1, (0, 2, 0), 101),
        switch(11_000, 1, (101, 5, 6), 102),
        Written::kernel(11_400, 1, 0x0532, words(&[(101, 4), (0, 4)])),
        switch(12_000, 1, (102, 1, 0), 101),
        switch(13_500, 1, (101, 5, 6), 0),
        switch(14_000, 1, (0, 2, 0), 102),
        // No event states thread 103 before: the interval has no thread.
        switch(15_000, 1, (103, 4, 0), 0),
    ])
}

/// The rows of each question, and notes.
const ROWS: &[(&str, &str, &str)] = &[
    (
        "cpu process",
        "process,image,samples,ms,busy_ms,percent,busy_percent\n100,image.exe,2,4,4,66.6667,100\n0,Idle,1,0.5,0,33.3333,0\n",
        "",
    ),
    (
        "cpu module,function,thread",
        "module,function,thread,samples,ms,busy_ms,percent,busy_percent\n\
         \\Device\\HarddiskVolume1\\app.dll,app.dll+0x10,101,2,4,4,66.6667,100\n\
         (no images of the process in the trace),0x1000 (no images of the process in the trace),0,1,0.5,0,33.3333,0\n",
        "note: frames in images whose functions are not known (2)\n",
    ),
    (
        "disk file,event,device",
        "file,event,device,operations,bytes,service_ms,queue_ms,response_ms,longest_ms,percent\n\
         \\Device\\HarddiskVolume1\\data.txt,DiskIo/Read,PhysicalDrive0,1,4096,0.2,0,0.2,0.2,57.1429\n\
         \\Device\\HarddiskVolume1\\data.txt,DiskIo/Write,PhysicalDrive0,1,512,0.15,0.15,0.3,0.3,42.8571\n",
        "",
    ),
    (
        "files process,file",
        "process,image,file,operations,bytes,ms,longest_ms,percent\n\
         100,image.exe,\\Device\\HarddiskVolume1\\data.txt,2,150,0.03,0.03,100\n",
        "note: operations without an event OperationEnd; their time is not known (1)\n",
    ),
    (
        "faults event,file,module",
        "event,file,module,faults,bytes,ms,longest_ms,percent\n\
         PageFault/HardFault,\\Device\\HarddiskVolume1\\data.txt,(no call stack),1,8192,0.04,0.04,50\n\
         PageFault/TransitionFault,,(no images of the process in the trace),1,0,0,0,50\n",
        "",
    ),
    (
        "net process,endpoint",
        "process,image,endpoint,transfers,bytes,sent_bytes,received_bytes,percent\n\
         100,image.exe,tcp 10.0.0.1:443,2,1024,1000,24,98.4615\n\
         100,image.exe,udp 10.0.0.2:53,1,9,9,0,0.8654\n100,image.exe,udp 10.0.0.3:1024,1,7,0,7,0.6731\n",
        "",
    ),
    (
        "net local",
        "local,transfers,bytes,sent_bytes,received_bytes,percent\n\
         tcp 80,2,1024,1000,24,98.4615\nudp 1024,1,9,9,0,0.8654\nudp 53,1,7,0,7,0.6731\n",
        "",
    ),
    ("dpc event", "event,calls,ms,longest_ms,percent\nPerfInfo/DPC,1,0.001,0.001,100\n", ""),
    ("isr event", "event,calls,ms,longest_ms,percent\nPerfInfo/ISR,1,0.002,0.002,100\n", ""),
    (
        "gc reason,generation,cause",
        "reason,generation,cause,pauses,ms,longest_ms,percent\n\
         SuspendForGC,2,AllocSmall,1,0.01,0.01,50\nSuspendForGCPrep,,,1,0.01,0.01,50\n",
        "note: suspensions without a restart; they are not counted (1)\n",
    ),
    (
        "alloc process,type,reason",
        "process,image,type,reason,samples,bytes,percent\n100,image.exe,System.Byte[],Large,1,8589934592,100\n",
        "",
    ),
    (
        "images process,file",
        "process,image,file,loads,bytes,percent\n100,image.exe,\\Device\\HarddiskVolume1\\app.dll,1,32768,100\n",
        "",
    ),
    (
        "run process,thread",
        "process,image,thread,intervals,ms,longest_ms,busy_ms,percent,busy_percent\n\
         100,image.exe,101,2,0.25,0.15,0.25,50,55.5556\n100,image.exe,102,1,0.1,0.1,0.1,20,22.2222\n\
         ,,,1,0.1,0.1,0.1,20,22.2222\n0,Idle,0,1,0.05,0.05,0,10,0\n",
        "note: intervals without a thread: it is not the one that a switch before states (1)\n\
         note: processors whose time after the last switch is not counted (1)\n\
         note: processors whose time before the first switch is not counted (1)\n",
    ),
    (
        "wait process,reason,thread",
        "process,image,reason,thread,waits,ms,longest_ms,percent\n100,image.exe,UserRequest,101,1,0.04,0.04,100\n",
        "note: waits that had not ended at the end of the trace; they are not counted (1)\n",
    ),
    ("ready thread", "thread,intervals,ms,longest_ms,percent\n102,1,0.2,0.2,76.9231\n101,1,0.06,0.06,23.0769\n", ""),
];

#[test]
fn rows() {
    let folder = Folder::new("top");
    let file = folder.file("a.etl", trace());
    for (question, rows, notes) in ROWS {
        let (what, by) = question.split_once(' ').unwrap();
        let (status, out, err) = run(&["top", what, "--by", by, "--format", "csv", &file]);
        let stated: String = err.lines().filter(|line| line.starts_with("note")).map(|line| format!("{line}\n")).collect();
        assert_eq!((status, out.as_str(), stated.as_str()), (0, *rows, *notes), "{question}: {err}");
    }
}

/// The class of the events that the merge of a trace adds.
const SYS_CONFIG: Uuid = Uuid::from_u128(0x9b79ee91_b5fd_41c0_a243_4248e266e9d0);

/// An image has one name, however the kernel names its path; an event of TraceLogging is not the event of the kernel with its name.
#[test]
fn one_thing_has_one_row() {
    let folder = Folder::new("top-names");
    let started = |id: u32, path: &str| {
        [
            Written::kernel(1, 0, 0x0303, process(id, 0x103, "")).version(4),
            Written::kernel(1, 0, 0x0503, words(&[(u64::from(id) + 1, 4), (id.into(), 4)])).version(0),
            Written::kernel(2, 0, 0x030A, image(id, path)),
            sample(10, 0x7FF6_0000_0010, u64::from(id) + 1),
        ]
    };
    let paths = [r"\Windows\app.dll", r"\SystemRoot\app.dll", r"\Device\HarddiskVolume1\Windows\app.dll", r"C:\Windows\app.dll"];
    let mapping = |ty, texts: [&str; 2]| Written::relogged(20, (SYS_CONFIG, ty), texts.map(wide).concat());
    let mut events: Vec<_> = [100, 200, 300, 400].into_iter().zip(paths).flat_map(|(id, path)| started(id, path)).collect();
    events.push(mapping(33, [r"C:\Windows\system32", "C:\\Windows\\"]));
    events.push(mapping(35, ["\\SystemRoot\\", "C:\\Windows\\"]));
    events.push(mapping(35, ["\\Device\\HarddiskVolume1\\", "C:\\"]));
    // TraceLogging: the name of the event without fields, and the name of the provider.
    let sized = |name: &str, head: &[u8]| {
        [&((name.len() + head.len() + 3) as u16).to_le_bytes()[..], head, name.as_bytes(), &[0]].concat()
    };
    events.push(Written::item(30, 0, 101, 11, sized("Load", &[0]), vec![]).with(12, sized("Image", &[])));
    let file = folder.file("a.etl", written(&events));
    let (_, out, err) = run(&["top", "cpu", "--by", "module", "--format", "csv", &file]);
    assert_eq!(out, "module,samples,ms,busy_ms,percent,busy_percent\nC:\\Windows\\app.dll,4,4,4,100,100\n", "{err}");
    let (_, out, _) = run(&["top", "events", "--format", "csv", &file]);
    let rows: Vec<_> =
        out.lines().filter(|line| line.starts_with("Image/")).map(|line| line.split(',').take(2).collect::<Vec<_>>()).collect();
    assert_eq!(rows, [vec!["Image/Load", "4"], vec!["Image/Load (TraceLogging)", "1"]], "{out}");
}

/// A method of .NET is in the module that an event states, also in a copy of the samples alone; of other addresses, the reason is stated.
#[test]
fn modules_of_methods() {
    let folder = Folder::new("top-methods");
    let method = |id: u64, module: u64, start: u64| {
        let names = ["N", "M", "()"].map(|name| wide(&format!("{name}{id}"))).concat();
        clr(2, 100, 143, 0, [words(&[(id, 8), (module, 8), (start, 8), (0x100, 4), (0, 4), (0, 4)]), names].concat())
    };
    // The rundown states a module at the end, the other one is loaded after an older one with its identifier was unloaded.
    let module = |tick: i64, provider: u128, event: u16, id: u64, path: &str| {
        let payload = [words(&[(id, 8), (9, 8), (0, 4), (0, 4)]), wide(path), wide("")].concat();
        Written::event(tick, (101, 100), (provider, event, 0), payload)
    };
    const RUNDOWN: u128 = 0xa669_021c_c450_4609_a035_5af5_9af4_df18;
    let events = [
        Written::kernel(1, 0, 0x0303, process(100, 0x103, "")).version(4),
        Written::kernel(1, 0, 0x0503, words(&[(101, 4), (100, 4)])).version(0),
        Written::kernel(1, 0, 0x030A, image(100, "C:\\app.exe")),
        module(1, RUNTIME, 153, 6, "C:\\older.dll"),
        module(2, RUNTIME, 152, 6, "C:\\first.dll"),
        method(1, 6, 0x1_0000),
        method(2, 7, 0x2_0000),
        // In memory.
        method(3, 8, 0x3_0000),
        sample(10, 0x1_0010, 101),
        sample(10, 0x2_0010, 101),
        sample(10, 0x3_0010, 101),
        sample(10, 0x4_0010, 101),
        sample(10, 0xFFFF_F800_0000_0000, 101),
        module(90, RUNDOWN, 154, 7, "C:\\second.dll"),
        module(90, RUNDOWN, 154, 8, ""),
    ];
    let file = folder.file("a.etl", written(&events));
    let copy = crate::text(&folder.0.join("copy.etl"));
    let (status, _, err) = run(&["save", "--event", "PerfInfo/SampleProf", "-o", &copy, &file]);
    assert_eq!(status, 0, "{err}");
    for file in [&file, &copy] {
        let (_, out, err) = run(&["top", "cpu", "--by", "module,function", "--format", "csv", file]);
        let keys: Vec<_> = out.lines().skip(1).map(|line| line.split(",1,").next().unwrap()).collect();
        let expected = [
            "(jitted code),N3.M3",
            "(no images of the process in the trace),0xfffff80000000000 (no images of the process in the trace)",
            "(outside of images and methods: maybe jitted code),0x40010 (outside of images and methods: maybe jitted code)",
            "C:\\first.dll,N1.M1",
            "C:\\second.dll,N2.M2",
        ];
        assert_eq!(keys, expected, "{file} {err}");
    }
}

/// Without a question, all are answered, or their events are named. Rows are written as files. Sessions with the same time are noted.
#[test]
fn overview_and_files() {
    let folder = Folder::new("top-overview");
    let file = folder.file("a.etl", trace());
    let (status, out, err) = run(&["top", &file]);
    let answers = ROWS.iter().map(|(question, ..)| question.split(' ').next().unwrap());
    assert!(status == 0 && answers.clone().all(|what| out.contains(&format!("{what} by "))), "{out}{err}");
    let (_, out, _) = run(&["top", "--format", "json", &file]);
    let found: BTreeSet<_> = json(&out).iter().map(|row| row["what"].as_str().unwrap().to_owned()).collect();
    assert!(answers.chain(["events"]).all(|what| found.contains(what)), "{found:?}");
    assert!(json(&out).iter().filter(|row| row["what"] == "events").count() == 5, "{out}");
    let none = folder.file("none.etl", written(&[]));
    let (status, out, _) = run(&["top", &none]);
    assert!(status == 0 && out.contains("cpu: no events; needs PerfInfo/SampleProf (kernel flag PROFILE)"), "{out}");
    let (status, _, err) = run(&["top", "cpus", &file]);
    assert!(status == 2 && err.contains("`cpus` is no question and no file"), "{err}");
    let (status, _, err) = run(&["top", &file, "cpu"]);
    assert!(status == 2 && err.contains(&format!("name it first: `etw etl top cpu {file}`")), "{err}");
    let (status, _, err) = run(&["top", "cpu", "--by", "function", "--symbol-path", "cache*/no/cache;/no/folder", &file]);
    assert!(status == 2 && err.contains("the folder /no/folder does not exist; check the path"), "{err}");
    let (status, _, err) = run(&["top", "--format", "csv", &file]);
    assert!(status == 2 && err.contains("name one, such as"), "{err}");

    let path = |name: &str| crate::text(&folder.0.join(name));
    for (what, name) in [("disk", "disk.csv"), ("run", "run.csv"), ("run", "run.parquet"), ("run", "run.arrow")] {
        let (_, rows, _) = run(&["top", what, "--format", "csv", &file]);
        let (status, out, err) = run(&["top", what, "-o", &path(name), &file]);
        assert!(status == 0 && out.is_empty(), "{err}");
        let bytes = std::fs::read(path(name)).unwrap();
        match name.rsplit('.').next() {
            // The same numbers; the writer of tables prints whole ones with a decimal.
            Some("csv") => {
                let rows_of_file = String::from_utf8(bytes).unwrap().replace(".0,", ",").replace(".0\n", "\n");
                assert_eq!(rows_of_file, rows.replace('"', ""));
            }
            Some("parquet") => assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1")),
            _ => assert!(bytes.starts_with(b"ARROW1")),
        }
    }
    let (status, _, err) = run(&["top", "run", "-o", &path("run.txt"), &file]);
    assert!(status == 2 && err.contains("ends with .parquet"), "{err}");
    let (_, _, err) = run(&["top", "run", &file, &folder.file("b.etl", trace())]);
    assert!(err.contains("note: sessions that overlap another session in time, and can be of the same computer"), "{err}");
    let (_, _, err) = run(&["top", "run", "--from", "100", &file]);
    assert!(err.contains("no event is in the time range of --from and --to"), "{err}");
    // Less than a thousandth of a MiB.
    let (_, out, _) = run(&["top", "net", &file]);
    assert!(out.contains("0.000992") && out.contains("0.000023"), "{out}");
}
