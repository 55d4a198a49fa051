//! The events that a filter selects, compared with a direct test of each event's properties.

use etw_layouts_etl::{ClockType, Event, FileTime, Filter, Scratch, Trace, Uuid, names};
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::fs;
use test_support::installed;
use test_support::logging::logging;
use test_support::traces::{PRODUCERS, all, fixture};

/// A property of events: its name, how to read it, and how to add it to a filter.
type Field = (&'static str, fn(&Event<'_>, u16) -> Option<u128>, fn(Filter, u128) -> Filter);

const FIELDS: [Field; 7] = [
    (
        "provider",
        |event, _| event.provider().map(|provider| provider.as_u128()),
        |filter, value| filter.provider(Uuid::from_u128(value)),
    ),
    ("id", |event, _| event.id().map(Into::into), |filter, value| filter.id(value as u16)),
    ("opcode", |event, _| event.opcode().map(Into::into), |filter, value| filter.opcode(value as u8)),
    ("level", |event, _| event.level().map(Into::into), |filter, value| filter.level(value as u8)),
    ("process", |event, _| event.process().map(Into::into), |filter, value| filter.process(value as u32)),
    ("thread", |event, _| event.thread().map(Into::into), |filter, value| filter.thread(value as u32)),
    ("processor", |_, processor| Some(processor.into()), |filter, value| filter.processor(value as u16)),
];

/// The indices of the events that `matches` accepts.
fn places(trace: &Trace<'_>, mut matches: impl FnMut(&Event<'_>, u16) -> bool) -> Vec<usize> {
    let (mut scratch, mut yes, mut place) = (Scratch::default(), Vec::new(), 0);
    for buffer in trace.buffers().flatten() {
        for event in buffer.decode(&mut scratch).events().flatten() {
            yes.extend(matches(&event, buffer.header().processor()).then_some(place));
            place += 1;
        }
    }
    yes
}

fn same(name: &str, what: &dyn Debug, trace: &Trace<'_>, filter: &Filter, matches: impl FnMut(&Event<'_>, u16) -> bool) {
    let taken = places(trace, |event, processor| filter.matches(event, processor, trace.clock()));
    assert!(taken == places(trace, matches), "{name}: {what:?}");
}

/// Tests filters on a trace. Returns the properties with several values in the trace.
fn fields_of(name: &str, bytes: &[u8]) -> BTreeSet<&'static str> {
    let mut several = BTreeSet::new();
    let trace = Trace::from_bytes(bytes).unwrap();
    same(name, &"nothing", &trace, &Filter::new(), |_, _| true);
    for (field, read, add) in FIELDS {
        let mut values = BTreeSet::from([Some(1)]);
        places(&trace, |event, processor| values.insert(read(event, processor)));
        let values: Vec<_> = values.into_iter().flatten().collect();
        if values.len() > 1 {
            several.insert(field);
        }
        // Filters with one of the first values, and a filter with every third value.
        let some = values.iter().step_by(3).copied().collect();
        for selected in values.iter().take(4).map(|value| vec![*value]).chain([some]) {
            let filter = selected.iter().fold(Filter::new(), |filter, value| add(filter, *value));
            same(name, &(field, &selected), &trace, &filter, |event, processor| {
                read(event, processor).is_some_and(|value| selected.contains(&value))
            });
        }
    }
    for mask in [0, 1, 0x30, 1 << 63, u64::MAX] {
        same(name, &("keyword", mask), &trace, &Filter::new().keyword(mask), |event, _| {
            event.keyword().is_some_and(|keyword| if mask == 0 { keyword == 0 } else { keyword & mask != 0 })
        });
    }
    let time = |event: &Event<'_>| event.time_stamp().map(|stamp| trace.clock().system_time(stamp));
    let mut times = BTreeSet::new();
    places(&trace, |event, _| times.insert(time(event)));
    let times: Vec<_> = times.into_iter().flatten().collect();
    let (from, to) = (times[times.len() / 3], times[times.len() / 2]);
    same(name, &(from, to), &trace, &Filter::new().from(from).to(to), |event, _| {
        time(event).is_some_and(|time| (from..=to).contains(&time))
    });
    same(name, &from, &trace, &Filter::new().from(from), |event, _| time(event).is_some_and(|time| time >= from));
    same(name, &to, &trace, &Filter::new().to(to), |event, _| time(event).is_some_and(|time| time <= to));
    // Different properties must all match.
    let provider = last_provider(&trace);
    let filter = Filter::new().provider(Uuid::from_u128(provider)).opcode(1);
    same(name, &"provider and opcode", &trace, &filter, |event, _| {
        event.provider() == Some(Uuid::from_u128(provider)) && event.opcode() == Some(1)
    });
    several
}

/// The provider of the last event that has one.
fn last_provider(trace: &Trace<'_>) -> u128 {
    let mut provider = 0;
    places(trace, |event, _| {
        provider = event.provider().map_or(provider, |provider| provider.as_u128());
        false
    });
    provider
}

