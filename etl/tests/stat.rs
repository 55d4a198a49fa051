//! Event statistics, compared with direct counts.

use etw_layouts_etl::header::EventHeader;
use etw_layouts_etl::stat::{Activity, Count, Grouping, Key, Stat};
use etw_layouts_etl::wire::{HOOK_ID, SYSTEM_TRACE_HEADER, large, zero};
use etw_layouts_etl::write::{FileWriter, Record};
use etw_layouts_etl::{Event, LogFile, Scratch, Trace, names};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;
use test_support::installed;
use test_support::traces::{PRODUCERS, all};

fn each(bytes: &[u8], mut take: impl FnMut(&Event<'_>, u16, Option<i64>)) {
    let (trace, mut scratch) = (Trace::from_bytes(bytes).unwrap(), Scratch::default());
    for buffer in trace.buffers().flatten() {
        for event in buffer.decode(&mut scratch).events().flatten() {
            let time = event.time_stamp().map(|stamp| trace.clock().system_time(stamp));
            take(&event, buffer.header().processor(), time);
        }
    }
}

/// An event's key, as text.
fn key(by: Grouping, event: &Event<'_>, processor: u16) -> String {
    let group = event.hook().map(|hook| hook >> 8).filter(|_| event.provider().is_none());
    match by {
        Grouping::Provider => format!("{:?} {group:?}", event.provider()),
        Grouping::Id => match event.id() {
            Some(id) => format!("{:?} {:?} id {id}", event.provider(), event.hook().is_some()),
            None => format!("{:?} op {:?}", event.provider(), event.opcode()),
        },
        Grouping::Event => unreachable!("its names are in etw's tests"),
        Grouping::Process => format!("{:?}", event.process()),
        Grouping::Processor => processor.to_string(),
    }
}

#[test]
fn counts() {
    let mut files: Vec<_> = all(12).into_iter().map(|fixture| fixture.bytes).collect();
    if let Some(folder) = installed::folder("ETW_LAYOUTS_ETL") {
        let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        files.extend(paths.filter(|path| path.extension().is_some_and(|e| e == "etl")).map(|path| std::fs::read(path).unwrap()));
    }
    // Each file alone, then all files together.
    let singles = files.iter().map(std::slice::from_ref);
    for files in singles.chain([&files[..]]) {
        for by in [Grouping::Provider, Grouping::Id, Grouping::Process, Grouping::Processor] {
            let mut stat = Stat::new(by);
            let mut hand: BTreeMap<String, Vec<(u64, Option<i64>)>> = BTreeMap::new();
            for file in files {
                each(file, |event, processor, time| {
                    stat.add(event, event.process(), processor, time);
                    hand.entry(key(by, event, processor)).or_default().push((event.bytes().len() as u64, time));
                });
            }
            let count = |events: &[(u64, Option<i64>)]| {
                let times = || events.iter().filter_map(|(_, time)| *time);
                let bytes = events.iter().map(|(bytes, _)| bytes).sum();
                Count { events: events.len() as u64, bytes, times: times().min().zip(times().max()) }
            };
            let sorted = |counts: Vec<Count>| {
                let mut counts: Vec<_> = counts.into_iter().map(|count| (count.events, count.bytes, count.times)).collect();
                counts.sort_unstable();
                counts
            };
            let ours = stat.counts();
            assert!(ours.is_sorted_by(|(_, a), (_, b)| a.events >= b.events));
            assert_eq!(
                sorted(ours.into_iter().map(|(_, count)| count).collect()),
                sorted(hand.values().map(|events| count(events)).collect()),
                "{by:?}"
            );
            let all = hand.into_values().flatten().collect::<Vec<_>>();
            assert_eq!((*stat.all(), *stat.others()), (count(&all), Count::default()), "{by:?}");
            // The activity is counted again with the resulting spans.
            let activity = stat.activity();
            let (start, width) = (activity.start().unwrap(), activity.width());
            let mut spans = vec![0; activity.counts().len()];
            all.iter().filter_map(|(_, time)| *time).for_each(|time| spans[(time.abs_diff(start) / width) as usize] += 1);
            assert_eq!(activity.counts(), spans);
            assert!(
                spans.len() as u64 <= Activity::MAX_SPANS && (width == 1 || spans.len() as u64 > Activity::MAX_SPANS / 2 - 1)
            );
        }
    }
}

/// A key has only the values of the criterion. A group without a GUID has its number.
#[test]
fn keys() {
    let headers = [0x0301, 0xF7AB].map(|hook| {
        let mut header: SYSTEM_TRACE_HEADER = zero();
        let mut packet = header.Packet();
        packet.set_HookId(HOOK_ID(hook));
        header.set_Packet(packet);
        header.SystemTime = large(i64::from(hook));
        header
    });
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), PRODUCERS[7], LogFile::new(&PRODUCERS[7])).unwrap();
    for header in headers {
        writer.push(0, &Record::new(EventHeader::System(header), true, &[])).unwrap();
    }
    let bytes = writer.finish(0).unwrap().into_inner();
    let process = names::provider_named("process");
    for (by, first, second) in [
        (Grouping::Provider, Key { provider: process, ..Key::default() }, Key { hook: Some(0xF700), ..Key::default() }),
        (
            Grouping::Id,
            Key { provider: process, hook: Some(0x0301), id: Some(0x0301), ..Key::default() },
            Key { hook: Some(0xF7AB), id: Some(0xF7AB), ..Key::default() },
        ),
    ] {
        let mut stat = Stat::new(by);
        let mut skipped = false;
        each(&bytes, |event, processor, time| {
            if std::mem::replace(&mut skipped, true) {
                stat.add(event, event.process(), processor, time);
            }
        });
        let keys: BTreeSet<_> = stat.counts().into_iter().map(|(key, _)| key).collect();
        assert_eq!(keys, BTreeSet::from([first, second]), "{by:?}");
    }
    let count = |times| Count { events: 1, bytes: 1, times };
    assert_eq!((count(None).seconds(), count(Some((5, 25_000_005))).seconds()), (0.0, 2.5));
}

/// With a different key for each event, memory is bounded and no count is lost. The same is true for extreme times.
#[test]
fn many_keys() {
    let bytes =
        test_support::traces::fixture(test_support::traces::PRODUCERS[7], etw_layouts_etl::ClockType::SystemTime, false, 1);
    let bytes = bytes.unwrap().bytes;
    let mut stat = Stat::new(Grouping::Processor);
    each(&bytes, |event, _, _| {
        for processor in 0..=u16::MAX {
            stat.add(
                event,
                event.process(),
                processor,
                Some(if processor % 2 == 0 { i64::MIN } else { i64::MAX - i64::from(processor) }),
            );
        }
    });
    assert_eq!(stat.counts().len() as u64, Stat::MAX_KEYS as u64);
    assert_eq!(stat.counts().iter().map(|(_, count)| count.events).sum::<u64>() + stat.others().events, stat.all().events);
    let (spans, half) = (stat.activity().counts(), Some(stat.all().events / 2));
    assert_eq!((spans.len() as u64, spans.first().copied(), spans.last().copied()), (Activity::MAX_SPANS, half, half));
}
