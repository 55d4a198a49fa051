//! Files of our writer, read again.

use crate::events::{Seen, in_file};
use etw_layouts_etl::check::check;
use etw_layouts_etl::compression::Format;
use etw_layouts_etl::header::{Counters, EventHeader, Message};
use etw_layouts_etl::wire::{
    Arch, ETW_BUFFER_FLAG, ETW_BUFFER_TYPE, EVENT_HEADER, LOG_FILE_MODE, PERFINFO_TRACE_HEADER, large, zero,
};
use etw_layouts_etl::write::{BufferWriter, Error, FileWriter, Producer, Record};
use etw_layouts_etl::{BufferHeader, ClockType, DiagnosticKind, HeaderType, Item, LogFile, Scratch, Trace, Uuid};
use std::collections::BTreeSet;
use std::io::Cursor;
use test_support::traces::{PRODUCERS, START, all, fixture, in_format, written_again_differs};

#[test]
fn fixtures() {
    let fixtures = all(40);
    // 5.0 and 5.1 lack the CPU-cycle clock, and no version before 6.2 compresses.
    assert_eq!(fixtures.len(), 8 * 3 - 2 + 3 * 3);
    let mut kinds = BTreeSet::new();
    for fixture in fixtures {
        let name = &fixture.name;
        let trace = Trace::from_bytes(&fixture.bytes).unwrap();
        let log = trace.log_file();
        assert_eq!((&log.logger_name, &log.file_name), (&fixture.log.logger_name, &fixture.log.file_name), "{name}");
        assert!(trace.buffers().count() > 5, "{name}");
        let seen = in_file(&trace);
        kinds.extend(seen.iter().map(|event| event.header_type));
        for processor in 0..3 {
            let of = |p: u16| p == processor;
            let ours: Vec<_> = fixture.events.iter().filter(|e| of(e.0)).map(|e| (e.1, e.2, &e.3)).collect();
            let seen: Vec<_> =
                seen[1..].iter().filter(|e| of(e.processor)).map(|e| (e.header_type, e.time, &e.payload)).collect();
            assert_eq!(ours.len(), seen.len(), "{name}");
            assert!(ours == seen, "{name}, processor {processor}");
        }
        check(&trace, &mut |diagnostic| {
            assert!(diagnostic.kind.name() == "layout", "{name}: {diagnostic}");
        });
        for buffer in trace.buffers() {
            let (buffer, mut scratch) = (buffer.unwrap(), Scratch::default());
            let decoded = buffer.decode(&mut scratch);
            assert_eq!(written_again_differs(&buffer, &decoded), None, "{name}: {:#x}", buffer.offset());
        }
    }
    assert_eq!(kinds.len(), 20 - 1 + 1, "{kinds:?}");
}

#[test]
fn fields() {
    let fixture = fixture(PRODUCERS[7], ClockType::PerfCounter, false, 3).unwrap();
    let trace = Trace::from_bytes(&fixture.bytes).unwrap();
    let mut scratch = Scratch::default();
    let mut found = 0;
    for buffer in trace.buffers().skip(1) {
        for event in buffer.unwrap().decode(&mut scratch).events() {
            let event = event.unwrap();
            assert_eq!(Record::from_event(&event).header_type(), event.header_type());
            let facts = (event.thread(), event.process(), event.id(), event.version(), event.opcode());
            let (expected, provider) = match event.header_type() {
                HeaderType::System32 | HeaderType::System64 => {
                    ((Some(11), Some(12), Some(0x0301), Some(2), Some(1)), Some(0x3d6f_a8d0_fe05_11d0_9dda_00c0_4fd7_ba7c))
                }
                HeaderType::PerfInfo32 | HeaderType::PerfInfo64 => {
                    ((None, None, Some(0x0301), Some(0), Some(1)), Some(0x3d6f_a8d0_fe05_11d0_9dda_00c0_4fd7_ba7c))
                }
                HeaderType::Full32 | HeaderType::Full64 => {
                    ((Some(21), Some(22), None, Some(0), Some(0)), Some(0x3d6f_a8d1_fe05_11d0_9dda_00c0_4fd7_ba7c))
                }
                HeaderType::Event32 | HeaderType::Event64 => (
                    (Some(31), Some(32), Some(1000), Some(3), Some(9)),
                    // In the byte order of its text.
                    Some(0xa61e_a624_4944_55fc_c2a8_3782_8829_438d),
                ),
                HeaderType::Message if event.id() == Some(43) => {
                    let EventHeader::Message(message) = event.header() else { panic!("no message") };
                    let component = message.component.is_some();
                    (
                        (Some(41), Some(42), Some(43), None, None),
                        (!component).then_some(0x2818_ef08_6a54_396f_2244_5a6e_a4a9_8cf0),
                    )
                }
                _ => continue,
            };
            assert_eq!((facts, event.provider()), (expected, provider.map(Uuid::from_u128)), "{:?}", event.header_type());
            found += 1;
        }
    }
    assert!(found > 40);
}