#[test]
fn filters() {
    let several: BTreeSet<_> = all(12).iter().flat_map(|fixture| fields_of(&fixture.name, &fixture.bytes)).collect();
    assert_eq!(several, FIELDS.map(|(field, ..)| field).into(), "no trace has several values of a property");
    let Some(folder) = installed::folder("ETW_LAYOUTS_ETL") else { return };
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "etl") {
            fields_of(&path.display().to_string(), &fs::read(path).unwrap());
        }
    }
}

/// Filters by the number of a group of kernel events, and by the provider name in traits.
#[test]
fn groups_and_names() {
    let fixture = fixture(PRODUCERS[7], ClockType::PerfCounter, false, 12).unwrap();
    let trace = Trace::from_bytes(&fixture.bytes).unwrap();
    let mut found = 0;
    for group in 0..=u8::MAX {
        let filter = Filter::new().group(group);
        let is = |event: &Event<'_>| event.hook().is_some_and(|hook| hook >> 8 == u16::from(group));
        same("group", &group, &trace, &filter, |event, _| is(event));
        found += places(&trace, |event, _| is(event)).len();
    }
    assert!(found > 12);
    let bytes = logging().trace();
    let trace = Trace::from_bytes(&bytes).unwrap();
    for (name, matches) in [("Maker.Provider", true), ("maker.PROVIDER", true), ("Maker", false), ("Maker.Providers", false)] {
        same("name", &name, &trace, &Filter::new().provider_name(name), |event, _| matches && event.traits().is_some());
    }
    let both = Filter::new().provider_name("Maker.Provider").group(0);
    same("name or group", &"both", &trace, &both, |_, _| true);
}

#[test]
fn times_and_identifiers_from_text() {
    for time in [0, 1, 132_404_547_797_984_230, 864_000_000_000 * 59 + 5, 94_354_848_000_000_000, 2_650_467_743_999_999_999] {
        let stamp = FileTime(time);
        for text in [stamp.to_string(), stamp.rfc3339().to_string()] {
            assert_eq!(text.parse(), Ok(stamp), "{text}");
        }
    }
    for day in ["1601-01-01", "1700-02-28", "1700-03-01", "1999-12-31", "2000-02-29", "2000-03-01", "2023-12-31", "9999-12-31"] {
        let time = format!("{day} 23:59:58.0000001");
        assert_eq!(time.parse::<FileTime>().unwrap().to_string(), time);
    }
    assert_eq!(FileTime(i64::MAX).to_string(), "30828-09-14 02:48:05.4775807");
    assert_eq!(FileTime(-1).to_string(), "1600-12-31 23:59:59.9999999");
    assert_eq!(FileTime(1).digits(b'_'), Some(*b"1601-01-01_00:00:00.0000001"));
    let last = "9999-12-31 23:59:59.9999999".parse::<FileTime>().unwrap();
    assert_eq!((last.digits(b' ').is_some(), FileTime(last.0 + 1).digits(b' ')), (true, None));
    assert_eq!("2020-07-29".parse(), "2020-07-29 00:00:00.0000000".parse::<FileTime>());
    for other in [
        "2020-07-29T00:06:19.8-07:00",
        "2020-07-29 12:51:19.8+05:45",
        "2020-07-30T06:06:19.8+23:00",
        "2020-07-29T07:06:19.8-00:00",
    ] {
        assert_eq!(other.parse(), "2020-07-29T07:06:19.8Z".parse::<FileTime>(), "{other}");
    }
    assert_eq!("2020-07-29 07:06:19.8".parse(), "2020-07-29T07:06:19.8000000Z".parse::<FileTime>());
    for wrong in [
        "",
        "2020",
        "2021-02-29",
        "2020-13-01",
        "2020-01-01 24:00",
        "2020-01-01 00:00:00.12345678",
        "2020-01-01 0:+1",
        "1600-12-31",
    ] {
        assert!(wrong.parse::<FileTime>().is_err_and(|error| !error.to_string().is_empty()), "{wrong}");
    }
    let guid = Uuid::from_u128(0x3d6f_a8d0_fe05_11d0_9dda_00c0_4fd7_ba7c);
    for text in [guid.to_string(), guid.to_string().to_uppercase(), format!("{{{guid}}}")] {
        assert_eq!(text.parse(), Ok(guid), "{text}");
    }
    for wrong in [
        "",
        "3d6fa8d0",
        "{3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c",
        "3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c-",
        "+d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c",
    ] {
        assert!(wrong.parse::<Uuid>().is_err_and(|error| !error.to_string().is_empty()), "{wrong}");
    }
    assert_eq!((names::provider(guid), names::provider_named("process")), (Some("EVENT_TRACE_GROUP_PROCESS"), Some(guid)));
    let opcodes: Vec<_> = names::opcodes().collect();
    assert!(["INFO", "START", "STOP"].iter().all(|name| opcodes.contains(name)), "{opcodes:?}");
    assert_eq!(names::hook(0x0303), Some("WMI_LOG_TYPE_PROCESS_DC_START"));
    assert_eq!((names::hook_named("wmi_log_type_process_dc_start"), names::hook(0x03FF)), (Some(0x0303), None));
}
