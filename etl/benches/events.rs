//! Throughput of reading and writing events. Each rate is compared with the rate of the unavoidable work in the same run. Each
//! result is the best of several interleaved rounds.

use etw_layouts_etl::header::{Counters, EventHeader};
use etw_layouts_etl::wire::{Arch, PERFINFO_TRACE_HEADER, large, zero};
use etw_layouts_etl::write::{FileWriter, Producer, Record};
use etw_layouts_etl::{Filter, LogFile, Scratch, Trace, Uuid, names};
use std::hint::black_box;
use std::io::{self, Cursor, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant};

const PRODUCER: Producer = Producer::new(10, 0, 19041, Arch::X64);

fn main() {
    let bytes = made(100_000);
    walk("kernel events, made", &bytes);
    write(100_000);
    let Some(folder) = std::env::var_os("ETW_LAYOUTS_ETL") else {
        return println!("real files skipped: ETW_LAYOUTS_ETL is not set");
    };
    let file = |name: &str| std::fs::read(Path::new(&folder).join(name)).expect("a file of the folder");
    walk("ShutdownPerfDiagLogger", &file("airbus-cert__ShutdownPerfDiagLogger.etl"));
}

/// Compares a walk over event headers with a walk over bare lengths, alternating for each buffer.
fn walk(name: &str, bytes: &[u8]) {
    let trace = Trace::from_bytes(bytes).expect("a trace");
    let mut scratch = Scratch::default();
    let buffers: Vec<_> = trace.buffers().skip(1).map(|buffer| buffer.expect("a buffer")).collect();
    let mut best = vec![[Duration::MAX; 4]; buffers.len()];
    // No trace has events of this provider or of this group. The filter has to examine kernel events to find their group.
    let group = names::provider_named("EVENT_TRACE_GROUP_SPARE1").expect("a group");
    let filter = Filter::new().provider(Uuid::from_u128(1)).provider(group);
    let mut count = 0;
    for round in 0..30 {
        for (buffer, best) in buffers.iter().zip(&mut best) {
            let decoded = buffer.decode(&mut scratch);
            let (mut bare, mut walked) = (0, 0);
            time(&mut best[0], || {
                let mut at = 0x48;
                while let Some(word) = decoded.bytes().get(at..).and_then(|rest| rest.first_chunk::<8>()) {
                    // Kernel events have their length at this offset.
                    let length = u16::from_le_bytes([word[4], word[5]]);
                    at += (usize::from(length) + 7) & !7;
                    bare += 1;
                }
                black_box(bare)
            });
            time(&mut best[1], || {
                let mut sum = 0;
                for event in buffer.decode(&mut Scratch::default()).events().flatten() {
                    walked += 1;
                    sum += event.header_type() as usize;
                }
                black_box(sum)
            });
            time(&mut best[2], || {
                let mut sum = 0;
                for event in buffer.decode(&mut Scratch::default()).events().flatten() {
                    let time = event.time_stamp().map_or(0, |stamp| trace.clock().system_time(stamp));
                    sum += time + event.payload().len() as i64;
                }
                black_box(sum)
            });
            time(&mut best[3], || {
                let (mut taken, processor) = (0, buffer.header().processor());
                for event in buffer.decode(&mut Scratch::default()).events().flatten() {
                    taken += usize::from(filter.matches(&event, processor, trace.clock()));
                }
                assert_eq!(black_box(taken), 0);
            });
            assert_eq!(bare, walked);
            if round == 0 {
                count += bare;
            }
        }
    }
    let [bare, ours, times, filtered] = [0, 1, 2, 3].map(|which| best.iter().map(|best| best[which].as_secs_f64()).sum::<f64>());
    let rate = |time: f64| f64::from(count) / time / 1e6;
    println!(
        "a filter that rejects by provider, {name}: {:.1} million events/s, {:.2} times the time of a bare walk",
        rate(filtered),
        filtered / bare
    );
    println!(
        "header walk, {name}: {:.1} million events/s, {:.2} times the time of a bare walk ({:.1}); with system time and payload {:.1}",
        rate(ours),
        ours / bare,
        rate(bare),
        rate(times)
    );
}

/// Keeps the shortest duration of some work.
fn time<T>(best: &mut Duration, work: impl FnOnce() -> T) {
    let start = Instant::now();
    black_box(work());
    *best = start.elapsed().min(*best);
}

fn write(events: usize) {
    let length = made(events).len() as f64;
    let source = vec![1u8; 1 << 16];
    let mut target = vec![0u8; 1 << 16];
    let mut best = [Duration::MAX; 2];
    for _ in 0..60 {
        time(&mut best[0], || fill(events, Nowhere(0)).0);
        time(&mut best[1], || {
            for _ in 0..length as usize >> 16 {
                target.copy_from_slice(black_box(&source));
                black_box(&mut target);
            }
        });
    }
    let [time, copy] = best;
    println!(
        "writing: {:.2} GB/s, {:.1} million events/s; a copy of the bytes {:.2} GB/s",
        length / time.as_secs_f64() / 1e9,
        events as f64 / time.as_secs_f64() / 1e6,
        length / copy.as_secs_f64() / 1e9
    );
}

/// A file of kernel events, which all have their length at the same offset.
fn made(events: usize) -> Vec<u8> {
    fill(events, Cursor::new(Vec::with_capacity(events * 96))).into_inner()
}

/// Discards its bytes, so that only the creation of events is measured.
struct Nowhere(u64);

impl Write for Nowhere {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        black_box(bytes);
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Nowhere {
    fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
        Ok(self.0)
    }
}

fn fill<W: Write + Seek>(events: usize, out: W) -> W {
    let log = LogFile { processors: 4, ..LogFile::new(&PRODUCER) };
    let mut writer = FileWriter::new(out, PRODUCER, log).expect("a writer");
    let payload = [0x5A; 200];
    let mut header: PERFINFO_TRACE_HEADER = zero();
    for index in 0..events {
        header.set_SystemTime(large(index as i64 * 100));
        let payload = &payload[..8 + index * 13 % 90];
        let record = Record::new(EventHeader::PerfInfo(header, Counters::default()), true, payload);
        writer.push((index % 4) as u16, &record).expect("an event");
    }
    writer.finish(0).expect("a file")
}
