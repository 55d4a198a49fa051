//! Profiles of real and made traces.

use crate::real;
use etw_layouts_answers::Functions;
use etw_layouts_answers::profile::{Counts, Format, Interval, Profile, ProfileBuilder, Subject, Wait};
use etw_layouts_trace::etl::{Schemas, Uuid};
use etw_layouts_trace::{BytesSource, Event, Options, Trace, TraceFile};
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use test_support::records::{Written, written};

/// Microsoft-Windows-DotNETRuntime.
const RUNTIME: u128 = 0xe13c0d23_ccbc_4e12_931b_d9cc2eee27e4;

fn profile(trace: &Trace, subject: Subject, matches: impl Fn(&Event<'_>) -> bool) -> Profile {
    let mut builder = ProfileBuilder::new(trace, subject, &Functions::default());
    for event in trace.events().map(|event| event.expect("an event")) {
        builder.add(&event, matches(&event), false).expect("a readable trace");
    }
    builder.finish()
}

/// The number of samples and the sum of the weights in a written profile, as a reader of its format finds them.
fn totals(profile: &Profile, format: Format) -> (u64, u64) {
    let mut bytes = Vec::new();
    profile.write(format, &mut bytes).expect("memory");
    let number = |value: &Value| value.as_u64().expect("a number");
    match format {
        Format::Firefox => {
            let document: Value = serde_json::from_slice(&bytes).expect("JSON");
            let threads = document["threads"].as_array().expect("threads").iter();
            threads.fold((0, 0), |(count, sum), thread| {
                let samples = &thread["samples"];
                let weights = samples["weight"].as_array().expect("weights");
                assert_eq!(number(&samples["length"]), weights.len() as u64);
                let stacks = samples["stack"].as_array().expect("stacks");
                let length = number(&thread["stackTable"]["length"]);
                assert!(stacks.iter().all(|stack| stack.is_null() || number(stack) < length));
                (count + weights.len() as u64, sum + weights.iter().map(number).sum::<u64>())
            })
        }
        Format::Speedscope => {
            let document: Value = serde_json::from_slice(&bytes).expect("JSON");
            let frames = document["shared"]["frames"].as_array().expect("frames").len() as u64;
            let profiles = document["profiles"].as_array().expect("profiles").iter();
            profiles.fold((0, 0), |(count, sum), profile| {
                let weights = profile["weights"].as_array().expect("weights");
                let samples = profile["samples"].as_array().expect("samples");
                assert_eq!(samples.len(), weights.len());
                assert!(samples.iter().flat_map(|stack| stack.as_array().expect("a stack")).all(|frame| number(frame) < frames));
                let of = weights.iter().map(number).sum::<u64>();
                assert_eq!(number(&profile["endValue"]), of);
                (count + weights.len() as u64, sum + of)
            })
        }
        Format::Pprof => {
            let (mut samples, mut locations) = (Vec::new(), 0);
            for (tag, field) in fields(&bytes) {
                match (tag, field) {
                    (2, Field::Bytes(sample)) => samples.push(sample.to_vec()),
                    (4, Field::Bytes(_)) => locations += 1,
                    _ => {}
                }
            }
            samples.iter().fold((0, 0), |(count, sum), sample| {
                let packed = |wanted| {
                    let found = fields(sample).into_iter().find_map(|(tag, field)| match field {
                        Field::Bytes(bytes) if tag == wanted => Some(numbers(bytes)),
                        _ => None,
                    });
                    found.unwrap_or_default()
                };
                assert!(packed(1).iter().all(|location| (1..=locations).contains(location)));
                let values = packed(2);
                (count + values[0], sum + values.get(1).copied().unwrap_or(values[0]))
            })
        }
        Format::Folded => {
            let text = String::from_utf8(bytes).expect("text");
            let weights =
                text.lines().map(|line| line.rsplit(' ').next().and_then(|sum| sum.parse::<u64>().ok()).expect("a sum"));
            (0, weights.sum())
        }
        _ => panic!("{format:?}"),
    }
}

enum Field<'a> {
    Number,
    Bytes(&'a [u8]),
}

/// The fields of a message of Protocol Buffers.
fn fields(mut bytes: &[u8]) -> Vec<(u64, Field<'_>)> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let key = number(&mut bytes);
        let field = match key & 7 {
            0 => {
                number(&mut bytes);
                Field::Number
            }
            2 => {
                let size = number(&mut bytes) as usize;
                let (field, rest) = bytes.split_at(size);
                bytes = rest;
                Field::Bytes(field)
            }
            other => panic!("wire type {other}"),
        };
        all.push((key >> 3, field));
    }
    all
}

