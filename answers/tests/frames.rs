//! Names of the addresses in call stacks.

use crate::real;
use etw_layouts_answers::{Frame, FrameKind, Frames};
use etw_layouts_trace::etl::{self, Schemas};
use etw_layouts_trace::{StackSource, Trace};
use std::collections::BTreeMap;
use std::sync::Arc;
use test_support::records::{Written, written};

/// A name of addresses of a process, and the time stamps at which it is valid.
struct Named {
    start: u64,
    end: u64,
    from: i64,
    until: i64,
}

/// The names of each process, by the documented events alone: a name is valid from the event that begins it, or from the start of the trace if
/// it exists already, until the event that ends it.
#[derive(Default)]
struct Joined {
    images: BTreeMap<u32, Vec<Named>>,
    methods: BTreeMap<u32, Vec<Named>>,
    /// Time stamp, process and addresses of each StackWalk event.
    walks: Vec<(i64, u32, Vec<u64>)>,
}

fn begin(of: &mut Vec<Named>, (start, size): (u64, u64), from: i64) {
    if !of.iter().any(|named| named.start == start && named.until == i64::MAX) {
        of.push(Named { start, end: start + size, from, until: i64::MAX });
    }
}

fn end(of: &mut Vec<Named>, (start, size): (u64, u64), until: i64) {
    match of.iter_mut().find(|named| named.start == start && named.until == i64::MAX) {
        Some(named) => named.until = until,
        None => of.push(Named { start, end: start + size, from: i64::MIN, until }),
    }
}

fn joined(trace: &Trace) -> Joined {
    const RUNTIME: [u128; 2] = [0xe13c0d23_ccbc_4e12_931b_d9cc2eee27e4, 0xa669021c_c450_4609_a035_5af59af4df18];
    let mut joined = Joined::default();
    for event in trace.events().map(|event| event.expect("an event")) {
        let (header, tick) = (event.header(), event.tick());
        let payload = header.payload();
        let word = |at: usize| payload[at..].first_chunk().map(|bytes| u64::from_le_bytes(*bytes)).expect("a number");
        if let Some(index) = RUNTIME.iter().position(|known| header.provider() == Some(etl::Uuid::from_u128(*known))) {
            // Start and size follow the identifiers of method and module.
            let of = joined.methods.entry(header.process().expect("a process")).or_default();
            match (index, header.id()) {
                (0, Some(143)) => begin(of, (word(16), word(24) & 0xFFFF_FFFF), tick),
                (0, Some(144)) => end(of, (word(16), word(24) & 0xFFFF_FFFF), tick),
                (1, Some(143 | 144)) => begin(of, (word(16), word(24) & 0xFFFF_FFFF), i64::MIN),
                _ => {}
            }
            continue;
        }
        let Some(decoded) = header.decode(Schemas::BUILT_IN) else { continue };
        let number = |name| decoded.get(name).and_then(|value| value.number()).expect("a number");
        match (decoded.schema.provider, decoded.schema.event) {
            ("Image", name @ ("Load" | "UnLoad" | "DCStart" | "DCEnd")) => {
                let of = joined.images.entry(number("ProcessId") as u32).or_default();
                let range = (number("ImageBase"), number("ImageSize"));
                match name {
                    "Load" => begin(of, range, tick),
                    "UnLoad" => end(of, range, tick),
                    _ => begin(of, range, i64::MIN),
                }
            }
            ("StackWalk", "Stack") => {
                let addresses = (16..payload.len()).step_by(8).map(word).collect();
                joined.walks.push((number("EventTimeStamp") as i64, number("StackProcess") as u32, addresses));
            }
            _ => {}
        }
    }
    joined
}

