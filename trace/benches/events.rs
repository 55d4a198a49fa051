//! Throughput of the events of a trace in both orders, and of the first pass, compared with a walk over the same events in file order. Each result
//! is the best of several interleaved rounds, in processor time.

use etw_layouts_etl::{self as etl, Scratch};
use etw_layouts_trace::{Events, MEMORY, Order, Trace};
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

fn main() {
    let Some(folder) = std::env::var_os("ETW_LAYOUTS_ETL") else {
        return println!("real files skipped: ETW_LAYOUTS_ETL is not set");
    };
    for name in ["microsoft__net.4.5.2.x86.etl", "airbus-cert__ShutdownPerfDiagLogger.etl"] {
        let bytes: Arc<[u8]> = std::fs::read(Path::new(&folder).join(name)).expect("a file of the folder").into();
        measure(name, &bytes);
    }
}

fn measure(name: &str, bytes: &Arc<[u8]>) {
    let mut best = [Duration::MAX; 6];
    let trace = Trace::from_bytes(bytes.clone()).expect("a trace");
    let reader = etl::Trace::from_bytes(&bytes[..]).expect("a trace");
    for _ in 0..30 {
        time(&mut best[0], || {
            let (mut scratch, mut sum) = (Scratch::default(), 0);
            for buffer in reader.buffers().flatten() {
                for event in buffer.decode(&mut scratch).events().flatten() {
                    sum += event.time_stamp().unwrap_or(0);
                }
            }
            sum
        });
        time(&mut best[1], || Trace::from_bytes(bytes.clone()).map(|trace| trace.event_count()));
        let stamps = |events: Events<'_>| {
            events.map(|event| event.expect("an event").header().time_stamp().unwrap_or(0)).fold(0, i64::wrapping_add)
        };
        time(&mut best[2], || stamps(trace.events().in_file_order()));
        time(&mut best[3], || stamps(trace.events()));
        time(&mut best[4], || trace.slices(None, Order::Time, MEMORY).0.len());
        time(&mut best[5], || {
            trace.events().map(|event| event.expect("an event").who().by.process.unwrap_or(0)).fold(0, u32::wrapping_add)
        });
    }
    let rate = |time: Duration| trace.event_count() as f64 / time.as_secs_f64() / 1e6;
    let [walk, first, file, by_time, _, who] = best.map(rate);
    println!(
        "{name}: million events/s: walk in file order {walk:.1}; first pass {first:.1} ({:.2} times the time of the walk); file order \
         {file:.1} ({:.2}); order of time {by_time:.1} ({:.2}); with processes {who:.1} ({:.2}); slices {:.1} ms",
        walk / first,
        walk / file,
        walk / by_time,
        walk / who,
        best[4].as_secs_f64() * 1e3
    );
}

/// Keeps the shortest processor time of some work.
fn time<T>(best: &mut Duration, work: impl FnOnce() -> T) {
    let start = now();
    black_box(work());
    *best = now().saturating_sub(start).min(*best);
}

/// The processor time of this thread.
fn now() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}