fn numbers(mut bytes: &[u8]) -> Vec<u64> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        all.push(number(&mut bytes));
    }
    all
}

fn number(bytes: &mut &[u8]) -> u64 {
    let size = bytes.iter().position(|byte| byte & 0x80 == 0).expect("an end") + 1;
    let (number, rest) = bytes.split_at(size);
    *bytes = rest;
    number.iter().rev().fold(0, |number, byte| number << 7 | u64::from(byte & 0x7F))
}

/// All events of the subject are in the profile, or counted as left out; and in each format.
fn conserved(profile: &Profile, name: &str) {
    let Counts { events, samples, filtered, idle, without_thread, without_start, without_value, without_stack, .. } =
        profile.counts;
    let left_out = filtered + idle + without_thread + without_start + without_value + without_stack;
    assert_eq!((events, samples), (samples + left_out, profile.samples.len() as u64), "{name}");
    assert_eq!(profile.frames.iter().collect::<HashSet<_>>().len(), profile.frames.len(), "{name}: frames twice");
    let sum: u64 = profile.samples.iter().map(|sample| sample.value).sum();
    let weights = if profile.subject == Subject::Samples { samples } else { sum };
    assert_eq!(totals(profile, Format::Speedscope), (samples, weights), "{name}");
    assert_eq!(totals(profile, Format::Folded).1, weights, "{name}");
    let values = if profile.subject == Subject::Events(None) { samples } else { sum };
    assert_eq!(totals(profile, Format::Pprof), (samples, values), "{name}");
    let firefox = totals(profile, Format::Firefox);
    match profile.subject {
        // Whole milliseconds, where each thread loses less than one.
        Subject::Waits => {
            let lost = (weights / 1_000_000).abs_diff(firefox.1);
            assert!(firefox.0 == samples && lost <= profile.threads.len() as u64, "{name}: {firefox:?} of {weights}");
        }
        _ => assert_eq!(firefox, (samples, weights), "{name}"),
    }
}

#[test]
fn samples_and_weighted_events_of_real_traces_are_conserved() {
    for (name, samples, stacks) in [
        ("microsoft__net.4.5.x86.etl", 16_865, 706),
        ("microsoft__net.4.5.2.x64.etl", 79_528, 2_583),
        ("microsoft__net.4.5.2.x86.etl", 88_809, 5_034),
    ] {
        let Some(bytes) = real::read(name) else { continue };
        let trace = real::open(&[(name, &bytes)]);
        let all = profile(&trace, Subject::Samples, |_| true);
        assert_eq!((all.counts.events, all.interval), (samples, Interval::Stated(1_000_000)), "{name}");
        assert!(all.counts.idle > 0 && all.counts.without_thread == 0 && all.counts.frames.cut == 0, "{:?}", all.counts);
        assert_eq!(all.counts.unbound_stacks.total(), 0, "{name}: {:?}", all.counts.unbound_stacks);
        conserved(&all, name);

        let busiest = all.threads[all.samples[0].thread as usize].clone();
        let one = profile(&trace, Subject::Samples, |event| event.who().by.thread == Some(busiest.id));
        let of_thread = all.samples.iter().filter(|sample| all.threads[sample.thread as usize].id == busiest.id).count();
        assert_eq!(one.counts.samples, of_thread as u64, "{name}");
        conserved(&one, name);

        // The stacks of kernel events other than samples are all bound: an independent join finds as many parts.
        let others = |event: &Event<'_>| event.header().hook().is_some_and(|hook| hook != 0x0F2E);
        let parts = trace.events().map(|event| event.expect("an event")).filter(&others).map(|event| {
            event.stack().expect("a stack").map_or(0, |stack| stack.parts().iter().filter(|part| part.frames.is_some()).count())
        });
        assert_eq!(parts.sum::<usize>(), stacks, "{name}");
        conserved(&profile(&trace, Subject::Events(None), others), name);

        let allocations = profile(&trace, Subject::Events(Some("AllocationAmount".into())), |event| {
            event.header().id() == Some(10) && event.name().ends_with("GCAllocationTick")
        });
        conserved(&allocations, name);
    }
}