/// System time by all three clocks, including times at which floating point would be inexact.
#[test]
fn clocks() {
    let clock = |ty, frequency, mhz| etw_layouts_etl::Clock::new(ty, START.1, START.0, frequency, mhz);
    let perf = clock(ClockType::PerfCounter, 3_579_545, 0);
    assert_eq!(perf.system_time(START.0 + 3_579_545 * 86_400 + 1), START.1 + 864_000_000_000 + 2);
    assert_eq!(perf.system_time(START.0 - 1), START.1 - 3);
    assert_eq!(clock(ClockType::SystemTime, 1, 1).system_time(START.0 + 5), START.1 + 5);
    assert_eq!(clock(ClockType::CpuCycle, 0, 2_400).system_time(START.0 + 2_400_000_001), START.1 + 10_000_000);
    assert_eq!(clock(ClockType::PerfCounter, 1, 0).system_time(START.0 + 5), START.1 + 50_000_000);
    assert_eq!(clock(ClockType::CpuCycle, 0, 1).system_time(START.0 + 5), START.1 + 50);
    let exact = |ticks: i128| START.1 + ((ticks * 10_000_000).div_euclid(3_579_545)) as i64;
    for ticks in [i64::from(u32::MAX), 1 << 50, (1 << 53) + 1, -(1 << 50) - 1] {
        assert_eq!(perf.system_time(START.0 + ticks), exact(ticks.into()));
    }
    assert_eq!(perf.system_time(i64::MIN + 1), i64::MIN);
    assert_eq!(perf.system_time(i64::MAX), i64::MAX);
}

/// Buffer flags and buffer types that no test file has.
#[test]
fn buffers() {
    let producer = PRODUCERS[7];
    let mut log = LogFile::new(&producer);
    log.buffer_size = 4096;
    let mut file = FileWriter::new(Cursor::new(Vec::new()), producer, log).unwrap().finish(0).unwrap().into_inner();
    let flags = ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_EVENTS_LOST | ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_RTBACKUP;
    for ty in 1..8 {
        let mut buffer = BufferWriter::new(producer, 4096).unwrap();
        buffer.push(&event(1, &[1; 100])).unwrap();
        let ty = ETW_BUFFER_TYPE(if ty == 4 { 0 } else { ty });
        let header = BufferHeader { logger: 3, flags, ty, ..BufferHeader::new(2047, 1, 9) };
        buffer.finish(&header, ty.0.is_multiple_of(2), &mut file).unwrap();
    }
    let trace = Trace::from_bytes(&file).unwrap();
    // The log file mode does not announce compressed buffers, but the buffers' own flags do.
    let heads: Vec<_> = trace.buffers().skip(1).filter_map(Result::ok).map(|buffer| *buffer.header()).collect();
    assert_eq!(heads.len(), 7);
    // The log file header counts no further buffers, and states no end.
    let wrong: Vec<_> = trace.buffers().filter_map(Result::err).map(|diagnostic| diagnostic.kind).collect();
    assert_eq!(wrong, [DiagnosticKind::NotClosed { stated: 1, read: 8 }]);
    assert!(heads.iter().zip(1..8).all(|(head, ty)| head.is_compressed() == (ty % 2 == 0)));
    for head in &heads {
        assert!(head.flags.contains(flags) && head.processor() == 2047 && head.sequence == 9 && head.logger == 3);
    }
}

