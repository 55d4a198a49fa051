//! Buffers found in other bytes.

use etw_layouts_etl::carve::{Completeness, Found, Session, find, sessions};
use etw_layouts_etl::wire::{BUFFER_HEADER, Generation};
use etw_layouts_etl::{BufferHeader, ClockType, Scratch, Trace, xpress};
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

/// An event: its offset in the buffer, its bytes, and whether it has a time stamp.
type Event = (usize, Vec<u8>, bool);

/// The header of each buffer of a file, and its events.
fn buffers(bytes: &[u8]) -> Vec<(BufferHeader, Vec<Event>)> {
    let trace = Trace::from_bytes(bytes).unwrap();
    let mut scratch = Scratch::default();
    let buffers = trace.buffers().filter_map(Result::ok);
    let buffers = buffers.map(|buffer| {
        let decoded = buffer.decode(&mut scratch);
        let events = decoded.events().flatten();
        let events = events.map(|event| (event.offset() as usize, event.bytes().to_vec(), event.time_stamp().is_some()));
        (*buffer.header(), events.collect())
    });
    buffers.collect()
}

/// A buffer in an image.
struct Placed {
    header: BufferHeader,
    events: Vec<Event>,
    /// Number of its bytes in the image, if others follow.
    cut: Option<usize>,
    /// Number of its decompressed bytes in the image.
    decompressed: usize,
}

impl Placed {
    /// The least and greatest number of events that can be found, of which all bytes are in the image. The last one is in doubt if the bytes
    /// that follow the cut could begin within it; so are events without a time stamp at the end.
    fn whole(&self) -> (usize, usize) {
        let whole = self.events.iter().take_while(|(at, event, _)| at + event.len() <= self.decompressed).count();
        if self.cut.is_none() {
            return (whole, whole);
        }
        let timed = whole - self.events[..whole].iter().rev().take_while(|(_, _, has_time)| !has_time).count();
        let is_doubtful = |(at, event, _): &Event| self.header.is_compressed() || at / 512 != (at + event.len() - 1) / 512;
        (timed - usize::from(timed > 0 && is_doubtful(&self.events[timed - 1])), whole)
    }

    /// Whether the events are those of this buffer that are left.
    fn is_found_as(&self, found: &[Event]) -> bool {
        let (least, whole) = self.whole();
        let is_same = |count: usize| found[..count].iter().zip(&self.events).all(|(one, other)| one == other);
        // Without unused space, other bytes within the last event are not noticed; nor are few at the end of a stream that, by chance,
        // decompress to as many bytes.
        let header = &self.header;
        let is_end = match header.is_compressed() {
            true => self.cut.is_some_and(|cut| cut + 16 > header.size as usize),
            false => header.offset.next_multiple_of(8) >= header.size,
        };
        let is_hidden = found.len() == self.events.len() && is_end;
        (least..=whole).contains(&found.len()) && is_same(found.len()) || is_hidden && is_same(whole)
    }
}

/// Places the buffers of a file at random offsets of random bytes, some cut, some twice.
fn shred(bytes: &[u8], random: &mut fastrand::Rng, with_header: bool) -> (Vec<u8>, Vec<Placed>) {
    let trace = Trace::from_bytes(bytes).unwrap();
    let mut image: Vec<u8> = Vec::new();
    let noise = |image: &mut Vec<u8>, random: &mut fastrand::Rng, least: usize, most: usize| {
        let length = image.len().next_multiple_of(512) + 512 * random.usize(least..most) - image.len();
        image.extend(std::iter::repeat_with(|| random.u8(..)).take(length));
    };
    let mut placed = Vec::new();
    for (buffer, (header, events)) in trace.buffers().map(Result::unwrap).zip(buffers(bytes)) {
        let is_first = buffer.index() == 0;
        if is_first && !with_header {
            continue;
        }
        noise(&mut image, random, 0, 5);
        let stored = buffer.bytes();
        let sectors = stored.len().div_ceil(512);
        let cut = (!is_first && random.u8(..4) == 0 && sectors > 1).then(|| 512 * random.usize(1..sectors));
        let kept = &stored[..cut.unwrap_or(stored.len())];
        let decompressed = match header.is_compressed() && cut.is_some() {
            true => {
                BUFFER_HEADER
                    + xpress::decompress(&kept[BUFFER_HEADER..], &mut vec![0; header.offset as usize])
                        .unwrap_or_else(|error| error.output)
            }
            false if header.is_compressed() => header.offset as usize,
            false => kept.len(),
        };
        placed.push(Placed { header, events, cut, decompressed });
        for _ in 0..1 + usize::from(random.u8(..8) == 0) {
            image.extend(kept);
            // Other bytes follow a cut directly.
            noise(&mut image, random, usize::from(cut.is_some()), 4);
        }
    }
    (image, placed)
}

