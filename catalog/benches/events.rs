//! Rates of decoding events of manifest providers and visiting every field, compared with a walk over the headers of the same events. Each
//! result is the best of several interleaved rounds. The schemas are those of the trace, then those of the catalogue. With `ETW_LAYOUTS_PYTHON`,
//! dissect.etl reads the same file.

use etw_layouts_etl::payload::Source;
use etw_layouts_etl::{Event, HeaderType, Schemas, Scratch, Trace};
use etw_layouts_schemas::LibraryBuilder;
use etw_layouts_schemas::trace::collect;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

fn main() {
    let Some(folder) = std::env::var_os("ETW_LAYOUTS_ETL").map(PathBuf::from) else {
        return println!("skipped: ETW_LAYOUTS_ETL is not set");
    };
    for name in ["microsoft__net.4.5.2.x64.etl", "microsoft__net.4.5.2.x86.etl"] {
        let path = folder.join(name);
        match std::fs::read(&path) {
            Ok(bytes) => run(name, &bytes, &path),
            Err(error) => println!("{name} skipped: {error}"),
        }
    }
}

/// Whether an event belongs to a manifest provider. TraceLogging events contain their schemas.
fn is_of_manifest(event: &Event<'_>) -> bool {
    matches!(event.header_type(), HeaderType::Event32 | HeaderType::Event64) && event.trace_logging().is_none()
}

/// Walks over headers, and visits every field, alternating for each buffer. Decompression is not measured.
fn run(name: &str, bytes: &[u8], path: &Path) {
    let trace = Trace::from_bytes(bytes).expect("a trace");
    let log = trace.log_file();
    let collected = collect(&trace);
    let mut builder = LibraryBuilder::default();
    let origin = builder.origin(Source::Trace, "", None);
    collected.providers.iter().chain(&collected.manifest_providers).for_each(|provider| builder.add(provider, origin));
    let own = builder.build();
    let schemas =
        Schemas::built_in().with_library(own.bytes()).expect("a library").with_static_library(etw_layouts_catalog::library());
    let schemas = schemas.with_build(log.build);
    let buffers: Vec<_> = trace.buffers().skip(1).flatten().collect();
    let mut best = vec![[Duration::MAX; 2]; buffers.len()];
    let (mut events, mut decoded, mut fields) = (0_usize, 0_usize, 0_usize);
    for round in 0..30 {
        for (buffer, best) in buffers.iter().zip(&mut best) {
            let mut scratch = Scratch::default();
            let buffer = buffer.decode(&mut scratch);
            let wanted = || buffer.events().flatten().filter(is_of_manifest);
            time(&mut best[0], || wanted().map(|event| event.payload().len()).sum::<usize>());
            time(&mut best[1], || {
                let mut sum = 0_u64;
                for event in wanted() {
                    let Some(decoded) = event.decode(black_box(&schemas)) else { continue };
                    sum = decoded
                        .iter()
                        .fold(sum, |sum, value| sum.wrapping_add(value.number().unwrap_or(value.bytes.len() as u64)));
                }
                sum
            });
            if round == 0 {
                events += wanted().count();
                for event in wanted() {
                    let Some(event) = event.decode(&schemas) else { continue };
                    decoded += usize::from(event.fields.check().is_ok());
                    fields += event.iter().count();
                }
            }
        }
    }
    let [walk, visited] = [0, 1].map(|which| best.iter().map(|best| best[which].as_secs_f64()).sum::<f64>());
    let ours = events as f64 / visited;
    println!(
        "{name}: every field of {:.2} million manifest events/s ({:.1} fields an event, {decoded} of {events} to the last byte), {:.1} times \
         the time of the walk over headers",
        ours / 1e6,
        fields as f64 / events as f64,
        visited / walk
    );
    let Some(python) = std::env::var_os("ETW_LAYOUTS_PYTHON") else {
        return println!("dissect.etl skipped: ETW_LAYOUTS_PYTHON is not set");
    };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../etl/benches/read_by_dissect.py");
    let output = Command::new(python).arg(script).arg(path).arg("manifest").output().expect("Python runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|number| number.parse().ok()).collect();
    let &[theirs, theirs_decoded, seconds] = &numbers[..] else {
        return println!("dissect.etl skipped: {}", String::from_utf8_lossy(&output.stderr));
    };
    println!(
        "dissect.etl on the same file, from its compressed bytes: {:.4} million other than kernel events/s, {:.0} % of them decoded; here {:.0} \
         times as many",
        theirs / seconds / 1e6,
        100.0 * theirs_decoded / theirs,
        ours / (theirs / seconds)
    );
}

/// Keeps the shortest duration of some work.
fn time<T>(best: &mut Duration, work: impl FnOnce() -> T) {
    let start = Instant::now();
    black_box(work());
    *best = start.elapsed().min(*best);
}
