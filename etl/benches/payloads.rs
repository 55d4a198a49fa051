//! Rates of decoding kernel events and visiting every field, compared with a walk over the headers of the same events. Each result is the best
//! of several interleaved rounds. With `ETW_LAYOUTS_PYTHON`, dissect.etl reads the same file.

use etw_layouts::events;
use etw_layouts_etl::payload::Data;
use etw_layouts_etl::{Schemas, Scratch, Trace};
use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use test_support::traces::{fixed_payload, kernel_events};

const EVENTS: usize = 60_000;

fn main() {
    let fixed =
        [(0x0524, 4), (0x0532, 2), (0x0F2E, 2), (0x010A, 3)].map(|(hook, version)| (hook, version, fixed_payload(hook, version)));
    for (hook, version, payload) in &fixed {
        run(&format!("made, {}", name(*hook, *version)), &kernel_events(&[(*hook, *version, payload.clone())], EVENTS));
    }
    run("made, fixed: CSwitch, ReadyThread, SampleProf, DiskIo in turns", &kernel_events(&fixed, EVENTS));
    let wide = |text: &str| text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let sid = [&[0x50; 16][..], &[1, 5, 0, 0, 0, 0, 0, 5], &[7; 20]].concat();
    let command_line = wide(r"C:\Windows\system32\svchost.exe -k netsvcs -p -s BITS");
    let process = [&[0x5A; 36][..], &sid, b"svchost.exe\0", &command_line, &[0; 4]].concat();
    let image = [&[0x5A; 56][..], &wide(r"\Device\HarddiskVolume2\Windows\System32\kernel32.dll")].concat();
    let file = [&[0x5A; 8][..], &wide(r"\Device\HarddiskVolume2\Windows\System32\drivers\etc\hosts")].concat();
    let strings = [(0x0301, 4, process), (0x030A, 3, image), (0x0400, 2, file)];
    for (hook, version, payload) in &strings {
        run(&format!("made, {}", name(*hook, *version)), &kernel_events(&[(*hook, *version, payload.clone())], EVENTS));
    }
    run("made, strings: Process, Image, FileIo in turns", &kernel_events(&strings, EVENTS));
    let Some(folder) = std::env::var_os("ETW_LAYOUTS_ETL") else {
        return println!("real file skipped: ETW_LAYOUTS_ETL is not set");
    };
    let path = Path::new(&folder).join("microsoft__net.4.5.2.x64.etl");
    run("net.4.5.2.x64, decompressed", &std::fs::read(&path).expect("a file of the folder"));
    whole(&path);
}

/// Walks over headers, finds schemas, and visits every field, alternating for each buffer. Decompression is not measured.
fn run(name: &str, bytes: &[u8]) {
    let trace = Trace::from_bytes(bytes).expect("a trace");
    let schemas = Schemas::built_in();
    let buffers: Vec<_> = trace.buffers().skip(1).map(|buffer| buffer.expect("a buffer")).collect();
    let mut best = vec![[Duration::MAX; 4]; buffers.len()];
    let (mut events, mut fields) = (0_usize, 0_usize);
    for round in 0..30 {
        for (buffer, best) in buffers.iter().zip(&mut best) {
            let mut scratch = Scratch::default();
            let decoded = buffer.decode(&mut scratch);
            let kernel = || decoded.events().flatten().filter(|event| event.hook().is_some());
            time(&mut best[0], || kernel().map(|event| event.payload().len()).sum::<usize>());
            time(&mut best[1], || kernel().filter_map(|event| event.decode(black_box(&schemas))).count());
            time(&mut best[2], || {
                let mut sum = 0_u64;
                for event in kernel() {
                    let Some(decoded) = event.decode(black_box(&schemas)) else { continue };
                    sum = decoded.iter().fold(sum, |sum, value| sum.wrapping_add(meaning(&value.data())));
                }
                sum
            });
            time(&mut best[3], || {
                let mut sum = 0_u64;
                for event in kernel() {
                    let Some(decoded) = event.decode(black_box(&schemas)) else { continue };
                    sum = decoded
                        .iter()
                        .fold(sum, |sum, value| sum.wrapping_add(value.number().unwrap_or(value.bytes.len() as u64)));
                }
                sum
            });
            if round == 0 {
                for decoded in kernel().filter_map(|event| event.decode(&schemas)) {
                    assert!(decoded.is_exact && decoded.fields.check().is_ok(), "{decoded}");
                    (events, fields) = (events + 1, fields + decoded.iter().count());
                }
            }
        }
    }
    let [walk, found, meant, visited] = [0, 1, 2, 3].map(|which| best.iter().map(|best| best[which].as_secs_f64()).sum::<f64>());
    let rate = |time: f64| events as f64 / time / 1e6;
    println!(
        "{name}: every field of {:.1} million events/s ({:.1} fields an event), {:.1} times the time of the walk over headers ({:.1}); \
         {:.1} with the meaning of each value; their schemas alone {:.1}",
        rate(visited),
        fields as f64 / events as f64,
        visited / walk,
        rate(walk),
        rate(meant),
        rate(found)
    );
}

