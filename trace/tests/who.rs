//! Who did events, and whom they are about: made ones, and real traces.

use crate::made::{Made, each, kernel, manifest, schemas};
use etw_layouts_etl::{Event, Reader, Schemas, Uuid};
use etw_layouts_trace::{
    self as trace, BytesSource, Options, Party, ProcessTable, Processes, ThreadTable, Threads, Trace, TraceFile, Who, who,
};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::PathBuf;
use test_support::installed;

const KERNEL_NETWORK: Uuid = Uuid::from_u128(0x7dd42a49_5329_4832_8dfd_43d979153a88);
const KERNEL_FILE: Uuid = Uuid::from_u128(0xedd08927_9cc4_4e65_b970_c2560fb5c289);
const KERNEL_PROCESS: Uuid = Uuid::from_u128(0x22fb2cd6_0e7b_422b_a0c7_2fad1fd0e716);
/// A header that states neither a process nor a thread.
const NOBODY: (u32, u32) = (u32::MAX, u32::MAX);

fn thread(ty: u16, process: u64, id: u64) -> Made {
    kernel(0x0500 | ty, Some((99, 1)), &[("ProcessId", process), ("TThreadId", id)], "")
}

/// The process, the thread and the field of a party: `8.5 NewThreadId`.
fn party(party: Party) -> String {
    let id = |id: Option<u32>| id.map_or("?".to_owned(), |id| id.to_string());
    let known = party.known.as_str();
    match (party.process, party.thread) {
        (None, None) => "-".to_owned(),
        (process, thread) => format!("{}.{} {known}", id(process), id(thread)).trim_end().to_owned(),
    }
}

