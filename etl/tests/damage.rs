//! Damaged files: read without panic, to the end, in bounded memory.

use etw_layouts_etl::check::check;
use etw_layouts_etl::compression::Format;
use etw_layouts_etl::header::EventHeader;
use etw_layouts_etl::wire::{Generation, LOG_FILE_MODE, zero};
use etw_layouts_etl::write::{FileWriter, Record, Relog};
use etw_layouts_etl::{BufferHeader, ClockType, Diagnostic, Event, LogFile, Reader, Scratch, Trace};
use fastrand::Rng;
use std::io::Cursor;
use std::ops::Range;
use test_support::traces::{PRODUCERS, all, fixture, in_format, written_again_differs};

/// Seeded mutations, each read in every way.
#[test]
fn mutations() {
    const MUTATIONS: usize = 12_000;
    let fixtures = all(6);
    let mut random = Rng::with_seed(0x0E71);
    let (mut traces, mut diagnostics) = (0, 0);
    for round in 0..MUTATIONS {
        let mut bytes = fixtures[round % fixtures.len()].bytes.clone();
        for _ in 0..random.usize(1..6) {
            mutate(&mut bytes, &mut random);
        }
        if let Some(found) = read(&bytes) {
            traces += 1;
            diagnostics += found;
        }
    }
    println!("{MUTATIONS} mutations, {traces} still traces, {diagnostics} diagnostics");
    assert!(traces > MUTATIONS / 2 && diagnostics > MUTATIONS / 2);
}

/// Any damage to the header of one buffer loses at most the events of that buffer.
#[test]
fn one_header() {
    let mut random = Rng::with_seed(0x0EAD);
    let mut files: Vec<_> = all(2).into_iter().map(|fixture| (fixture.name, fixture.bytes)).collect();
    for path in real_files() {
        let bytes = std::fs::read(&path).unwrap();
        // Only some buffers of a large file are used.
        let buffers = bounds(&bytes);
        let from = random.usize(1..buffers.len().max(14) - 12).min(buffers.len() - 1);
        let some = &buffers[from..buffers.len().min(from + 12)];
        let mut part = [&bytes[buffers[0].clone()], &bytes[some[0].start..some[some.len() - 1].end]].concat();
        part[WRITTEN..][..4].copy_from_slice(&(1 + some.len() as u32).to_le_bytes());
        files.push((path.display().to_string(), part));
    }
    for (name, bytes) in files {
        let (whole, none) = events(&bytes);
        assert!(none.is_empty(), "{name}: {none:?}");
        let buffers = bounds(&bytes);
        for (index, bounds) in buffers.iter().enumerate() {
            let (start, length) = (bounds.start, bounds.len());
            let others: Vec<_> = whole.iter().filter(|event| !bounds.contains(&(event.0 as usize))).cloned().collect();
            let mut destroyed = vec![0; 0x48];
            let zero = destroyed.clone();
            random.fill(&mut destroyed);
            let size = |size: usize| (size as u32).to_le_bytes().to_vec();
            let two = length + buffers.get(index + 1).map_or(1, |next| next.len());
            let mut ways =
                vec![zero, vec![0xFF; 0x48], destroyed, size(0), size(8), size(0x48), size(length / 2), size(length + 8)];
            ways.extend([size(two), size(length * 2 + 8), size(0xFFFF_FFF8), size((1 << 24) + 1)]);
            for header in ways {
                let mut damaged = bytes.clone();
                damaged[start..start + header.len()].copy_from_slice(&header);
                let (seen, diagnostics) = events(&damaged);
                let seen: Vec<_> = seen.into_iter().filter(|event| !bounds.contains(&(event.0 as usize))).collect();
                let at = || format!("{name}: buffer {index} at {start:#x} of {length:#x} bytes, {header:x?}");
                assert!(seen == others, "{}: {} of {} events", at(), seen.len(), others.len());
                assert!(!diagnostics.is_empty(), "{}: no diagnostics", at());
            }
        }
    }
}

