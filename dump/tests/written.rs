//! Generated dumps of every build that writes the ETW block, read again.

use etw_layouts::{Arch, Build, structures};
use etw_layouts_dump::{Dump, DumpHeader, DumpSession, ETW_TAG, Error};
use etw_layouts_etl::check::check;
use etw_layouts_etl::wire::LOG_FILE_MODE;
use etw_layouts_etl::write::Producer;
use etw_layouts_etl::{ClockType, Trace, Uuid};
use etw_layouts_memory::{Address, Memory};
use std::io::Cursor;
use test_support::dumps::{self, STOPPED, base, whole};

/// Processor, time and bytes of an event.
type TimedBytes = (u16, Option<i64>, Vec<u8>);

/// The events of a trace, except the log file header, in an order that does not depend on that of the file.
fn events_of(file: &[u8]) -> Vec<TimedBytes> {
    let trace = Trace::from_bytes(file).expect("a trace");
    let events = trace.events().map(|event| event.expect("a whole event")).filter(|event| event.buffer() > 0);
    let mut events: Vec<_> =
        events.map(|event| (event.processor(), event.time().map(|time| time.0), event.bytes().to_vec())).collect();
    events.sort();
    events
}

/// The same for a session, whose events are in the order of time.
fn events_in(session: &DumpSession<'_>) -> Vec<TimedBytes> {
    let (events, diagnostics) = session.events();
    assert_eq!(diagnostics, []);
    assert!(events.iter().filter_map(|timed| timed.time).is_sorted());
    let mut events: Vec<_> =
        events.into_iter().map(|timed| (timed.processor, timed.time, timed.event.bytes().to_vec())).collect();
    events.sort();
    events
}

/// Sessions with each clock, in dumps of each build, have the same events and times as the trace file from which they were made. The
/// same is true for their saved files, which have no format errors.
#[test]
fn sessions_read_back() {
    let mut dumps = 0;
    for (build, arch) in dumps::targets() {
        let producer = Producer { build: Build { revision: 0, ..build }, arch };
        let clocks = [ClockType::PerfCounter, ClockType::SystemTime, ClockType::CpuCycle];
        let sessions = clocks.into_iter().zip(1..).filter_map(|(clock, id)| dumps::Session::new(producer, clock, id, 9));
        let written: Vec<_> = sessions.collect();
        let bytes = dumps::dump(build, arch, &[], &written);
        let dump = Dump::from_bytes(&bytes).expect("a dump");
        assert_eq!(dump.diagnostics(), [], "{build} {arch}");
        let header = dump.header();
        assert_eq!((header.build.number, header.arch, header.processors), (build.number, arch, 3));
        assert_eq!((header.bug_check, header.parameters, header.time), (0x7E, [1, 2, 3, 4], Some(STOPPED)));
        assert_eq!(dump.sessions().len(), 3);
        assert!(dump.blobs().iter().map(|blob| blob.tag).take(2).eq([Uuid::from_u128(7), ETW_TAG]), "{build} {arch}");
        for (read, written) in dump.sessions().iter().zip(&written) {
            let log = &written.log;
            assert_eq!((read.name(), read.logger_id), (log.logger_name.as_str(), written.logger_id));
            let own = &read.log_file;
            assert_eq!((own.clock, own.mode, own.buffer_size), (log.clock, log.mode, log.buffer_size));
            let bytes: Vec<_> = read.buffers.iter().map(|buffer| buffer.bytes.to_vec()).collect();
            assert_eq!(bytes, written.buffers);
            let events = events_of(&written.file);
            assert!(events.len() > 50 && events_in(read) == events, "{build} {arch}: {:?}", log.clock);

            let mut saved = Cursor::new(Vec::new());
            let count = read.save(&mut saved).expect("a trace").events;
            assert!(count == events.len() && events_of(saved.get_ref()) == events, "{build} {arch}: {:?}", log.clock);
            let trace = Trace::from_bytes(saved.get_ref()).expect("a trace");
            assert_eq!((trace.log_file().end_time, trace.log_file().build), (STOPPED, build.number[2]));
            let again = trace.log_file();
            assert_eq!((again.boot_time, again.mode, again.buffer_size), (log.boot_time, log.mode, log.buffer_size));
            assert_eq!(
                (&again.logger_name, again.cpu_mhz, again.perf_frequency),
                (&log.logger_name, log.cpu_mhz, log.perf_frequency)
            );
            check(&trace, &mut |diagnostic| {
                // Some of the generated events have no known layout.
                assert_eq!(diagnostic.kind.name(), "layout", "{build} {arch}: {diagnostic}");
            });
        }
        dumps += 1;
    }
    println!("{dumps} builds and architectures");
}

