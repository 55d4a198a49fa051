//! Prints how many events per second the decoder of live records decodes, and the reader of traces for the same events:
//!
//!     cargo run --release -p etw-layouts-record --example speed FILE.etl

use etw_layouts_etl::wire::{EVENT_HEADER, zero};
use etw_layouts_etl::{Decoded, Event, Item, Schemas, Trace};
use etw_layouts_record::{Decoder, EventRecordRef};
use std::error::Error;
use std::time::Instant;

/// Times that each way decodes all events; the fastest counts.
const ROUNDS: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("no trace; give the path of an .etl file")?;
    let bytes = std::fs::read(&path)?;
    let trace = Trace::from_bytes(&bytes)?;
    let events: Vec<_> = trace.events().filter_map(Result::ok).collect();
    // Only events with an EVENT_HEADER: a consumer receives others in this form too, but it is not in the file.
    let records: Vec<_> = events.iter().filter_map(|one| record(&one.event())).collect();
    println!("{} events with an EVENT_HEADER of {}", records.len(), events.len());

    let schemas = Schemas::built_in().with_static_library(etw_layouts_catalog::library());
    // The decoder also reads the manifests that the trace contains.
    report("trace: fields", "fields", records.len(), || {
        let kept = events.iter().map(|one| one.event()).filter(|event| event.flags().is_some());
        kept.filter_map(|event| Some(fields(&event.decode(&schemas)?))).sum()
    });
    let mut decoder = Decoder::new();
    report("live: fields", "fields", records.len(), || {
        let mut count = 0;
        for (header, items, payload) in &records {
            let record = EventRecordRef { header: *header, context: zero(), items, user_data: payload };
            count += decoder.event(&record).ok().and_then(|live| Some(fields(&live.decode()?))).unwrap_or(0);
        }
        count
    });
    let mut text = Vec::new();
    report("live: JSON", "bytes", records.len(), || {
        text.clear();
        for (header, items, payload) in &records {
            let record = EventRecordRef { header: *header, context: zero(), items, user_data: payload };
            _ = decoder.json(&record, &mut text);
        }
        text.len()
    });
    Ok(())
}

fn fields(decoded: &Decoded<'_>) -> usize {
    (&decoded.fields).into_iter().count()
}

/// The parts of the EVENT_RECORD of an event.
fn record<'a>(event: &Event<'a>) -> Option<(EVENT_HEADER, Vec<Item<'a>>, &'a [u8])> {
    event.flags()?;
    let header = bytemuck::try_pod_read_unaligned(event.bytes().get(..size_of::<EVENT_HEADER>())?).ok()?;
    Some((header, event.items().collect(), event.payload()))
}

fn report(what: &str, unit: &str, events: usize, mut decode: impl FnMut() -> usize) {
    let mut seconds = f64::INFINITY;
    let mut result = 0;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        result = decode();
        seconds = seconds.min(start.elapsed().as_secs_f64());
    }
    println!("{what:14} {:>12.0} events/s ({result} {unit})", events as f64 / seconds);
}