/// A number that depends on the decoded value, so that decoding is not optimized away.
fn meaning(data: &Data<'_>) -> u64 {
    match data {
        Data::Unsigned(number) | Data::Hexadecimal(number) => *number,
        Data::Signed(number) | Data::Ticks(number) | Data::FileTime(number) => *number as u64,
        Data::Binary(bytes) => bytes.len() as u64,
        Data::Sid(sid) => sid.bytes().len() as u64,
        Data::Boolean(is) => u64::from(*is),
        other => u64::from(*black_box(&matches!(other, Data::Text(_)))),
    }
}

/// Decodes every field of every kernel event of a file, including decompression. dissect.etl does the same.
fn whole(path: &Path) {
    let schemas = Schemas::built_in();
    let bytes = std::fs::read(path).expect("a file of the folder");
    let (mut best, mut events) = (Duration::MAX, 0);
    for _ in 0..20 {
        time(&mut best, || {
            let trace = Trace::from_bytes(&bytes).expect("a trace");
            let (mut scratch, mut sum) = (Scratch::default(), 0_u64);
            events = 0;
            for buffer in trace.buffers().flatten() {
                for event in buffer.decode(&mut scratch).events().flatten().filter(|event| event.hook().is_some()) {
                    events += 1;
                    let Some(decoded) = event.decode(&schemas) else { continue };
                    sum = decoded.iter().fold(sum, |sum, value| sum.wrapping_add(meaning(&value.data())));
                }
            }
            sum
        });
    }
    let ours = f64::from(events) / best.as_secs_f64();
    println!("net.4.5.2.x64, from its compressed bytes: {:.2} million kernel events/s", ours / 1e6);
    let Some(python) = std::env::var_os("ETW_LAYOUTS_PYTHON") else {
        return println!("dissect.etl skipped: ETW_LAYOUTS_PYTHON is not set");
    };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/read_by_dissect.py");
    let output = Command::new(python).arg(script).arg(path).output().expect("Python runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|number| number.parse().ok()).collect();
    let &[theirs, decoded, seconds] = &numbers[..] else {
        return println!("dissect.etl skipped: {}", String::from_utf8_lossy(&output.stderr));
    };
    assert_eq!(theirs as u32, events);
    println!(
        "dissect.etl on the same file: {:.4} million kernel events/s, {:.0} % of them decoded; here {:.0} times as many",
        theirs / seconds / 1e6,
        100.0 * decoded / theirs,
        ours / (theirs / seconds)
    );
}

/// Keeps the shortest duration of some work.
fn time<T>(best: &mut Duration, work: impl FnOnce() -> T) {
    let start = Instant::now();
    black_box(work());
    *best = start.elapsed().min(*best);
}

/// The name of an event.
fn name(hook: u16, version: u8) -> String {
    events::find((hook >> 8) as u8, hook as u8, version).expect("a schema").schema.to_string()
}
