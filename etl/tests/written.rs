//! Files that the writer made, read again.

use crate::events::{in_file, in_time};
use crate::fixtures::{START, TARGETS, all, fixture};
use etw_layouts_etl::check::check;
use etw_layouts_etl::header::{Counters, Header, Message};
use etw_layouts_etl::layout::{Arch, ETW_BUFFER_FLAG, ETW_BUFFER_TYPE, EVENT_HEADER, PERFINFO_TRACE_HEADER, large, zero};
use etw_layouts_etl::write::{BufferWriter, Error, FileWriter, Identity, Record, Target};
use etw_layouts_etl::{ClockType, Guid, Item, Kind, LogFile, Parts, Scratch, Trace, What};
use std::collections::BTreeSet;
use std::io::Cursor;

#[test]
#[cfg_attr(miri, ignore = "it takes minutes")]
fn fixtures() {
    let fixtures = all(40);
    // 5.0 and 5.1 lack the CPU-cycle clock, and no version before 6.2 compresses.
    assert_eq!(fixtures.len(), 8 * 3 - 2 + 3 * 3);
    let mut kinds = BTreeSet::new();
    for fixture in fixtures {
        let name = &fixture.name;
        let trace = Trace::new(&fixture.bytes).unwrap();
        let log = trace.log_file();
        assert_eq!((&log.logger_name, &log.file_name), (&fixture.log.logger_name, &fixture.log.file_name), "{name}");
        assert!(trace.buffers().count() > 5, "{name}");
        let seen = in_time(&trace);
        kinds.extend(seen.iter().map(|event| event.kind));
        for processor in 0..3 {
            let of = |p: u16| p == processor;
            let ours: Vec<_> = fixture.events.iter().filter(|e| of(e.0)).map(|e| (e.1, e.2, &e.3)).collect();
            let seen: Vec<_> = seen[1..].iter().filter(|e| of(e.processor)).map(|e| (e.kind, e.time, &e.payload)).collect();
            assert_eq!(ours.len(), seen.len(), "{name}");
            assert!(ours == seen, "{name}, processor {processor}");
        }
        check(&trace, &mut |finding| {
            assert!(matches!(&finding.what, What::Rule(rule) if rule.starts_with("the layout of")), "{name}: {finding}");
        });
        for buffer in trace.buffers() {
            let (buffer, mut scratch) = (buffer.unwrap(), Scratch::default());
            let image = buffer.image(&mut scratch);
            assert!(Parts::of(&buffer, &image).bytes().unwrap() == buffer.bytes(), "{name}: {:#x}", buffer.offset());
        }
    }
    assert_eq!(kinds.len(), 20 - 1 + 1, "{kinds:?}");
}

#[test]
fn fields() {
    let fixture = fixture(TARGETS[7], ClockType::PerfCounter, false, 3).unwrap();
    let trace = Trace::new(&fixture.bytes).unwrap();
    let mut scratch = Scratch::default();
    let mut found = 0;
    for buffer in trace.buffers().skip(1) {
        for event in buffer.unwrap().image(&mut scratch).events() {
            let event = event.unwrap();
            let facts = (event.thread(), event.process(), event.id(), event.version(), event.opcode());
            let (expected, provider) = match event.kind() {
                Kind::System32 | Kind::System64 => {
                    ((Some(11), Some(12), Some(0x0301), Some(2), Some(1)), Some(0x3d6f_a8d0_fe05_11d0_9dda_00c0_4fd7_ba7c))
                }
                Kind::PerfInfo32 | Kind::PerfInfo64 => {
                    ((None, None, Some(0x0301), Some(0), Some(1)), Some(0x3d6f_a8d0_fe05_11d0_9dda_00c0_4fd7_ba7c))
                }
                Kind::Full32 | Kind::Full64 => {
                    ((Some(21), Some(22), None, Some(0), Some(0)), Some(0x3d6f_a8d1_fe05_11d0_9dda_00c0_4fd7_ba7c))
                }
                Kind::Event32 | Kind::Event64 => (
                    (Some(31), Some(32), Some(1000), Some(3), Some(9)),
                    // As its text has it, not with its bytes swapped.
                    Some(0xa61e_a624_4944_55fc_c2a8_3782_8829_438d),
                ),
                Kind::Message if event.id() == Some(43) => {
                    let Header::Message(message) = event.header() else { panic!("no message") };
                    let component = message.component.is_some();
                    (
                        (Some(41), Some(42), Some(43), None, None),
                        (!component).then_some(0x2818_ef08_6a54_396f_2244_5a6e_a4a9_8cf0),
                    )
                }
                _ => continue,
            };
            assert_eq!((facts, event.provider()), (expected, provider.map(Guid)), "{:?}", event.kind());
            found += 1;
        }
    }
    assert!(found > 40);
}

