//! Measures the memory for a large trace: `cargo test -p etw-layouts-table --release -- --ignored --nocapture`. `ETW_LAYOUTS_GIB` sets the size of the
//! trace, 10 by default.

use etw_layouts_etl::LogFile;
use etw_layouts_etl::header::{Counters, EventHeader};
use etw_layouts_etl::wire::{Arch, PERFINFO_TRACE_HEADER, large, zero};
use etw_layouts_etl::write::{FileWriter, Producer, Record};
use etw_layouts_table::write::{Format, ROWS, Writer};
use etw_layouts_table::{Counts, Error, Kind, Merge, Options, Order, Rows, Shape};
use etw_layouts_trace::Trace;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::time::Instant;
use test_support::folder::Folder;

/// The peak memory of the process so far, in MB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) / 1024
}

#[test]
#[ignore = "writes a trace of 10 GiB"]
fn large_trace() {
    let gib: f64 = std::env::var("ETW_LAYOUTS_GIB").ok().and_then(|gib| gib.parse().ok()).unwrap_or(10.0);
    let folder = Folder::new("large");
    let path = folder.0.join("large.etl");
    let producer = Producer::new(10, 0, 19041, Arch::X64);
    let log = LogFile { processors: 16, buffer_size: 1 << 20, ..LogFile::new(&producer) };
    let mut writer = FileWriter::new(BufWriter::new(File::create(&path).unwrap()), producer, log).unwrap();
    let mut header: PERFINFO_TRACE_HEADER = zero();
    let mut packet = header.Packet();
    packet.set_HookId(etw_layouts::constants::HOOK_ID(0x0524));
    header.set_Packet(packet);
    header.set_Version(etw_layouts::constants::TRACE_HEADER_VERSION_FLAG(3));
    let events = (gib * (1u64 << 30) as f64 / 40.0) as u64;
    for index in 0..events {
        header.set_SystemTime(large(index as i64 * 10));
        // Some processors have many events, others few.
        let processor = (index.trailing_zeros() & 15) as u16;
        writer.push(processor, &Record::new(EventHeader::PerfInfo(header, Counters::default()), true, &[1; 24])).unwrap();
    }
    writer.finish(0).unwrap();
    println!("{} bytes, peak before {} MB", fs::metadata(&path).unwrap().len(), peak());
    let trace = Trace::open(&path).unwrap();
    println!("first pass: {} events, peak {} MB", trace.event_count(), peak());
    for (shape, order) in [(Shape::Typed, Order::Time), (Shape::Narrow, Order::Time)] {
        let start = Instant::now();
        let options = Options { shape, order, ..Options::default() };
        let (mut merge, mut counts) = (Merge::default(), Counts::default());
        let mut files: HashMap<String, (Writer<io::Sink>, u64)> = HashMap::new();
        let mut write = |batch: etw_layouts_table::Batch| -> Result<(), Error> {
            let table = match &batch.table.kind {
                Kind::Event { provider, event, .. } => format!("{provider}/{event}"),
                kind => format!("{kind:?}"),
            };
            // As in the program. There are fewer tables here than the program keeps files open.
            if files.get(&table).is_none_or(|(_, rows)| *rows >= ROWS) {
                let writer = Writer::new(Format::Parquet, &batch.table, io::sink())?;
                files.insert(table.clone(), (writer, 0)).map_or(Ok(io::sink()), |(full, _)| full.finish())?;
            }
            files.get_mut(&table).map_or(Ok(()), |(writer, rows)| {
                *rows += batch.rows.num_rows() as u64;
                writer.write(&batch.rows)
            })
        };
        let rows = Rows { trace: &trace, file: None, filters: &[], options, threads: 2 };
        let is_ordered = rows.read::<Error>(|part| {
            counts.add(part.counts);
            part.batches.into_iter().try_for_each(|batch| merge.add(batch, &mut write))
        });
        assert!(is_ordered.unwrap());
        merge.rest(&mut write).unwrap();
        assert_eq!(counts.rows, trace.event_count());
        let rate = counts.rows as f64 / start.elapsed().as_secs_f64() / 1e6;
        println!("{shape:?} in time order: {rate:.2} million events/s to Parquet, peak {} MB", peak());
        assert!(peak() < 256, "{} MB", peak());
    }
}
