//! Counts the events of trace files by provider; kernel events are counted by group.
//!
//!     cargo run --example count -- trace.etl

use etw_layouts_etl::{Reader, Uuid};
use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::io;

fn main() -> Result<(), Box<dyn Error>> {
    for path in std::env::args_os().skip(1) {
        let mut reader = Reader::new(File::open(&path)?)?;
        println!("{}: {:?}", path.display(), reader.log_file().logger_name);
        let (counts, diagnostics) = count(&mut reader)?;
        for (provider, count) in counts {
            match provider {
                Some(provider) => println!("{count:>10} {provider}"),
                None => println!("{count:>10} without a provider"),
            }
        }
        if diagnostics > 0 {
            println!("{diagnostics:>10} diagnostics: see `cargo xtask etl check`");
        }
    }
    Ok(())
}

/// Number of events of each provider, and number of diagnostics.
fn count(reader: &mut Reader<File>) -> io::Result<(BTreeMap<Option<Uuid>, u64>, u64)> {
    let (mut counts, mut diagnostics) = (BTreeMap::new(), 0);
    while let Some(decoded) = reader.next_buffer()? {
        let Ok(decoded) = decoded else {
            diagnostics += 1;
            continue;
        };
        for event in decoded.events() {
            match event {
                Ok(event) => *counts.entry(event.provider()).or_default() += 1,
                Err(_) => diagnostics += 1,
            }
        }
    }
    Ok((counts, diagnostics))
}