/// System time by all three clocks, and where floating point loses.
#[test]
fn clocks() {
    let clock = |ty, frequency, mhz| etw_layouts_etl::Clock::new(ty, START.1, START.0, frequency, mhz);
    let perf = clock(ClockType::PerfCounter, 3_579_545, 0);
    assert_eq!(perf.system_time(START.0 + 3_579_545 * 86_400 + 1), START.1 + 864_000_000_000 + 2);
    assert_eq!(perf.system_time(START.0 - 1), START.1 - 3);
    assert_eq!(clock(ClockType::SystemTime, 1, 1).system_time(START.0 + 5), START.1 + 5);
    assert_eq!(clock(ClockType::CpuCycle, 0, 2_400).system_time(START.0 + 2_400_000_001), START.1 + 10_000_000);
    let exact = |ticks: i128| START.1 + ((ticks * 10_000_000).div_euclid(3_579_545)) as i64;
    for ticks in [i64::from(u32::MAX), 1 << 50, (1 << 53) + 1, -(1 << 50) - 1] {
        assert_eq!(perf.system_time(START.0 + ticks), exact(ticks.into()));
    }
    assert_eq!(perf.system_time(i64::MIN + 1), i64::MIN);
    assert_eq!(perf.system_time(i64::MAX), i64::MAX);
}

/// Flags and types of buffers that no file at hand has.
#[test]
fn buffers() {
    let target = TARGETS[7];
    let mut log = LogFile::new(&target);
    log.buffer_size = 4096;
    let mut file = FileWriter::new(Cursor::new(Vec::new()), target, log).unwrap().finish(0).unwrap().into_inner();
    let flags = ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_EVENTS_LOST | ETW_BUFFER_FLAG::ETW_BUFFER_FLAG_RTBACKUP;
    for ty in 1..8 {
        let mut buffer = BufferWriter::new(target, 4096).unwrap();
        buffer.push(&event(1, &[1; 100])).unwrap();
        let identity = Identity {
            time_stamp: 1,
            sequence: 9,
            processor: 2047,
            logger: 3,
            state: 3,
            flags,
            ty: ETW_BUFFER_TYPE(if ty == 4 { 0 } else { ty }),
        };
        buffer.finish(&identity, ty % 2 == 0, &mut file).unwrap();
    }
    let trace = Trace::new(&file).unwrap();
    // The mode does not tell of compression, so every buffer is taken for one of the logger's size.
    let heads: Vec<_> = trace.buffers().skip(1).filter_map(Result::ok).map(|buffer| *buffer.head()).collect();
    assert!(!heads.is_empty());
    for head in &heads {
        assert!(head.flags.contains(flags) && head.processor() == 2047 && head.sequence == 9 && head.logger == 3);
    }
}