/// The properties of a session are in the header of its saved file. If a required property is unknown, the session cannot be saved.
#[test]
fn headers_of_saved_files() {
    let producer = Producer { build: Build::new(10, 0, 19041, 0), arch: Arch::X64 };
    let written = dumps::Session::new(producer, ClockType::PerfCounter, 7, 9).expect("a session");
    let bytes = dumps::dump(Build::new(10, 0, 19041, 264), producer.arch, &[], &[written]);
    let dump = Dump::from_bytes(&bytes).expect("a dump");
    let [session] = dump.sessions() else { panic!("a session") };
    assert_eq!((session.empty_buffers(), session.compressed_buffers()), (0, 0));
    let mut session = session.clone();
    let log = &mut session.log_file;
    (log.logger_name, log.file_name) = ("A\0B".into(), "C".into());
    (log.events_lost, log.buffers_lost, log.timer_resolution) = (1, 2, 3);
    log.mode = (LOG_FILE_MODE::EVENT_TRACE_COMPRESSED_MODE | LOG_FILE_MODE::EVENT_TRACE_SECURE_MODE).0;
    // More processors than the dump's header states.
    session.buffers[0].processor = 9;
    let mut empty = session.buffers[0].clone();
    empty.bytes.to_mut().truncate(0x48);
    session.buffers.push(empty.clone());
    assert_eq!(session.empty_buffers(), 1);
    empty.is_compressed = true;
    session.buffers.push(empty);
    assert_eq!((session.empty_buffers(), session.compressed_buffers()), (1, 1));
    session.buffers.pop();
    let mut saved = Cursor::new(Vec::new());
    let count = session.save(&mut saved).expect("a trace");
    assert_eq!(count.buffers, session.buffers.len() - 1);
    let trace = Trace::from_bytes(saved.get_ref()).expect("a trace");
    let log = trace.log_file();
    assert_eq!((&*log.logger_name, &*log.file_name), ("A", "C"));
    assert_eq!((log.events_lost, log.buffers_lost, log.timer_resolution), (1, 2, 3));
    assert_eq!((log.mode, log.processors), (LOG_FILE_MODE::EVENT_TRACE_SECURE_MODE.0, 10));
    // The greatest file size that is not too large, and a greater one. Both sizes are also invalid for a buffer.
    session.buffers.truncate(1);
    for (buffer_size, is_large) in [(1 << 29, false), ((1 << 29) + 8, true)] {
        let mut session = session.clone();
        session.log_file.buffer_size = buffer_size;
        let error = session.save(Cursor::new(Vec::new())).expect_err("too large");
        assert_eq!(error.to_string().contains("1 GiB"), is_large, "{error}");
    }
    let mut system = session.clone();
    (system.log_file.clock, system.log_file.start_time, system.log_file.start_stamp) = (ClockType::SystemTime.value(), 0, 5);
    assert_eq!(system.to_clock().system_time(77), 77);
    type Change = fn(&mut DumpSession<'_>);
    let changes: [(Change, &str); 5] = [
        (|session| session.log_file.perf_frequency = 0, "unknown rate of the session's clock"),
        (|session| (session.log_file.perf_frequency, session.log_file.clock) = (0, 9), "unknown clock"),
        (|session| session.log_file.start_time = 0, "unknown system time of the session's clock"),
        (|session| session.log_file.buffer_size = 0, "unknown buffer size"),
        (|session| session.log_file.buffer_size = u32::MAX, "1 GiB"),
    ];
    for (change, expected) in changes {
        let mut session = session.clone();
        change(&mut session);
        let error = session.save(Cursor::new(Vec::new())).expect_err(expected);
        assert!(error.to_string().contains(expected) && std::error::Error::source(&error).is_none(), "{error}");
    }
    session.log_file.buffer_size = 7;
    let error = session.save(Cursor::new(Vec::new())).expect_err("no such size");
    assert!(std::error::Error::source(&error).is_some_and(|source| source.to_string() == error.to_string()));
}

/// Compressed buffers in the ETW block give the same events as uncompressed ones.
#[test]
fn compressed_buffers() {
    let producer = Producer { build: Build::new(10, 0, 19041, 0), arch: Arch::X64 };
    let of = |session: dumps::Session| {
        let bytes = dumps::dump(producer.build, producer.arch, &[], &[session]);
        let dump = Dump::from_bytes(&bytes).expect("a dump");
        assert_eq!(dump.diagnostics(), []);
        let [session] = dump.sessions() else { panic!("a session") };
        (events_in(session), session.buffers.len(), session.compressed_buffers())
    };
    let session = || dumps::Session::new(producer, ClockType::PerfCounter, 7, 9).expect("a session");
    let (events, buffers, none) = of(session());
    let mut compressed = session();
    for buffer in &mut compressed.buffers {
        let mut packed = buffer[..0x48].to_vec();
        etw_layouts_etl::xpress::compress(&buffer[0x48..], &mut packed);
        // BufferSize, and the flag COMPRESSED.
        let size = packed.len() as u32;
        packed[..4].copy_from_slice(&size.to_le_bytes());
        packed[0x34] |= 0x40;
        *buffer = packed;
    }
    assert_eq!((of(compressed), none), ((events, buffers, buffers), 0));
}

/// The search of memory finds a trace buffer and a registration, if their members are consistent.
#[test]
fn memory_is_searched() {
    for (build, arch) in [(Build::new(10, 0, 19041, 264), Arch::X64), (Build::new(10, 0, 19041, 264), Arch::X86)] {
        let mut bytes = whole(build, arch);
        let dump = Dump::from_bytes(&bytes).expect("a dump");
        assert_eq!((dump.diagnostics(), dump.memory().blocks()), (&[][..], 2));
        let [buffer] = dump.trace_buffers()[..] else { panic!("{arch}: one buffer") };
        assert_eq!((buffer.address.0, buffer.header.logger), (base(arch), 11));
        assert_eq!(buffer.events, dump.sessions()[0].buffers[0].events(Producer { build, arch }.generation()).count());
        let [session] = &dump.memory_sessions()[..] else { panic!("{arch}: one session") };
        let known = &dump.sessions()[0];
        assert_eq!((session.name(), session.buffers.len(), session.events().0.len()), (known.name(), 1, buffer.events));
        let clock = |session: &DumpSession<'_>| {
            let log = &session.log_file;
            (log.clock, log.start_time, log.start_stamp)
        };
        assert_eq!(clock(session), clock(known));
        let [found, known] = [session, known].map(|session| &session.buffers[0]);
        assert_eq!(
            (found.processor, found.address, found.bytes.len()),
            (known.processor, Some(buffer.address), known.bytes.len())
        );
        // Other plausible headers, and implausible ones.
        let at = dump.memory().offset(buffer.address).expect("in the file") as usize;
        let cases: [(usize, &[u8], bool); 20] = [
            (0x00, &[0xFF, 3], false),
            (0x00, &[1, 0x40], false),
            (0x00, &[0, 0, 0, 1], true),
            (0x00, &[0, 4, 0, 1], false),
            (0x04, &[0x80], false),
            (0x04, &[0xFF, 0xFF, 0xFF], false),
            // Without SavedOffset, the other offsets state the end, unless it is beyond the buffer. A buffer too short for an event is not found.
            (0x04, &[0; 4], true),
            (0x04, &[0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0], false),
            (0x04, &[0x4C, 0, 0, 0], false),
            (0x28, &[0, 8], false),
            (0x28, &[0xFF, 0xFF], false),
            (0x2A, &[0, 0], false),
            (0x2A, &[255, 0], true),
            (0x2A, &[0, 1], false),
            (0x2C, &[6], true),
            (0x2C, &[7], false),
            (0x34, &[0x40], false),
            (0x36, &[3], true),
            (0x36, &[8], false),
            (0x36, &[0xFF], false),
        ];
        for (place, value, found) in cases {
            let mut bytes = bytes.clone();
            bytes[at + place..at + place + value.len()].copy_from_slice(value);
            assert_eq!(
                Dump::from_bytes(&bytes).expect("a dump").trace_buffers().len(),
                usize::from(found),
                "{place:#x} {value:?}"
            );
        }
        // All buffers of a session, in pieces of memory that begin before a page. The end of one buffer is missing.
        let producer = Producer { build: Build { revision: 0, ..build }, arch };
        let buffers = dumps::Session::new(producer, ClockType::PerfCounter, 11, 4).expect("a session").buffers;
        let at = |index: usize| base(arch) + 0x10000 * index as u64;
        let before = |(index, buffer): (usize, &Vec<u8>)| (at(index) - 0x400, [&[0; 0x400], &buffer[..]].concat());
        let pieces: Vec<_> = buffers.iter().enumerate().map(before).collect();
        let all = dumps::dump(build, arch, &pieces, &[]);
        let all = Dump::from_bytes(&all).expect("a dump");
        let processors: Vec<_> = buffers.iter().map(|buffer| u16::from_le_bytes([buffer[0x28], buffer[0x29]])).collect();
        let [session] = &all.memory_sessions()[..] else { panic!("{arch}: one session") };
        assert_eq!(session.buffers.iter().map(|buffer| buffer.processor).collect::<Vec<_>>(), processors);
        assert!(processors.contains(&2));
        let cut = dumps::dump(build, arch, &[(at(0), buffers[0][..0x200].to_vec())], &[]);
        let cut = Dump::from_bytes(&cut)
            .expect("a dump")
            .trace_buffers()
            .iter()
            .map(|one| (one.is_complete, one.events > 0))
            .collect::<Vec<_>>();
        assert_eq!(cut, [(false, true)], "{arch}");
        let [registration] = &dump.registrations()[..] else { panic!("{arch}: one registration") };
        assert_eq!(registration.entry.address().0, base(arch) + if arch == Arch::X86 { 0x5008 } else { 0x5010 });
        let mut header = *dump.header();
        assert_eq!(header.build.revision, 0);
        header.build.revision = 264;
        assert_eq!(*Dump::with_header(&bytes, header).expect("a dump").header(), header);
        // A freed registration is not found.
        let pointer = (base(arch) + 0x9000).to_le_bytes();
        let width = if arch == Arch::X86 { 4 } else { 8 };
        let at = bytes.windows(width).position(|window| window == &pointer[..width]).expect("a link");
        bytes[at..at + width].fill(0);
        assert!(Dump::from_bytes(&bytes).expect("a dump").registrations().is_empty());
    }
}

