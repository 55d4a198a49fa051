//! Call stacks of events.

use crate::real::{self, open};
use etw_layouts_etl::{self as etl, Uuid};
use etw_layouts_trace::{Event, StackPart, StackSource, Trace};
use test_support::records::{Written, written};

/// Source, key and frames of a part.
type Part = (StackSource, Option<u64>, Option<Vec<u64>>);

/// The parts of the stack of each event with one, after the first byte of the payload.
fn parts(trace: &Trace) -> Vec<(u8, Vec<Part>)> {
    let part = |part: &StackPart| (part.source, part.key, part.frames.clone());
    let events = trace.events().map(|event| event.expect("an event"));
    events
        .filter_map(|event| {
            let stack = event.stack().expect("a stack")?;
            let id = event.header().payload().first().copied().unwrap_or_default();
            Some((id, stack.parts().iter().map(part).collect()))
        })
        .collect()
}

fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Samples, references and definitions of one trace, in the order of time.
#[test]
fn a_key_means_its_next_definition() {
    const KERNEL: u64 = 0xFFFF_F800_0000_0000;
    let sample = |tick, processor, id: u64, thread: u64| Written::kernel(tick, processor, 0x0F2E, words(&[id, thread]));
    let reference = |tick, hook, of: u64, thread: u64, key| Written::kernel(tick, 0, hook, words(&[of, 7 | thread << 32, key]));
    let definition = |tick, key, frames: &[u64]| Written::kernel(tick, 1, 0x1823, [words(&[key]), words(frames)].concat());
    let walk = |tick, processor, of: u64, thread: u64, frames: &[u64]| {
        Written::kernel(tick, processor, 0x1820, [words(&[of, 7 | thread << 32]), words(frames)].concat())
    };
    let (user, kernel) = (0x1826, 0x1825);
    let bytes = written(&[
        // An earlier definition of the key, which is not meant.
        definition(90, 5, &[0x1]),
        sample(100, 0, 1, 11),
        reference(101, user, 100, 11, 5),
        walk(102, 0, 100, 11, &[KERNEL + 1, KERNEL + 2]),
        sample(110, 0, 2, 12),
        reference(111, user, 110, 12, 5),
        reference(112, kernel, 110, 12, 6),
        // The definition of both references to the key 5.
        definition(120, 5, &[0x10, 0x11]),
        definition(121, 6, &[KERNEL + 3]),
        sample(130, 0, 3, 13),
        // The key 6 is not defined again.
        reference(131, kernel, 130, 13, 6),
        // Thread 0 runs on both processors.
        sample(140, 0, 4, 0),
        sample(140, 1, 5, 0),
        walk(141, 0, 140, 0, &[KERNEL + 4]),
        walk(141, 1, 140, 0, &[KERNEL + 5]),
        // A stack for a thread that wrote no event with this time.
        walk(151, 1, 150, 14, &[0x12]),
        sample(150, 0, 6, 15),
        // The key of an event in its own items.
        Written::item(160, 0, 16, 18, words(&[0, 7]), vec![7]),
        definition(161, 7, &[0x13]),
        // Addresses in the items.
        Written::item(170, 0, 16, 6, words(&[0, KERNEL + 6, 0x14]), vec![8]),
        // Thread 15 makes thread 9 ready.
        Written::kernel(180, 0, 0x0532, words(&[9])),
        walk(181, 0, 180, 15, &[0x15]),
    ]);
    let trace = Trace::from_bytes(bytes).expect("a trace");
    let of = |source, key, frames: &[u64]| (source, Some(key).filter(|key| *key > 0), Some(frames.to_vec()));
    use StackSource::{Item, ItemKey, KernelKey, UserKey, Walk};
    let expected = vec![
        (1, vec![of(Walk, 0, &[KERNEL + 1, KERNEL + 2]), of(UserKey, 5, &[0x10, 0x11])]),
        (2, vec![of(KernelKey, 6, &[KERNEL + 3]), of(UserKey, 5, &[0x10, 0x11])]),
        (3, vec![(KernelKey, Some(6), None)]),
        (4, vec![of(Walk, 0, &[KERNEL + 4])]),
        (5, vec![of(Walk, 0, &[KERNEL + 5])]),
        (7, vec![of(ItemKey, 7, &[0x13])]),
        (8, vec![of(Item, 0, &[KERNEL + 6, 0x14])]),
        (9, vec![of(Walk, 0, &[0x15])]),
    ];
    assert_eq!(parts(&trace), expected);
}

/// Microsoft-Windows-DotNETRuntime.
const RUNTIME: u128 = 0xe13c0d23_ccbc_4e12_931b_d9cc2eee27e4;