/// Invalid use is an error.
#[test]
fn invalid_use() {
    let producer = PRODUCERS[7];
    let mut out = Vec::new();
    let mut refuse = |producer: &Producer, record: Record<'_>| {
        let before = out.len();
        let error = record.write(producer, &mut out).unwrap_err();
        assert_eq!(out.len(), before);
        assert!(!error.to_string().is_empty());
        error
    };
    let big = vec![0; 70_000];
    assert!(matches!(refuse(&producer, event(0, &big)), Error::Length(_)));
    assert!(matches!(refuse(&PRODUCERS[2], event(0, &[])), Error::Version { .. }));
    let nine = Counters { count: 9, ..Counters::default() };
    let perfinfo: PERFINFO_TRACE_HEADER = zero();
    assert!(matches!(refuse(&producer, Record::new(EventHeader::PerfInfo(perfinfo, nine), true, &[])), Error::Counters(9)));
    let both = Message { guid: Some(Uuid::from_u128(1)), component: Some(1), ..Message::default() };
    assert!(matches!(refuse(&producer, Record::new(EventHeader::Message(both), true, &[])), Error::Message));
    let item = Item::new(etw_layouts_etl::wire::EVENT_HEADER_EXT_TYPE(1), &[0; 16]);
    let with_items = Record::new(EventHeader::Message(Message::default()), true, &[]).with_items(vec![item]);
    assert!(matches!(refuse(&producer, with_items), Error::Items));
    let short = Item { padding: &[], data: &[0; 3], ..item };
    assert!(matches!(refuse(&producer, event(0, &[]).with_items(vec![short])), Error::Padding(3)));
    assert!(matches!(refuse(&producer, Record::raw(&[9, 0, 0x77, 0xC0])), Error::Raw));
    assert!(matches!(refuse(&producer, Record::raw(&[0xFF; 8])), Error::Raw));

    assert!(matches!(BufferWriter::new(producer, 100), Err(Error::BufferSize(100))));
    let mut buffer = BufferWriter::new(producer, 512).unwrap();
    buffer.push(&event(5, &[])).unwrap();
    assert!(matches!(buffer.push(&event(6, &[0; 400])), Err(Error::Full { .. })));

    let log = LogFile::new(&producer);
    let open = |producer, log| FileWriter::new(Cursor::new(Vec::new()), producer, log);
    assert!(matches!(open(PRODUCERS[6], log.clone()), Err(Error::LogFile)));
    assert!(matches!(open(producer, LogFile { clock: 7, ..log.clone() }), Err(Error::Clock(7))));
    assert!(matches!(open(producer, LogFile { perf_frequency: 0, ..log.clone() }), Err(Error::Clock(1))));
    assert!(matches!(open(producer, LogFile { buffer_size: 0, ..log.clone() }), Err(Error::BufferSize(0))));
    let old = Producer::new(6, 1, 7601, Arch::X64);
    let compressed = LogFile { mode: 0x0400_0000, ..LogFile::new(&old) };
    assert!(matches!(open(old, compressed), Err(Error::Version { .. })));
    let mut writer = open(producer, log).unwrap();
    assert!(matches!(writer.push(1, &event(5, &[])), Err(Error::Processor { .. })));
    writer.push(0, &event(5, &[])).unwrap();
    writer.flush(0).unwrap();
    assert!(matches!(writer.push_header(&event(5, &[])), Err(Error::Late)));
}