/// The frames of stacks are in the images and methods in which an independent join of the events finds them.
#[test]
fn frames_are_those_of_an_independent_join() {
    let known = [("microsoft__net.4.5.x86.etl", Some((128_226, 124_505))), ("microsoft__net.4.5.2.x64.etl", None)];
    for (name, documented) in known {
        let Some(bytes) = real::read(name) else { continue };
        let trace = real::open(&[(name, &bytes)]);
        let Joined { images, methods, walks } = joined(&trace);
        let is_in = |of: &BTreeMap<u32, Vec<Named>>, process: u32, address: u64, tick: Option<i64>| {
            let mut named = of.get(&process).into_iter().flatten();
            let is_valid = |named: &Named| tick.is_none_or(|tick| named.from <= tick && tick < named.until);
            named.any(|named| (named.start..named.end).contains(&address) && is_valid(named))
        };
        // Frames: all, in images, in methods, and in either at another time only.
        let (mut expected, mut at_any_time) = ((0, 0, 0, 0), 0);
        for (tick, process, addresses) in &walks {
            for address in addresses.iter().copied() {
                let is_image = |tick| [*process, 0].into_iter().any(|process| is_in(&images, process, address, tick));
                let is_method = |tick| is_in(&methods, *process, address, tick);
                let (image, method) = (is_image(Some(*tick)), is_method(Some(*tick)));
                expected.0 += 1;
                expected.1 += usize::from(image);
                expected.2 += usize::from(method);
                expected.3 += usize::from(!image && !method && (is_image(None) || is_method(None)));
                at_any_time += usize::from(is_image(None));
            }
        }
        if let Some(documented) = documented {
            assert_eq!((expected.0, at_any_time), documented, "{name}");
        }
        let mut frames = Frames::new(trace.names(0).expect("a session"));
        let (mut found, mut all) = ((0, 0, 0, 0), 0_u64);
        for event in trace.events().map(|event| event.expect("an event")) {
            let Some(stack) = event.stack().expect("a stack") else { continue };
            all += frames.of(&event).expect("frames").expect("a stack").len() as u64;
            let process = event.stack_process().unwrap_or(0);
            for part in stack.parts().iter().filter(|part| part.source == StackSource::Walk) {
                for address in part.frames.iter().flatten() {
                    let frame: Arc<Frame> = frames.frame(process, *address, event.tick()).expect("a frame");
                    all += 1;
                    found.0 += 1;
                    found.1 += usize::from(frame.module.is_some());
                    found.2 += usize::from(frame.kind == FrameKind::Method);
                    found.3 += usize::from(frame.kind == FrameKind::OtherTime);
                }
            }
        }
        assert_eq!(found, expected, "{name}");
        assert_eq!(frames.counts().kinds.values().sum::<u64>(), all, "{name}");
    }
}

/// Addresses of two processes, at which images and methods come and go. The frames are the same in both orders of time, from a cache or not.
#[test]
fn what_is_at_an_address_depends_on_process_and_time() {
    const RUNTIME: u128 = 0xe13c0d23_ccbc_4e12_931b_d9cc2eee27e4;
    let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let text = |text: &str| text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let image = |tick, hook, process: u32, (base, size): (u64, u64), name: &str| {
        let numbers = [words(&[base, size]), process.to_le_bytes().to_vec(), vec![0; 36], text(name)].concat();
        Written::kernel(tick, 0, hook, numbers)
    };
    let method = |tick, id, process, (start, size): (u64, u32), name: &str| {
        let numbers =
            [words(&[1, 2, start]), size.to_le_bytes().to_vec(), vec![0; 8], text("N"), text(name), text("()")].concat();
        Written::event(tick, (1, process), (RUNTIME, id, 0), numbers)
    };
    let (load, kernel) = (0x030A, 0xFFFF_F800_0000_0000);
    let bytes = written(&[
        image(5, 0x1403, 0, (kernel, 0x1000), "\\nt.exe"),
        image(10, load, 7, (0x1000, 0x1000), "\\first.dll"),
        method(20, 143, 7, (0x5000, 0x100), "Tier0"),
        // The same method in its next tier, and another method in its place later.
        method(30, 143, 7, (0x6000, 0x80), "Tier1"),
        method(40, 144, 7, (0x5000, 0x100), "Tier0"),
        method(50, 143, 7, (0x5080, 0x100), "Later"),
    ]);
    let trace = Trace::from_bytes(bytes).expect("a trace");
    use FrameKind::{Method, Module, NoImages, OtherTime, Outside};
    let expected = [
        (7, 0x1800, 5, OtherTime, None),
        (7, 0x1800, 15, Module, Some("\\first.dll")),
        (7, 0x2000, 15, Outside, None),
        (8, 0x1800, 15, NoImages, None),
        (8, kernel + 5, 1, Module, Some("\\nt.exe")),
        (8, kernel + 0x1000, 1, Outside, None),
        (7, 0x50FF, 25, Method, Some("N.Tier0")),
        (7, 0x50FF, 45, OtherTime, None),
        (7, 0x50FF, 55, Method, Some("N.Later")),
        (7, 0x5000, 55, OtherTime, None),
        (7, 0x607F, 55, Method, Some("N.Tier1")),
        (7, 0x6080, 55, Outside, None),
    ];
    let mut frames = Frames::new(trace.names(0).expect("a session"));
    for (process, address, tick, kind, name) in expected.into_iter().chain(expected.into_iter().rev()) {
        let frame = frames.frame(process, address, tick).expect("a frame");
        let found = frame.function.as_deref().or(frame.module.as_deref());
        assert_eq!((frame.kind, found), (kind, name), "process {process}, {address:#x}, {tick}");
    }
    assert_eq!(frames.counts().kinds.values().sum::<u64>(), 2 * expected.len() as u64);
}
