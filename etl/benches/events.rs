//! Rates of reading and writing events, each beside the work that it cannot do without, in the same run.

use etw_layouts_etl::header::{Counters, Header};
use etw_layouts_etl::layout::{Arch, PERFINFO_TRACE_HEADER, large, zero};
use etw_layouts_etl::write::{FileWriter, Record, Target};
use etw_layouts_etl::{LogFile, Scratch, Trace, map};
use std::hint::black_box;
use std::io::{self, Cursor, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant};

const TARGET: Target = Target::new(10, 0, 19041, Arch::X64);

fn main() {
    let bytes = made(1_000_000);
    walk("kernel events, made", &bytes);
    write(1_000_000);
    let Some(folder) = std::env::var_os("ETW_LAYOUTS_ETL") else {
        return println!("real files skipped: ETW_LAYOUTS_ETL is not set");
    };
    let file = |name: &str| map::map(Path::new(&folder).join(name)).expect("a file of the folder");
    walk("ShutdownPerfDiagLogger", &file("airbus-cert__ShutdownPerfDiagLogger.etl"));
    in_time("net.4.5.2.x86, compressed, 8 processors", &file("microsoft__net.4.5.2.x86.etl"));
}

/// The walk over headers, and over bare lengths.
fn walk(name: &str, bytes: &[u8]) {
    let trace = Trace::new(bytes).expect("a trace");
    let images: Vec<(usize, usize)> = trace
        .buffers()
        .skip(1)
        .map(|buffer| {
            let buffer = buffer.expect("a buffer");
            let start = buffer.offset() as usize;
            (start, start + buffer.image(&mut Scratch::default()).bytes().len())
        })
        .collect();
    let mut count = 0;
    let bare = best(|| {
        count = 0;
        for &(start, end) in &images {
            let image = &bytes[start..end];
            let mut at = 0x48;
            while let Some(word) = image.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
                // Kernel events have their length here.
                let length = u16::from_le_bytes([word[4], word[5]]);
                at += (usize::from(length) + 7) & !7;
                count += 1;
            }
        }
        black_box(count);
    });
    let ours = best(|| {
        let (mut events, mut sum) = (0, 0);
        for buffer in trace.buffers().skip(1).flatten() {
            for event in buffer.image(&mut Scratch::default()).events().flatten() {
                events += 1;
                sum += event.kind() as usize;
            }
        }
        assert_eq!(black_box(events), count);
        black_box(sum);
    });
    let times = best(|| {
        let mut sum = 0;
        for buffer in trace.buffers().skip(1).flatten() {
            for event in buffer.image(&mut Scratch::default()).events().flatten() {
                let time = event.time_stamp().map_or(0, |stamp| trace.clock().system_time(stamp));
                sum += time + event.payload().len() as i64;
            }
        }
        black_box(sum);
    });
    let rate = |time: Duration| count as f64 / time.as_secs_f64() / 1e6;
    println!(
        "header walk, {name}: {:.1} million events/s, {:.2} times a bare walk ({:.1}); with system time and payload {:.1}",
        rate(ours),
        ours.as_secs_f64() / bare.as_secs_f64(),
        rate(bare),
        rate(times)
    );
}

fn in_time(name: &str, bytes: &[u8]) {
    let trace = Trace::new(bytes).expect("a trace");
    let mut count = 0;
    let time = best(|| {
        count = 0;
        let (mut order, mut sum) = (trace.by_time(), 0);
        while let Some(event) = order.next_event() {
            sum += event.map_or(0, |timed| timed.event.time_stamp().unwrap_or(0));
            count += 1;
        }
        black_box(sum);
    });
    let file_order = best(|| {
        let (mut scratch, mut sum) = (Scratch::default(), 0);
        for buffer in trace.buffers().flatten() {
            for event in buffer.image(&mut scratch).events().flatten() {
                sum += event.time_stamp().unwrap_or(0);
            }
        }
        black_box(sum);
    });
    let decompression = best(|| {
        let mut scratch = Scratch::default();
        for buffer in trace.buffers().flatten() {
            black_box(buffer.image(&mut scratch).bytes());
        }
    });
    let rate = |time: Duration| f64::from(count) / time.as_secs_f64() / 1e6;
    println!(
        "order of time, {name}: {:.1} million events/s; file order {:.1}, decompression alone {:.1}",
        rate(time),
        rate(file_order),
        rate(decompression)
    );
}

fn write(events: usize) {
    let length = made(events).len() as f64;
    let time = best(|| {
        black_box(fill(events, Nowhere(0)));
    });
    let source = vec![1u8; 1 << 16];
    let mut target = vec![0u8; 1 << 16];
    let copy = best(|| {
        for _ in 0..length as usize >> 16 {
            target.copy_from_slice(black_box(&source));
            black_box(&mut target);
        }
    });
    println!(
        "writing: {:.2} GB/s, {:.1} million events/s; a copy of the bytes {:.2} GB/s",
        length / time.as_secs_f64() / 1e9,
        events as f64 / time.as_secs_f64() / 1e6,
        length / copy.as_secs_f64() / 1e9
    );
}

/// A file of kernel events, all of which have their length at the same place.
fn made(events: usize) -> Vec<u8> {
    fill(events, Cursor::new(Vec::with_capacity(events * 96))).into_inner()
}

/// A file that takes bytes and keeps none, so that the rate is that of making them.
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
    let log = LogFile { processors: 4, ..LogFile::new(&TARGET) };
    let mut writer = FileWriter::new(out, TARGET, log).expect("a writer");
    let payload = [0x5A; 200];
    let mut header: PERFINFO_TRACE_HEADER = zero();
    for index in 0..events {
        header.set_SystemTime(large(index as i64 * 100));
        let payload = &payload[..8 + index * 13 % 90];
        let record = Record::new(Header::PerfInfo(header, Counters::default()), true, payload);
        writer.push((index % 4) as u16, &record).expect("an event");
    }
    writer.finish(0).expect("a file")
}

fn best(mut work: impl FnMut()) -> Duration {
    let mut best = Duration::MAX;
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(2) {
        let round = Instant::now();
        work();
        best = best.min(round.elapsed());
    }
    best
}