/// Files that were never closed, are truncated, or are circular.
#[test]
fn incomplete_files() {
    let whole = fixture(PRODUCERS[7], ClockType::PerfCounter, false, 20).unwrap();
    let trace = Trace::from_bytes(&whole.bytes).unwrap();
    let (expected, events) = (in_file(&trace).len(), sorted(&trace));
    let buffers = trace.buffers().count();

    // BuffersWritten is 0, and unused space follows the buffers.
    let mut unclosed = whole.bytes.clone();
    let at = 0x48 + 0x20 + 0x24;
    assert_eq!(unclosed[at..at + 4], (buffers as u32).to_le_bytes());
    unclosed[at..at + 4].fill(0);
    assert_eq!(in_file(&Trace::from_bytes(&unclosed).unwrap()).len(), expected);
    let wrong = |bytes: &[u8]| -> Vec<_> {
        Trace::from_bytes(bytes)
            .unwrap()
            .buffers()
            .filter_map(Result::err)
            .map(|diagnostic| (diagnostic.is_damage(), diagnostic.kind))
            .collect()
    };
    unclosed.extend([0; 3 * 4096]);
    assert_eq!(wrong(&unclosed), [(true, DiagnosticKind::Zeroes { bytes: 3 * 4096, next: None })]);
    // A program that reserves space in advance leaves some unused.
    let with_space = [&whole.bytes[..], &[0; 4100]].concat();
    assert_eq!(wrong(&with_space), [(false, DiagnosticKind::Unwritten(4100))]);

    // The last buffers precede the first ones.
    let mut circular = whole.bytes[..4096].to_vec();
    let middle = 4096 * (buffers / 2);
    circular.extend_from_slice(&whole.bytes[middle..]);
    circular.extend_from_slice(&whole.bytes[4096..middle]);
    assert!(sorted(&Trace::from_bytes(&circular).unwrap()) == events);

    // The file ends in the last buffer.
    let cut = whole.bytes.len() - 4096 + 200;
    let trace = Trace::from_bytes(&whole.bytes[..cut]).unwrap();
    let diagnostics: Vec<_> = trace.buffers().filter_map(Result::err).map(|diagnostic| diagnostic.kind).collect();
    assert_eq!(diagnostics, [DiagnosticKind::Truncated { size: 4096, present: 200 }]);
    let count = trace.events().flatten().count();
    assert!(count < expected && count > expected - 40, "{count} of {expected}");

    // A corrupt record loses the rest of its buffer. The diagnostic states its place.
    let mut bad = whole.bytes.clone();
    bad[2 * 4096 + 0x48 + 4] = 1;
    bad[2 * 4096 + 0x48] = 1;
    bad[2 * 4096 + 0x48 + 1] = 0;
    let trace = Trace::from_bytes(&bad).unwrap();
    let mut diagnostics = Vec::new();
    let mut scratch = Scratch::default();
    for buffer in trace.buffers() {
        diagnostics.extend(buffer.unwrap().decode(&mut scratch).events().filter_map(Result::err));
    }
    assert_eq!(diagnostics.len(), 1);
    assert_eq!((diagnostics[0].buffer, diagnostics[0].buffer_offset, diagnostics[0].offset), (2, 2 * 4096, 0x48));
}

/// All events, in an order that does not depend on that of the buffers.
fn sorted(trace: &Trace<'_>) -> Vec<Seen> {
    let mut events = in_file(trace);
    events.sort();
    events
}

fn event(stamp: i64, payload: &[u8]) -> Record<'_> {
    let mut header: EVENT_HEADER = zero();
    header.TimeStamp = large(stamp);
    Record::new(EventHeader::Event(header), true, payload)
}

/// Buffers of every size are read again, with compressible and incompressible data.
#[test]
fn every_size() {
    let mut random = fastrand::Rng::with_seed(0x51E);
    for size in [512, 520, 4096, 1 << 16, 1 << 20, 15 << 20, (16 << 20) - 8, 16 << 20] {
        for (compressed, noise) in [(false, true), (true, true), (true, false)] {
            let log =
                LogFile { buffer_size: size, mode: if compressed { 0x0400_0000 } else { 0 }, ..LogFile::new(&PRODUCERS[7]) };
            let mut writer = FileWriter::new(Cursor::new(Vec::new()), PRODUCERS[7], log).unwrap();
            let length = (size as usize - 0x48 - 0x50).min(60_000);
            let mut payload = vec![0; length];
            let count = 3 * size as usize / length + 3;
            for stamp in 0..count {
                if noise {
                    random.fill(&mut payload);
                }
                writer.push(0, &event(stamp as i64, &payload)).unwrap();
            }
            let bytes = writer.finish(0).unwrap().into_inner();
            let trace = Trace::from_bytes(&bytes).unwrap();
            assert_eq!(in_file(&trace).len(), 1 + count, "{size:#x} compressed {compressed} noise {noise}");
            check(&trace, &mut |diagnostic| panic!("{size:#x} compressed {compressed} noise {noise}: {diagnostic}"));
        }
    }
}

/// An output that fails once.
struct Once<W>(W, u32);

