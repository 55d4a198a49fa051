//! Turns events into batches.

use crate::index::{Index, Place};
use crate::keys::{Key, Names};
use crate::narrow::Narrow;
use crate::options::{BYTES, Options, ROWS, Shape};
use crate::stacks::Stacks;
use crate::table::{Batch, Table};
use crate::typed::Typed;
use arrow_schema::ArrowError;
use etw_layouts_etl::payload::{Fault, Source};
use etw_layouts_etl::threads::Threads;
use etw_layouts_etl::{Clock, Decoded, Event, Schemas};
use std::sync::Arc;

/// Turns the events of one trace after the other into batches. Memory for rows is limited: the longest table becomes a batch when all together
/// need too much.
#[derive(Debug)]
pub struct Encoder {
    rows: Rows,
    stacks: Stacks,
    names: Names,
    trace: Option<TraceState>,
    generation: u32,
}

#[derive(Debug)]
enum Rows {
    Narrow(Box<Narrow>),
    Typed(Box<Typed>),
}

/// The trace whose events are added.
#[derive(Debug)]
struct TraceState {
    name: i32,
    host: Option<i32>,
    clock: Clock,
    threads: Threads,
    /// The numbers of names of processes.
    processes: Vec<i32>,
}

/// Bytes of names, after which they are forgotten.
const NAMES: usize = 16 << 20;

impl Encoder {
    /// An encoder without rows.
    pub fn new(options: Options) -> Self {
        let rows = match options.shape {
            Shape::Narrow => Rows::Narrow(Box::new(Narrow::new(options.payload))),
            Shape::Typed => Rows::Typed(Box::default()),
        };
        Self { rows, stacks: Stacks::default(), names: Names::default(), trace: None, generation: 0 }
    }

    /// The tables whose columns do not depend on the events: in the narrow shape that of events, and that of call stacks.
    pub fn tables(&self) -> Vec<Arc<Table>> {
        let events = match &self.rows {
            Rows::Narrow(narrow) => Some(narrow.table()),
            Rows::Typed(_) => None,
        };
        events.into_iter().chain([self.stacks.table()]).collect()
    }

    /// Begins a trace: the next events are of it. `name` is the value of the column `trace`.
    pub fn begin(&mut self, name: &str, index: &Index) {
        let names = &mut self.names;
        self.trace = Some(TraceState {
            name: names.traces.add(name),
            host: index.host().map(|host| names.hosts.add(host)),
            clock: index.log_file().to_clock(),
            threads: Threads::default(),
            processes: index.processes.names().iter().map(|name| names.processes.add(name)).collect(),
        });
        match &mut self.rows {
            Rows::Narrow(narrow) => narrow.begin(),
            Rows::Typed(typed) => typed.begin(),
        }
    }

    /// Takes note of an event that does not become a row: later ones can be of a thread that it starts.
    #[inline]
    pub fn pass(&mut self, event: &Event<'_>) {
        if let Some(trace) = &mut self.trace {
            trace.threads.add(event);
        }
    }

    /// Adds an event of the trace that was begun. Returns the fault if its payload cannot be decoded; its row then has the bytes.
    pub fn add(&mut self, event: &Event<'_>, place: Place, index: &Index, schemas: &Schemas) -> Option<Fault> {
        self.pass(event);
        let trace = self.trace.as_ref()?;
        let time = event.time_stamp().map(|stamp| trace.clock.system_time(stamp));
        let thread_process = trace.threads.process(event);
        let process = event.process().or(thread_process);
        let process_name = process.zip(time).and_then(|(process, time)| index.processes.at(process, time));
        let key = Key {
            place,
            time,
            thread_process,
            trace: trace.name,
            host: trace.host,
            process_name: process_name.and_then(|name| trace.processes.get(name as usize).copied()),
        };
        let decoded = event.decode(schemas);
        self.stacks.add(event, &key, decoded.as_ref(), &mut self.names);
        let fault = match &mut self.rows {
            Rows::Narrow(narrow) => narrow.add(event, &key, decoded.as_ref(), schemas, &trace.clock),
            Rows::Typed(typed) => typed.add(event, &key, decoded.as_ref(), schemas, &trace.clock),
        };
        reported(event, decoded.as_ref(), fault)
    }