/// The Windows version is derived from the build number. Times are `None` if the writer omitted them.
#[test]
fn headers() {
    let page = i64::from_le_bytes(*b"PAGEPAGE");
    for arch in [Arch::X64, Arch::X86] {
        let (build, whole) = (Build::new(10, 0, 19041, 264), dumps::dump(Build::new(10, 0, 19041, 264), arch, &[], &[]));
        let structure = if arch == Arch::X86 { structures::DUMP_HEADER32.any() } else { structures::DUMP_HEADER64.any() };
        let offset = |name| structure.select(build, arch).unwrap().layout.member(name).unwrap().offset;
        let put = |at: usize, value: &[u8]| {
            let mut bytes = whole.clone();
            bytes[at..at + value.len()].copy_from_slice(value);
            DumpHeader::read(&bytes).expect("a header")
        };
        let of_build = |number: u32| put(offset("MinorVersion"), &number.to_le_bytes()).build.number;
        for (first, last, version) in [
            (2195, 2195, [5, 0]),
            (2196, 2600, [5, 1]),
            (2601, 3790, [5, 2]),
            (3791, 6003, [6, 0]),
            (6004, 7601, [6, 1]),
            (7602, 9200, [6, 2]),
            (9201, 9600, [6, 3]),
            (9601, 65535, [10, 0]),
        ] {
            for build in [first, last] {
                assert_eq!(of_build(build), [version[0], version[1], build]);
            }
        }
        for (time, is_stated) in [(page, false), (0, false), (-1, false), (1, true), (page - 1, true), (page ^ 1 << 40, true)] {
            let header = put(offset("SystemTime"), &time.to_le_bytes());
            assert_eq!(header.time, is_stated.then_some(time));
            assert_eq!(put(offset("SystemUpTime"), &time.to_le_bytes()).up_time, is_stated.then_some(time));
        }
    }
    for (kind, name) in [
        (1, "full dump"),
        (2, "kernel dump"),
        (4, "triage dump"),
        (5, "full dump"),
        (6, "kernel dump"),
        (7, "automatic dump"),
        (9, "live dump of a debugger"),
        (11, "unknown"),
    ] {
        let text = Error::Kind(kind).to_string();
        assert!(text.starts_with(&format!("unsupported dump type {kind} ({name})")), "{text}");
    }
}