/// Data with only some members of the start of a trace is not treated as another trace, which would end the iteration.
#[test]
fn like_another_trace() {
    let mut file = fixture(PRODUCERS[7], ClockType::PerfCounter, false, 30).unwrap().bytes;
    let buffers = bounds(&file);
    // The type of the event, and the version of Windows or the number of processors.
    for (at, value) in [(0x48 + 0x20 + 4, 0x41), (0x48 + 0x20 + 12 + 3, 0x7F)] {
        let mut start = file[..0x100].to_vec();
        (start[at], start[0x4A]) = (value, 0x13);
        let within = buffers[2].start + 0x60;
        file[within..][..start.len()].copy_from_slice(&start);
        file[buffers[2].start..][..0x48].fill(0xFF);
        let (seen, diagnostics) = events(&file);
        assert!(seen.iter().any(|event| event.0 as usize == buffers[buffers.len() - 1].start), "{at:#x}: {diagnostics:?}");
        assert!(diagnostics.iter().all(|diagnostic| diagnostic.kind.name() != "another-trace"), "{at:#x}: {diagnostics:?}");
    }
}

/// If a wrong size of a compressed buffer ends exactly where a later buffer ends, no events are lost, even if the sequence numbers fit. If a
/// header in that range is destroyed too, only the events of its buffer are lost.
#[test]
fn sizes_of_compressed_buffers() {
    let file = fixture(PRODUCERS[7], ClockType::PerfCounter, true, 30).unwrap().bytes;
    let (buffers, (whole, _)) = (bounds(&file), events(&file));
    assert!(buffers.len() > 6);
    let sequence =
        |bytes: &mut [u8], at: usize, value: usize| bytes[at + 0x18..][..8].copy_from_slice(&(value as u64).to_le_bytes());
    for first in 1..buffers.len() - 1 {
        for last in first + 1..buffers.len() {
            let (start, end) = (buffers[first].start, buffers[last].end);
            if end - start > 4096 {
                continue;
            }
            let mut bytes = file.clone();
            bytes[start..start + 4].copy_from_slice(&((end - start) as u32).to_le_bytes());
            // In real files, buffers are not sorted by sequence number, so the numbers of these two can be consecutive.
            if let Some(behind) = buffers.get(last + 1) {
                sequence(&mut bytes, start, 1_000);
                sequence(&mut bytes, behind.start, 1_001);
            }
            let (seen, diagnostics) = events(&bytes);
            assert!(seen == whole, "{first} to {last}: {} of {} events", seen.len(), whole.len());
            assert!(diagnostics.len() == 1 && diagnostics[0].kind.name() == "buffer-size", "{first} to {last}: {diagnostics:?}");
            // With a valid end that is too large, the stream is read beyond its end, and other buffers still lose no events.
            let mut wrong = bytes.clone();
            lengthen(&mut wrong, start);
            assert!(of_others(&events(&wrong).0, start) == of_others(&whole, start), "{first} to {last} with a wrong end");
            for destroyed in first + 1..=last {
                let mut bytes = bytes.clone();
                bytes[buffers[destroyed].start..][..0x48].fill(0xA5);
                let (seen, diagnostics) = events(&bytes);
                let others: Vec<_> =
                    whole.iter().filter(|event| !buffers[destroyed].contains(&(event.0 as usize))).cloned().collect();
                assert!(seen == others, "{first} to {last} without {destroyed}: {} of {}", seen.len(), others.len());
                assert!(!diagnostics.is_empty());
            }
        }
    }
}

/// The same for a stream with an end mark before the end of its buffer.
#[test]
fn size_after_the_end_of_a_stream() {
    let file = in_format(&fixture(PRODUCERS[7], ClockType::PerfCounter, true, 30).unwrap().bytes, Format::Lznt1);
    let [first, second] = [&bounds(&file)[1], &bounds(&file)[2]];
    // A chunk with a header of zero ends a stream.
    let mut bytes = [&file[..first.end], &[0; 8], &file[first.end..]].concat();
    bytes[first.start..][..4].copy_from_slice(&(first.len() as u32 + 8).to_le_bytes());
    let (whole, none) = events(&bytes);
    assert_eq!(none, []);
    bytes[first.start..][..4].copy_from_slice(&(first.len() as u32 + 8 + second.len() as u32).to_le_bytes());
    lengthen(&mut bytes, first.start);
    assert!(of_others(&events(&bytes).0, first.start) == of_others(&whole, first.start));
}

