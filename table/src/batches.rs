//! The batches of a trace.

use crate::Error;
use crate::encoder::Encoder;
use crate::options::Options;
use crate::table::Batch;
use etw_layouts_etl::{Diagnostic, Filter, names};
use etw_layouts_trace::{Events, Trace, in_order};
use std::collections::BTreeMap;

/// Default limit of decompressed buffers in memory for each thread, in bytes.
pub const MEMORY: u64 = 2 << 20;

/// Which events of a trace become rows, and how.
#[derive(Debug)]
pub struct Rows<'t> {
    /// The trace.
    pub trace: &'t Trace,
    /// The file of the trace, by its index; `None` for all files as one stream.
    pub file: Option<usize>,
    /// The events that become rows, for each file.
    pub filters: &'t [Filter],
    /// The options of the tables.
    pub options: Options,
    /// Number of threads.
    pub threads: usize,
}

/// Counts of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Events that were read.
    pub events: u64,
    /// Events that became rows.
    pub rows: u64,
}

impl Counts {
    /// Adds the counts of a part.
    pub fn add(&mut self, part: Self) {
        self.events += part.events;
        self.rows += part.rows;
    }
}

/// A part of the rows of a trace.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Part {
    /// Batches, each with its own dictionaries.
    pub batches: Vec<Batch>,
    /// The counts of the part.
    pub counts: Counts,
    /// Diagnostics of payloads that cannot be decoded, each with the index of its file: the first hundred of each kind.
    pub diagnostics: Vec<(usize, Diagnostic)>,
    /// Number of all diagnostics by file and kind.
    pub diagnostic_counts: BTreeMap<(usize, &'static str), u64>,
}

/// Maximum number of diagnostics of a part and a kind that are kept.
const MAX_DIAGNOSTICS: u64 = 100;

impl Rows<'_> {
    /// Passes the rows of the trace to `take`, in order. Returns whether the rows are in the requested order: if buffers of a trace are far out of
    /// order, only parts are sorted. [`Merge`](crate::Merge) makes larger batches of those of the parts.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or `take` returns an error.
    pub fn read<E: From<Error>>(&self, mut take: impl FnMut(Part) -> Result<(), E>) -> Result<bool, E> {
        let (slices, is_ordered) = self.trace.slices(self.file, self.options.order, MEMORY);
        in_order(
            slices,
            self.threads,
            || (Encoder::new(self.options), self.trace.no_events()),
            |(encoder, events), slice, put| {
                parts(encoder, events.of_slice(slice), self.filters, put);
            },
            |part| take(part?),
        )?;
        Ok(is_ordered)
    }
}

/// Memory of batches at which a part ends, in bytes.
const PART: usize = 2 << 20;

/// Passes the rows of the events of a slice to `put` in parts of limited size, until it returns `false`. `filters` select the events of each file.
/// If a file cannot be read, the last part is an error.
pub fn parts(
    encoder: &mut Encoder,
    events: &mut Events<'_>,
    filters: &[Filter],
    put: &mut dyn FnMut(Result<Part, Error>) -> bool,
) {
    loop {
        let (part, is_last) = match part(encoder, events, filters) {
            Ok((part, is_last)) => (Ok(part), is_last),
            Err(error) => (Err(error), true),
        };
        if !put(part) || is_last {
            return;
        }
    }
}

/// A part of the rows, and whether it is the last one.
fn part(encoder: &mut Encoder, events: &mut Events<'_>, filters: &[Filter]) -> Result<(Part, bool), Error> {
    let (mut part, mut size) = (Part::default(), 0);
    for event in events {
        let event = event?;
        part.counts.events += 1;
        let file = event.file_index();
        if filters.get(file).is_some_and(|filter| !event.matches(filter)) {
            continue;
        }
        part.counts.rows += 1;
        if let Some(fault) = encoder.add(&event)? {
            let kind = names::undecoded(&event.header(), event.schemas(), fault);
            let count = part.diagnostic_counts.entry((file, kind.name())).or_default();
            *count += 1;
            if *count <= MAX_DIAGNOSTICS {
                part.diagnostics.push((file, event.place().diagnostic(kind)));
            }
        }
        while let Some(batch) = encoder.full()? {
            size += batch.memory();
            part.batches.push(batch);
        }
        if size >= PART {
            return Ok((part, false));
        }
    }
    while let Some(batch) = encoder.rest()? {
        size += batch.memory();
        part.batches.push(batch);
        if size >= PART {
            return Ok((part, false));
        }
    }
    encoder.forget_names();
    Ok((part, true))
}
