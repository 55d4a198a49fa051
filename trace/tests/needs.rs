//! A part of a trace with the events that it needs.

use crate::real::{self, open};
use etw_layouts_etl::write::Relog;
use etw_layouts_etl::{self as etl, Schemas, Uuid};
use etw_layouts_trace::{Event, Needs, Stack, Trace};
use std::io::Cursor;
use test_support::records::{Written, written};

/// What a trace says about an event: its name, its process with parent, its stack, its file, and the images and methods of the sampled address and of
/// the stack.
type Said = (String, Option<String>, Option<Stack>, Option<String>, Vec<Option<String>>);

/// The selected events of a trace, with what it says about them.
fn said(trace: &Trace, is_selected: impl Fn(&Event<'_>) -> bool) -> Vec<(Vec<u8>, Said)> {
    let said = |event: &Event<'_>| {
        let header = event.header();
        let decoded = header.decode(Schemas::BUILT_IN);
        let number = |name: &str| decoded.as_ref().and_then(|decoded| decoded.get(name)?.number());
        let process = event.who().by.process;
        let known = event.process();
        let known = known.map(|known| format!("{} {:?} {:?} {:?}", known.id, known.image(), known.parent_id, known.start));
        let stack = event.stack().expect("a stack");
        let addresses = number("InstructionPointer").into_iter().chain(stack.iter().flat_map(Stack::frames));
        let (names, tick) = (event.names(), event.tick());
        let named = addresses.map(|address| {
            let [image, method] = [names.image(process?, address, tick), names.method(process?, address, tick)];
            method.expect("a method").or(image.expect("an image")).map(|named| named.name)
        });
        (event.name(), known, stack.clone(), event.file_name().expect("a name"), named.collect())
    };
    let events = trace.events().in_file_order().map(|event| event.expect("an event"));
    events.filter(is_selected).map(|event| (event.header().bytes().to_vec(), said(&event))).collect()
}

/// A trace of the selected events, and of those that they need. Returns their numbers too.
fn saved(bytes: &[u8], is_selected: impl Fn(&etl::Event<'_>) -> bool, needs: Option<&Needs>) -> (Vec<u8>, [usize; 3]) {
    let trace = etl::Trace::from_bytes(bytes).expect("a trace");
    let mut relog = Relog::new(Cursor::new(Vec::new()), trace.log_file(), false).expect("a writer");
    let (mut scratch, mut counts) = (etl::Scratch::default(), [0; 3]);
    for buffer in trace.buffers() {
        let buffer = buffer.expect("a buffer");
        for event in buffer.decode(&mut scratch).events().filter_map(Result::ok) {
            let is_needed = || needs.is_some_and(|needs| needs.contains(0, buffer.index(), &event).expect("an answer"));
            let index = if is_selected(&event) {
                0
            } else if is_needed() {
                1
            } else {
                2
            };
            counts[index] += 1;
            if index < 2 {
                relog.push(&event, &buffer).expect("a writer");
            }
        }
    }
    (relog.finish().expect("a file").into_inner(), counts)
}

#[test]
fn a_part_of_a_trace_says_the_same_about_its_events() {
    let names = ["microsoft__net.4.5.2.x64.etl", "microsoft__net.4.5.2.x86.etl", "microsoft__net.4.5.x86.etl"];
    for name in names {
        let Some(bytes) = real::read(name) else { continue };
        let whole = open(&[(name, &bytes)]);
        let ticks = |is_wanted: fn(&Event<'_>) -> bool| {
            let events = whole.events().map(|event| event.expect("an event"));
            events.filter(is_wanted).map(|event| event.tick()).collect::<Vec<_>>()
        };
        let (all, disk) = (ticks(|_| true), ticks(|event| event.name() == "DiskIo/Read" || event.name() == "DiskIo/Write"));
        // A thousandth of the time, without events that only describe others.
        let (middle, length) = (disk[disk.len() / 2], (all[all.len() - 1] - all[0]) / 1000);
        let is_selected = |event: &etl::Event<'_>| {
            let describes =
                |hook: u16| matches!(hook >> 8, 0x18 | 0x14 | 0x05) || matches!(hook, 0x0301..=0x030A | 0x0400..=0x0424);
            let is_described = |tick| (middle..middle + length).contains(&tick);
            event.time_stamp().is_some_and(is_described) && !event.hook().is_some_and(describes)
        };
        let needs = whole.needs(|event| is_selected(&event.header())).expect("needs");
        let (part, counts) = saved(&bytes, is_selected, Some(&needs));
        let part = open(&[("part", &part)]);
        let [expected, found] = [&whole, &part].map(|trace| said(trace, |event| is_selected(&event.header())));
        let with = |of: &dyn Fn(&Said) -> bool| expected.iter().filter(|(_, said)| of(said)).count();
        println!(
            "{name}: {counts:?}; {} with a stack, {} with a file, {} with an image or method",
            with(&|said| said.2.is_some()),
            with(&|said| said.3.is_some()),
            with(&|said| said.4.iter().any(Option::is_some)),
        );
        assert_eq!(expected.len(), found.len(), "{name}");
        for (one, other) in expected.iter().zip(&found) {
            assert_eq!(one, other, "{name}");
        }
        // Without the needed events, the trace says less.
        let (alone, _) = saved(&bytes, is_selected, None);
        let alone = open(&[("alone", &alone)]);
        assert_ne!(expected, said(&alone, |event| is_selected(&event.header())), "{name}");
    }
}

const SYS_CONFIG: Uuid = Uuid::from_u128(0x9b79ee91_b5fd_41c0_a243_4248e266e9d0);

/// A sample states only its thread, and the thread only its process; both are described at the end of the trace.
#[test]
fn a_sample_keeps_its_process() {
    let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let process = |id: u64, image: &[u8]| {
        let rest = [&[0; 8][..], image, b"\0c\0\0\0\0\0\0\0\0\0"].concat();
        Written::kernel(40, 0, 0x0304, [words(&[0, id | 4 << 32, 1, 0]), rest].concat()).version(4)
    };
    let thread = |process: u64, thread: u64| {
        Written::kernel(30, 0, 0x0504, words(&[process | thread << 32, 0, 0, 0, 0, 0, 0, 0, 0])).version(3)
    };
    let sample = |tick, thread| Written::kernel(tick, 0, 0x0F2E, words(&[0x1000, thread]));
    // A relogged trace has the configuration of the system, SysConfig/SystemPaths, as a classic event.
    let paths = Written::relogged(50, (SYS_CONFIG, 33), b"C\0\0\0W\0\0\0".to_vec());
    let bytes = written(&[
        sample(10, 11),
        sample(20, 12),
        thread(7, 11),
        thread(8, 12),
        process(7, b"a.exe"),
        process(8, b"b.exe"),
        paths,
    ]);
    let is_selected = |event: &etl::Event<'_>| event.time_stamp() == Some(10);
    let image = |bytes: &[u8]| {
        let trace = open(&[("made", bytes)]);
        let event = trace.events().map(|event| event.expect("an event")).find(|event| is_selected(&event.header()));
        event.expect("the sample").process().and_then(|process| process.image().map(str::to_owned))
    };
    let needs = open(&[("made", &bytes)]).needs(|event| is_selected(&event.header())).expect("needs");
    let (part, counts) = saved(&bytes, is_selected, Some(&needs));
    assert_eq!((image(&bytes).as_deref(), image(&part).as_deref()), (Some("a.exe"), Some("a.exe")));
    // The log file header and the configuration are needed; the other sample, thread and process are not.
    assert_eq!(counts, [1, 4, 3]);
}
