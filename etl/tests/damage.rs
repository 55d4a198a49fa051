//! Damaged files: read without panic, to the end, in bounded memory.

use etw_layouts_etl::check::check;
use etw_layouts_etl::write::Relog;
use etw_layouts_etl::{ByTime, Event, Parts, Reader, Scratch, Trace};
use fastrand::Rng;
use std::io::Cursor;
use test_support::traces::all;

/// Seeded mutations, each read in every way.
#[test]
#[cfg_attr(miri, ignore = "it takes minutes")]
fn mutations() {
    const MUTATIONS: usize = 12_000;
    let fixtures = all(6);
    let mut random = Rng::with_seed(0x0E71);
    let (mut traces, mut findings) = (0, 0);
    for round in 0..MUTATIONS {
        let mut bytes = fixtures[round % fixtures.len()].bytes.clone();
        for _ in 0..random.usize(1..6) {
            mutate(&mut bytes, &mut random);
        }
        if let Some(found) = read(&bytes) {
            traces += 1;
            findings += found;
        }
    }
    println!("{MUTATIONS} mutations, {traces} still traces, {findings} findings");
    assert!(traces > MUTATIONS / 2 && findings > MUTATIONS / 2);
}

/// Bytes of no meaning at all.
#[test]
#[cfg_attr(miri, ignore = "it takes minutes")]
fn noise() {
    let mut random = Rng::with_seed(1);
    for length in 0..600 {
        let mut bytes = vec![0; length * 3];
        random.fill(&mut bytes);
        read(&bytes);
    }
}

fn mutate(bytes: &mut Vec<u8>, random: &mut Rng) {
    if bytes.is_empty() {
        return;
    }
    let at = match random.u8(..4) {
        // Headers of buffers and of the file, which decide most.
        0 => (random.usize(..bytes.len()) & !4095) + random.usize(..0x60),
        1 => random.usize(..bytes.len().min(0x180)),
        _ => random.usize(..bytes.len()),
    };
    let at = at.min(bytes.len() - 1);
    let rest = bytes.len() - at;
    match random.u8(..6) {
        0 => bytes[at] ^= 1 << random.u8(..8),
        1 => bytes[at] = random.u8(..),
        2 => {
            let value = *random.choice(&[0, 1, 7, 8, 0x47, 0x48, 0x7FFF_FFFF, u32::MAX, 0x0100_0000, 0xC00A_0000]).unwrap();
            let length = rest.min(4);
            bytes[at..at + length].copy_from_slice(&value.to_le_bytes()[..length]);
        }
        3 => bytes.truncate(at),
        4 => {
            let from = random.usize(..bytes.len());
            let length = random.usize(..rest.min(bytes.len() - from).clamp(1, 64));
            bytes.copy_within(from..from + length, at);
        }
        _ => {
            let length = random.usize(..rest.clamp(1, 200));
            bytes.drain(at..at + length);
        }
    }
}

/// Reads in every way; the count of findings, or `None` if it is no trace.
fn read(bytes: &[u8]) -> Option<usize> {
    let trace = Trace::new(bytes).ok();
    let (mut streamed, mut streamed_findings) = (0, Vec::new());
    if let Ok(mut reader) = Reader::new(bytes) {
        assert!(trace.is_some());
        while let Some(image) = reader.next_image().unwrap() {
            match image {
                Ok(image) => image.events().for_each(|event| match event {
                    Ok(_) => streamed += 1,
                    Err(finding) => streamed_findings.push(finding),
                }),
                Err(finding) => streamed_findings.push(finding),
            }
        }
    }
    let trace = trace?;
    let (mut scratch, mut events, mut bound, mut findings) = (Scratch::default(), 0, 0, Vec::new());
    for buffer in trace.buffers() {
        let buffer = match buffer {
            Ok(buffer) => buffer,
            Err(finding) => {
                findings.push(finding);
                continue;
            }
        };
        let image = buffer.image(&mut scratch);
        bound += image.bytes().len() / 8 + 1;
        for event in image.events() {
            match event {
                Ok(event) => {
                    touch(&event, &trace);
                    events += 1;
                }
                Err(finding) => {
                    assert!(!finding.to_string().is_empty());
                    findings.push(finding);
                }
            }
        }
        assert_eq!(Parts::of(&buffer, &image).bytes().unwrap(), buffer.bytes());
    }
    assert!(events <= bound);
    assert_eq!((events, &findings), (streamed, &streamed_findings));
    let timed = |order: &mut ByTime<'_>| {
        let mut seen = Vec::new();
        while let Some(event) = order.next_event() {
            seen.push(event.map(|timed| (timed.buffer_offset, timed.event.offset())));
        }
        seen
    };
    let seen = timed(&mut trace.by_time());
    assert_eq!(seen.iter().filter(|event| event.is_ok()).count(), events);
    assert!(trace.by_time_ahead(timed) == seen);
    // What is kept beyond its time goes on alone.
    let mut kept = trace.by_time_ahead(|order| std::mem::replace(order, trace.by_time()));
    assert!(timed(&mut kept) == seen);
    relog(&trace);
    let mut count = findings.len();
    check(&trace, &mut |finding| count += usize::from(!finding.to_string().is_empty()));
    Some(count)
}

/// What can be saved of a file is a whole one.
fn relog(trace: &Trace<'_>) {
    let Ok(mut relog) = Relog::new(Cursor::new(Vec::new()), trace.log_file(), true) else { return };
    let (mut scratch, mut added) = (Scratch::default(), 0);
    for buffer in trace.buffers().flatten() {
        for event in buffer.image(&mut scratch).events().flatten() {
            added += usize::from(relog.push(&event, &buffer).unwrap_or(false));
        }
    }
    let saved = relog.finish().unwrap().into_inner();
    let (mut scratch, mut events) = (Scratch::default(), 0);
    for buffer in Trace::new(&saved).unwrap().buffers() {
        events += buffer.unwrap().image(&mut scratch).events().inspect(|event| assert!(event.is_ok())).count();
    }
    assert_eq!(events, 1 + added);
}

fn touch(event: &Event<'_>, trace: &Trace<'_>) {
    let time = event.time_stamp().map(|stamp| trace.clock().system_time(stamp));
    let _ = (time, event.thread(), event.process(), event.provider(), event.id(), event.version(), event.opcode());
    let _ = (event.level(), event.keyword(), event.task(), event.channel(), event.flags(), event.activity_id());
    let _ = event.related_activity_id();
    let items: usize = event.items().map(|item| item.size()).sum();
    assert!(items + event.payload().len() <= event.bytes().len());
    let _ = event.header();
}

/// What cannot be mapped is refused, and not taken for empty.
#[test]
#[cfg_attr(miri, ignore = "it opens devices")]
#[cfg(unix)]
fn only_files_are_mapped() {
    for path in ["/dev/zero", "/dev/null", "/"] {
        // SAFETY: Nothing is mapped.
        assert!(unsafe { etw_layouts_etl::map::map(path) }.is_err(), "{path}");
    }
}
