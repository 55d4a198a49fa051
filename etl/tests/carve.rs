//! Buffers found in other bytes.

use etw_layouts_etl::carve::{Completeness, Found, Session, find, sessions};
use etw_layouts_etl::wire::Generation;
use etw_layouts_etl::{ClockType, Scratch, Trace};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use test_support::installed;
use test_support::traces::{PRODUCERS, fixture_of};

fn carved(image: &[u8], step: usize) -> Vec<Session> {
    let mut found: Vec<(usize, Found)> = Vec::new();
    let scan = find(image, step, &mut |buffer| found.push((0, buffer))).unwrap();
    assert_eq!((scan.bytes, scan.skipped), (image.len() as u64, 0));
    sessions(found)
}

fn written(session: &Session, image: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut read = |_: usize, offset: u64, length: usize| {
        let rest = &image[offset as usize..];
        Ok::<_, io::Error>(rest[..length.min(rest.len())].to_vec())
    };
    session.write(&mut out, &mut read).unwrap();
    out
}

/// The events of each buffer with its end in the file.
fn events(bytes: &[u8]) -> Vec<Vec<(u32, Vec<u8>)>> {
    let trace = Trace::from_bytes(bytes).unwrap();
    let mut scratch = Scratch::default();
    let buffers = trace.buffers().filter_map(Result::ok);
    let events = buffers.map(|buffer| {
        let decoded = buffer.decode(&mut scratch);
        decoded.events().flatten().map(|event| (event.offset(), event.bytes().to_vec())).collect()
    });
    events.collect()
}

/// Places the buffers of a file at random offsets of random bytes, some cut, some twice, and compares what is found with what is left.
fn shredded(name: &str, bytes: &[u8], random: &mut fastrand::Rng, with_header: bool) {
    let trace = Trace::from_bytes(bytes).unwrap();
    let mut image: Vec<u8> = Vec::new();
    let noise = |image: &mut Vec<u8>, random: &mut fastrand::Rng, most: usize| {
        let length = image.len().next_multiple_of(512) + 512 * random.usize(0..most) - image.len();
        image.extend(std::iter::repeat_with(|| random.u8(..)).take(length));
    };
    // For each buffer: its events, those that a cut leaves, and whether it is cut.
    let mut expected = Vec::new();
    for (buffer, events) in trace.buffers().map(Result::unwrap).zip(events(bytes)) {
        if buffer.index() == 0 && !with_header {
            continue;
        }
        noise(&mut image, random, 5);
        let is_compressed = buffer.header().is_compressed() && buffer.index() > 0;
        let sectors = buffer.bytes().len().div_ceil(512);
        let is_cut = buffer.index() > 0 && random.u8(..4) == 0 && sectors > 1;
        let keep = if is_cut { 512 * random.usize(1..sectors) } else { buffer.bytes().len() };
        expected.push((buffer.index(), events, keep, is_cut, is_compressed));
        for _ in 0..1 + usize::from(random.u8(..8) == 0) {
            image.extend(&buffer.bytes()[..keep]);
            noise(&mut image, random, 3);
            // Foreign bytes follow a cut directly.
            if is_cut {
                image.extend(std::iter::repeat_with(|| random.u8(..)).take(512));
            }
        }
    }
    let log_size = trace.log_file().buffer_size;
    let found = carved(&image, 512);
    if expected.iter().all(|(_, events, ..)| events.is_empty()) {
        return;
    }
    assert_eq!(found.len(), 1, "{name}: one session");
    assert_eq!(found[0].log_file.is_some(), with_header, "{name}");
    let file = written(&found[0], &image);
    assert_eq!(Trace::from_bytes(&file[..]).unwrap().log_file().states_times(), with_header, "{name}");
    let mut rest: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
    for (index, all) in self::events(&file).into_iter().enumerate() {
        if index > 0 || with_header {
            all.into_iter().for_each(|(_, event)| *rest.entry(event).or_default() += 1);
        }
    }
    let mut take =
        |(_, event): &(u32, Vec<u8>)| rest.get_mut(event).filter(|count| **count > 0).map(|count| *count -= 1).is_some();
    for (index, events, keep, is_cut, is_compressed) in &expected {
        let taken = events.iter().map(&mut take).collect::<Vec<_>>();
        let count = taken.iter().take_while(|taken| **taken).count();
        if !is_cut {
            assert_eq!(count, events.len(), "{name}: buffer {index}");
            continue;
        }
        // All whole events, but for the last if it crosses a boundary of 512 bytes.
        let whole = events.iter().take_while(|(at, event)| *at as usize + event.len() <= *keep).count();
        let is_doubtful = |(at, event): &(u32, Vec<u8>)| *at / 512 != (*at + event.len() as u32 - 1) / 512;
        let least = whole - usize::from(whole > 0 && is_doubtful(&events[whole - 1]));
        if !is_compressed {
            assert!((least..=whole).contains(&count), "{name}: buffer {index}: {count}, not {least} to {whole}");
        }
        assert!(taken[count..].iter().all(|taken| !taken) || !is_compressed, "{name}: buffer {index}");
    }
    // A cut within an event that ends with its buffer cannot be recognized.
    let is_hidden = |events: &[(u32, Vec<u8>)]| events.last().is_some_and(|(at, event)| *at + event.len() as u32 + 8 > log_size);
    let hidden = expected.iter().filter(|(_, events, _, is_cut, _)| *is_cut && is_hidden(events)).count();
    rest.retain(|_, count| *count > 0);
    assert!(rest.len() <= hidden, "{name}: {} events that the file does not have", rest.len());
}

