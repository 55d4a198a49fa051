//! Rates of converting events to tables, on one core, compared with a plain walk over the events of the file with their times. Each result is the
//! best of several interleaved rounds.
//!
//! With `ETW_LAYOUTS_ETL`, real files are measured too.

use etw_layouts_etl::header::{Counters, EventHeader};
use etw_layouts_etl::wire::{Arch, PERFINFO_TRACE_HEADER, SYSTEM_TRACE_HEADER, large, zero};
use etw_layouts_etl::write::{FileWriter, Producer, Record};
use etw_layouts_etl::{self as etl, LogFile};
use etw_layouts_table::write::{Format, Writer};
use etw_layouts_table::{Batch, Counts, Error, Merge, Options, Order, Payload, Rows, Shape};
use etw_layouts_trace::Trace;
use std::collections::HashMap;
use std::hint::black_box;
use std::io::{self, Cursor};
use std::sync::Arc;
use std::time::{Duration, Instant};

const PRODUCER: Producer = Producer::new(10, 0, 19041, Arch::X64);
const EVENTS: usize = 400_000;

fn main() {
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let path = wide("\\Device\\HarddiskVolume3\\Windows\\System32\\kernel32.dll\0");
    let number = |bytes: &[&[u8]]| bytes.concat();
    // Context switches, samples and ready threads, the most frequent events in performance traces.
    let fixed = [
        (0x0524, 3, number(&[&4u32.to_le_bytes(), &8u32.to_le_bytes(), &[8, 9, 0, 1, 5, 1, 2, 0], &7u32.to_le_bytes(), &[0; 4]])),
        (0x0F2E, 2, number(&[&0xFFFF_F800_1234_5678u64.to_le_bytes(), &8u32.to_le_bytes(), &1u32.to_le_bytes()])),
        (0x0532, 2, number(&[&8u32.to_le_bytes(), &[1, 0, 2, 0]])),
    ];
    // Loaded images and opened files.
    let strings = [
        (
            0x140A,
            3,
            number(&[&0x7FF9_0000_0000u64.to_le_bytes(), &0x9_0000u64.to_le_bytes(), &8u32.to_le_bytes(), &[7; 36], &path]),
        ),
        (0x0440, 4, number(&[&1u64.to_le_bytes(), &2u64.to_le_bytes(), &[3; 16], &path])),
    ];
    compare("kernel events of fixed classes", &made(&fixed));
    compare("kernel events with paths", &made(&strings));
    let Some(folder) = std::env::var_os("ETW_LAYOUTS_ETL") else {
        return println!("real files skipped: ETW_LAYOUTS_ETL is not set");
    };
    for name in ["airbus-cert__ShutdownPerfDiagLogger.etl", "microsoft__net.4.5.2.x64.etl"] {
        compare(name, &std::fs::read(std::path::Path::new(&folder).join(name)).expect("a file of the folder"));
    }
}

/// A trace of kernel events.
fn made(kinds: &[(u16, u16, Vec<u8>)]) -> Vec<u8> {
    let log = LogFile { processors: 4, ..LogFile::new(&PRODUCER) };
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), PRODUCER, log).expect("a writer");
    let (mut system, mut header): (SYSTEM_TRACE_HEADER, PERFINFO_TRACE_HEADER) = (zero(), zero());
    (system.ThreadId, system.ProcessId) = (8, 4);
    for index in 0..EVENTS {
        let (hook, version, payload) = &kinds[index % kinds.len()];
        let mut packet = system.Packet();
        packet.set_HookId(etw_layouts::constants::HOOK_ID(*hook));
        system.set_Packet(packet);
        header.set_Packet(packet);
        system.set_Version(*version);
        header.set_Version(etw_layouts::constants::TRACE_HEADER_VERSION_FLAG(*version));
        system.SystemTime = large(index as i64 * 100);
        header.set_SystemTime(system.SystemTime);
        let header = match hook >> 8 {
            0x05 | 0x0F => EventHeader::PerfInfo(header, Counters::default()),
            _ => EventHeader::System(system),
        };
        writer.push((index % 4) as u16, &Record::new(header, true, payload)).expect("an event");
    }
    writer.finish(0).expect("a file").into_inner()
}

