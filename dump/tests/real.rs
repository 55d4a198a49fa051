//! Dumps of real systems, from the folder ETW_LAYOUTS_DUMPS.

use etw_layouts_dump::Dump;
use etw_layouts_etl::check::check;
use etw_layouts_etl::{HeaderType, Trace};
use std::fs;
use std::io::Cursor;
use test_support::installed;

/// Name of a session, and its numbers of buffers, empty buffers, messages and other events.
type Counts = (&'static str, usize, usize, usize, usize);

const NAMES: [&str; 4] = ["EventLog-System", "Microsoft-Windows-Rdp-Graphics-RdpIdd-Trace", "WiFiSession", "CldFltLog"];

/// The expected contents of a dump.
struct Expected {
    file: &'static str,
    build: &'static str,
    blocks: usize,
    sessions: &'static [Counts],
    /// Numbers of buffers and registrations found in memory.
    found: (usize, usize),
}

const EXPECTED: [Expected; 2] = [
    Expected {
        file: "triage_x64.dmp",
        build: "10.0.19041.0",
        blocks: 1831,
        sessions: &[(NAMES[0], 2, 1, 0, 107), (NAMES[1], 32, 32, 0, 0), (NAMES[2], 32, 32, 0, 0)],
        found: (1, 25),
    },
    Expected {
        file: "triage_arm64.dmp",
        build: "10.0.22000.0",
        blocks: 679,
        sessions: &[(NAMES[0], 2, 0, 0, 23), (NAMES[1], 16, 16, 0, 0), (NAMES[2], 16, 6, 4629, 884), (NAMES[3], 2, 1, 1, 0)],
        found: (1, 0),
    },
];

/// Every session and buffer is read up to the last byte of the block, and saved sessions have no format errors.
#[test]
fn real_dumps() {
    let Some(folder) = installed::folder("ETW_LAYOUTS_DUMPS") else { return };
    for Expected { file, build, blocks, sessions, found } in EXPECTED {
        let bytes = fs::read(folder.join(file)).expect("a dump");
        let dump = Dump::from_bytes(&bytes).expect("a triage dump");
        assert_eq!(dump.diagnostics(), [], "{file}");
        assert_eq!((dump.header().build.to_string().as_str(), dump.memory().blocks()), (build, blocks), "{file}");
        let stopped = dump.header().time.expect("a time");
        let mut counts = Vec::new();
        for session in dump.sessions() {
            let (events, diagnostics) = session.events();
            assert_eq!(diagnostics, [], "{file}: {}", session.name());
            let messages = events.iter().filter(|event| event.event.header_type() == HeaderType::Message).count();
            let (buffers, empty) = (session.buffers.len(), session.empty_buffers());
            counts.push((session.name(), buffers, empty, messages, events.len() - messages));
            let times: Vec<_> = events.iter().filter_map(|event| event.time).collect();
            assert!(times.is_sorted() && times.len() == events.len(), "{file}: {}", session.name());
            // The header states the time of the last timer tick before the stop.
            let end = stopped + i64::from(session.log_file.timer_resolution);
            let within = |time: &i64| (session.start_time..=end).contains(time);
            assert!(times.iter().all(within), "{file}: {}: times between start and stop", session.name());

            let mut saved = Cursor::new(Vec::new());
            let written = session.save(&mut saved).expect("a trace");
            assert_eq!((written.buffers, written.events), (buffers - empty, events.len()));
            let trace = Trace::from_bytes(saved.get_ref()).expect("a trace");
            check(&trace, &mut |diagnostic| panic!("{file}: {}: {diagnostic}", session.name()));
            assert_eq!(trace.log_file().logger_name, session.name());
            let same = trace.events().filter(|event| event.as_ref().expect("a whole event").time_stamp().is_some()).count();
            // The log file header is a further event with a time stamp.
            assert_eq!(same, events.len() + 1);
        }
        assert_eq!(counts, sessions, "{file}");
        assert_eq!((dump.trace_buffers().len(), dump.registrations().len()), found, "{file}");
    }
}
