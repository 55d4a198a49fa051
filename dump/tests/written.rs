//! Written dumps of every build that has ETW's blob: what was written is read.

use etw_layouts::{Arch, Build};
use etw_layouts_dump::{Dump, Session};
use etw_layouts_etl::check::check;
use etw_layouts_etl::write::Producer;
use etw_layouts_etl::{ClockType, Trace};
use std::io::Cursor;
use test_support::dumps::{self, STOPPED, base, whole};

/// Processor, time and bytes of an event.
type Told = (u16, Option<i64>, Vec<u8>);

/// The events of a trace in the order of time, but for the log file header.
fn events_of(file: &[u8]) -> Vec<Told> {
    let trace = Trace::new(file).expect("a trace");
    let (clock, mut order, mut events) = (trace.clock(), trace.by_time(), Vec::new());
    while let Some(timed) = order.next_event() {
        let timed = timed.expect("a whole event");
        if timed.buffer > 0 {
            let time = timed.event.time_stamp().map(|stamp| clock.system_time(stamp));
            events.push((timed.processor, time, timed.event.bytes().to_vec()));
        }
    }
    events
}

fn events_in(session: &Session<'_>) -> Vec<Told> {
    let (events, findings) = session.events();
    assert_eq!(findings, []);
    events.into_iter().map(|timed| (timed.processor, timed.time, timed.event.bytes().to_vec())).collect()
}

/// A session of each clock, as a blob in a dump of each build: the same events at the same times as in the file that it was made of,
/// and in the file that is saved of it, which breaks no rule.
#[test]
fn sessions_read_back() {
    let mut dumps = 0;
    for (build, arch) in dumps::targets() {
        let producer = Producer { build: Build { revision: 0, ..build }, arch };
        let clocks = [ClockType::PerfCounter, ClockType::SystemTime, ClockType::CpuCycle];
        let sessions = clocks.into_iter().zip(1..).filter_map(|(clock, id)| dumps::Session::new(producer, clock, id, 9));
        let written: Vec<_> = sessions.collect();
        let bytes = dumps::dump(build, arch, &[], &written);
        let dump = Dump::new(&bytes).expect("a dump");
        assert_eq!(dump.findings(), [], "{build} {arch}");
        let header = dump.header();
        assert_eq!((header.build.number, header.arch, header.processors), (build.number, arch, 3));
        assert_eq!((header.bug_check, header.parameters, header.time), (0x7E, [1, 2, 3, 4], Some(STOPPED)));
        assert_eq!(dump.sessions().len(), 3);
        for (read, written) in dump.sessions().iter().zip(&written) {
            let log = &written.log;
            assert_eq!((read.name.as_str(), read.logger_id), (log.logger_name.as_str(), written.logger_id));
            assert_eq!((read.clock.0, read.mode.0, read.buffer_size), (log.clock, log.mode, log.buffer_size));
            let bytes: Vec<_> = read.buffers.iter().map(|buffer| buffer.bytes.to_vec()).collect();
            assert_eq!(bytes, written.buffers);
            let events = events_of(&written.file);
            assert!(events.len() > 50 && events_in(read) == events, "{build} {arch}: {:?}", log.clock);

            let mut saved = Cursor::new(Vec::new());
            let count = read.save(&mut saved).expect("a trace").events;
            assert!(count == events.len() && events_of(saved.get_ref()) == events, "{build} {arch}: {:?}", log.clock);
            let trace = Trace::new(saved.get_ref()).expect("a trace");
            assert_eq!((trace.log_file().end_time, trace.log_file().build), (STOPPED, build.number[2]));
            check(&trace, &mut |finding| {
                // The kit's events have kinds without a known layout among them.
                assert_eq!(finding.what.kind(), "layout", "{build} {arch}: {finding}");
            });
        }
        dumps += 1;
    }
    println!("{dumps} builds and architectures");
}

/// Compressed buffers of a blob: the same events as uncompressed.
#[test]
fn compressed_buffers() {
    let producer = Producer { build: Build::new(10, 0, 19041, 0), arch: Arch::X64 };
    let of = |session: dumps::Session| {
        let bytes = dumps::dump(producer.build, producer.arch, &[], &[session]);
        let dump = Dump::new(&bytes).expect("a dump");
        assert_eq!(dump.findings(), []);
        let [session] = dump.sessions() else { panic!("a session") };
        (events_in(session), session.buffers.len(), session.compressed_buffers())
    };
    let session = || dumps::Session::new(producer, ClockType::PerfCounter, 7, 9).expect("a session");
    let (events, buffers, none) = of(session());
    let mut compressed = session();
    for buffer in &mut compressed.buffers {
        let mut packed = buffer[..0x48].to_vec();
        etw_layouts_etl::xpress::compress(&buffer[0x48..], &mut packed);
        // BufferSize, and COMPRESSED of the flags.
        let size = packed.len() as u32;
        packed[..4].copy_from_slice(&size.to_le_bytes());
        packed[0x34] |= 0x40;
        *buffer = packed;
    }
    assert_eq!((of(compressed), none), ((events, buffers, buffers), 0));
}

/// A trace buffer and a registration are found in memory, by their own consistency.
#[test]
fn memory_is_searched() {
    for (build, arch) in [(Build::new(10, 0, 19041, 264), Arch::X64), (Build::new(10, 0, 19041, 264), Arch::X86)] {
        let mut bytes = whole(build, arch);
        let dump = Dump::new(&bytes).expect("a dump");
        assert_eq!((dump.findings(), dump.memory().blocks()), (&[][..], 2));
        let [buffer] = dump.trace_buffers()[..] else { panic!("{arch}: one buffer") };
        assert_eq!((buffer.address.0, buffer.head.logger), (base(arch), 11));
        assert_eq!(buffer.events, dump.sessions()[0].buffers[0].events(Producer { build, arch }.generation()).count());
        let [registration] = &dump.registrations()[..] else { panic!("{arch}: one registration") };
        assert_eq!(registration.entry.address().0, base(arch) + if arch == Arch::X86 { 0x5008 } else { 0x5010 });
        let revision = |dump: Dump<'_>| dump.header().build.revision;
        assert_eq!([revision(dump), revision(Dump::with_revision(&bytes, 264).expect("a dump"))], [0, 264]);
        // What was freed is no registration any more.
        let pointer = (base(arch) + 0x9000).to_le_bytes();
        let width = if arch == Arch::X86 { 4 } else { 8 };
        let at = bytes.windows(width).position(|window| window == &pointer[..width]).expect("a link");
        bytes[at..at + width].fill(0);
        assert!(Dump::new(&bytes).expect("a dump").registrations().is_empty());
    }
}
