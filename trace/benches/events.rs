//! Throughput of the events of a trace in both orders, and of the first pass, compared with a walk over the same events in file order. Each result
//! is the best of several interleaved rounds, in processor time.
//!
//! Then one and two threads read a whole trace: the largest real one, or that in the variable ETW_LAYOUTS_LARGE. The first pass is the part that
//! one thread does.

use etw_layouts_etl::{self as etl, Scratch};
use etw_layouts_trace::{Error, Event, Events, MEMORY, Order, Trace, in_order};
use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn main() {
    let Some(folder) = std::env::var_os("ETW_LAYOUTS_ETL") else {
        return println!("real files skipped: ETW_LAYOUTS_ETL is not set");
    };
    for name in ["microsoft__net.4.5.2.x86.etl", "airbus-cert__ShutdownPerfDiagLogger.etl"] {
        let bytes: Arc<[u8]> = std::fs::read(Path::new(&folder).join(name)).expect("a file of the folder").into();
        measure(name, &bytes);
    }
    let files = std::fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let largest = files
        .filter(|entry| entry.path().extension().is_some_and(|end| end == "etl"))
        .max_by_key(|entry| entry.metadata().map_or(0, |metadata| metadata.len()));
    let large = std::env::var_os("ETW_LAYOUTS_LARGE").map(PathBuf::from).or(largest.map(|entry| entry.path()));
    threads(&large.expect("a file of the folder"));
}

/// Prints the times of the first pass, and of the events in the order of time on one thread and on two. If other programs use the processors, the
/// elapsed times are of no use; the processor times limit what two idle processors can reach.
fn threads(path: &Path) {
    let (mut open, mut one, mut two) = (Times::MAX, Times::MAX, Times::MAX);
    for _ in 0..3 {
        let trace = open.of(|| Trace::open(path).expect("a trace"));
        for (times, threads) in [(&mut one, 1), (&mut two, 2)] {
            let (slices, _) = trace.slices(None, Order::Time, 2 << 20);
            let count: Result<u64, Error> = times.of(|| {
                let mut count = 0;
                let decode = |event: Event<'_>| event.decode().map_or(0, |decoded| decoded.fields.iter().count() as u64);
                in_order(
                    slices,
                    threads,
                    || trace.no_events(),
                    |events, slice, put| {
                        put(events.of_slice(slice).map(|event| Ok(decode(event?))).sum());
                    },
                    |part: Result<u64, Error>| {
                        count += part?;
                        Ok(())
                    },
                )
                .map(|()| count)
            });
            black_box(count.expect("fields"));
        }
    }
    let seconds = |time: Duration| time.as_secs_f64();
    let [all, limit] = [open.elapsed + one.elapsed, open.processor + one.processor].map(seconds);
    println!(
        "{}: first pass {:.2?}, then all fields in {:.2?} on one thread, {:.2?} on two; two are {:.2} times as fast as one; by processor \
         time {:.0} % are of one thread, so at most {:.2} times",
        path.display(),
        open.elapsed,
        one.elapsed,
        two.elapsed,
        all / seconds(open.elapsed + two.elapsed),
        100.0 * seconds(open.processor) / limit,
        limit / seconds(open.processor + one.processor / 2)
    );
}

/// The shortest times of some work.
struct Times {
    elapsed: Duration,
    /// The processor time of all threads.
    processor: Duration,
}

impl Times {
    const MAX: Self = Self { elapsed: Duration::MAX, processor: Duration::MAX };

    fn of<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let (start, used) = (Instant::now(), clock(ClockId::ProcessCPUTime));
        let result = work();
        self.elapsed = self.elapsed.min(start.elapsed());
        self.processor = self.processor.min(clock(ClockId::ProcessCPUTime).saturating_sub(used));
        result
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
    let start = clock(ClockId::ThreadCPUTime);
    black_box(work());
    *best = clock(ClockId::ThreadCPUTime).saturating_sub(start).min(*best);
}

fn clock(clock: ClockId) -> Duration {
    let now = clock_gettime(clock);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}
