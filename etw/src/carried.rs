//! Schemas in traces, collected before the events are decoded.

use crate::output::{Escaped, Output, Several};
use etw_layouts_etl::payload::Source;
use etw_layouts_etl::{Event, Reader, Trace};
use etw_layouts_schemas::LibraryBuilder;
use etw_layouts_schemas::trace::{Collected, Collector, Place, carries_schema};
use serde::Serialize;
use std::fmt::{self, Display};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;

/// The number of diagnostics to print. Further ones are only counted.
const MOST: usize = 8;

/// The schemas in a trace file.
pub struct Carried<'n> {
    name: &'n str,
    /// The schemas as a library. `None` if the file has none, or if it is a stream, which can be read only once.
    pub library: Option<Arc<[u8]>>,
    is_stream: bool,
    /// The number of events with schemas in a stream.
    unused: u64,
}

impl<'n> Carried<'n> {
    /// Reads a file. Schemas that cannot be used are reported.
    pub fn of_file(name: &'n str, path: &Path, out: &Output) -> Self {
        let is_stream = !path.is_file();
        Self { name, library: if is_stream { None } else { of_file(name, path, out) }, is_stream, unused: 0 }
    }

    /// Counts an event of a stream, if it contains a schema.
    #[inline]
    pub fn see(&mut self, event: &Event<'_>) {
        if self.is_stream && carries_schema(event) {
            self.unused += 1;
        }
    }

    /// Reports that schemas in a stream were not used.
    pub fn end(&self, out: &Output) {
        if self.unused > 0 {
            let note = format!(
                "{} in the trace not used: a stream is read only once; to use them, save the trace to a file",
                Several(self.unused, "schema")
            );
            out.aside(&Unused { file: self.name, note });
        }
    }
}

fn of_file(name: &str, path: &Path, out: &Output) -> Option<Arc<[u8]>> {
    // Errors of the file are reported when its events are read.
    let mut reader = Reader::new(BufReader::with_capacity(1 << 18, File::open(path).ok()?)).ok()?;
    let mut collector = Collector::default();
    while let Ok(Some(buffer)) = reader.next_buffer() {
        let Ok(decoded) = buffer else { continue };
        let (index, buffer_offset) = (decoded.buffer().index(), decoded.buffer().offset());
        for event in decoded.events().filter_map(Result::ok) {
            collector.add(&event, Place { file: 0, buffer: index, buffer_offset, offset: event.offset() });
        }
    }
    library(&[name], collector.finish(), out)
}

/// The schemas in several traces. Schemas in one trace are also used for the others.
pub fn of_traces<'t, 'a: 't>(names: &[&str], traces: impl Iterator<Item = &'t Trace<'a>>, out: &Output) -> Option<Arc<[u8]>> {
    let mut collector = Collector::default();
    traces.for_each(|trace| collector.add_trace(trace));
    library(names, collector.finish(), out)
}

/// A library of collected schemas; `None` if there are none. Schemas that cannot be used are reported.
pub fn library(names: &[&str], collected: Collected, out: &Output) -> Option<Arc<[u8]>> {
    let more = collected.more_diagnostics + collected.diagnostics.len().saturating_sub(MOST) as u64;
    for diagnostic in collected.diagnostics.iter().take(MOST) {
        let file = names.get(diagnostic.place.file).copied().unwrap_or_default();
        out.aside(&Unused { file, note: diagnostic.to_string() });
    }
    if more > 0 {
        out.aside(&Unused { file: names.first().copied().unwrap_or_default(), note: format!("{more} more schemas not used") });
    }
    if collected.providers.is_empty() && collected.manifest_providers.is_empty() {
        return None;
    }
    let mut builder = LibraryBuilder::default();
    let origin = builder.origin(Source::Trace, "", None);
    collected.providers.iter().for_each(|provider| builder.add(provider, origin));
    let origin = builder.origin(Source::EventSource, "", None);
    collected.manifest_providers.iter().for_each(|provider| builder.add(provider, origin));
    Some(builder.build().bytes().into())
}

/// The note on a schema that cannot be used.
#[derive(Serialize)]
struct Unused<'a> {
    file: &'a str,
    note: String,
}

impl Display for Unused<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: note: {}", Escaped(self.file), Escaped(&self.note))
    }
}
