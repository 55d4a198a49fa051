//! The batches of a trace.

use crate::Error;
use crate::encoder::Encoder;
use crate::index::{Index, Place};
use crate::options::Options;
use crate::order::{self, Order, Slice};
use crate::table::Batch;
use etw_layouts_etl::{Diagnostic, Event, Filter, Schemas, names};
use std::collections::VecDeque;
use std::io::{Read, Seek};

/// Reads the events of a trace in the second pass, and turns them into batches.
#[derive(Debug)]
pub struct Rows<'a, S> {
    /// The trace.
    pub source: S,
    /// The name of the trace: the value of the column `trace`.
    pub name: &'a str,
    /// The result of the first pass.
    pub index: &'a Index,
    /// The schemas of its events.
    pub schemas: &'a Schemas,
    /// The events that become rows.
    pub filter: &'a Filter,
    /// The order of rows.
    pub order: Order,
    /// Bytes of buffers that are in memory at the same time: [`MEMORY`](crate::MEMORY), or less for an iterator whose batches wait.
    pub memory: u64,
}

/// Counts of the second pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Events that were read.
    pub events: u64,
    /// Events that became rows.
    pub rows: u64,
    /// Whether the rows are in the order that was asked for. Of a trace whose buffers are far out of order, only parts are sorted.
    pub is_ordered: bool,
}

impl<S: Read + Seek> Rows<'_, S> {
    /// Adds all events to an encoder. `full` takes its batches, `found` the diagnostics of payloads that cannot be decoded. Rows that are in no
    /// full batch stay in the encoder.
    ///
    /// # Errors
    ///
    /// The source fails; or what `full` returns.
    pub fn read<E: From<Error>>(
        &mut self,
        encoder: &mut Encoder,
        mut full: impl FnMut(Batch) -> Result<(), E>,
        mut found: impl FnMut(Diagnostic),
    ) -> Result<Counts, E> {
        let (slices, is_ordered) = order::slices(self.index, self.order, self.memory);
        let mut counts = Counts { is_ordered, ..Counts::default() };
        encoder.begin(self.name, self.index);
        for slice in &slices {
            self.slice(slice, encoder, &mut counts, &mut full, &mut found)?;
        }
        Ok(counts)
    }

    fn slice<E: From<Error>>(
        &mut self,
        slice: &Slice,
        encoder: &mut Encoder,
        counts: &mut Counts,
        full: &mut impl FnMut(Batch) -> Result<(), E>,
        found: &mut impl FnMut(Diagnostic),
    ) -> Result<(), E> {
        let Self { name, index, schemas, filter, .. } = *self;
        let clock = index.log_file().to_clock();
        let see = |event: &Event<'_>, place: Place| -> Result<(), Stop<E>> {
            counts.events += 1;
            if !filter.takes(event, place.processor, &clock) {
                encoder.pass(event);
                return Ok(());
            }
            counts.rows += 1;
            if let Some(fault) = encoder.add(event, place, index, schemas) {
                let kind = names::undecoded(event, schemas, fault);
                found(Diagnostic { buffer: place.buffer, buffer_offset: place.buffer_offset, offset: place.offset, kind });
            }
            while let Some(batch) = encoder.full().map_err(|error| Stop(Error::from(error).into()))? {
                full(batch).map_err(Stop)?;
                if encoder.needs_rest() {
                    while let Some(batch) = encoder.rest().map_err(|error| Stop(Error::from(error).into()))? {
                        full(batch).map_err(Stop)?;
                    }
                    encoder.forget_names(name, index);
                }
            }
            Ok(())
        };
        order::read(&mut self.source, index, slice, self.order, see).map_err(|Stop(error)| error)
    }
}

/// An error of any kind.
struct Stop<E>(E);

impl<E: From<Error>> From<std::io::Error> for Stop<E> {
    fn from(error: std::io::Error) -> Self {
        Self(Error::from(error).into())
    }
}

/// An iterator over the batches of one trace. It reads the trace slice by slice as batches are taken.
#[derive(Debug)]
pub struct Batches<'a, S> {
    rows: Rows<'a, S>,
    encoder: Encoder,
    slices: std::vec::IntoIter<Slice>,
    counts: Counts,
    ready: VecDeque<Batch>,
    diagnostics: Vec<Diagnostic>,
}

/// Diagnostics that are kept at most, until they are taken.
const MOST_DIAGNOSTICS: usize = 1024;

impl<'a, S: Read + Seek> Batches<'a, S> {
    /// The batches of a trace. The order of rows is that of `rows`.
    pub fn new(rows: Rows<'a, S>, options: Options) -> Self {
        let (slices, is_ordered) = order::slices(rows.index, rows.order, rows.memory);
        let mut encoder = Encoder::new(options);
        encoder.begin(rows.name, rows.index);
        let counts = Counts { is_ordered, ..Counts::default() };
        Self { rows, encoder, slices: slices.into_iter(), counts, ready: VecDeque::new(), diagnostics: Vec::new() }
    }

    /// The counts so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The diagnostics of payloads since they were taken last, the first thousand of them.
    pub fn take_diagnostics(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.diagnostics)
    }

    fn advance(&mut self) -> Result<bool, Error> {
        let (ready, diagnostics) = (&mut self.ready, &mut self.diagnostics);
        if let Some(slice) = self.slices.next() {
            let full = |batch| -> Result<(), Error> {
                ready.push_back(batch);
                Ok(())
            };
            let found = |diagnostic| {
                if diagnostics.len() < MOST_DIAGNOSTICS {
                    diagnostics.push(diagnostic);
                }
            };
            self.rows.slice(&slice, &mut self.encoder, &mut self.counts, &mut { full }, &mut { found })?;
            return Ok(true);
        }
        self.ready.extend(self.encoder.rest()?);
        Ok(!self.ready.is_empty())
    }
}

impl<S: Read + Seek> Iterator for Batches<'_, S> {
    type Item = Result<Batch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(batch) = self.ready.pop_front() {
                return Some(Ok(batch));
            }
            match self.advance() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