fn compare(name: &str, bytes: &[u8]) {
    let bytes: Arc<[u8]> = bytes.into();
    let reader = etl::Trace::from_bytes(&bytes[..]).expect("a trace");
    let trace = Trace::from_bytes(bytes.clone()).expect("a trace");
    let options = |shape, order, payload| Options { shape, order, payload };
    let ways = [
        ("typed, file order", options(Shape::Typed, Order::File, Payload::Json)),
        ("typed, time order", options(Shape::Typed, Order::Time, Payload::Json)),
        ("narrow with JSON", options(Shape::Narrow, Order::File, Payload::Json)),
        ("narrow with bytes", options(Shape::Narrow, Order::File, Payload::Binary)),
    ];
    let mut best = vec![Duration::MAX; 2 + 2 * ways.len()];
    for _ in 0..7 {
        time(&mut best[0], || {
            let mut sum = 0;
            for event in reader.buffers().flatten().flat_map(|buffer| {
                let mut scratch = Default::default();
                let decoded = buffer.decode(&mut scratch);
                decoded.events().flatten().map(|event| event.time_stamp().unwrap_or(0)).collect::<Vec<_>>()
            }) {
                sum += event;
            }
            sum
        });
        time(&mut best[1], || Trace::from_bytes(bytes.clone()).map(|trace| trace.event_count()));
        for (way, best) in ways.iter().zip(best[2..].chunks_mut(2)) {
            time(&mut best[0], || {
                batches(&trace, way.1, |rows| {
                    black_box(rows);
                    Ok(())
                })
            });
            time(&mut best[1], || {
                let mut files = HashMap::new();
                batches(&trace, way.1, |batch| {
                    let new = || Writer::new(Format::Parquet, &batch.table, io::sink());
                    let writer = match files.entry(format!("{:?} {}", batch.table.kind, batch.table.layout)) {
                        std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
                        std::collections::hash_map::Entry::Vacant(entry) => entry.insert(new()?),
                    };
                    writer.write(&batch.rows)
                });
                files.into_values().for_each(|writer| _ = writer.finish().expect("a file"));
            });
        }
    }
    let rate = |time: Duration| trace.event_count() as f64 / time.as_secs_f64() / 1e6;
    let times = |time: Duration| time.as_secs_f64() / best[0].as_secs_f64();
    println!(
        "{name}, {} events: bare walk {:.1} million events/s; first pass {:.1}",
        trace.event_count(),
        rate(best[0]),
        rate(best[1])
    );
    for (way, best) in ways.iter().zip(best[2..].chunks(2)) {
        println!(
            "  {}: to Arrow {:.2} million events/s, {:.1} times the walk; to Parquet {:.2} million, {:.1} times",
            way.0,
            rate(best[0]),
            times(best[0]),
            rate(best[1]),
            times(best[1])
        );
    }
}

fn batches(trace: &Trace, options: Options, mut take: impl FnMut(Batch) -> Result<(), Error>) {
    let rows = Rows { trace, file: None, filters: &[], options, threads: 1 };
    let (mut merge, mut counts) = (Merge::default(), Counts::default());
    let is_read = rows.read::<Error>(|part| {
        counts.add(part.counts);
        part.batches.into_iter().try_for_each(|batch| merge.add(batch, &mut take))
    });
    is_read.and_then(|_| merge.rest(&mut take)).expect("batches");
    assert_eq!(counts.rows, trace.event_count());
}

/// Keeps the shortest duration of some work.
fn time<T>(best: &mut Duration, work: impl FnOnce() -> T) {
    let start = Instant::now();
    black_box(work());
    *best = start.elapsed().min(*best);
}
