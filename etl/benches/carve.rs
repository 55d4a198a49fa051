//! Rates of the search for trace buffers, compared in the same run with reading the same bytes: random bytes, and the files in
//! ETW_LAYOUTS_ETL one after the other.

use etw_layouts_etl::carve::find;
use std::fs;
use std::hint::black_box;
use std::io::Read;
use std::time::{Duration, Instant};

fn main() {
    println!("rates in GB/s on one core, best of several rounds, and as a part of the rate of reading");
    let mut random = fastrand::Rng::with_seed(1);
    let mut bytes = vec![0; 1 << 30];
    random.fill(&mut bytes);
    measure("random bytes", &bytes);
    match std::env::var_os("ETW_LAYOUTS_ETL") {
        None => println!("real buffers skipped: ETW_LAYOUTS_ETL is not set"),
        Some(folder) => {
            let entries = fs::read_dir(folder).expect("the folder of ETW_LAYOUTS_ETL").flatten();
            let files = entries.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "etl"));
            let mut bytes = Vec::new();
            for file in files {
                bytes.extend(fs::read(file.path()).expect("a file of ETW_LAYOUTS_ETL"));
                bytes.resize(bytes.len().next_multiple_of(512), 0);
            }
            measure("real buffers", &bytes);
        }
    }
}

fn measure(name: &str, bytes: &[u8]) {
    let mut best = [Duration::MAX; 3];
    let mut buffers = [0; 3];
    for _ in 0..5 {
        let mut time = |which: usize, work: &mut dyn FnMut() -> usize| {
            let start = Instant::now();
            buffers[which] = work();
            best[which] = best[which].min(start.elapsed());
        };
        time(0, &mut || {
            let (mut source, mut chunk) = (bytes, vec![0; 4 << 20]);
            while source.read(&mut chunk).is_ok_and(|count| count > 0) {
                black_box(&chunk);
            }
            0
        });
        for (which, alignment) in [(1, 512), (2, 8)] {
            time(which, &mut || {
                let mut buffers = 0;
                find(bytes, alignment, &mut |_| buffers += 1).expect("bytes in memory");
                buffers
            });
        }
    }
    let rate = |time: Duration| bytes.len() as f64 / time.as_secs_f64() / 1e9;
    println!("{name}: {} MiB; reading {:.2} GB/s", bytes.len() >> 20, rate(best[0]));
    for (which, alignment) in [(1, 512), (2, 8)] {
        let part = best[0].as_secs_f64() / best[which].as_secs_f64();
        println!("  alignment {alignment}: {:.2} GB/s ({part:.2} of reading), {} buffers", rate(best[which]), buffers[which]);
    }
}