/// The suspensions of all threads for garbage collections, by an independent pairing of the events of each process.
#[test]
fn suspensions_of_a_real_trace() {
    let name = "microsoft__net.4.5.2.x64.etl";
    let Some(bytes) = real::read(name) else { return };
    let profile = profile(&real::open(&[(name, &bytes)]), Subject::Samples, |_| true);
    let mut found = BTreeMap::<Option<u32>, (u64, u64, u64)>::new();
    for marker in profile.markers.iter().filter(|marker| marker.text == "suspension: SuspendForGC") {
        let process = profile.processes[profile.threads[marker.thread as usize].process as usize].id;
        for process in [None, process] {
            let (count, sum, longest) = found.entry(process).or_default();
            let time = marker.end - marker.start;
            (*count, *sum, *longest) = (*count + 1, *sum + time, time.max(*longest));
        }
    }
    let rounded = |(count, sum, longest): (u64, u64, u64)| (count, (sum + 5_000) / 10_000, (longest + 5_000) / 10_000);
    assert_eq!((rounded(found[&None]), rounded(found[&Some(3676)])), ((264, 3985, 1088), (263, 2897, 142)));
}

/// Waits of two threads. One is readied by a thread, the other is preempted.
#[test]
fn waits_of_threads() {
    const KERNEL: u64 = 0xFFFF_F800_0000_0000;
    let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    const THREAD: Uuid = Uuid::from_u128(0x3d6fa8d1_fe05_11d0_9dda_00c04fd7ba7c);
    let switched = |new: u32, old: u32, reason: u8, state: u8| {
        let threads = [new.to_le_bytes(), old.to_le_bytes()].concat();
        [threads, vec![8, 8, 0, 0, reason, 0, state, 0], vec![0; 8]].concat()
    };
    let switch = |tick, new, old, reason, state| Written::kernel(tick, 0, 0x0524, switched(new, old, reason, state));
    let walk = |tick, of: u64, thread: u64, frame| Written::kernel(tick, 0, 0x1820, words(&[of, 7 | thread << 32, frame]));
    let exists = |process: u32, thread: u32| {
        let ids = [process.to_le_bytes(), thread.to_le_bytes()].concat();
        Written::kernel(1, 0, 0x0503, [ids, vec![0; 64]].concat())
    };
    let (waiting, ready, terminated) = (5, 1, 4);
    let events = [
        exists(7, 11),
        exists(8, 12),
        // Thread 11 did not stop running in the trace.
        switch(100, 11, 0, 0, 2),
        // It waits in a queue (reason 15).
        switch(200, 12, 11, 15, waiting),
        Written::kernel(350, 0, 0x0532, words(&[11])),
        walk(351, 350, 12, KERNEL + 1),
        // It runs again, and thread 12 is preempted.
        switch(500, 11, 12, 32, ready),
        walk(501, 500, 11, KERNEL + 2),
        switch(700, 12, 11, 15, waiting),
        // A call stack whose event was lost.
        walk(800, 799, 12, KERNEL + 3),
        switch(900, 0, 12, 0, terminated),
    ];
    let trace = Trace::from_bytes(written(&events)).expect("a trace");
    let all = profile(&trace, Subject::Waits, |_| true);
    let thread = |index: u32| {
        let thread = &all.threads[index as usize];
        (all.processes[thread.process as usize].id, thread.id)
    };
    let start = all.waits[0].start;
    let found: Vec<_> = all
        .waits
        .iter()
        .zip(&all.samples)
        .map(|(wait, sample)| {
            let frame = |stack| all.frames_of(stack).next().map(|frame| frame.address);
            let times = (wait.start - start, sample.value, wait.ready.map(|ready| ready - start));
            let frames = (frame(sample.stack), frame(wait.ready_stack));
            (thread(sample.thread), times, wait.reason, wait.ready_by.map(thread), frames)
        })
        .collect();
    let first = ((Some(7), 11), (0, 30_000, Some(15_000)), 15, Some((Some(8), 12)), (Some(KERNEL + 2), Some(KERNEL + 1)));
    assert_eq!(found, [first, ((Some(8), 12), (30_000, 20_000, None), 32, None, (None, None))]);
    assert_eq!((all.counts.unbound_stacks.without_event, all.counts.unbound_stacks.total()), (1, 1));
    let Counts { events, idle, without_start, unfinished, without_callers, .. } = all.counts;
    assert_eq!((events, idle, without_start, unfinished, without_callers), (5, 1, 2, 1, 1));
    conserved(&all, "made");
    conserved(&profile(&trace, Subject::Waits, |event| event.who().by.process == Some(7)), "made, process 7");
    let nothing = profile(&trace, Subject::Waits, |_| false);
    assert_eq!((nothing.threads.len(), nothing.counts.filtered), (0, 5));

    // The same switches as events of a class.
    let class = |tick, ty: u8, payload| Written::relogged(tick, (THREAD, ty), payload);
    let trace = Trace::from_bytes(written(&[
        class(100, 36, switched(11, 0, 0, 2)),
        class(200, 36, switched(12, 11, 15, waiting)),
        class(350, 50, words(&[11])),
        class(500, 36, switched(11, 12, 32, ready)),
        class(700, 36, switched(12, 11, 15, waiting)),
    ]));
    let waits = profile(&trace.expect("a trace"), Subject::Waits, |_| true).waits;
    let times = |wait: &Wait| (wait.start, wait.end, wait.ready, wait.reason);
    assert_eq!(waits.iter().map(times).collect::<Vec<_>>(), all.waits.iter().map(times).collect::<Vec<_>>());
}

