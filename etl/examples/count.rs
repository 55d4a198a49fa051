//! Counts the events of trace files by provider, or by group if they are the kernel's.
//!
//!     cargo run --example count -- trace.etl

use etw_layouts_etl::{Guid, Scratch, Trace, map};
use std::collections::BTreeMap;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    for path in std::env::args_os().skip(1) {
        let bytes = map::map(&path)?;
        let trace = Trace::new(&bytes)?;
        println!("{}: {}", path.display(), trace.log_file().logger_name);
        let (counts, findings) = count(&trace);
        for (provider, count) in counts {
            match provider {
                Some(provider) => println!("{count:>10} {provider}"),
                None => println!("{count:>10} without a provider"),
            }
        }
        if findings > 0 {
            println!("{findings:>10} findings: see `cargo xtask etl check`");
        }
    }
    Ok(())
}

/// How many events there are of each provider, and how many findings.
fn count(trace: &Trace<'_>) -> (BTreeMap<Option<Guid>, u64>, u64) {
    let (mut counts, mut findings) = (BTreeMap::new(), 0);
    let mut scratch = Scratch::default();
    for buffer in trace.buffers() {
        let Ok(buffer) = buffer else {
            findings += 1;
            continue;
        };
        for event in buffer.image(&mut scratch).events() {
            match event {
                Ok(event) => *counts.entry(event.provider()).or_default() += 1,
                Err(_) => findings += 1,
            }
        }
    }
    (counts, findings)
}