/// Compares the buffers that are found in an image of a file's buffers with those.
fn shredded(name: &str, bytes: &[u8], random: &mut fastrand::Rng, with_header: bool) {
    let (image, mut placed) = shred(bytes, random, with_header);
    placed.retain(|placed| placed.whole().0 > 0 || placed.cut.is_some());
    let found = carved(&image, 512);
    let is_any = placed.iter().any(|placed| placed.whole().0 > 0);
    // Without the log file header, some buffers before 6.0 cannot be distinguished from later ones.
    let is_old = Trace::from_bytes(bytes).unwrap().log_file().generation() < Generation::V6_0;
    assert!(found.len() == 1 || is_old && !with_header || !is_any, "{name}: one session");
    let files: Vec<_> = found.iter().map(|session| written(session, &image)).collect();
    let states_times = |file: &Vec<u8>| Trace::from_bytes(&file[..]).unwrap().log_file().states_times();
    assert!(files.iter().all(|file| states_times(file) == with_header), "{name}");
    let buffers = files.iter().flat_map(|file| buffers(file).into_iter().enumerate().skip(usize::from(!with_header)));
    for (number, (header, events)) in buffers {
        let key = |header: &BufferHeader| (header.time_stamp, header.sequence, header.context);
        let is_found = |placed: &Placed| key(&placed.header) == key(&header) && placed.is_found_as(&events);
        let place = placed.iter().position(is_found);
        let place = place.unwrap_or_else(|| {
            let whole: Vec<_> = placed.iter().filter(|placed| key(&placed.header) == key(&header)).map(Placed::whole).collect();
            panic!(
                "{name}: buffer {number} has {} events, which are not those of a buffer placed there, with {whole:?}",
                events.len()
            )
        });
        placed.remove(place);
    }
    placed.retain(|placed| placed.whole().0 > 0);
    let missing: Vec<_> = placed.iter().map(|placed| (placed.header, placed.cut, placed.whole())).collect();
    assert!(missing.is_empty(), "{name}: not found: {missing:?}");
}