impl<W: std::io::Write> std::io::Write for Once<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.1 = self.1.wrapping_sub(1);
        if self.1 == 0 {
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        self.0.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

impl<W: std::io::Seek> std::io::Seek for Once<W> {
    fn seek(&mut self, to: std::io::SeekFrom) -> std::io::Result<u64> {
        self.0.seek(to)
    }
}

/// After a failed write, all further calls fail, so no event is lost without an error.
#[test]
fn failed_writes() {
    for fails in 1..=3 {
        let log = LogFile { buffer_size: 1024, ..LogFile::new(&PRODUCERS[7]) };
        let mut writer = FileWriter::new(Once(Cursor::new(Vec::new()), fails), PRODUCERS[7], log).unwrap();
        let mut failed = |stamp: &i64| writer.push(0, &event(*stamp, &[0; 500])).err();
        let (first, error) = (0..100).find_map(|stamp| Some((stamp, failed(&stamp)?))).unwrap();
        assert!(std::error::Error::source(&error).is_some() && std::error::Error::source(&Error::Failed).is_none());
        for stamp in first..100 {
            assert!(matches!(writer.push(0, &event(stamp, &[0; 500])), Err(Error::Failed)), "{fails} {stamp}");
        }
        assert!(matches!(writer.flush(0), Err(Error::Failed)));
        assert!(matches!(writer.finish(0), Err(Error::Failed)));
    }
}

/// A buffer has the time stamp of its writing, so buffers are in the order of their time stamps.
#[test]
fn late_processors() {
    let log = LogFile { buffer_size: 1024, processors: 2, ..LogFile::new(&PRODUCERS[7]) };
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), PRODUCERS[7], log).unwrap();
    writer.push(1, &event(1, &[])).unwrap();
    for stamp in 2..50 {
        writer.push(0, &event(stamp, &[0; 100])).unwrap();
    }
    let bytes = writer.finish(0).unwrap().into_inner();
    let trace = Trace::from_bytes(&bytes).unwrap();
    assert_eq!(in_file(&trace).len(), 1 + 49);
    check(&trace, &mut |diagnostic| panic!("{diagnostic}"));
}

/// Values that cannot be written are rejected immediately, not by `finish`.
#[test]
fn rejected_immediately() {
    let open = |log| FileWriter::new(Cursor::new(Vec::new()), PRODUCERS[7], log);
    let log = LogFile { processors: 4096, ..LogFile::new(&PRODUCERS[7]) };
    let mut writer = open(log.clone()).unwrap();
    assert!(matches!(writer.push(3000, &event(1, &[])), Err(Error::Processor { processor: 3000, processors: 2048 })));
    writer.push(2047, &event(1, &[])).unwrap();
    writer.finish(0).unwrap();
    for name in ["x".repeat(40_000), "a\0b".into()] {
        assert!(open(LogFile { logger_name: name.clone(), ..log.clone() }).is_err());
        assert!(open(LogFile { file_name: name, ..log.clone() }).is_err());
    }
    // Names that fit into an event, but not into a buffer.
    assert!(open(LogFile { buffer_size: 1024, file_name: "x".repeat(400), ..log.clone() }).is_err());
    let mut writer = open(LogFile { buffer_size: 1024, ..log }).unwrap();
    assert!(matches!(writer.push_header(&event(1, &[0; 1000])), Err(Error::Full { .. })));
    writer.push_header(&event(1, &[0; 100])).unwrap();
    writer.finish(0).unwrap();
}

/// Compressed files have the same events in every format.
#[test]
fn formats() {
    for fixture in all(40).into_iter().filter(|fixture| fixture.log.mode & LOG_FILE_MODE::EVENT_TRACE_COMPRESSED_MODE.0 != 0) {
        let expected = in_file(&Trace::from_bytes(&fixture.bytes).unwrap());
        for format in [Format::Lznt1, Format::XpressHuffman] {
            let file = in_format(&fixture.bytes, format);
            let trace = Trace::from_bytes(&file).unwrap();
            assert!(trace.buffers().any(|buffer| buffer.unwrap().header().is_compressed()), "{} {format:?}", fixture.name);
            assert!(in_file(&trace)[1..] == expected[1..], "{} {format:?}", fixture.name);
        }
    }
}