/// A compressed stream is not split at bytes that resemble a buffer header, even if the size of the buffer is too large.
#[test]
fn streams_like_headers() {
    let producer = PRODUCERS[7];
    let mut log = LogFile { buffer_size: 4096, ..LogFile::new(&producer) };
    log.mode |= LOG_FILE_MODE::EVENT_TRACE_COMPRESSED_MODE.0;
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), producer, log).unwrap();
    // The stream has four bytes of flags before each group of 32 literals. The literals resemble the size, the valid ends, the flags and the type;
    // the flags of the stream resemble State.
    let mut payload = [1; 500];
    for (at, word) in [(168, 0x100_u32), (172, 0x100), (208, 0x100), (212, 0)] {
        payload[at..at + 4].copy_from_slice(&word.to_le_bytes());
    }
    for _ in 0..3 {
        writer.push(0, &Record::new(EventHeader::Event(zero()), true, &payload)).unwrap();
        writer.flush(0).unwrap();
    }
    let file = writer.finish(0).unwrap().into_inner();
    let trace = Trace::from_bytes(&file).unwrap();
    let (mut bytes, mut starts) = (Vec::new(), Vec::new());
    for buffer in trace.buffers() {
        let (buffer, mut scratch) = (buffer.unwrap(), Scratch::default());
        starts.push(bytes.len());
        if buffer.index() == 0 {
            bytes.extend_from_slice(buffer.bytes());
            continue;
        }
        let mut stream = buffer.bytes()[..0x48].to_vec();
        for literals in buffer.decode(&mut scratch).bytes()[0x48..buffer.header().offset as usize].chunks(32) {
            // The flags after the last literal state a match without data.
            stream.extend(u32::MAX.checked_shr(literals.len() as u32).unwrap_or(0).to_le_bytes());
            stream.extend_from_slice(literals);
        }
        let size = (stream.len() as u32).to_le_bytes();
        stream[..4].copy_from_slice(&size);
        bytes.extend(stream);
    }
    let (whole, diagnostics) = events(&bytes);
    assert_eq!((whole.len(), diagnostics), (4, Vec::new()));
    assert_eq!(BufferHeader::read(Generation::V6_1, &bytes[starts[1] + 0x48 + 280..]).unwrap().offset, 0x100);
    bytes[starts[1]..][..4].copy_from_slice(&((starts[3] - starts[1]) as u32).to_le_bytes());
    let (seen, diagnostics) = events(&bytes);
    assert!(seen == whole && diagnostics.len() == 1, "{} events, {diagnostics:?}", seen.len());
    // An uncompressed buffer is not split at a payload that resembles a buffer header.
    let mut bytes = fixture(producer, ClockType::PerfCounter, false, 20).unwrap().bytes;
    let (whole, none) = events(&bytes);
    assert_eq!(none, []);
    let header = bytes[2 * 4096..][..0x48].to_vec();
    bytes[3 * 4096 + 0x800..][..0x48].copy_from_slice(&header);
    let (seen, diagnostics) = events(&bytes);
    let kinds: Vec<_> = diagnostics.iter().map(|diagnostic| diagnostic.kind.name()).collect();
    assert!(seen.len() + 9 > whole.len() && !kinds.contains(&"buffer-size"), "{} of {}: {kinds:?}", seen.len(), whole.len());
}

/// Makes the valid end of a buffer larger, in both members that state it.
fn lengthen(bytes: &mut [u8], start: usize) {
    for member in [4, 0x30] {
        let end = bytes[start + member..].first_chunk_mut().unwrap();
        *end = (u32::from_le_bytes(*end) + 0x1000).to_le_bytes();
    }
}

/// The events that are not in the buffer at an offset.
fn of_others(events: &[Seen], start: usize) -> Vec<Seen> {
    events.iter().filter(|event| event.0 as usize != start).cloned().collect()
}

/// BuffersWritten in the log file header.
const WRITTEN: usize = 0x48 + 0x20 + 0x24;

/// The trace files in the folder `ETW_LAYOUTS_ETL`.
fn real_files() -> Vec<std::path::PathBuf> {
    let Some(folder) = test_support::installed::folder("ETW_LAYOUTS_ETL") else { return Vec::new() };
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|extension| extension == "etl")).collect();
    paths.sort();
    paths
}

/// The ranges of the buffers in an undamaged file.
fn bounds(bytes: &[u8]) -> Vec<Range<usize>> {
    let trace = Trace::from_bytes(bytes).unwrap();
    let buffers = trace.buffers().map(Result::unwrap);
    buffers.map(|buffer| buffer.offset() as usize..buffer.offset() as usize + buffer.bytes().len()).collect()
}

/// The offset of the buffer, the offset in it, and the bytes of an event.
type Seen = (u64, u32, Vec<u8>);