/// Events of .NET, each with the stack that follows it on its thread and is of its provider.
#[test]
fn stacks_of_the_runtime() {
    const PRIVATE: u128 = 0x763fd754_7086_4dfe_95eb_c01a46faf4ca;
    const RUNDOWN: u128 = 0xa669021c_c450_4609_a035_5af59af4df18;
    let event = |tick, thread, provider, id| Written::event(tick, (thread, 7), (provider, 10, 0), vec![id]);
    let stack = |tick, thread, (provider, id), count: u64, frames: &[u64]| {
        Written::event(tick, (thread, 7), (provider, id, 0), words(&[&[11 | count << 32], frames].concat()))
    };
    let (of_runtime, of_private) = ((RUNTIME, 82), (PRIVATE, 151));
    let bytes = written(&[
        // The thread moves to another processor, whose buffer is later in the file than the buffers of all events.
        stack(101, 11, of_runtime, 2, &[0x10, 0x11]).on(1),
        event(100, 11, RUNTIME, 1),
        // Without a stack, because the next one follows another event.
        event(110, 11, RUNTIME, 2),
        event(111, 11, RUNTIME, 3),
        // Events of another thread and of another provider are between.
        event(112, 12, RUNTIME, 4),
        event(113, 11, PRIVATE, 5),
        stack(114, 11, of_runtime, 1, &[0x12]),
        stack(115, 11, of_private, 1, &[0x13]),
        // Its event was lost.
        stack(116, 11, of_runtime, 1, &[0x14]),
        // The number of addresses is less than, and more than, those in the payload. The upper half of the address space is no kernel here.
        event(120, 12, RUNTIME, 6),
        stack(120, 12, of_runtime, 1, &[1 << 63, 0x16]),
        event(130, 12, RUNTIME, 7),
        stack(131, 12, of_runtime, u64::from(u32::MAX), &[0x17]),
        // A thread of its own has no event; another event with the ID; a rundown.
        stack(140, 13, of_runtime, 1, &[0x18]),
        event(150, 14, 1, 8),
        stack(151, 14, (1, 82), 1, &[0x19]),
        event(160, 14, RUNDOWN, 9),
        stack(161, 14, (RUNDOWN, 0), 1, &[0x1A]),
        // Without a number of addresses.
        event(170, 15, RUNTIME, 10),
        Written::event(171, (15, 7), (RUNTIME, 82, 0), vec![11, 0, 0, 0, 1]),
    ]);
    let trace = Trace::from_bytes(bytes).expect("a trace");
    let of = |frames: &[u64]| vec![(StackSource::Runtime, None, Some(frames.to_vec()))];
    let expected = vec![
        (1, of(&[0x10, 0x11])),
        (3, of(&[0x12])),
        (5, of(&[0x13])),
        (6, of(&[1 << 63])),
        (7, of(&[0x17])),
        (10, vec![(StackSource::Runtime, None, None)]),
    ];
    assert_eq!(parts(&trace), expected);
    let is_kernel = |event: Event<'_>| event.stack().unwrap().is_some_and(|stack| stack.parts()[0].is_kernel);
    assert!(!trace.events().any(|event| is_kernel(event.unwrap())));
}

/// Every CLRStackWalk of real traces is the stack of an event. The numbers of stacks and addresses, and the sum of the products of the first address and
/// the time of the event, are those of an independent join of the printed events.
#[test]
fn stacks_of_the_runtime_in_real_traces() {
    let known = [
        ("microsoft__net.4.5.2.x64.etl", (14_983, 337_030, 0xD079_03D6_7FE7_0103)),
        ("microsoft__net.4.5.2.x86.etl", (5_206, 155_163, 0x28EA_EAD7_249F_9040)),
        ("microsoft__net.4.5.x86.etl", (54_165, 1_310_426, 0x22A6_6C42_DB99_18A0)),
    ];
    for (name, expected) in known {
        let Some(bytes) = real::read(name) else { continue };
        let trace = open(&[(name, &bytes)]);
        let (mut walks, mut found) = (0, (0, 0, 0_u64));
        for event in trace.events().map(|event| event.expect("an event")) {
            walks += usize::from((event.header().provider(), event.header().id()) == (Some(Uuid::from_u128(RUNTIME)), Some(82)));
            let Some(stack) = event.stack().expect("a stack") else { continue };
            for part in stack.parts().iter().filter(|part| part.source == StackSource::Runtime) {
                let frames = part.frames.as_ref().expect("addresses");
                let time = event.time().expect("a time").0.cast_unsigned();
                found = (found.0 + 1, found.1 + frames.len(), found.2.wrapping_add(time.wrapping_mul(frames[0])));
            }
        }
        assert_eq!((walks, found), (expected.0, expected), "{name}");
    }
}

/// Samples of real traces: with a stack, and with a part that begins at the sampled address. The numbers of parts and frames, and the sum of the first
/// frames, are those of an independent join of the raw events.
#[test]
fn stacks_begin_at_the_sampled_address() {
    let known = [
        ("microsoft__net.4.5.2.x64.etl", (79_528, 6_318, 6_316), (6_776, 126_601, 0x0091_9A99_04CE_4197)),
        ("microsoft__net.4.5.2.x86.etl", (88_809, 6_806, 6_804), (7_367, 151_561, 0xFFF4_CD38_49D6_30B2)),
        ("microsoft__net.4.5.x86.etl", (16_865, 16_684, 16_677), (17_826, 107_604, 0xFE59_833A_387D_2A7E)),
    ];
    for (name, samples, joined) in known {
        let Some(bytes) = real::read(name) else { continue };
        let trace = open(&[(name, &bytes)]);
        let (mut counts, mut sums) = ((0, 0, 0), (0, 0, 0_u64));
        for event in trace.events().map(|event| event.expect("an event")) {
            let header = event.header();
            let Some(decoded) = header.decode(etl::Schemas::BUILT_IN).filter(|decoded| decoded.schema.event == "SampleProf")
            else {
                continue;
            };
            let address = decoded.get("InstructionPointer").and_then(|value| value.number()).expect("an address");
            let stack = event.stack().expect("a stack");
            let parts = stack.as_ref().map_or(&[][..], |stack| stack.parts());
            let begins = |part: &StackPart| part.frames.as_ref().is_some_and(|frames| frames.first() == Some(&address));
            counts.0 += 1;
            counts.1 += usize::from(stack.is_some());
            counts.2 += usize::from(parts.iter().any(begins));
            if let Some(stack) = &stack {
                sums.0 += parts.len();
                sums.1 += stack.frames().count();
                sums.2 = sums.2.wrapping_add(stack.frames().next().unwrap_or(0));
            }
        }
        assert_eq!((counts, sums), (samples, joined), "{name}");
    }
}
