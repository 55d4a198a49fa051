//! Rates of printing events to a file, beside the rate of reading them, in the same run: the best of several rounds in which all
//! have their turn. What the system takes to write the file is in them.

use std::fs::File;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use test_support::traces::{PRODUCERS, fixture};

fn main() {
    let folder = std::env::temp_dir().join(format!("etw-print-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (trace, out) = (folder.join("a.etl"), folder.join("out"));
    let made = fixture(PRODUCERS[7], etw_layouts_etl::ClockType::PerfCounter, false, 20_000).expect("what this version writes");
    File::create(&trace).and_then(|mut file| file.write_all(&made.bytes)).expect("a trace");
    let ways: [&[&str]; 3] = [&["check"], &["events"], &["events", "--format", "json"]];
    let mut best = [Duration::MAX; 3];
    for _ in 0..10 {
        for (way, best) in ways.iter().zip(&mut best) {
            let mut command = Command::new(env!("CARGO_BIN_EXE_etw"));
            command.arg("etl").args(*way).arg(&trace).stdin(Stdio::null()).stderr(Stdio::null());
            command.stdout(File::create(&out).expect("a file"));
            let start = Instant::now();
            command.status().expect("the program runs");
            *best = start.elapsed().min(*best);
        }
    }
    let [check, text, json] = best.map(|time| made.events.len() as f64 / time.as_secs_f64() / 1e6);
    println!(
        "printing {} events: {text:.2} million/s as text, {json:.2} as JSON; checked without a line each {check:.2}; \
         text takes {:.2} times that, JSON {:.2}",
        made.events.len(),
        check / text,
        check / json
    );
    std::fs::remove_dir_all(&folder).expect("the folder goes");
}
