//! Trace files from the writer: any settings, any events, any compression.

use etw_layouts_etl::check::check;
use etw_layouts_etl::compression::Format;
use etw_layouts_etl::wire::{ETW_BUFFER_FLAG, EVENT_HEADER_EXT_TYPE, LOG_FILE_MODE};
use etw_layouts_etl::write::{Error, FileWriter, Producer, Record};
use etw_layouts_etl::{ClockType, Event, EventHeader, Item, LogFile, Scratch, Trace};
use std::io::{self, Cursor, Seek, SeekFrom, Write};
use test_support::traces::{self, PRODUCERS, START};

/// Approximate limit of bytes in events and flushed buffers of one input: fills a large buffer, or several small ones.
fn most_written(log: &LogFile) -> usize {
    (log.buffer_size as usize + (1 << 20)).min(log.buffer_size as usize * 8)
}

/// Maximum size of files and buffers that are also recompressed, as the other formats are slow.
const CONVERTED: usize = 256 << 10;

/// A written event, or one read back.
#[derive(PartialEq)]
struct Written {
    processor: u16,
    stamp: Option<i64>,
    bytes: Vec<u8>,
}

/// Accepted events are read back unchanged, and a check of the file reports nothing; otherwise the writer returned an error. The
/// first eight bytes are the settings, each group of five bytes after them is a step.
pub fn run(input: &[u8]) {
    let Some((&[producer, clock, size, less, processors, name, fails, _], steps)) = input.split_first_chunk() else { return };
    let producer = PRODUCERS[usize::from(producer) % PRODUCERS.len()];
    let (clock, compressed) = (clock / 2 % 3, clock % 2 == 1);
    let mut log = LogFile::new(&producer);
    log.buffer_size = size_of_buffers(size, less);
    log.processors = [1, 2, 3, 3000][usize::from(processors) % if log.buffer_size > 1 << 16 { 3 } else { 4 }];
    let clock = [ClockType::PerfCounter, ClockType::SystemTime, ClockType::CpuCycle][usize::from(clock)];
    (log.start_stamp, log.start_time, log.boot_time) = (traces::start_stamp(clock), START.1, START.1 - 1);
    log.clock = clock.value();
    (log.perf_frequency, log.cpu_mhz) = (3_579_545, 2_400);
    (log.logger_name, log.file_name) = ("\u{3A9}".repeat(usize::from(name) * usize::from(name % 4)), "C:\\Ω.etl".into());
    if compressed {
        log.mode |= LOG_FILE_MODE::EVENT_TRACE_COMPRESSED_MODE.0;
    }
    // In one of eight inputs the disk becomes full once.
    let fails = (fails % 8 == 7).then_some(u32::from(fails / 8) + 1);
    let sink = Sink { file: Cursor::new(Vec::new()), fails };
    match FileWriter::new(sink, producer, log.clone()) {
        Ok(writer) => written(writer, producer, &log, steps),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// From 512 bytes to 16 MiB, with small deviations.
fn size_of_buffers(size: u8, less: u8) -> u32 {
    // Large buffers are slow, and therefore rare.
    let power = 512 << if size < 240 { size % 9 } else { size % 16 };
    match less % 4 {
        0 | 1 => power,
        2 => power - u32::from(less),
        _ => power + u32::from(less),
    }
}

/// Writes a session.
fn written(mut writer: FileWriter<Sink>, producer: Producer, log: &LogFile, steps: &[u8]) {
    let (mut events, mut header) = (Vec::new(), Vec::new());
    let (mut left, mut stamp, mut failed) = (most_written(log), log.start_stamp, false);
    let raw = traces::raw();
    for (number, step) in steps.as_chunks().0.iter().enumerate() {
        let &[kind, processor, time, length, repeat]: &[u8; 5] = step;
        // Some processor numbers are at the limit of the header.
        let processor = if processor < 250 { u16::from(processor % 4) } else { 1795 + u16::from(processor) };
        if kind >= 250 {
            writer.set_flags(ETW_BUFFER_FLAG(u16::from(length % 8)));
            continue;
        }
        let data = data(usize::from(length) * usize::from(length), repeat % 2 == 0, number as u64);
        for _ in 0..=if kind < 200 { repeat / 4 } else { 0 } {
            stamp += i64::from(time as i8) * 30_000;
            let record = match kind {
                200..220 => Record::raw(&raw[usize::from(kind) % raw.len()].1),
                220..230 => Record::raw(&steps[number..]),
                _ => event(kind, stamp, usize::from(repeat % 4), &data),
            };
            let flush = (230..240).contains(&kind);
            let cost = if flush { log.buffer_size as usize } else { record.length() };
            let Some(less) = left.checked_sub(cost) else { break };
            left = less;
            let (result, list) = match kind {
                _ if flush => (writer.flush(processor), None),
                240.. => (writer.push_header(&record), Some(&mut header)),
                _ => (writer.push(processor, &record), Some(&mut events)),
            };
            match result {
                Ok(()) => {
                    assert!(!failed || kind >= 240, "a failed writer continues");
                    let mut bytes = Vec::new();
                    if let Some(list) = list {
                        record.write(&producer, &mut bytes).expect("it was written before");
                        list.push(Written { processor, stamp: record.time_stamp(), bytes });
                    }
                }
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    failed |= matches!(error, Error::Io(_));
                }
            }
        }
    }
    match writer.finish(START.1 + 10_000_000) {
        Ok(sink) => {
            assert!(!failed, "a failed writer finishes");
            read(&sink.file.into_inner(), log, &header, &events);
        }
        Err(error) => assert!(matches!(error, Error::Io(_) | Error::Failed), "{error}"),
    }
}

/// An event of each kind in turn, with up to two extended items and a payload.
fn event(kind: u8, stamp: i64, items: usize, data: &[u8]) -> Record<'_> {
    let mut all = traces::headers(stamp);
    let (is_64_bit, header) = all.swap_remove(usize::from(kind) % all.len());
    let both = [Item::new(EVENT_HEADER_EXT_TYPE(2), &[1; 12]), Item::new(EVENT_HEADER_EXT_TYPE(1), data)];
    match (header, items) {
        (EventHeader::Event(_), 1 | 2) => Record::new(header, is_64_bit, &[7; 9]).with_items(both[..items].to_vec()),
        _ => Record::new(header, is_64_bit, data),
    }
}

