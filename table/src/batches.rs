//! The batches of a trace.

use crate::Error;
use crate::encoder::Encoder;
use crate::index::{Index, Place};
use crate::options::Options;
use crate::order::{self, Order, Slice};
use crate::table::Batch;
use arrow_schema::ArrowError;
use etw_layouts_etl::{Diagnostic, Event, Filter, Reader, Schemas, names};
use std::collections::VecDeque;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;

/// The input of the second pass over a trace.
#[derive(Debug)]
pub struct Rows<S> {
    /// The trace.
    pub source: S,
    /// The name of the trace: the value of the column `trace`.
    pub name: String,
    /// The result of the first pass.
    pub index: Arc<Index>,
    /// The schemas of its events.
    pub schemas: Schemas,
    /// The events that become rows.
    pub filter: Filter,
    /// The order of rows.
    pub order: Order,
    /// Bytes of buffers in memory at the same time: [`MEMORY`](crate::MEMORY), or less for an iterator if batches are kept waiting.
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
    /// Whether the rows are in the requested order. If buffers of a trace are far out of order, only parts are sorted.
    pub is_ordered: bool,
}

impl<S: Read + Seek> Rows<S> {
    /// Adds all events to an encoder. `full` receives its batches, `found` the diagnostics of payloads that cannot be decoded. Rows after the
    /// last full batch stay in the encoder.
    ///
    /// If the file changed since the first pass, the number of events can differ from that in the index. In time order, this is also possible
    /// for a damaged file. In file order, an unchanged file always gives the events of the first pass.
    ///
    /// # Errors
    ///
    /// The source fails, or `full` returns an error.
    pub fn read<E: From<Error>>(
        self,
        encoder: &mut Encoder,
        mut full: impl FnMut(Batch) -> Result<(), E>,
        mut found: impl FnMut(Diagnostic),
    ) -> Result<Counts, E> {
        encoder.begin(&self.name, &self.index);
        let mut pass = Pass::new(self)?;
        while pass.advance(encoder, &mut full, &mut found)? {}
        Ok(pass.counts)
    }
}

/// The state of the second pass.
#[derive(Debug)]
struct Pass<S> {
    name: String,
    index: Arc<Index>,
    schemas: Schemas,
    filter: Filter,
    parts: Parts<S>,
    counts: Counts,
}

/// The events of a trace, part by part, in file order or in time order.
#[derive(Debug)]
pub struct Parts<S> {
    index: Arc<Index>,
    source: Source<S>,
    is_ordered: bool,
}

#[derive(Debug)]
enum Source<S> {
    /// Slices in time order.
    Slices(S, std::vec::IntoIter<Slice>),
    /// The file from its start to its end.
    Stream(Box<Reader<BufReader<S>>>),
}

/// Number of buffers of a stream that are read at once.
const BUFFERS: usize = 16;

impl<S: Read + Seek> Parts<S> {
    /// The events of the trace with this index. `memory` limits the bytes of buffers in memory at the same time.
    ///
    /// # Errors
    ///
    /// The source fails.
    pub fn new(mut source: S, index: Arc<Index>, order: Order, memory: u64) -> Result<Self, Error> {
        let (source, is_ordered) = match order {
            Order::File => {
                source.seek(SeekFrom::Start(0))?;
                (Source::Stream(Box::new(Reader::new(BufReader::with_capacity(1 << 18, source))?)), true)
            }
            Order::Time => {
                let (slices, is_ordered) = order::slices(&index, memory);
                (Source::Slices(source, slices.into_iter()), is_ordered)
            }
        };
        Ok(Self { index, source, is_ordered })
    }

    /// Whether the events are in the requested order. If buffers of a trace are far out of order, only parts are sorted.
    pub fn is_ordered(&self) -> bool {
        self.is_ordered
    }

    /// Reads a part, and calls `see` with each of its events. Returns whether there was one.
    ///
    /// # Errors
    ///
    /// The source fails.
    pub fn advance(&mut self, mut see: impl FnMut(&Event<'_>, Place)) -> Result<bool, Error> {
        let see = |event: &Event<'_>, place: Place| -> Result<(), Stop<Error>> {
            see(event, place);
            Ok(())
        };
        self.part(see).map_err(|Stop(error)| error)
    }