    /// A batch, if there are so many rows that one is due: call it after each event until it returns `None`.
    ///
    /// # Errors
    ///
    /// Arrow rejects a column; no trace is known to cause that.
    #[inline]
    pub fn full(&mut self) -> Result<Option<Batch>, ArrowError> {
        let is_due = self.stacks.is_due()
            || match &self.rows {
                Rows::Narrow(narrow) => {
                    narrow.rows() >= ROWS || narrow.bytes() >= BYTES || narrow.rows() > 0 && narrow.names_size() > NAMES
                }
                Rows::Typed(typed) => typed.is_due(),
            };
        if is_due { self.due() } else { Ok(None) }
    }

    #[cold]
    fn due(&mut self) -> Result<Option<Batch>, ArrowError> {
        if self.stacks.is_due() {
            return self.stacks.take(&mut self.names).map(|batch| Some(self.dated(batch)));
        }
        let batch = match &mut self.rows {
            Rows::Narrow(narrow) => Some(narrow.take(&mut self.names)?),
            Rows::Typed(typed) => typed.take(&mut self.names)?,
        };
        Ok(batch.map(|batch| self.dated(batch)))
    }

    /// The next batch of the rows that remain; `None` if none do.
    ///
    /// # Errors
    ///
    /// As [`full`](Self::full).
    pub fn rest(&mut self) -> Result<Option<Batch>, ArrowError> {
        if self.stacks.rows() > 0 {
            return self.stacks.take(&mut self.names).map(|batch| Some(self.dated(batch)));
        }
        let batch = match &mut self.rows {
            Rows::Narrow(narrow) if narrow.rows() > 0 => Some(narrow.take(&mut self.names)?),
            Rows::Narrow(_) => None,
            Rows::Typed(typed) => typed.take(&mut self.names)?,
        };
        Ok(batch.map(|batch| self.dated(batch)))
    }

    /// Forgets all names, which begins a generation. Call it when there is no [`rest`](Self::rest), and [`needs_rest`](Self::needs_rest).
    pub fn forget_names(&mut self, name: &str, index: &Index) {
        self.names = Names::default();
        self.generation += 1;
        match &mut self.rows {
            Rows::Narrow(narrow) => narrow.forget_names(),
            Rows::Typed(typed) => typed.forget(),
        }
        let threads = self.trace.take().map(|trace| trace.threads);
        self.begin(name, index);
        if let (Some(trace), Some(threads)) = (&mut self.trace, threads) {
            trace.threads = threads;
        }
    }

    /// Whether names need so much memory that all rows should become batches, and names be forgotten.
    pub fn needs_rest(&self) -> bool {
        let own = match &self.rows {
            Rows::Narrow(narrow) => narrow.names_size(),
            Rows::Typed(typed) => typed.names_size(),
        };
        self.names.size() + own > NAMES
    }

    fn dated(&self, batch: Batch) -> Batch {
        Batch { generation: self.generation, ..batch }
    }
}

/// The fault that is a diagnostic. A later version of an event has more fields; and traits of a provider can be corrupt.
fn reported(event: &Event<'_>, decoded: Option<&Decoded<'_>>, fault: Option<Fault>) -> Option<Fault> {
    let Some(decoded) = decoded else { return event.trace_logging()?.schema.err() };
    if fault.is_none() && decoded.source() != Source::TraceLogging {
        return None;
    }
    let traits = || event.traits().and_then(Result::err).filter(|_| decoded.source() == Source::TraceLogging);
    fault.filter(|_| decoded.is_exact).or_else(traits)
}