/// All whole events of made traces are found again, with and without their log file header, and no others.
#[test]
fn shredded_traces() {
    let mut random = fastrand::Rng::with_seed(7);
    for producer in PRODUCERS {
        for compressed in [false, true] {
            let known = |header_type: etw_layouts_etl::HeaderType| header_type.is_known();
            let Some(file) = fixture_of(producer, ClockType::PerfCounter, compressed, 40, &known) else { continue };
            // Without the log file header, buffers before 6.0 cannot be distinguished from later ones.
            let is_old = file.log.generation() < Generation::V6_0;
            for with_header in [true, false].into_iter().filter(|with_header| *with_header || !is_old) {
                shredded(&file.name, &file.bytes, &mut random, with_header);
            }
        }
    }
}

/// The same for real traces.
#[test]
fn shredded_real_traces() {
    let Some(folder) = installed::folder("ETW_LAYOUTS_ETL") else { return };
    let mut random = fastrand::Rng::with_seed(8);
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_small = path.metadata().unwrap().len() < 2 << 20;
        if path.extension().is_some_and(|extension| extension == "etl") && is_small {
            let bytes = fs::read(&path).unwrap();
            for with_header in [true, false] {
                shredded(&path.display().to_string(), &bytes, &mut random, with_header);
            }
        }
    }
}

/// Nothing is found in random bytes, or in bytes of one value.
#[test]
fn none_in_other_bytes() {
    struct Random(fastrand::Rng);
    impl Read for Random {
        fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
            self.0.fill(bytes);
            Ok(bytes.len())
        }
    }
    for (size, step) in [(64 << 20, 512), (16 << 20, 8)] {
        let scan = find(Random(fastrand::Rng::with_seed(9)).take(size), step, &mut |found| panic!("{found:?}")).unwrap();
        assert_eq!(scan.bytes, size);
    }
    for value in 0..=255 {
        find(io::repeat(value).take(1 << 16), 8, &mut |found| panic!("{found:?}")).unwrap();
    }
}

/// Whole traces one after the other, at an odd offset.
#[test]
fn unaligned_and_adjacent() {
    let file = fixture_of(PRODUCERS[7], ClockType::PerfCounter, true, 40, &|header_type| header_type.is_known()).unwrap();
    let image = [&[0x5A; 24][..], &file.bytes].concat();
    assert!(carved(&image, 512).is_empty());
    let found = carved(&image, 8);
    assert_eq!(found.len(), 1);
    assert_eq!(written(&found[0], &image), file.bytes);
    let generation = found[0].generation;
    assert!(generation == Generation::V6_1 && found[0].with(Completeness::Whole) == found[0].buffers.len());
}