    fn part<E: From<Error>>(&mut self, mut see: impl FnMut(&Event<'_>, Place) -> Result<(), Stop<E>>) -> Result<bool, Stop<E>> {
        match &mut self.source {
            Source::Slices(source, slices) => match slices.next() {
                Some(slice) => order::read(source, &self.index, &slice, see).map(|()| true),
                None => Ok(false),
            },
            Source::Stream(reader) => stream(reader, &mut see),
        }
    }
}

impl<S: Read + Seek> Pass<S> {
    fn new(rows: Rows<S>) -> Result<Self, Error> {
        let Rows { source, name, index, schemas, filter, order, memory } = rows;
        let parts = Parts::new(source, index.clone(), order, memory)?;
        let counts = Counts { is_ordered: parts.is_ordered(), ..Counts::default() };
        Ok(Self { name, index, schemas, filter, parts, counts })
    }

    /// Reads a part of the trace. Returns whether there was one.
    fn advance<E: From<Error>>(
        &mut self,
        encoder: &mut Encoder,
        full: &mut impl FnMut(Batch) -> Result<(), E>,
        found: &mut impl FnMut(Diagnostic),
    ) -> Result<bool, E> {
        let Self { name, index, schemas, filter, parts, counts } = self;
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
            while let Some(batch) = encoder.full().map_err(Stop::of)? {
                full(batch).map_err(Stop)?;
                if encoder.needs_rest() {
                    while let Some(batch) = encoder.rest().map_err(Stop::of)? {
                        full(batch).map_err(Stop)?;
                    }
                    encoder.forget_names(name, index);
                }
            }
            Ok(())
        };
        parts.part(see).map_err(|Stop(error)| error)
    }
}

/// Reads some buffers of a stream. Returns whether there are more.
fn stream<S: Read, E: From<Error>>(
    reader: &mut Reader<BufReader<S>>,
    see: &mut impl FnMut(&Event<'_>, Place) -> Result<(), Stop<E>>,
) -> Result<bool, Stop<E>> {
    for _ in 0..BUFFERS {
        let Some(buffer) = reader.next_buffer()? else { return Ok(false) };
        let Ok(decoded) = buffer else { continue };
        let at = (decoded.buffer().index(), decoded.buffer().offset());
        for event in decoded.events().filter_map(Result::ok) {
            see(&event, Place::of(&decoded, at, &event))?;
        }
    }
    Ok(true)
}

/// An error of any kind.
struct Stop<E>(E);

impl<E: From<Error>> Stop<E> {
    fn of(error: ArrowError) -> Self {
        Self(Error::from(error).into())
    }
}

impl<E: From<Error>> From<std::io::Error> for Stop<E> {
    fn from(error: std::io::Error) -> Self {
        Self(Error::from(error).into())
    }
}

/// An iterator over the batches of one trace. It reads the trace part by part as batches are taken.
#[derive(Debug)]
pub struct Batches<S> {
    pass: Pass<S>,
    encoder: Encoder,
    ready: VecDeque<Batch>,
    diagnostics: Vec<Diagnostic>,
}

/// Maximum number of diagnostics that are kept until they are taken.
const MOST_DIAGNOSTICS: usize = 1024;

impl<S: Read + Seek> Batches<S> {
    /// The batches of a trace. The order of rows is that of `rows`.
    ///
    /// # Errors
    ///
    /// The source fails.
    pub fn new(rows: Rows<S>, options: Options) -> Result<Self, Error> {
        let mut encoder = Encoder::new(options);
        encoder.begin(&rows.name, &rows.index);
        Ok(Self { pass: Pass::new(rows)?, encoder, ready: VecDeque::new(), diagnostics: Vec::new() })
    }

    /// The counts so far.
    pub fn counts(&self) -> Counts {
        self.pass.counts
    }

    /// The diagnostics of payloads since the last call, limited to the first thousand.
    pub fn take_diagnostics(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.diagnostics)
    }

    /// The next batch, or `Some(Ok(None))` after a part of the trace that fills no batch, so that the caller can do other work or stop.
    pub fn step(&mut self) -> Option<Result<Option<Batch>, Error>> {
        if self.ready.is_empty() {
            match self.advance() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
        Some(Ok(self.ready.pop_front()))
    }

    fn advance(&mut self) -> Result<bool, Error> {
        let (ready, diagnostics) = (&mut self.ready, &mut self.diagnostics);
        let mut full = |batch| -> Result<(), Error> {
            ready.push_back(batch);
            Ok(())
        };
        let mut found = |diagnostic| {
            if diagnostics.len() < MOST_DIAGNOSTICS {
                diagnostics.push(diagnostic);
            }
        };
        if self.pass.advance(&mut self.encoder, &mut full, &mut found)? {
            return Ok(true);
        }
        self.ready.extend(self.encoder.rest()?);
        Ok(!self.ready.is_empty())
    }
}

impl<S: Read + Seek> Iterator for Batches<S> {
    type Item = Result<Batch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.step()? {
                Ok(Some(batch)) => return Some(Ok(batch)),
                Ok(None) => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