/// Pieces of memory that overlap or follow each other, the stack, and other pieces that only the header refers to.
#[test]
fn pieces() {
    let build = Build::new(10, 0, 19041, 264);
    let filled = |count: usize, value: u8| vec![value; count];
    let (x64, x86) = (0xFFFF_8000_0000_1000, 0x8000_1000);
    for (arch, base) in [(Arch::X64, x64), (Arch::X86, x86)] {
        let memory = [
            (base + 0x80, filled(0x100, 2)),
            (base, filled(0x100, 1)),
            (base + 0x180, filled(0x10, 3)),
            (base + 0x20, filled(0x10, 4)),
            (base + 0x400, filled(0x10, 5)),
        ];
        let mut bytes = dumps::dump(build, arch, &memory, &[]);
        // TopOfStack, CallStackOffset and SizeOfCallStack: the stack is the start of the file. The data page has a size but no address.
        let (header, triage) = match arch {
            Arch::X86 => (0x1000, structures::TRIAGE_DUMP32.any()),
            _ => (0x2000, structures::TRIAGE_DUMP64.any()),
        };
        let triage = triage.select(build, arch).unwrap().layout;
        let mut put = |name: &str, value: u64| {
            let member = triage.member(name).expect("a member");
            let at = header + member.offset;
            bytes[at..at + member.size].copy_from_slice(&value.to_le_bytes()[..member.size]);
        };
        put("TopOfStack", base + 0x1000);
        put("SizeOfCallStack", 8);
        put("DataPageAddress", 0);
        put("DataPageSize", u32::MAX.into());
        let dump = Dump::from_bytes(&bytes).expect("a dump");
        assert_eq!(dump.diagnostics(), []);
        let memory = dump.memory();
        let found: Vec<_> = memory.iter().map(|(at, piece)| (at.0 - base, piece.len(), piece[0])).collect();
        assert_eq!(found, [(0, 0x100, 1), (0x100, 0x80, 2), (0x180, 0x10, 3), (0x400, 0x10, 5), (0x1000, 8, b'P')]);
        assert_eq!((memory.blocks(), memory.bytes()), (5, 0x1A8));
        let mut read = [0; 0x200];
        assert_eq!(memory.read(Address(base + 0x10), &mut read), Ok(0x180));
        assert!(read[..0x180] == [filled(0xF0, 1), filled(0x80, 2), filled(0x10, 3)].concat() && read[0x180..] == [0; 0x80]);
        assert_eq!(memory.read(Address(base + 0x10), &mut read[..0x100]), Ok(0x100));
        assert!(read[..0x100] == [filled(0xF0, 1), filled(0x10, 2)].concat());
        for (at, expected) in
            [(0, Some(1)), (0xFF, Some(1)), (0x100, Some(2)), (0x18F, Some(3)), (0x400, Some(5)), (0x40F, Some(5))]
        {
            let offset = memory.offset(Address(base + at)).expect("in the dump") as usize;
            assert_eq!(bytes.get(offset).copied(), expected, "{at:#x}");
            let next = memory.offset(Address(base + at + 1));
            assert!(next.is_none_or(|next| next == offset as u64 + 1 || bytes[next as usize] != bytes[offset]), "{at:#x}");
        }
        assert_eq!(memory.offset(Address(base + 0x1000 + 5)), Some(5));
        for at in [base - 1, base + 0x190, base + 0x3FF, base + 0x410, base + 0x1008, 0] {
            assert_eq!(memory.offset(Address(at)), None, "{at:#x}");
        }
    }
}
