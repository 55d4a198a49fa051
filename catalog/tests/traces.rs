//! Events of real traces, decoded with the catalogue alone.

use etw_layouts_catalog::library;
use etw_layouts_etl::payload::packed::EventKey;
use etw_layouts_etl::payload::{Schema, Uuid};
use etw_layouts_etl::{HeaderType, Trace};
use std::collections::BTreeMap;
use std::fs;
use test_support::witness;

/// The result of decoding an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Complete,
    NoFields,
    Unknown,
    UnknownProvider,
    /// Number of bytes after the last field; negative if the payload is too short.
    Left(i64),
}

fn outcome(event: &etw_layouts_etl::Event<'_>, provider: Uuid) -> Outcome {
    let view = library();
    if view.provider(provider).is_none() {
        return Outcome::UnknownProvider;
    }
    let (Some(id), Some(version)) = (event.id(), event.version()) else { return Outcome::Unknown };
    let mut variants = view.find(provider, EventKey::of_id(id, version as u8)).peekable();
    if variants.peek().is_none() {
        return Outcome::Unknown;
    }
    let left = |schema: Schema<'_>| {
        let Some(fields) = event.decode_by(&schema) else { return Outcome::NoFields };
        match fields.check() {
            Ok(()) => Outcome::Complete,
            Err(fault) => match event.payload().len() as i64 - fault.offset as i64 {
                left if fault.reason == etw_layouts_etl::payload::Reason::Rest => Outcome::Left(left),
                left => Outcome::Left(-1 - left),
            },
        }
    };
    variants.filter_map(|variant| variant.schema()).map(left).min().unwrap_or(Outcome::NoFields)
}

#[test]
fn coverage() {
    let Some(folder) = witness::folder("ETW_LAYOUTS_ETL") else { return };
    let mut counts: BTreeMap<(Outcome, String, u16, u16), usize> = BTreeMap::new();
    let mut total: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "etl") {
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        let trace = Trace::from_bytes(&bytes).unwrap();
        for record in trace.events().filter_map(Result::ok) {
            let event = record.event();
            if !matches!(event.header_type(), HeaderType::Event32 | HeaderType::Event64) {
                *total.entry("of another header").or_default() += 1;
                continue;
            }
            if event.trace_logging().is_some() {
                *total.entry("TraceLogging").or_default() += 1;
                continue;
            }
            let Some(provider) = event.provider() else { continue };
            let outcome = outcome(&event, provider);
            let kind = match outcome {
                Outcome::Complete => "complete",
                Outcome::NoFields => "no fields",
                Outcome::Unknown => "event unknown",
                Outcome::UnknownProvider => "provider unknown",
                Outcome::Left(_) => "bytes left or short",
            };
            *total.entry(kind).or_default() += 1;
            if outcome != Outcome::Complete {
                let name = library().provider(provider).map_or(provider.to_string(), |provider| provider.name().to_owned());
                let (id, version) = (event.id().unwrap_or(0), event.version().unwrap_or(0));
                *counts.entry((outcome, name, id, version)).or_default() += 1;
            }
        }
    }
    for ((outcome, name, id, version), count) in &counts {
        println!("{count:>7}  {outcome:?}  {name} {id} v{version}");
    }
    println!("{total:?}");
    let count = |kind| total.get(kind).copied().unwrap_or(0);
    let (complete, left) = (count("complete"), count("bytes left or short"));
    let all = complete + left + count("no fields") + count("event unknown") + count("provider unknown");
    // Some events are unknown, because EventSource providers write their manifests to the trace, and the catalogue does not contain them.
    assert!(all > 100_000 && (complete + left) * 1000 >= all * 995, "{total:?}");
    assert!(complete * 1000 >= (complete + left) * 990, "{total:?}");
}