/// Bad use is an error.
#[test]
fn refused() {
    let target = TARGETS[7];
    let mut out = Vec::new();
    let mut refuse = |target: &Target, record: Record<'_>| {
        let before = out.len();
        let error = record.write(target, &mut out).unwrap_err();
        assert_eq!(out.len(), before);
        assert!(!error.to_string().is_empty());
        error
    };
    let big = vec![0; 70_000];
    assert!(matches!(refuse(&target, event(0, &big)), Error::Length(_)));
    assert!(matches!(refuse(&TARGETS[2], event(0, &[])), Error::Version { .. }));
    let nine = Counters { count: 9, ..Counters::default() };
    let perfinfo: PERFINFO_TRACE_HEADER = zero();
    assert!(matches!(refuse(&target, Record::new(Header::PerfInfo(perfinfo, nine), true, &[])), Error::Counters(9)));
    let both = Message { guid: Some(Guid(1)), component: Some(1), ..Message::default() };
    assert!(matches!(refuse(&target, Record::new(Header::Message(both), true, &[])), Error::Message));
    let item = Item::new(etw_layouts_etl::layout::EVENT_HEADER_EXT_TYPE(1), &[0; 16]);
    let with_items = Record::new(Header::Message(Message::default()), true, &[]).with_items(vec![item]);
    assert!(matches!(refuse(&target, with_items), Error::Items));
    let short = Item { padding: &[], data: &[0; 3], ..item };
    assert!(matches!(refuse(&target, event(0, &[]).with_items(vec![short])), Error::Padding(3)));
    assert!(matches!(refuse(&target, Record::raw(&[9, 0, 0x77, 0xC0])), Error::Raw));
    assert!(matches!(refuse(&target, Record::raw(&[0xFF; 8])), Error::Raw));

    assert!(matches!(BufferWriter::new(target, 100), Err(Error::BufferSize(100))));
    let mut buffer = BufferWriter::new(target, 512).unwrap();
    buffer.push(&event(5, &[])).unwrap();
    assert!(matches!(buffer.push(&event(4, &[])), Err(Error::Order { .. })));
    assert!(matches!(buffer.push(&event(6, &[0; 400])), Err(Error::Full { .. })));

    let log = LogFile::new(&target);
    let open = |target, log| FileWriter::new(Cursor::new(Vec::new()), target, log);
    assert!(matches!(open(TARGETS[6], log.clone()), Err(Error::LogFile)));
    assert!(matches!(open(target, LogFile { clock: 7, ..log.clone() }), Err(Error::Clock(7))));
    assert!(matches!(open(target, LogFile { perf_frequency: 0, ..log.clone() }), Err(Error::Clock(1))));
    assert!(matches!(open(target, LogFile { buffer_size: 0, ..log.clone() }), Err(Error::BufferSize(0))));
    let old = Target::new(6, 1, 7601, Arch::X64);
    let compressed = LogFile { mode: 0x0400_0000, ..LogFile::new(&old) };
    assert!(matches!(open(old, compressed), Err(Error::Version { .. })));
    let mut writer = open(target, log).unwrap();
    assert!(matches!(writer.push(1, &event(5, &[])), Err(Error::Processor { .. })));
    writer.push(0, &event(5, &[])).unwrap();
    writer.flush(0).unwrap();
    assert!(matches!(writer.push_header(&event(5, &[])), Err(Error::Late)));
}

/// Files that were never closed, are cut off, or run in circles.
#[test]
#[cfg_attr(miri, ignore = "it takes minutes")]
fn broken_off() {
    let whole = fixture(TARGETS[7], ClockType::PerfCounter, false, 20).unwrap();
    let trace = Trace::new(&whole.bytes).unwrap();
    let (expected, mut in_order) = (in_file(&trace).len(), in_time(&trace));
    let buffers = trace.buffers().count();

    // BuffersWritten is 0, and behind the buffers lies space that was never written.
    let mut unclosed = whole.bytes.clone();
    let at = 0x48 + 0x20 + 0x24;
    assert_eq!(unclosed[at..at + 4], (buffers as u32).to_le_bytes());
    unclosed[at..at + 4].fill(0);
    unclosed.extend([0; 3 * 4096]);
    assert_eq!(in_file(&Trace::new(&unclosed).unwrap()).len(), expected);

    // The last buffers lie before the first.
    let mut circular = whole.bytes[..4096].to_vec();
    let middle = 4096 * (buffers / 2);
    circular.extend_from_slice(&whole.bytes[middle..]);
    circular.extend_from_slice(&whole.bytes[4096..middle]);
    assert_eq!(in_time(&Trace::new(&circular).unwrap()), in_order);

    // Cut off in the last buffer.
    let cut = whole.bytes.len() - 4096 + 200;
    let trace = Trace::new(&whole.bytes[..cut]).unwrap();
    let findings: Vec<_> = trace.buffers().filter_map(Result::err).map(|finding| finding.what).collect();
    assert_eq!(findings, [What::Truncated { size: 4096, there: 200 }]);
    let mut order = trace.by_time();
    let mut count = 0;
    while let Some(event) = order.next_event() {
        count += usize::from(event.is_ok());
    }
    assert!(count < expected && count > expected - 40, "{count} of {expected}");

    // One bad record costs the rest of its buffer, and is found at its place.
    let mut bad = whole.bytes.clone();
    bad[2 * 4096 + 0x48 + 4] = 1;
    bad[2 * 4096 + 0x48] = 1;
    bad[2 * 4096 + 0x48 + 1] = 0;
    let trace = Trace::new(&bad).unwrap();
    let mut findings = Vec::new();
    let mut scratch = Scratch::default();
    for buffer in trace.buffers() {
        findings.extend(buffer.unwrap().image(&mut scratch).events().filter_map(Result::err));
    }
    assert_eq!(findings.len(), 1);
    assert_eq!((findings[0].buffer, findings[0].at), (2 * 4096, 0x48));
    in_order.clear();
}

fn event(stamp: i64, payload: &[u8]) -> Record<'_> {
    let mut header: EVENT_HEADER = zero();
    header.TimeStamp = large(stamp);
    Record::new(Header::Event(header), true, payload)
}