/// Compressible or incompressible bytes.
fn data(length: usize, noise: bool, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut data = vec![seed as u8; length];
    if noise {
        for bytes in data.chunks_mut(8) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            bytes.copy_from_slice(&state.to_le_bytes()[..bytes.len()]);
        }
    }
    data
}

/// Reads the session back.
fn read(file: &[u8], log: &LogFile, header: &[Written], events: &[Written]) {
    let trace = Trace::from_bytes(file).expect("a file that the writer finished");
    let own = trace.log_file();
    assert_eq!((&own.logger_name, &own.file_name), (&log.logger_name, &log.file_name));
    // The layout of raw records is unknown, and the number of processors and time stamps are arbitrary; there are no other diagnostics.
    check(&trace, &mut |diagnostic| {
        assert!(matches!(diagnostic.kind.name(), "layout" | "processors" | "event-order"), "{diagnostic}")
    });
    let seen = all_events(&trace);
    // The log file header itself is an event.
    let (first, rest) = seen.split_at(header.len() + 1);
    assert!(first[1..].iter().map(|event| &event.bytes).eq(header.iter().map(|event| &event.bytes)));
    let (mut seen_sorted, mut events_sorted): (Vec<_>, Vec<_>) = (rest.iter().collect(), events.iter().collect());
    // Events of one processor are in the order in which they were written.
    seen_sorted.sort_by_key(|event| event.processor);
    events_sorted.sort_by_key(|event| event.processor);
    assert!(seen_sorted == events_sorted, "{} events written, {} read", events.len(), rest.len());
    let compressed = log.mode & LOG_FILE_MODE::EVENT_TRACE_COMPRESSED_MODE.0 != 0;
    let is_small = file.len().max(log.buffer_size as usize) <= CONVERTED;
    for format in [Format::Lznt1, Format::XpressHuffman] {
        if compressed && is_small {
            let file = traces::in_format(file, format);
            assert!(all_events(&Trace::from_bytes(&file).expect("a file")) == seen, "{format:?}");
        }
    }
}

/// The events in file order.
fn all_events(trace: &Trace<'_>) -> Vec<Written> {
    let (mut events, mut scratch) = (Vec::new(), Scratch::default());
    for buffer in trace.buffers() {
        let buffer = buffer.expect("a buffer that was written");
        let decoded = buffer.decode(&mut scratch);
        assert_eq!(decoded.fault(), None);
        assert_eq!(traces::written_again_differs(&buffer, &decoded), None);
        let processor = buffer.header().processor();
        let event = |event: Event<'_>| Written { processor, stamp: event.time_stamp(), bytes: event.bytes().to_vec() };
        events.extend(decoded.events().map(|read| event(read.expect("an event that was written"))));
    }
    events
}

/// A file in memory with a simulated full disk at one write.
struct Sink {
    file: Cursor<Vec<u8>>,
    fails: Option<u32>,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.fails = self.fails.map(|left| left.wrapping_sub(1));
        if self.fails == Some(0) { Err(io::ErrorKind::StorageFull.into()) } else { self.file.write(bytes) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for Sink {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// Every producer, clock, compression and size, with events of every kind; the largest with incompressible data.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for seed in 0..24u8 {
        let mut input = vec![seed, seed, seed % 12, seed * 7, seed, seed % 5, 0, 0];
        input.extend((0..40).flat_map(|kind| [kind, kind % 3, 1, kind * 3, kind % 8]));
        input.extend([[200 + seed % 20, 0, 1, 0, 0], [230, 1, 0, 0, 0], [251, 0, 0, seed, 0], [7, 1, 1, 200, 7]].as_flattened());
        seeds.push(input);
    }
    let noise = [17, 0, 1, 245, 248].repeat(5);
    seeds.extend([1, 0].map(|compressed| [&[7, compressed, 255, 0, 0, 1, 0, 0][..], &noise].concat()));
    seeds.push([&[7, 1, 255, 2, 0, 1, 0, 0][..], &noise].concat());
    seeds.push([&[7, 0, 1, 0, 1, 1, 15, 0][..], &[17, 0, 1, 20, 40].repeat(9)].concat());
    seeds.push([&[6, 1, 0, 0, 0, 1, 0, 0][..], &[240, 0, 1, 5, 1, 17, 0, 1, 9, 9]].concat());
    seeds
}
