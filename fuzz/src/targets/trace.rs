//! Traces: the order of time, and what a trace says about its events.

use super::etl;
use etw_layouts_etl as reader;
use etw_layouts_trace::{Event, Trace};
use test_support::logging::logging;
use test_support::records::{Written, written};

/// Both orders have the same events, those of the reader of the format. Who did it, names and call stacks are the same in both orders.
pub fn run(input: &[u8]) {
    let Ok(trace) = Trace::from_bytes(input.to_vec()) else {
        assert!(reader::Trace::from_bytes(input).is_err());
        return;
    };
    let expected = reader::Trace::from_bytes(input).expect("a trace");
    let in_file: Vec<_> = trace.events().in_file_order().map(|event| seen(&event.expect("bytes in memory"))).collect();
    let found = expected.events().flatten().map(|event| event.bytes().len());
    assert!(in_file.iter().map(|event| event.length).eq(found));
    assert_eq!(trace.event_count(), in_file.len() as u64);
    let events = trace.events();
    let is_ordered = events.is_ordered();
    let mut by_time: Vec<_> = events.map(|event| seen(&event.expect("bytes in memory"))).collect();
    assert!(!is_ordered || by_time.is_sorted_by_key(|event| (event.tick, event.sequence)));
    by_time.sort_by_key(|event| event.sequence);
    assert!(by_time == in_file);
    assert!(trace.diagnostics().iter().all(|(_, diagnostic)| !diagnostic.to_string().is_empty()));
    for process in trace.processes() {
        assert!(!format!("{process:?}").is_empty());
    }
}

/// What a trace says about an event.
#[derive(PartialEq)]
struct Seen {
    tick: i64,
    sequence: u64,
    length: usize,
    text: String,
}

fn seen(event: &Event<'_>) -> Seen {
    let (stack, file) = (event.stack().expect("bytes in memory"), event.file_name().expect("bytes in memory"));
    let frames: Vec<_> = stack.iter().flat_map(|stack| stack.frames()).take(4).collect();
    let (names, process) = (event.names(), event.who().by.process.unwrap_or_default());
    let of = |address: u64| {
        let image = names.image(process, address, event.tick()).expect("bytes in memory");
        (image, names.method(process, address, event.tick()).expect("bytes in memory"))
    };
    let named: Vec<_> = frames.iter().map(|frame| of(*frame)).collect();
    let images = (event.process().map(|process| process.image()), event.subject().map(|process| process.image()));
    let text = format!("{:?} {:?} {images:?} {} {file:?} {stack:?} {named:?}", event.time(), event.who(), event.name());
    Seen { tick: event.tick(), sequence: event.place().sequence(), length: event.header().bytes().len(), text }
}

/// The seeds of trace files, and a trace with processes, threads, images, files and stacks.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = etl::seeds();
    seeds.extend([made(), logging().trace()]);
    seeds
}

fn made() -> Vec<u8> {
    let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let text = |text: &str| [text, "\0"].concat().encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let process = |tick, hook, id: u32, key: u64| {
        let numbers = [id, 4, 1, 0].map(u32::to_le_bytes).concat();
        let rest = [&[0; 16][..], b"a.exe\0", &text("a.exe -b"), &[0; 4]].concat();
        Written::kernel(tick, 0, hook, [words(&[key]), numbers, rest].concat()).version(4).by((11, 4))
    };
    let thread = |tick, hook, id: u32| {
        Written::kernel(tick, 1, hook, [[7, id].map(u32::to_le_bytes).concat(), vec![0; 80]].concat()).version(3).by((11, 4))
    };
    let name = |tick, hook, object: u64| Written::kernel(tick, 0, hook, [words(&[object]), text(r"\Device\a.dll")].concat());
    let image = |tick, hook| Written::kernel(tick, 0, hook, [words(&[0x1000, 0x9000, 7, 0, 0, 0, 0]), text("a.dll")].concat());
    written(&[
        process(1, 0x0303, 7, 0xA0),
        thread(2, 0x0503, 12),
        image(3, 0x030A),
        process(10, 0x0301, 8, 0xA8),
        Written::kernel(20, 0, 0x0F2E, words(&[0x1234, 12])),
        Written::kernel(21, 0, 0x1826, words(&[20, 7 | 12 << 32, 5])),
        Written::kernel(22, 1, 0x1820, words(&[20, 7 | 12 << 32, 0x1234, 0x1300])),
        Written::kernel(30, 1, 0x1823, words(&[5, 0x1234, 0x2000])),
        Written::item(31, 0, 12, 18, words(&[0, 5]), vec![7]),
        Written::event(32, (12, 7), (1, 1, 0), vec![1, 2, 3]),
        name(40, 0x0400, 9),
        Written::kernel(41, 0, 0x0A0A, [words(&[1, 2, 3, 4, 9]), vec![0; 16]].concat()),
        name(42, 0x0423, 9),
        image(43, 0x1402),
        process(50, 0x0302, 8, 0xA8),
        process(51, 0x0327, 8, 0xA8),
    ])
}