/// The events in file order, and the diagnostics. All ways of reading must give the same.
fn events(bytes: &[u8]) -> (Vec<Seen>, Vec<Diagnostic>) {
    let (mut events, mut diagnostics) = (Vec::new(), Vec::new());
    let mut reader = Reader::new(bytes).unwrap();
    while let Some(decoded) = reader.next_buffer().unwrap() {
        match decoded {
            Ok(decoded) => decoded.events().for_each(|event| match event {
                Ok(event) => events.push((decoded.buffer().offset(), event.offset(), event.bytes().to_vec())),
                Err(diagnostic) => diagnostics.push(diagnostic),
            }),
            Err(diagnostic) => diagnostics.push(diagnostic),
        }
    }
    let trace = Trace::from_bytes(bytes).unwrap();
    let (mut count, mut scratch) = (0, Scratch::default());
    for buffer in trace.buffers().flatten() {
        for event in buffer.decode(&mut scratch).events().flatten() {
            let same = events.get(count).is_some_and(|(at, offset, bytes)| {
                (*at, *offset, &bytes[..]) == (buffer.offset(), event.offset(), event.bytes())
            });
            assert!(same);
            count += 1;
        }
    }
    assert_eq!(count, events.len());
    (events, diagnostics)
}

/// Random bytes.
#[test]
fn random_bytes() {
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
        // Buffer headers and the log file header, which affect the result most.
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

/// Reads in every way. Returns the number of diagnostics, or `None` if the bytes are not a trace.
fn read(bytes: &[u8]) -> Option<usize> {
    let trace = Trace::from_bytes(bytes).ok();
    let (mut streamed, mut streamed_diagnostics) = (0, Vec::new());
    if let Ok(mut reader) = Reader::new(bytes) {
        assert!(trace.is_some());
        while let Some(decoded) = reader.next_buffer().unwrap() {
            match decoded {
                Ok(decoded) => decoded.events().for_each(|event| match event {
                    Ok(_) => streamed += 1,
                    Err(diagnostic) => streamed_diagnostics.push(diagnostic),
                }),
                Err(diagnostic) => streamed_diagnostics.push(diagnostic),
            }
        }
    }
    let trace = trace?;
    let (mut scratch, mut events, mut bound, mut diagnostics) = (Scratch::default(), 0, 0, Vec::new());
    for buffer in trace.buffers() {
        let buffer = match buffer {
            Ok(buffer) => buffer,
            Err(diagnostic) => {
                diagnostics.push(diagnostic);
                continue;
            }
        };
        let decoded = buffer.decode(&mut scratch);
        bound += decoded.bytes().len() / 8 + 1;
        for event in decoded.events() {
            match event {
                Ok(event) => {
                    touch(&event, &trace);
                    events += 1;
                }
                Err(diagnostic) => {
                    assert!(!diagnostic.to_string().is_empty());
                    diagnostics.push(diagnostic);
                }
            }
        }
        assert_eq!(written_again_differs(&buffer, &decoded), None);
    }
    assert!(events <= bound);
    assert_eq!((events, &diagnostics), (streamed, &streamed_diagnostics));
    assert!(trace.events().filter(Result::is_ok).count() == events);
    relog(&trace);
    let mut count = diagnostics.len();
    check(&trace, &mut |diagnostic| count += usize::from(!diagnostic.to_string().is_empty()));
    Some(count)
}

/// The events of a damaged file can be copied to a valid file.
fn relog(trace: &Trace<'_>) {
    let Ok(mut relog) = Relog::new(Cursor::new(Vec::new()), trace.log_file(), true) else { return };
    let (mut scratch, mut added) = (Scratch::default(), 0);
    for buffer in trace.buffers().flatten() {
        for event in buffer.decode(&mut scratch).events().flatten() {
            added += usize::from(relog.push(&event, &buffer).unwrap_or(false));
        }
    }
    let saved = relog.finish().unwrap().into_inner();
    let (mut scratch, mut events) = (Scratch::default(), 0);
    for buffer in Trace::from_bytes(&saved).unwrap().buffers() {
        // Headers are copied unchanged, with their impossible times and their duplicates.
        let is_kept = |diagnostic: &Diagnostic| {
            matches!(
                diagnostic.kind.name(),
                "buffer-copy" | "buffer-time" | "start-time" | "clock" | "clock-rate" | "clock-stamp" | "no-times"
            )
        };
        let Ok(buffer) = buffer.inspect_err(|diagnostic| assert!(is_kept(diagnostic), "{diagnostic}")) else { continue };
        events += buffer.decode(&mut scratch).events().inspect(|event| assert!(event.is_ok())).count();
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