/// Each event with who did it and whom it is about. Events before the start, end or rundown of their thread are attributed too.
#[test]
fn made_events() {
    let switch =
        |version, new, old| kernel(0x0524, None, &[("version", version), ("NewThreadId", new), ("OldThreadId", old)], "");
    let sample = |thread| kernel(0x0F2E, None, &[("ThreadId", thread)], "");
    let disk = |header, version, thread| kernel(0x010A, header, &[("version", version), ("IssuingThreadId", thread)], "");
    let made = [
        (sample(5), "8.5 ThreadId", "-"),
        (switch(4, 5, 6), "8.5 NewThreadId", "9.6 OldThreadId"),
        (switch(1, 6, 0), "9.6 NewThreadId", "0.0 OldThreadId"),
        (thread(3, 8, 5), "99.1 header", "8.5 ProcessId"),
        (kernel(0x0532, Some((8, 5)), &[("TThreadId", 6)], ""), "8.5 header", "9.6 TThreadId"),
        (disk(Some((4, 30)), 3, 5), "8.5 IssuingThreadId", "-"),
        (disk(Some((4, 30)), 2, 0), "4.30 header", "-"),
        (disk(None, 3, 77), "?.77", "-"),
        (disk(None, 3, u64::from(u32::MAX)), "-", "-"),
        (kernel(0x0400, None, &[], ""), "-", "-"),
        (kernel(0x060A, Some(NOBODY), &[("PID", 4)], ""), "4.? PID", "-"),
        (kernel(0x060A, Some((4, 31)), &[("PID", 4)], ""), "4.31 PID", "-"),
        (kernel(0x0301, Some((8, 5)), &[("ProcessId", 12)], "child"), "8.5 header", "12.? ProcessId"),
        (kernel(0x0262, Some((8, 5)), &[("ProcessId", 9)], ""), "8.5 header", "9.? ProcessId"),
        (kernel(0x1820, None, &[("StackProcess", 8), ("StackThread", 5)], ""), "8.5 StackProcess", "-"),
        (kernel(0x0440, None, &[("TTID", 6)], ""), "9.6 TTID", "-"),
        (manifest(KERNEL_NETWORK, 10, (0, 0), &[("PID", 8)], ""), "8.? PID", "-"),
        (manifest(KERNEL_FILE, 15, (4, 30), &[("version", 1), ("IssuingThreadId", 6)], ""), "9.6 IssuingThreadId", "-"),
        (manifest(KERNEL_FILE, 15, (4, 30), &[("ThreadId", 6)], ""), "9.6 ThreadId", "-"),
        (manifest(KERNEL_PROCESS, 3, (8, 5), &[("ProcessID", 8), ("ThreadID", 7)], ""), "8.5 header", "8.7 ProcessID"),
        (manifest(KERNEL_PROCESS, 7, NOBODY, &[("ProcessID", 8), ("ThreadID", 7)], ""), "-", "8.7 ProcessID"),
        (sample(7), "8.7 ThreadId", "-"),
        (thread(2, 9, 6), "99.1 header", "9.6 ProcessId"),
        (sample(6), "9.6 ThreadId", "-"),
        (thread(1, 12, 6), "99.1 header", "12.6 ProcessId"),
        (sample(6), "12.6 ThreadId", "-"),
        (thread(2, 12, 6), "99.1 header", "12.6 ProcessId"),
        (kernel(0x0532, Some((13, 6)), &[("TThreadId", 5)], ""), "13.6 header", "8.5 TThreadId"),
        (sample(6), "13.6 ThreadId", "-"),
    ];
    let events = made.each_ref().map(|(event, ..)| event.clone());
    let schemas = schemas();
    let (mut processes, mut threads) = (Processes::default(), Threads::default());
    each(&events, &schemas, |event, tick| {
        processes.add(event, tick);
        threads.add(event, tick);
    });
    let clock = etw_layouts_etl::Clock::new(etw_layouts_etl::ClockType::SystemTime, 0, 0, 0, 0);
    let (processes, threads) = (processes.finish(&schemas, &clock), threads.finish(&schemas));
    let mut text = Vec::new();
    each(&events, &schemas, |event, tick| {
        let Who { by, about } = who(event, &schemas, &processes, &threads, tick);
        text.push((party(by), party(about)));
    });
    let expected: Vec<_> = made.iter().map(|(_, by, about)| ((*by).to_owned(), (*about).to_owned())).collect();
    let wrong: Vec<_> = text.iter().zip(&expected).enumerate().filter(|(_, (text, expected))| text != expected).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A thread that changes its process with each event: the number of intervals is limited, and the table says so.
#[test]
fn limits() {
    let events: Vec<_> = (0..5000).map(|n| kernel(0x0532, Some((4 + n % 2, 6)), &[("TThreadId", 5)], "")).collect();
    for (count, is_complete) in [(1000, true), (5000, false)] {
        let mut threads = Threads::default();
        each(&events[..count], &schemas(), |event, tick| threads.add(event, tick));
        let threads = threads.finish(Schemas::BUILT_IN);
        assert_eq!((threads.is_complete(), threads.len() <= 1100), (is_complete, true));
        assert_eq!([1, 2, 999].map(|tick| threads.at(6, tick)), [Some(4), Some(5), Some(4)]);
    }
}

/// The real traces, if they are at hand.
fn traces() -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for (variable, folder) in [("ETW_LAYOUTS_ETL", ""), ("ETW_LAYOUTS_CASES", "traces")] {
        let Some(path) = installed::folder(variable) else { continue };
        let entries = fs::read_dir(path.join(folder)).expect("the folder of traces");
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
        paths.retain(|path| path.extension().is_some_and(|ending| ending == "etl"));
        paths.sort();
        let name = |path: &PathBuf| path.file_name().expect("a name").to_string_lossy().into_owned();
        all.extend(paths.iter().map(|path| (name(path), fs::read(path).expect("a trace"))));
    }
    all
}