fn with_catalogue(events: &[Written]) -> Trace {
    let file = TraceFile::new("made", BytesSource(written(events))).expect("a trace");
    let schemas = Schemas::built_in().with_static_library(etw_layouts_catalog::library());
    Trace::new(vec![file], Options::new().schemas(schemas)).expect("a trace")
}

/// A suspension is a marker if its end matches, whether its start does or not; events that are only marks are no suspensions.
#[test]
fn markers_and_filters() {
    let event = |tick, id, payload| Written::event(tick, (5, 7), (RUNTIME, id, 1), payload);
    let suspend = |tick| event(tick, 9, [&1_u32.to_le_bytes()[..], &[0; 6]].concat());
    let trace = with_catalogue(&[suspend(10), event(20, 3, vec![0; 2]), suspend(30), event(45, 3, vec![0; 2])]);
    for (matching, marks, expected) in [
        (45, -1, vec![("GC", "suspension: SuspendForGC", 1_500)]),
        (-1, 45, vec![("Microsoft-Windows-DotNETRuntime/GarbageCollection/GCRestartEEEnd", "{ClrInstanceID = 0}", 0)]),
        (10, -1, vec![]),
    ] {
        let mut builder = ProfileBuilder::new(&trace, Subject::Samples, &Functions::default());
        for event in trace.events().map(|event| event.expect("an event")) {
            builder.add(&event, event.tick() == matching, event.tick() == marks).expect("a readable trace");
        }
        let markers = builder.finish().markers;
        let found: Vec<_> = markers.iter().map(|marker| (&*marker.name, &*marker.text, marker.end - marker.start)).collect();
        assert_eq!(found, expected);
    }
}

/// A collection in the background has a marker, also if another one begins and ends in its time.
#[test]
fn collections_in_the_background() {
    let event = |tick, id, numbers: &[u32]| {
        Written::event(
            tick,
            (5, 7),
            (RUNTIME, id, 1),
            [numbers.iter().flat_map(|number| number.to_le_bytes()).collect(), 1_u16.to_le_bytes().to_vec()].concat(),
        )
    };
    // Number, generation, reason and type; number and generation.
    let trace =
        with_catalogue(&[event(10, 1, &[1, 2, 0, 1]), event(20, 1, &[2, 0, 0, 2]), event(30, 2, &[2, 0]), event(90, 2, &[1, 2])]);
    let markers = profile(&trace, Subject::Samples, |_| true).markers;
    let times: Vec<_> =
        markers.iter().map(|marker| (marker.start.abs_diff(markers[0].start), marker.end - marker.start)).collect();
    assert_eq!(times, [(0, 1_000), (1_000, 8_000)]);
}

/// Values above the limits of a format are written as several samples, or cut and counted.
#[test]
fn large_values() {
    let event = |tick, id, version, payload| Written::event(tick, (5, 7), (RUNTIME, id, version), payload);
    let tick = |tick, value: u64| {
        let fields = [vec![0; 10], value.to_le_bytes().to_vec(), vec![0; 8], vec![0; 2], vec![0; 4]];
        event(tick, 10, 2, fields.concat())
    };
    // ClrInstanceID, reserved, number of addresses, and an address.
    let stack = |tick| event(tick, 82, 0, [vec![0; 4], 1_u32.to_le_bytes().to_vec(), 0x1000_u64.to_le_bytes().to_vec()].concat());
    let values = [5, 1 << 33, u64::MAX];
    let events: Vec<_> = values.iter().zip([10, 20, 30]).flat_map(|(value, at)| [tick(at, *value), stack(at + 1)]).collect();
    let trace = with_catalogue(&events);
    let profile = profile(&trace, Subject::Events(Some("AllocationAmount64".into())), |event| event.header().id() == Some(10));
    assert_eq!(profile.samples.iter().map(|sample| sample.value).collect::<Vec<_>>(), values, "{:?}", profile.counts);
    let cut = |format| profile.write(format, &mut Vec::new()).expect("memory");
    assert_eq!([Format::Firefox, Format::Pprof, Format::Folded].map(cut), [1, 1, 0]);
    // 5 samples for 2^33.
    assert_eq!(totals(&profile, Format::Firefox), (7, 5 + (1 << 33) + i32::MAX as u64));
}
