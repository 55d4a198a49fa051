//! Converts events to batches.

use crate::index::{Index, Place};
use crate::keys::{Key, Names};
use crate::narrow::Narrow;
use crate::options::{BYTES, Options, ROWS, Shape};
use crate::stacks::Stacks;
use crate::table::{Batch, Table};
use crate::typed::Typed;
use arrow_schema::ArrowError;
use etw_layouts_etl::payload::Fault;
use etw_layouts_etl::threads::Threads;
use etw_layouts_etl::{Clock, Event, Schemas};
use std::sync::Arc;

/// Converts the events of one or more traces, one after the other, to batches. Memory for rows is limited: if all tables together exceed the
/// limit, the largest table becomes a batch.
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

/// The trace of the current events.
#[derive(Debug)]
struct TraceState {
    name: i32,
    host: Option<i32>,
    clock: Clock,
    threads: Threads,
    /// The numbers of process names in the dictionary.
    processes: Vec<i32>,
}

/// Size of all names, in bytes, from which they are discarded.
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

    /// The tables with columns that do not depend on the events: the table of call stacks, and in the narrow shape that of events.
    pub fn tables(&self) -> Vec<Arc<Table>> {
        let events = match &self.rows {
            Rows::Narrow(narrow) => Some(narrow.table()),
            Rows::Typed(_) => None,
        };
        events.into_iter().chain([self.stacks.table()]).collect()
    }

    /// Begins a trace. The next events belong to it. `name` is the value of the column `trace`.
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

    /// Processes an event that does not become a row. If it starts a thread, later events of that thread need it.
    #[inline]
    pub fn pass(&mut self, event: &Event<'_>) {
        if let Some(trace) = &mut self.trace {
            trace.threads.add(event);
        }
    }

    /// Adds an event of the current trace. Returns the fault if its payload cannot be decoded; its row then has the bytes.
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
        // The group of StackWalk events.
        let walk = event.hook().filter(|hook| hook >> 8 == 0x18).and_then(|_| event.decode(schemas));
        self.stacks.add(event, &key, walk.as_ref(), &mut self.names);
        match &mut self.rows {
            Rows::Narrow(narrow) => narrow.add(event, &key, schemas, &trace.clock),
            Rows::Typed(typed) => typed.add(event, &key, schemas, &trace.clock),
        }
    }

    /// A batch, if there are enough rows for one. Call it after each event until it returns `None`.
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

    /// The next batch of the remaining rows; `None` if there are no more.
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

    /// Discards all names, which begins a new generation. Call it if [`needs_rest`](Self::needs_rest) is true, after [`rest`](Self::rest) has
    /// returned `None`.
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

    /// Whether names exceed their memory limit. Then take the [`rest`](Self::rest), and call [`forget_names`](Self::forget_names).
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