/// All whole events of made traces are found again, with and without their log file header, and no others.
#[test]
fn shredded_traces() {
    let mut random = fastrand::Rng::with_seed(7);
    for producer in PRODUCERS {
        for compressed in [false, true] {
            let known = |header_type: etw_layouts_etl::HeaderType| header_type.is_known();
            let Some(file) = fixture_of(producer, ClockType::PerfCounter, compressed, 40, &known) else { continue };
            for round in 0..20 {
                shredded(&file.name, &file.bytes, &mut random, round % 2 == 0);
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
        if path.extension().is_some_and(|extension| extension == "etl") {
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

/// Two traces one after the other, at an odd offset, one of them compressed; and the files again, which are found as they are.
#[test]
fn unaligned_and_adjacent() {
    let file = |compressed, index: usize| {
        let known = |header_type: etw_layouts_etl::HeaderType| header_type.is_known();
        fixture_of(PRODUCERS[index], ClockType::PerfCounter, compressed, 40, &known).unwrap().bytes
    };
    let files = [file(true, 7), file(false, 6)];
    let image = [&[0x5A; 24][..], &files[0], &files[1]].concat();
    assert!(carved(&image, 512).is_empty());
    let found = carved(&image, 8);
    assert_eq!(found.iter().map(|session| written(session, &image)).collect::<Vec<_>>(), files);
    for session in &found {
        let whole = session.buffers.iter().filter(|entry| entry.found.completeness == Completeness::Whole).count();
        assert!(session.generation == Generation::V6_1 && whole == session.buffers.len());
    }
    // A header that was made for buffers is not found again.
    let without = &files[1][4096..];
    let first = written(&carved(without, 512)[0], without);
    let again = carved(&first, 512);
    assert!(again.len() == 1 && again[0].log_file.is_none());
    assert_eq!(written(&again[0], &first), first);
}

/// A buffer in several states of damage is written once, in the best of them; buffers with the same messages but other numbers are not copies.
#[test]
fn copies() {
    let known = |header_type: etw_layouts_etl::HeaderType| header_type.is_known();
    let file = fixture_of(PRODUCERS[7], ClockType::PerfCounter, false, 40, &known).unwrap().bytes;
    let buffer = &file[4096..2 * 4096];
    let remains: Vec<u8> = [1024, 4096, 1024, 2048, 4096]
        .iter()
        .flat_map(|length| [&buffer[..*length], &vec![0x5A; 4096 - length + 512]].concat())
        .collect();
    let found = carved(&remains, 512);
    let (buffers, events) = found[0].counts();
    assert_eq!((found.len(), buffers, found[0].buffers.len()), (1, 1, 5));
    let copies: Vec<_> = found[0].buffers.iter().filter_map(|entry| entry.copy).collect();
    assert!(copies.iter().all(|copy| copy.offset == 1024 + 4096 - 1024 + 512), "{copies:?}");
    assert_eq!(copies.iter().filter(|copy| copy.is_same).count(), 1);
    assert_eq!(self::buffers(&written(&found[0], &remains))[1].1.len() as u64, events);

    // A message without a time stamp.
    let mut timeless = buffer.to_vec();
    timeless[0x48..0x58].copy_from_slice(&[16, 0, 0, 0x90, 5, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
    timeless[0x58..].fill(0xFF);
    [0x04, 0x30].into_iter().for_each(|at| timeless[at..at + 4].copy_from_slice(&0x58_u32.to_le_bytes()));
    let image: Vec<u8> = (1..4_u8)
        .flat_map(|number| {
            timeless[0x18] = number;
            timeless.clone()
        })
        .collect();
    assert_eq!(carved(&image, 512)[0].counts(), (3, 3));
}

/// Headers made to cost time or space: the work is limited, and what is written.
#[test]
fn limited() {
    let known = |header_type: etw_layouts_etl::HeaderType| header_type.is_known();
    let file = fixture_of(PRODUCERS[7], ClockType::PerfCounter, false, 40, &known).unwrap().bytes;
    // A buffer of 16 MiB with one event in each sector; the same with an end marker, and with a stream.
    let mut sector = file[4096..4096 + 512].to_vec();
    sector[..4].copy_from_slice(&(16_u32 << 20).to_le_bytes());
    let scan = |sector: &[u8], count: usize| {
        let image = sector.repeat(count);
        let mut found = Vec::new();
        let scan = find(&image[..], 512, &mut |buffer| found.push((0, buffer))).unwrap();
        let sizes: u64 = found.iter().map(|(_, found)| u64::from(found.header.size)).sum();
        assert!(sizes < 65 * image.len() as u64 + (1 << 30) + (16 << 20), "{sizes}");
        scan.skipped
    };
    let length = u32::from(u16::from_le_bytes([sector[0x48 + 4], sector[0x48 + 5]])).next_multiple_of(8);
    [0x04, 0x30].into_iter().for_each(|at| sector[at..at + 4].copy_from_slice(&(0x48 + length).to_le_bytes()));
    assert!(scan(&sector, 400) > 0);
    sector[0x48..].fill(0xFF);
    assert_eq!(scan(&sector, 8192), 0);
}