/// Calls a function with each event and its time stamp, in file order.
fn each_of(bytes: &[u8], mut see: impl FnMut(&Event<'_>, i64)) {
    let mut reader = Reader::new(bytes).expect("a trace");
    while let Some(buffer) = reader.next_buffer().expect("bytes") {
        let Ok(buffer) = buffer else { continue };
        let mut last = buffer.buffer().header().time_stamp;
        for event in buffer.events().filter_map(Result::ok) {
            last = event.time_stamp().unwrap_or(last);
            see(&event, last);
        }
    }
}

fn tables(bytes: &[u8], schemas: &Schemas) -> (ProcessTable, ThreadTable) {
    let (mut processes, mut threads) = (Processes::default(), Threads::default());
    each_of(bytes, |event, tick| {
        processes.add(event, tick);
        threads.add(event, tick);
    });
    let clock = *Reader::new(bytes).expect("a trace").clock();
    let (processes, threads) = (processes.finish(schemas, &clock), threads.finish(schemas));
    assert!(processes.is_complete() && threads.is_complete());
    (processes, threads)
}

/// What a trace says anywhere about its threads, read by the names of fields.
#[derive(Default)]
struct Said {
    /// The processes of each thread.
    processes: HashMap<u32, HashSet<u32>>,
    /// The process of the thread whose event at a time has a stack.
    stacks: HashMap<(i64, u32), u32>,
}

fn said(bytes: &[u8]) -> Said {
    let mut said = Said::default();
    each_of(bytes, |event, _| {
        let ids = [event.thread(), event.process()].map(|id| id.filter(|id| *id != u32::MAX));
        if let [Some(thread), Some(process)] = ids {
            said.processes.entry(thread).or_default().insert(process);
        }
        let Some(decoded) = event.decode(Schemas::BUILT_IN) else { return };
        let number = |name| decoded.get(name)?.number();
        match decoded.schema.provider {
            "Thread" => {
                if let (Some(thread), Some(process)) = (number("TThreadId"), number("ProcessId")) {
                    said.processes.entry(thread as u32).or_default().insert(process as u32);
                }
            }
            "StackWalk" => {
                let [tick, thread, process] = ["EventTimeStamp", "StackThread", "StackProcess"].map(number);
                if let (Some(tick), Some(thread), Some(process)) = (tick, thread, process) {
                    said.stacks.insert((tick as i64, thread as u32), process as u32);
                }
            }
            _ => {}
        }
    });
    said
}

/// Counts of the events of a class.
#[derive(Clone, Copy, Default, Debug)]
struct Count {
    events: usize,
    /// Those whose thread or process the trace names somewhere.
    named: usize,
    /// Of these, those with a process, and those with a process that the trace does not state for the thread.
    attributed: usize,
    wrong: usize,
    /// Those with a stack, which states the process, and those with another process.
    with_stack: usize,
    other: usize,
    /// Those whose process is in the table.
    in_table: usize,
}

const CLASSES: [&str; 9] = [
    "PerfInfo",
    "Thread",
    "DiskIo",
    "FileIo",
    "PageFault",
    "TcpIp",
    "UdpIp",
    "Microsoft-Windows-Kernel-File",
    "Microsoft-Windows-Kernel-Network",
];

/// Samples and events of disks, networks and files have a process where any event of the trace names it, and it is the one that their stacks name.
#[test]
fn real_traces() {
    let schemas = schemas();
    for (name, bytes) in traces() {
        let ((processes, threads), said) = (tables(&bytes, &schemas), said(&bytes));
        let mut counts: BTreeMap<&str, Count> = BTreeMap::new();
        each_of(&bytes, |event, tick| {
            let Some(decoded) = event.decode(&schemas) else { return };
            let Some(class) = CLASSES.into_iter().find(|class| decoded.schema.provider == *class) else { return };
            let number = |name: &&str| decoded.get(name)?.number().map(|number| number as u32).filter(|id| *id != u32::MAX);
            let thread = ["IssuingThreadId", "TTID", "NewThreadId", "TThreadId", "ThreadId"].iter().find_map(number);
            let thread = thread.filter(|_| class != "Thread").or(event.thread());
            let expected = match number(&"PID") {
                Some(process) => Some(HashSet::from([process])),
                None => thread.and_then(|thread| said.processes.get(&thread)).cloned(),
            };
            let process = who(event, &schemas, &processes, &threads, tick).by;
            let count = counts.entry(class).or_default();
            count.events += 1;
            count.in_table += usize::from(process.index.is_some());
            if let Some(expected) = expected {
                count.named += 1;
                count.attributed += usize::from(process.process.is_some());
                count.wrong += usize::from(process.process.is_some_and(|process| !expected.contains(&process)));
            }
            if let Some(stated) = thread.and_then(|thread| said.stacks.get(&(tick, thread))) {
                count.with_stack += 1;
                count.other += usize::from(process.process != Some(*stated));
            }
        });
        for (class, count) in counts {
            println!("{name}: {class}: {count:?}");
            assert!(count.attributed * 1000 >= count.named * 999 && count.wrong == 0 && count.other == 0, "{name}: {class}");
        }
    }
}

/// The fields that the specs name for providers with manifests are integers in the schemas of the catalogue, in every version that they cover.
#[test]
fn providers_of_the_catalogue() {
    let library = etw_layouts_catalog::library();
    let (mut providers, mut events, mut missing) = (Vec::new(), 0, Vec::new());
    for variants in library.providers().flat_map(|provider| provider.events()) {
        for variant in variants.filter(|variant| !variant.key().is_classic()) {
            let (provider, id, version) = (variant.provider(), variant.id(), variant.version());
            let Some(who) = etw_layouts::events::who(provider.guid(), id, version) else { continue };
            let Some(schema) = variant.schema() else { continue };
            events += 1;
            providers.push(provider.name());
            let fields = [who.by.process, who.by.thread, who.about.process, who.about.thread].into_iter().flatten();
            let is_there = |name: &str| {
                schema.fields.iter().any(|field| field.name == name && matches!(field.in_type.0, 7..=10 | 16 | 20 | 21))
            };
            missing.extend(
                fields
                    .filter(|field| !is_there(field.name))
                    .map(|field| format!("{} {id} {version} {}", provider.name(), field.name)),
            );
        }
    }
    providers.sort_unstable();
    providers.dedup();
    println!("{events} schemas of {}", providers.join(", "));
    assert_eq!(providers.len(), 8);
    assert!(missing.is_empty(), "{missing:#?}");
}

/// Events that a process did, by trace and provider, where the header has another process or none.
const OF_PROCESSES: [(&str, &str, u32, usize); 4] = [
    ("microsoft__KernelNetwork.etl", "Microsoft-Windows-Kernel-Network", 2716, 8543),
    ("microsoft__KernelNetwork.etl", "Microsoft-Windows-Kernel-Network", 2432, 156),
    ("microsoft__net.4.5.2.x86.etl", "TcpIp", 4, 478),
    ("microsoft__net.4.5.2.x64.etl", "TcpIp", 4, 490),
];

/// File order and the order of time give each event the same processes.
#[test]
fn both_orders() {
    for (name, bytes) in traces() {
        let file = TraceFile::new(&name, BytesSource(bytes)).expect("a trace");
        let trace = Trace::new(vec![file], Options::new().schemas(schemas())).expect("a trace");
        let of = |event: trace::Event<'_>| (event.place().sequence(), event.who());
        let in_file: Vec<_> = trace.events().in_file_order().map(|event| of(event.expect("an event"))).collect();
        let mut by_time: Vec<_> = trace.events().map(|event| of(event.expect("an event"))).collect();
        by_time.sort_unstable_by_key(|(place, _)| *place);
        assert!(in_file == by_time, "{name}");
        for (_, provider, process, count) in OF_PROCESSES.into_iter().filter(|(of, ..)| *of == name) {
            let events = trace.events().map(|event| event.expect("an event"));
            let own = events.filter(|event| event.who().by.process == Some(process));
            let found = own.filter(|event| event.decode().is_some_and(|decoded| decoded.schema.provider == provider)).count();
            assert_eq!(found, count, "{name}: {provider}, process {process}");
        }
    }
}
