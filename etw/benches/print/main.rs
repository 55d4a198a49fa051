//! Measures how fast events are printed, compared with how fast they are read. All commands take turns in each round; the best
//! round counts. Headers are printed to a file, and the rates include the system's time to write it. Fields of kernel events go
//! to a pipe.

mod serialized;

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use test_support::traces::{PRODUCERS, fixed_payload, fixture, kernel_events};

fn main() {
    let folder = std::env::temp_dir().join(format!("etw-print-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (trace, out) = (folder.join("a.etl"), folder.join("out"));
    let made = fixture(PRODUCERS[7], etw_layouts_etl::ClockType::PerfCounter, false, 20_000).expect("a supported kind of file");
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
    let (mut serde, mut lines) = (Duration::MAX, 0);
    for _ in 0..10 {
        let (time, count) = serialized::time(&trace, &out);
        (serde, lines) = (time.min(serde), count);
    }
    let serde = lines as f64 / serde.as_secs_f64() / 1e6;
    println!("by serde_json, headers without names: {serde:.2} million/s; the program's JSON {:.2} times that", json / serde);
    fields(&folder);
    std::fs::remove_dir_all(&folder).expect("the folder can be removed");
}

/// Kernel events with their fields.
fn fields(folder: &Path) {
    const EVENTS: usize = 1_000_000;
    let kinds = [(0x0524, 4), (0x0532, 2), (0x0F2E, 2), (0x010A, 3)];
    let kinds = kinds.map(|(hook, version)| (hook, version, fixed_payload(hook, version)));
    let trace = folder.join("kernel.etl");
    std::fs::write(&trace, kernel_events(&kinds, EVENTS)).expect("a trace");
    let ways: [&[&str]; 3] =
        [&["check"], &["events", "--payload", "fields"], &["events", "--payload", "fields", "--format", "json"]];
    let mut best = [Duration::MAX; 3];
    let mut bytes = [0; 3];
    for _ in 0..5 {
        for ((way, best), bytes) in ways.iter().zip(&mut best).zip(&mut bytes) {
            let mut command = Command::new(env!("CARGO_BIN_EXE_etw"));
            command.arg("etl").args(*way).arg(&trace).stdin(Stdio::null()).stderr(Stdio::null()).stdout(Stdio::piped());
            let start = Instant::now();
            let mut child = command.spawn().expect("the program runs");
            *bytes = std::io::copy(&mut child.stdout.take().expect("a pipe"), &mut std::io::sink()).expect("output");
            assert!(child.wait().expect("the program ends").success());
            *best = start.elapsed().min(*best);
        }
    }
    let [check, text, json] = best.map(|time| EVENTS as f64 / time.as_secs_f64() / 1e6);
    println!(
        "printing {EVENTS} kernel events with their fields: {text:.2} million/s as text, {json:.2} as JSON of {:.0} bytes a line; checked \
         without a line each {check:.2}",
        bytes[2] as f64 / EVENTS as f64
    );
}
